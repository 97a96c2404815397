"""Pages of one host with exactly the same text: the one with the best URL is in the collection, whichever came first.

    /flood, /flood?print=1, /flood?ref=rss, /flood/index.html

All of them are asked for, since only their content shows that they are one page, and the first to come is kept. When
a better one comes it takes the other's place, in the commit that brings it: its text and archive record are at hand
then, and at no other time. So what a crawl ends with depends on the web and not on the order.
"""

import sqlite3

from periplus.model import Outcome
from periplus.urls import canonicalize

__all__ = ["give_way", "worse_twin"]

Rank = tuple[bool, bool, bool, int, str]
"""Of two URLs the better one has the lower rank."""


def worse_twin(db: sqlite3.Connection, url: str, digest: int, *, is_version: bool) -> int | None:
    """The kept page of the same host and text whose URL is worse than this one, if there is one.

    `is_version`: the page says itself that its content is at another URL (`rel="canonical"`).
    """
    row = db.execute(
        "SELECT p.id, p.url, ifnull(instr(l.steps, x'00'), 0) FROM page p LEFT JOIN link l ON l.page_id = p.id "
        "WHERE p.content_digest = ? AND p.kept = 1 LIMIT 1",
        (digest,),
    ).fetchone()
    if row is None:
        return None
    page_id, other, names_another = row
    return int(page_id) if _is_better(url, is_version, other, names_another > 0) else None


def give_way(db: sqlite3.Connection, page_id: int, revision: int) -> None:
    """The page is a duplicate from now on, as if it had come later; what it has in the archive stays there."""
    db.execute("DELETE FROM page_text WHERE page_id = ?", (page_id,))
    db.execute(
        "UPDATE page SET outcome = ?, kept = 0, revision = ? WHERE id = ?", (Outcome.DUPLICATE, revision, page_id)
    )
    db.execute(
        "UPDATE progress SET outcome = ? WHERE id = (SELECT url_id FROM page WHERE id = ?)",
        (Outcome.DUPLICATE, page_id),
    )


def _is_better(url: str, is_version: bool, other: str, other_is_version: bool) -> bool:
    """Whether a URL is better than another one of its host."""
    one, two = canonicalize(url), canonicalize(other)
    if one is None or two is None or one.host != two.host:
        return False
    ranks: list[Rank] = [
        (named, bool(parts.query), parts.scheme != "https", len(parts.href), parts.href)
        for parts, named in ((one, is_version), (two, other_is_version))
    ]
    return ranks[0] < ranks[1]
