"""robots.txt files that other machines of the crawl have read: each is asked of its origin once for all of them."""

import contextlib
from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct

from periplus.cluster.records import Board, key_of
from periplus.errors import EnvironmentFailure
from periplus.exchange.connection import Temporary
from periplus.fetch import RobotsRecord

__all__ = ["SharedRobots"]

MAX_SHARED_BYTES = 512 * 1024


class _Stored(Struct, frozen=True):
    origin: str
    status: str
    body: bytes
    fetched_at: float
    expires_at: float
    failures: int


class SharedRobots:
    """Looks up and tells; when NATS does not answer, the origin is asked itself."""

    def __init__(self, board: Board, is_ours_alone: Callable[[str], bool]) -> None:
        self._board = board
        self._is_ours_alone = is_ours_alone

    async def look(self, origin: str) -> RobotsRecord | None:
        """What another machine has read; only good files are passed on, failures are everybody's own."""
        if self._is_ours_alone(urlsplit(origin).hostname or ""):
            return None
        with contextlib.suppress(Temporary, EnvironmentFailure):
            found = await self._board.get(f"robots.{key_of(origin)}", _Stored, tries=1)
            if found is not None and found[0].origin == origin and found[0].status in ("found", "absent"):
                kept = found[0]
                return RobotsRecord(origin, kept.status, kept.body, kept.fetched_at, kept.expires_at)
        return None

    async def tell(self, record: RobotsRecord) -> None:
        """Pass on what was read, if it is worth it."""
        if record.status not in ("found", "absent") or len(record.body) > MAX_SHARED_BYTES:
            return
        kept = _Stored(record.origin, record.status, record.body, record.fetched_at, record.expires_at, 0)
        with contextlib.suppress(Temporary):
            await self._board.put(f"robots.{key_of(record.origin)}", kept)
