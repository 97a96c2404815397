"""Files that commands read, and files that are there whole or not at all."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from periplus.errors import UsageError

__all__ = ["read_input", "target_file", "target_folder", "write_whole"]


def read_input(path: str) -> bytes:
    """What a file or, for `-`, the standard input has. Who gives a text in place of a file is told how to."""
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        hint = "; a text comes by standard input: echo 'Floods hit Sylhet.' | periplus …" if " " in path.strip() else ""
        raise UsageError(f"cannot read {path}: {error.strerror}{hint}") from None


def target_file(path: Path) -> Path:
    """Where a file of that name is to be written: links are followed, and what is there must be a regular file.

    Whoever renames a draft to it would put a file in the place of a link, a pipe or a device.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            what = "a folder" if target.is_dir() else "a pipe or a device"
            raise UsageError(f"{path} is {what}, not a file; name a file to write")
    except RuntimeError:
        raise UsageError(f"{path} is a link that leads to itself; name a file to write") from None
    return target


def target_folder(path: Path) -> Path:
    """The path of a folder that is there or can be made; UsageError if it or one above it is a file."""
    with suppress(PermissionError):  # whoever makes it says so
        there = next(one for one in (path, *path.parents) if one.exists())
        if not there.is_dir():
            raise UsageError(f"{there} is a file, not a folder; name another folder, or move the file away")
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` in the place of what stands there, also when the power fails or another process does the same.

    Every process writes a draft of its own: with one name for all, whoever was second would find it renamed away.
    """
    path = target_file(path)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
