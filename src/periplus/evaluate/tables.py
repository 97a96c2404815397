"""Tables for people: as wide as their terminal; in files and pipes wide enough that nothing is cut off."""

from periplus.printing import Console

__all__ = ["wide_console"]

FILE_COLUMNS = 200


def wide_console() -> Console:
    """Standard output for tables."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=FILE_COLUMNS)
