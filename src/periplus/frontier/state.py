"""The life of a URL. Everything about states and transitions is in this file.

    unknown ──accepted──▶ QUEUED ──lease──▶ (leased) ──outcome──▶ DONE
                            ▲                   │
                            └──── RETRY ────────┘

Rules:
1. A URL is accepted once: the seen-set answers before anything else, and forgets nothing.
2. A lease is held in memory only. On disk a leased URL is still QUEUED, so the death of the process gives
   every lease back by itself, and the folder's lock makes sure that only one process holds leases.
3. The only way to DONE is the transaction that also writes what the URL brought (`store/commit.py`).
4. Every lease ends in exactly one outcome. RETRY queues the URL again; every other outcome is final.
"""

from enum import IntEnum

from periplus.model import Outcome

__all__ = ["UrlState", "state_after"]


class UrlState(IntEnum):
    """States as they stand in the database (`url.state`)."""

    QUEUED = 0
    DONE = 1


def state_after(outcome: Outcome) -> UrlState:
    """Where a leased URL goes when its lease ends with `outcome`."""
    return UrlState.QUEUED if outcome is Outcome.RETRY else UrlState.DONE
