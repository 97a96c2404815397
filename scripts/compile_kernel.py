"""Compile the geoparser's inner loops in place; without Cython or a C compiler they run as plain Python instead.

    python scripts/compile_kernel.py

`make setup` runs this whenever the sources changed, and building a wheel runs it as hatchling's hook. PERIPLUS_PURE=1
leaves everything uncompiled. The results are the same either way; only the time differs.
"""

import contextlib
import hashlib
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).resolve().parent.parent / "src"
FOLDER = SOURCE / "periplus" / "places"
MODULES = ("sheet", "scan", "context", "units", "rank", "support")
STAMP = FOLDER / "compiled.txt"
DIRECTIVES = {
    "language_level": 3, "annotation_typing": False, "infer_types": True, "boundscheck": False, "wraparound": False,
    "cdivision": True, "initializedcheck": False, "cpow": True, "show_performance_hints": False,
}  # fmt: skip
FLAGS = ["-O2", "-ffp-contract=off"]  # fused multiplication would round otherwise than Python does


class KernelHook(BuildHookInterface[Any]):
    """Compiles before a wheel is packed; the wheel is then one for this platform."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's signature
        """Compile, and tell hatchling what came of it."""
        if self.target_name == "wheel" and compile_kernel():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"] += [f"src/periplus/places/{path.name}" for path in built()]


def digest() -> str:
    """Names the sources that were compiled."""
    return hashlib.sha256(
        b"".join((FOLDER / f"{m}{suffix}").read_bytes() for m in MODULES for suffix in (".py", ".pxd"))
    ).hexdigest()


def built() -> list[Path]:
    """The compiled modules that lie beside their sources."""
    return sorted(p for m in MODULES for ending in ("so", "pyd") for p in FOLDER.glob(f"{m}.*.{ending}"))


def compile_kernel() -> bool:
    """Compile all modules or none; whether they are compiled now."""
    for old in built():
        old.unlink()
    STAMP.unlink(missing_ok=True)
    if os.environ.get("PERIPLUS_PURE") == "1":
        return _pure("PERIPLUS_PURE=1")
    try:
        from Cython.Build import cythonize  # noqa: PLC0415  perhaps not there
        from Cython.Compiler.Errors import CompileError  # noqa: PLC0415
        from setuptools import Distribution, Extension  # noqa: PLC0415
        from setuptools.command.build_ext import build_ext  # noqa: PLC0415
        from setuptools.errors import BaseError  # noqa: PLC0415
    except ImportError as error:
        return _pure(str(error))
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(SOURCE):
        scratch, said = Path(name), io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                modules = [
                    Extension(f"periplus.places.{m}", [f"periplus/places/{m}.py"], extra_compile_args=FLAGS)
                    for m in MODULES
                ]
                command = build_ext(
                    Distribution(
                        {"ext_modules": cythonize(modules, compiler_directives=DIRECTIVES, build_dir=name, force=True)}
                    )
                )
                command.build_lib, command.build_temp = str(scratch / "lib"), str(scratch / "temp")
                command.parallel = os.cpu_count()
                command.ensure_finalized()
                command.run()
        except (BaseError, CompileError, OSError) as error:
            return _pure(str(error) or said.getvalue()[-300:])
        for path in sorted((scratch / "lib" / "periplus" / "places").iterdir()):
            shutil.copy2(path, FOLDER / path.name)
    STAMP.write_text(digest(), encoding="utf-8")
    return True


def _pure(why: str) -> bool:
    sys.stderr.write(f"periplus: the geoparser runs uncompiled, with the same results but slower: {why}\n")
    return False


if __name__ == "__main__":
    compile_kernel()
