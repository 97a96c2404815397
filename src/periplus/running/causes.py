"""What ended a crawl, out of everything that went wrong when it did."""

from collections.abc import Iterator
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.store.database import storage_errors

__all__ = ["cause_of"]


def cause_of(error: BaseException, path: Path) -> PeriplusError | None:
    """What ended a crawl, in the words of our tree: the first that has any; the other errors followed from it."""
    leaves = list(_leaves(error))
    ours = next((leaf for leaf in leaves if isinstance(leaf, PeriplusError)), None)
    if ours is not None:
        return ours
    for leaf in leaves:
        try:
            with storage_errors(path):
                raise leaf
        except PeriplusError as found:
            return found
        except type(leaf):
            continue
    return None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The single errors in a group of groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
