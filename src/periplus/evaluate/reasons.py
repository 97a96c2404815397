"""Which evidence sends a URL to which node: the strategy asked again about the link of a page that the crawl has.

Where the page is archived it is read again, so that the link stands where it stood; else there are only its words, and
names around it are left out: a decision that hung on them alone then looks undecided.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from periplus.errors import BadContent, PlaceError
from periplus.index import unpack_mentions, unpack_text
from periplus.model import Fetched, Link, Located, Mention, Page
from periplus.pages import read_page
from periplus.places import Gazetteer
from periplus.settings import CrawlSettings
from periplus.store.folder import NodeFolder
from periplus.store.recorded import archived_response
from periplus.strategies import BlendStrategy, HostPlaces, HostView, Known, Strategy
from periplus.strategies.hash import host_of
from periplus.strategies.weighing import FEATURES

__all__ = ["Reasons", "host_view"]

MAX_SHOWN = 8


class Reasons:
    """A crawl's strategy, to be asked about links."""

    def __init__(self, strategy: Strategy, gazetteer: Gazetteer, crawl: CrawlSettings) -> None:
        self._strategy = strategy
        self._gazetteer = gazetteer
        self._crawl = crawl

    def of(
        self, db: sqlite3.Connection, folder: NodeFolder, link: Link, parent: str, view: HostView
    ) -> list[dict[str, Any]]:
        """What speaks for which node when `parent`, a page of `folder`'s node, has the link; the strongest first."""
        page, located, address = self._page(db, folder.archive, parent)
        known = Known(address=address, node=folder.name)
        link = next((one for one in page.links if one.url == link.url), link)
        if not isinstance(self._strategy, BlendStrategy):
            claims = self._strategy.claims(link, page, located, known)
            return [
                {"node": claim.node, "evidence": claim.reason, "place": self._name(claim.target_id)} for claim in claims
            ]
        terms = self._strategy.evidence((link,), page, located, known)[0]
        places = {(self._strategy.owner_of(place), number): place for place, number, _ in reversed(terms)}
        same_host = host_of(link.url) == host_of(parent)
        found = self._strategy.features(terms, view, (folder.name, same_host))
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

    def _page(self, db: sqlite3.Connection, archive: Path, url: str) -> tuple[Page, Located, str]:
        """The linking page as the crawl keeps it, without text if it was not kept; and the address it came from."""
        row = db.execute(
            "SELECT p.title, p.warc_file, p.warc_offset, p.warc_length, t.text, t.mentions FROM page p "
            "LEFT JOIN page_text t ON t.page_id = p.id WHERE p.url = ?",
            (url,),
        ).fetchone()
        if row is None or row[4] is None:
            return Page(url, row[0] if row else "", "", ()), Located(), ""
        text = unpack_text(row[4])
        fetched = archived_response(archive / row[1], row[2], row[3]) if row[1] else None
        again = self._read_again(fetched) if fetched is not None else None
        page = again if again is not None and again.text == text else Page(url, row[0], text, ())
        located = Located(mentions=tuple(self._mentions(text, unpack_mentions(row[5]))))
        return page, located, fetched.address if fetched is not None else ""

    def _read_again(self, fetched: Fetched) -> Page | None:
        """An archived page with its links, as the crawl read it; None if it cannot be read."""
        crawl = self._crawl
        try:
            return read_page(fetched, max_links=crawl.page_links, window_tokens=crawl.anchor_window)
        except BadContent:
            return None

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
