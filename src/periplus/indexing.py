"""The indexes of a running crawl: brought up to what is committed now and then, and at its end."""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from periplus.clock import Clock
from periplus.index.process import IndexProcess
from periplus.memory import give_memory_back
from periplus.node import Node
from periplus.running import Journal, Progress

__all__ = ["Indexing", "pause_before"]

INDEX_SECONDS, MOST_INDEX_SECONDS = 30.0, 60.0
"""Pause between two rounds: the first, then twice as long after every round, up to the second. A page that is indexed
before most links to it are known is indexed twice, and early pages are such. Who searches brings the index up to date
anyway."""

PAGES_WORTH_A_ROUND = 400
"""Towards the end of a crawl a pause is a quarter of what is left of it, since whoever waits for the end waits for the
last round; but no shorter than it takes to bring as many pages as are worth a commit of the index."""


class Indexing:
    """Feeds the process that indexes. One thread waits for it, so rounds never overlap."""

    def __init__(
        self, nodes: Mapping[str, Node], written: Callable[..., Awaitable[None]], clock: Clock, journal: Journal
    ) -> None:
        """`written` calls a function in a thread, again and again while there is no room on the disk."""
        self._nodes = nodes
        self._written = written
        self._clock = clock
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="periplus-indexer")
        self._indexes = IndexProcess()

    def start(self) -> None:
        """Have the process made."""
        self._indexes.start()

    def close(self) -> None:
        """End it, whatever it does."""
        self._indexes.close()
        self._thread.shutdown()

    async def keep_up(self, progress: Callable[[], Progress]) -> None:
        """Round after round, until cancelled."""
        pause = INDEX_SECONDS
        while True:
            await self._clock.sleep(pause)
            await self.bring_up_to_date(again=False)
            pause = pause_before(progress(), min(MOST_INDEX_SECONDS, 2 * pause))

    async def bring_up_to_date(self, *, again: bool) -> None:
        """One round over all nodes.

        `again`: also pages that were indexed before most links to them were known; at the end.
        """
        await self._written(self._thread, self._update, again)

    def _update(self, again: bool) -> None:
        for node in list(self._nodes.values()):
            if reason := self._indexes.update(node.store.folder, again=again):
                self._journal.write("index built anew", node=node.name, reason=reason)
        give_memory_back()


def pause_before(now: Progress, usual: float) -> float:
    """How many seconds the next round waits: the usual ones, or fewer where the crawl may end soon."""
    if not now.rate:
        return usual
    left = now.queued / now.rate if now.left_seconds is None else min(now.queued / now.rate, now.left_seconds)
    return min(usual, max(left / 4, PAGES_WORTH_A_ROUND / now.rate))
