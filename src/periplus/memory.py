"""Memory that is free is given back: the C library keeps it, for each thread on its own, and a crawl has several.

Without this a long crawl holds twice the memory that it uses. Where the C library is another one, nothing happens.
"""

import ctypes
import sys

__all__ = ["give_memory_back", "keep_memory_together"]

_ARENA_MAX = -8
_ARENAS = 2


def keep_memory_together() -> None:
    """Have the threads that are started from now on share their memory; call it before there are any."""
    library = _c_library()
    if library is not None:
        library.mallopt(_ARENA_MAX, _ARENAS)


def give_memory_back() -> None:
    """Return what is free to the system; takes a few milliseconds."""
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)


def _c_library() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if library is not None and hasattr(library, "malloc_trim") else None
