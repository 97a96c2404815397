"""What tantivy says when something is wrong, as errors of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import Corrupt, DiskFull, EnvironmentFailure, FolderInUse, PeriplusError
from periplus.store.database import read_only, storage_errors

__all__ = ["index_errors"]


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """tantivy says everything with ValueError, whose text tells what it is; of a damaged index it may panic."""
    try:
        with storage_errors(path):
            yield
    except ValueError as error:
        raise _translated(error, path) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # cannot be imported
            raise Corrupt(f"{path}: the index is damaged; delete this folder and it is built anew") from error
        raise


def _translated(error: ValueError, path: Path) -> PeriplusError:
    text = str(error)
    if "LockBusy" in text:
        return FolderInUse(f"{path}: another process is writing this index; try again later")
    if "No space left" in text or "StorageFull" in text:
        return DiskFull(f"{path}: no room left on the disk; free some and run the same command again")
    if "Read-only" in text:
        return read_only(path)
    if "Permission denied" in text or "PermissionDenied" in text:
        return EnvironmentFailure(f"{path}: the index cannot be written: permission denied")
    return Corrupt(f"{path}: the index cannot be read ({text[:100]}); delete this folder and it is built anew")
