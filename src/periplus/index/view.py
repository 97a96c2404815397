"""An index in a folder that cannot be written to, seen through a folder of links.

Who reads an index of tantivy locks a file beside it, which a read-only file system does not let be made. So its files
are linked to from a folder of our own, and the lock lies there. Nobody sweeps away what we read: whoever could write
to the folder itself holds the lock there.
"""

import os
import shutil
import tempfile
import weakref
from pathlib import Path

__all__ = ["View", "can_be_written"]


def can_be_written(folder: Path) -> bool:
    """Whether files can be made in a folder, by this user and on its file system."""
    return os.access(folder, os.W_OK)


class View:
    """A folder of links to the files of an index; it goes with this object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.path = Path(tempfile.mkdtemp(prefix="periplus-index-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.look()

    def look(self) -> None:
        """Link to what is new."""
        for file in self._folder.iterdir():
            link = self.path / file.name
            if file.suffix != ".lock" and not link.is_symlink():
                link.symlink_to(file)
