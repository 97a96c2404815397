"""Modules as plain Python: one of them here, or a program over a copy of the package in which nothing is compiled."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import periplus

SOURCE = Path(periplus.__file__).parent


def uncompiled(folder: Path) -> Path:
    """Put a copy of the package without compiled modules into a folder; the folder."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "static", "node_modules", "page")
    shutil.copytree(SOURCE, folder / "periplus", ignore=ignored)
    return folder


def run(program: str, folder: Path, given: list[str]) -> tuple[str, list[Any]]:
    """What a program says that is given a list: first where its module lies, then what it found."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(folder)},
        input=json.dumps(given),
        check=True,
        capture_output=True,
        text=True,
    )
    where, found = done.stdout.splitlines()
    return where, json.loads(found)


def plain(name: str) -> ModuleType:
    """One module of the package ("index/terms.py") as plain Python, whether or not it is compiled."""
    spec = importlib.util.spec_from_file_location(f"plain_{Path(name).stem}", SOURCE / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
