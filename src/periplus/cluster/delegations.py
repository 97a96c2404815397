"""What delegation remembers, for all machines of a crawl: who has which subnet, and what was measured for that.

A subnet is decided by the first machine that comes upon it. The others find the decision in the key-value store, and
learn from its probes what they would have had to ask for themselves.
"""

import contextlib

from msgspec import Struct
from msgspec.structs import replace

from periplus.cluster.records import Board, key_of
from periplus.errors import EnvironmentFailure
from periplus.exchange.connection import Temporary
from periplus.network.memory import Delegation, Measurement

__all__ = ["SharedDelegations"]

PREFIX = "near"


class _Kept(Struct, frozen=True):
    """A decision with its measurements; without a decision the subnet is nobody's."""

    delegation: Delegation | None
    measured: tuple[Measurement, ...] = ()

    @property
    def decided_at(self) -> float:
        return self.delegation.decided_at if self.delegation is not None else 0.0


class SharedDelegations:
    """Delegations in a crawl's bucket (`network.memory.DelegationStore`).

    When NATS does not answer, a decision holds for the process that made it.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._all: list[_Kept] | None = None

    async def _entries(self) -> list[_Kept]:
        if self._all is None:
            self._all = await self._board.entries(PREFIX, _Kept)
        return self._all

    async def delegations(self) -> list[Delegation]:
        """All that are kept, the oldest first."""
        found = [kept.delegation for kept in await self._entries() if kept.delegation is not None]
        return sorted(found, key=lambda one: (one.decided_at, one.subnet))

    async def measurements(self) -> list[Measurement]:
        """All that are kept, the oldest first."""
        found = [one for kept in await self._entries() for one in kept.measured]
        return sorted(found, key=lambda one: (one.at, one.address, one.node))

    async def find(self, group: str, subnet: str) -> tuple[Delegation, list[Measurement]] | None:
        """What any machine has decided about a subnet."""
        with contextlib.suppress(Temporary, EnvironmentFailure):
            found = await self._board.get(_key(group, subnet), _Kept)
            if found is not None and found[0].delegation is not None:
                return found[0].delegation, list(found[0].measured)
        return None

    async def keep(self, delegation: Delegation, measured: list[Measurement]) -> Delegation:
        """Keep a decision, unless a later one is there: that holds."""
        mine, key = _Kept(delegation, tuple(measured)), _key(delegation.group, delegation.subnet)
        with contextlib.suppress(Temporary, EnvironmentFailure):
            if await self._board.create(key, mine) is not None:
                return delegation
            while (found := await self._board.get(key, _Kept)) is not None:
                kept, revision = found
                if kept.delegation is not None and _holds(kept.delegation, delegation):
                    return kept.delegation
                both = {(one.address, one.node): one for one in (*kept.measured, *measured)}
                if await self._board.replace(key, replace(mine, measured=tuple(both.values())), revision) is not None:
                    break
        return delegation

    async def forget(self, group: str, subnet: str) -> None:
        """The subnet is nobody's."""
        with contextlib.suppress(Temporary):
            await self._board.put(_key(group, subnet), _Kept(None))


def _key(group: str, subnet: str) -> str:
    return f"{PREFIX}.{key_of(f'{group} {subnet}')}"


def _holds(kept: Delegation, new: Delegation) -> bool:
    """Of two decisions the later one; of two machines that decided at the same time the one whose node comes first."""
    return (kept.decided_at, new.node) > (new.decided_at, kept.node)
