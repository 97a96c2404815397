"""The collection that is served, which grows when tasks begin new crawls."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.search import Collection
from periplus.search.atlas import PlaceNames
from periplus.search.remote import ClusterLink

__all__ = ["Shelf"]

RETIRE_SECONDS = 60.0
"""How long a collection that was replaced stays open for questions under way."""


class Shelf:
    """Holds the open collection; `sync` replaces it when there are other crawls to show."""

    def __init__(
        self,
        folders: Sequence[Path],
        names: PlaceNames | None = None,
        further: Callable[[], list[Path]] | None = None,
        *,
        collection: Collection | None = None,
        link: ClusterLink | None = None,
    ) -> None:
        """`further`: crawls beside the given ones, asked anew each time. `link`: a cluster whose crawl is shown too."""
        self._link = link
        self._elsewhere = link.shards() if link else []
        self._folders = [Path(folder) for folder in folders]
        self._names = names
        self._further = further
        self._retired: list[tuple[float, Collection]] = []
        self._shown = self._wanted() if collection is None else [folder.path for folder in collection.folders]
        self.collection = collection or self._opened(self._shown)

    def _wanted(self) -> list[Path]:
        found = [*self._folders, *(self._further() if self._further else [])]
        return list(dict.fromkeys(path.absolute() for path in found))

    def _opened(self, folders: Sequence[Path]) -> Collection:
        if folders:
            return Collection.open(folders, names=self._names, further=self._elsewhere)
        empty = Collection([], self._elsewhere, self._names)
        empty.refresh()
        return empty

    def sync(self) -> None:
        """Take in new crawls and new pages."""
        now = time.monotonic()
        while self._retired and now - self._retired[0][0] > RETIRE_SECONDS:
            self._retired.pop(0)[1].close()
        if self._further is not None and (wanted := self._wanted()) != self._shown:
            wanted = [path for path in wanted if (path / "crawl.toml").is_file()]
            try:
                opened = self._opened(wanted)
            except PeriplusError:  # a crawl that has only just begun: next time
                return
            self._retired.append((now, self.collection))
            self.collection, self._shown = opened, wanted
            return
        self.collection.refresh()

    def close(self) -> None:
        """Close all that is open."""
        for _, collection in self._retired:
            collection.close()
        self.collection.close()
        if self._link is not None:
            self._link.close()
