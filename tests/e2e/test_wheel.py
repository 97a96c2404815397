"""The same source gives the same wheel, byte by byte, and what is in it is what belongs in it."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def build(source: Path, folder: Path) -> Path:
    """A wheel of pure Python: what the C compiler adds is another matter. Building so takes compiled modules away."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = os.environ | {
        "PERIPLUS_PURE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "SOURCE_DATE_EPOCH": "1700000000",
    }
    done = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(source)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and "hatchling" in done.stderr:
        pytest.skip("hatchling is not installed")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_Z1_two_builds_give_the_same_wheel(tmp_path: Path) -> None:
    source = tmp_path / "source"  # a copy: the tests beside this one use what is compiled
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".venv", ".git", "node_modules", "*.so", "__pycache__"))
    one, other = build(source, tmp_path / "one"), build(source, tmp_path / "other")
    assert hashlib.sha256(one.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest()
    names = zipfile.ZipFile(one).namelist()
    assert "periplus/store/schema.sql" in names
    assert not [name for name in names if not name.startswith(("periplus/", "periplus-"))]
    assert not [name for name in names if "node_modules" in name or name.endswith((".so", ".pyc", ".c"))]
