"""Compile the inner loops in place; without Cython or a C compiler they run as plain Python instead.

    python scripts/compile_kernel.py

`make setup` runs this whenever the sources changed, and building a wheel runs it as hatchling's hook. PERIPLUS_PURE=1
leaves everything uncompiled. The results are the same either way; only the time differs.
"""

import contextlib
import hashlib
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "periplus"
STAMP = PACKAGE / "compiled.txt"
BORROWED = re.compile(r"^from periplus\.([\w.]+) cimport", re.MULTILINE)
DIRECTIVES = {
    "language_level": 3, "annotation_typing": False, "infer_types": True, "boundscheck": False, "wraparound": False,
    "cdivision": True, "initializedcheck": False, "cpow": True, "show_performance_hints": False,
}  # fmt: skip
# Fused multiplication would round otherwise than Python does; loops without branches are taken several turns at once
# only if nobody waits for floating-point traps, which change no result.
FLAGS = ["-O3", "-ffp-contract=off", "-fno-trapping-math"]


class KernelHook(BuildHookInterface[Any]):
    """Compiles before a wheel is packed; the wheel is then one for this platform."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's signature
        """Compile, and tell hatchling what came of it."""
        if self.target_name == "wheel" and compile_kernel():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"] += [str(path.relative_to(SOURCE.parent)) for path in built()]


def modules() -> list[Path]:
    """What is compiled: every module that has a file of C types beside it."""
    return sorted(types.with_suffix(".py") for types in PACKAGE.glob("*/*.pxd"))


def digest(source: Path) -> str:
    """Names what a module is compiled from: its source, the C types it may use, and the compiler's flags.

    That is those of its room, and of modules of other rooms that its own types name.
    """
    named = BORROWED.findall(source.with_suffix(".pxd").read_text(encoding="utf-8"))
    borrowed = {PACKAGE.joinpath(*name.split(".")).with_suffix(".pxd") for name in named}
    parts = [source, *sorted(borrowed.union(source.parent.glob("*.pxd")))]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts) + " ".join(FLAGS).encode()).hexdigest()


def digests() -> dict[str, str]:
    """The digests of all modules, by name."""
    return {str(source.relative_to(PACKAGE)): digest(source) for source in modules()}


def built() -> list[Path]:
    """The compiled modules that lie beside their sources."""
    return sorted(path for ending in ("so", "pyd") for path in PACKAGE.glob(f"*/*.{ending}"))


def compile_kernel() -> bool:
    """Compile all modules that changed, or none; whether all are compiled now."""
    changed = _clear_changed()
    if os.environ.get("PERIPLUS_PURE") == "1":
        return _pure("PERIPLUS_PURE=1")
    if not changed:
        return _stamped()
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
                found = [
                    Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=FLAGS)
                    for path in (source.relative_to(SOURCE) for source in changed)
                ]
                translated = cythonize(
                    found, compiler_directives=DIRECTIVES, build_dir=name, force=True, nthreads=os.cpu_count() or 1
                )
                command = build_ext(Distribution({"ext_modules": translated}))
                command.build_lib, command.build_temp = str(scratch / "lib"), str(scratch / "temp")
                command.parallel = os.cpu_count()
                command.ensure_finalized()
                command.run()
        except (BaseError, CompileError, OSError) as error:
            return _pure(str(error) or said.getvalue()[-300:])
        for path in sorted((scratch / "lib").glob("periplus/*/*.*")):
            shutil.copy2(path, SOURCE / path.relative_to(scratch / "lib"))
    return _stamped()


def _stamped() -> bool:
    STAMP.write_text("".join(f"{name} {made}\n" for name, made in digests().items()), encoding="utf-8")
    return True


def _clear_changed() -> list[Path]:
    """Remove what is compiled from other sources than there are now; the modules that have to be compiled."""
    lines = STAMP.read_text(encoding="utf-8").splitlines() if STAMP.exists() else []
    stamped = {name: made for name, _, made in (line.partition(" ") for line in lines)}
    pure = os.environ.get("PERIPLUS_PURE") == "1"
    now = {} if pure else digests()
    STAMP.unlink(missing_ok=True)
    there = set()
    for old in built():
        name = str((old.parent / f"{old.name.partition('.')[0]}.py").relative_to(PACKAGE))
        if name in now and stamped.get(name) == now[name]:
            there.add(name)
        else:
            old.unlink()
    return [source for source in modules() if str(source.relative_to(PACKAGE)) not in there]


def _pure(why: str) -> bool:
    for path in built():  # all or none: compiled modules call each other as such
        path.unlink()
    sys.stderr.write(f"periplus: the inner loops run uncompiled, with the same results but slower: {why}\n")
    return False


if __name__ == "__main__":
    compile_kernel()
