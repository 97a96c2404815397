"""Which evidence sends a URL to which node: the strategy asked again, with what a crawl keeps of the linking page.

A crawl keeps a page's text, its mentions and what its links say, but not where in the text each link stands; so names
around a link are left out here, and a decision that hung on them alone looks undecided.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from periplus.errors import PlaceError
from periplus.index import unpack_mentions, unpack_text
from periplus.model import Link, Located, Mention, Page
from periplus.places import Gazetteer
from periplus.strategies import BlendStrategy, HostPlaces, HostView, Strategy
from periplus.strategies.weighing import FEATURES

__all__ = ["Reasons", "host_view"]

MAX_SHOWN = 8


class Reasons:
    """A crawl's strategy, to be asked about links."""

    def __init__(self, strategy: Strategy, gazetteer: Gazetteer) -> None:
        self._strategy = strategy
        self._gazetteer = gazetteer

    def of(self, db: sqlite3.Connection, link: Link, parent: str, view: HostView) -> list[dict[str, Any]]:
        """What speaks for which node when `parent` has the link; the strongest first."""
        page, located = self._page(db, parent)
        if not isinstance(self._strategy, BlendStrategy):
            claims = self._strategy.claims(link, page, located)
            return [
                {"node": claim.node, "evidence": claim.reason, "place": self._name(claim.target_id)} for claim in claims
            ]
        terms = self._strategy.evidence((link,), page, located)[0]
        places = {(self._strategy.owner_of(place), number): place for place, number, _ in reversed(terms)}
        found = self._strategy.features(terms, view, ("", False))
        weighed = [
            (self._strategy.weights[number] * value, node, number, places.get((node, number)))
            for node, features in found.items()
            for number, value in features.items()
        ]
        weighed.sort(key=lambda one: (-abs(one[0]), one[2]))
        return [
            {"node": node or "general", "evidence": FEATURES[number], "place": self._name(place), "weight": round(w, 3)}
            for w, node, number, place in weighed[:MAX_SHOWN]
            if w
        ]

    def _name(self, place_id: int | None) -> str | None:
        if place_id is None:
            return None
        try:
            return " / ".join(self._gazetteer.place(place_id).path[2:])
        except PlaceError:
            return None

    def _page(self, db: sqlite3.Connection, url: str) -> tuple[Page, Located]:
        """The linking page as the crawl keeps it; without text if it was not kept."""
        row = db.execute(
            "SELECT p.title, t.text, t.mentions FROM page p LEFT JOIN page_text t ON t.page_id = p.id WHERE p.url = ?",
            (url,),
        ).fetchone()
        if row is None or row[1] is None:
            return Page(url, row[0] if row else "", "", ()), Located()
        text = unpack_text(row[1])
        return Page(url, row[0], text, ()), Located(mentions=tuple(self._mentions(text, unpack_mentions(row[2]))))

    def _mentions(self, text: str, rows: Iterable[tuple[int, int, int, float]]) -> Iterable[Mention]:
        for start, end, place_id, confidence in rows:
            try:
                yield Mention(start, end, text[start:end], self._gazetteer.place(place_id), confidence)
            except PlaceError:  # of another gazetteer
                continue


def host_view(databases: Iterable[sqlite3.Connection], host: str) -> HostView:
    """What the crawl's pages of a host are about, over all nodes."""
    hosts = HostPlaces()
    for db in databases:
        pages = db.execute(
            "SELECT p.id FROM page p JOIN url u ON u.id = p.url_id JOIN host h ON h.id = u.host_id WHERE h.name = ?",
            (host,),
        ).fetchall()
        for (page,) in pages:
            places = db.execute("SELECT place_id, weight FROM page_place WHERE page_id = ?", (page,)).fetchall()
            owners = db.execute("SELECT owner FROM entity WHERE page_id = ? AND owner IS NOT NULL", (page,)).fetchall()
            hosts.learn(host, places, [owner for (owner,) in owners])
    return hosts.view(host)
