"""Which evidence sends a URL to which node: the strategy asked again about the link of a page that the crawl has.

Where the page is archived it is read again, so that the link stands where it stood; else there are only its words, and
names around it are left out: a decision that hung on them alone then looks undecided.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from periplus.errors import BadContent, PlaceError
from periplus.index import unpack_mentions, unpack_text
from periplus.model import Fetched, Link, Located, Mention, Page
from periplus.pages import read_page
from periplus.places import Gazetteer, locate
from periplus.settings import CrawlSettings
from periplus.store.folder import NodeFolder
from periplus.store.recorded import archived_response
from periplus.strategies import BlendStrategy, HostPlaces, HostView, Known, Strategy
from periplus.strategies.hash import host_of
from periplus.strategies.hosts import NOTHING_SEEN
from periplus.strategies.protocol import NOTHING_KNOWN
from periplus.strategies.weighing import FEATURES

__all__ = ["Reasons", "host_view"]

MAX_SHOWN = 8
MET = "node that met the redirect"


class Reasons:
    """A crawl's strategy, to be asked about links."""

    def __init__(
        self, strategy: Strategy, gazetteer: Gazetteer, crawl: CrawlSettings, countries: tuple[str, ...] = ()
    ) -> None:
        self._strategy = strategy
        self._gazetteer = gazetteer
        self._crawl = crawl
        self._countries = countries

    def of(
        self, db: sqlite3.Connection, folder: NodeFolder, link: Link, parent: str, view: HostView
    ) -> list[dict[str, Any]]:
        """What speaks for which node when `parent`, a page of `folder`'s node, has the link; the strongest first."""
        page, located, address = self._page(db, folder.archive, parent)
        link = next((one for one in page.links if one.url == link.url), link)
        return self._asked(link, page, located, Known(address=address, node=folder.name), view)

    def of_seed(self, url: str) -> list[dict[str, Any]]:
        """What speaks for which node of a URL that no page led to."""
        return self._asked(Link(url, ""), Page(url, "", "", ()), Located(), NOTHING_KNOWN, NOTHING_SEEN)

    def of_redirect(self, url: str, node: str, view: HostView) -> list[dict[str, Any]]:
        """The same of the target of a redirect that `node` met, which keeps it unless the URL itself says something
        else (`Settling.redirected`)."""
        strategy, link, page = self._strategy, Link(url, ""), Page(url, "", "", ())
        stays = not strategy.by_url_alone
        if isinstance(strategy, BlendStrategy):
            terms = strategy.evidence((link,), page, Located())[0]
            stays = strategy.settle(host_of(url), terms, view).claims[0].reason == "no_place"
        if stays:
            return [{"node": node, "evidence": MET, "place": None}]
        return self._asked(link, page, Located(), NOTHING_KNOWN, view)

    def _asked(self, link: Link, page: Page, located: Located, known: Known, view: HostView) -> list[dict[str, Any]]:
        if not isinstance(self._strategy, BlendStrategy):
            claims = self._strategy.claims(link, page, located, known)
            return [
                {"node": claim.node, "evidence": claim.reason, "place": self._name(claim.target_id)} for claim in claims
            ]
        terms = self._strategy.evidence((link,), page, located, known)[0]
        places = {(self._strategy.owner_of(place), number): place for place, number, _ in reversed(terms)}
        same_host = host_of(link.url) == host_of(page.url)
        found = self._strategy.features(terms, view, (known.node, same_host))
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
        fetched = archived_response(archive / row[1], row[2], row[3]) if row[1] else None
        page = self._read_again(fetched) if fetched is not None else None
        address = fetched.address if fetched is not None else ""
        if page is not None:  # with its furniture, which is not in the text that is kept
            return page, self._located(page), address
        text = unpack_text(row[4])
        return Page(url, row[0], text, ()), self._kept(text, unpack_mentions(row[5])), address

    def _located(self, page: Page) -> Located:
        """The places of a page, as the crawl found them (`analysis.examine`)."""
        return locate(
            page.text,
            self._gazetteer,
            url=page.url,
            hints=page.hints,
            candidates=False,
            outlined=False,
            about=self._countries,
            furniture=page.furniture,
            language=page.language,
        )

    def _read_again(self, fetched: Fetched) -> Page | None:
        """An archived page with its links, as the crawl read it; None if it cannot be read."""
        crawl = self._crawl
        try:
            return read_page(fetched, max_links=crawl.page_links, window_tokens=crawl.anchor_window)
        except BadContent:
            return None

    def _kept(self, text: str, rows: Iterable[tuple[int, int, int, float]]) -> Located:
        mentions = []
        for start, end, place_id, confidence in rows:
            with suppress(PlaceError):  # of another gazetteer
                mentions.append(Mention(start, end, text[start:end], self._gazetteer.place(place_id), confidence))
        return Located(mentions=tuple(mentions))


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
