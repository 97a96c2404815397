"""The life of a URL. Everything about states and transitions is in this file.

    unknown ──accepted──▶ QUEUED ──lease──▶ (leased) ──outcome──▶ DONE
                          ▲    ▲                │
                          │    └──── RETRY ─────┤
                          └──due── WAITING ◀────┘ read, in a crawl that revisits

Rules:
1. A URL is accepted once: the seen-set answers before anything else, and forgets nothing.
2. A lease is held in memory only. On disk a leased URL is still QUEUED, so the death of the process gives
   every lease back by itself, and the folder's lock makes sure that only one process holds leases.
3. The only way to DONE or WAITING is the transaction that also writes what the URL brought (`store/commit.py`).
4. Every lease ends in exactly one outcome. RETRY queues the URL again; every other outcome is final for this visit.
5. A lease names its owner (the node), its epoch and its deadline. Each lease of a node has a new epoch; an end of a
   lease that the node does not hold any more, by its epoch, has no effect. A lease that is not ended by its deadline
   is ended for it.
6. A URL that is WAITING is queued again when its time has come. It does not keep a crawl from ending.
"""

from enum import IntEnum

from periplus.model import Outcome

__all__ = ["UrlState", "state_after"]


class UrlState(IntEnum):
    """States as they stand in the database (`progress.state`); a URL without a row there is QUEUED."""

    QUEUED = 0
    DONE = 1
    WAITING = 2


def state_after(outcome: Outcome, *, again: bool = False) -> UrlState:
    """Where a leased URL goes when its lease ends with `outcome`; `again`: it is to be visited once more."""
    if outcome is Outcome.RETRY:
        return UrlState.QUEUED
    return UrlState.WAITING if again else UrlState.DONE
