"""Versions of one page: print views, AMP pages, a wiki's redirects, addresses with what led there (`?from=`).

A page that names another URL of its site as the one its content is at (`rel="canonical"`) links there with a step of
no depth, which is how `link.steps` knows it (`analysis.py`). When a crawl ends, a page leaves the collection if
the page that it names is in it and says what it says. Which of them came first does not count, and a page that names
one that was not kept, or one with another text, stays: what sites say here is often wrong (decision 14).
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import zstandard

from periplus.frontier import UrlState
from periplus.model import Outcome
from periplus.store.accounts import count
from periplus.store.commit import NodeStore
from periplus.store.database import transaction

__all__ = ["leave_out_versions"]

PIECE = 16
"""Characters that two texts have in common where they have anything: the same number in every language."""

MOST_CHARACTERS = 50_000
SAID_SHARE = 0.8
"""A print view has a line or two of its own."""

MARK_BYTES = 8


class _Page(NamedTuple):
    store: NodeStore
    page_id: int


def leave_out_versions(stores: Iterable[NodeStore]) -> int:
    """Leave out the pages that say no more than the page that they are versions of; how many."""
    nodes = list(stores)
    versions = sorted(found for store in nodes for found in _versions(store.db, nodes.index(store)))
    if not versions:
        return 0
    named = {mark for *_, mark in versions}
    kept: dict[int, _Page] = {}
    for store in nodes:
        for mark, page_id in store.db.execute("SELECT fingerprint, id FROM page WHERE kept = 1"):
            if mark in named:
                kept[mark] = _Page(store, page_id)
    left_out: dict[int, list[int]] = defaultdict(list)
    for own, number, page_id, mark in versions:
        best = kept.get(mark)
        if best is not None and _says_it_all(best, _Page(nodes[number], page_id)):
            kept.pop(own, None)  # two that name each other are not both left out
            left_out[number].append(page_id)
    for number, pages in left_out.items():
        _leave_out(nodes[number], pages)
    return sum(map(len, left_out.values()))


def _versions(db: sqlite3.Connection, number: int) -> list[tuple[int, int, int, int]]:
    """Kept pages that name another one: fingerprint, number of the node, page, fingerprint of the other one."""
    found = []
    for mark, page_id, marks, steps in db.execute(
        "SELECT p.fingerprint, p.id, l.fingerprints, l.steps FROM link l JOIN page p ON p.id = l.page_id "
        "WHERE instr(l.steps, x'00') > 0 AND p.kept = 1"
    ):
        at = steps.index(0) * MARK_BYTES
        found.append((mark, number, page_id, int.from_bytes(marks[at : at + MARK_BYTES], "little", signed=True)))
    return found


def _says_it_all(best: _Page, version: _Page) -> bool:
    """Whether one page says what the other one says; it may say more."""
    own, other = _pieces(version), _pieces(best)
    return bool(own) and len(own & other) >= SAID_SHARE * len(own)


def _pieces(page: _Page) -> set[str]:
    """All pieces of a page's text."""
    row = page.store.db.execute("SELECT text FROM page_text WHERE page_id = ?", (page.page_id,)).fetchone()
    try:
        plain = zstandard.ZstdDecompressor().decompressobj().decompress(row[0]) if row else b""
    except zstandard.ZstdError:  # `verify` says so
        plain = b""
    text = " ".join(plain.decode("utf-8", "replace")[:MOST_CHARACTERS].split())
    return {text[at : at + PIECE] for at in range(len(text) - PIECE + 1)}


def _leave_out(store: NodeStore, pages: list[int]) -> None:
    """They are duplicates from now on, as if their texts had been the same, and are not visited again."""
    with transaction(store.db, store.folder.database):
        for page_id in pages:
            store.db.execute("DELETE FROM page_text WHERE page_id = ?", (page_id,))
            store.db.execute(
                "UPDATE page SET outcome = ?, kept = 0, revision = (SELECT max(revision) + 1 FROM page) WHERE id = ?",
                (Outcome.DUPLICATE.value, page_id),
            )
            store.db.execute(
                "UPDATE progress SET state = ?, outcome = ?, not_before = 0, revisit_seconds = 0 "
                "WHERE id = (SELECT url_id FROM page WHERE id = ?)",
                (int(UrlState.DONE), Outcome.DUPLICATE.value, page_id),
            )
        count(store.db, "outcome", "name", Counter(kept=-len(pages), duplicate=len(pages)))
