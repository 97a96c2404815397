"""Site memory for a finished crawl: what a host's pages say of each other, whatever their order."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sample_collection import PLACES, SamplePage, SamplePlace, build_collection

from periplus.index import unpack_text
from periplus.model import Located
from periplus.places import Gazetteer, locate
from periplus.relocation import relocate_crawl
from periplus.search.shard import LocalShard
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder

PARIS_TEXAS, PARIS_FRANCE = 4717560, 2988507
TEXTS = {
    "http://lamar.example/1": "Schools in Paris, Texas, reopen. The Lamar County court in Paris, Texas, sat.",
    "http://lamar.example/2": "Roads to Bonham, Texas, and to Paris, Texas, were closed.",
    "http://lamar.example/3": "Police in Paris are looking for a man who robbed a bank in Paris on Monday.",
    "http://alone.example/1": "Police in Paris are looking for a man who robbed a bank in Paris on Monday.",
    "http://france.example/1": "Museums in Paris and in Lyon, France, open late. Trains leave Paris for Lille, France.",
    "http://france.example/2": "Cafés in Paris are full.",
}


def sample(url: str, gazetteer: Gazetteer) -> SamplePage:
    located = locate(TEXTS[url], gazetteer, url=url, candidates=False)
    for place in (w.place for w in located.footprint.places):
        PLACES.setdefault(
            place.id,
            SamplePlace(
                place.id, place.name, place.kind, place.country, place.admin1, place.point.lon, place.point.lat,
                place.population, place.path, place.ancestors,
            ),
        )  # fmt: skip
    return SamplePage(
        url, "News", TEXTS[url],
        places=tuple((w.place.id, w.weight) for w in located.footprint.places),
        mentions=tuple((m.start, m.end, m.place.id, round(m.confidence, 3)) for m in located.mentions if m.place),
    )  # fmt: skip


def crawl(root: Path, gazetteer: Gazetteer, order: list[str]) -> CrawlFolder:
    return build_collection(root, [sample(url, gazetteer) for url in order], nodes=("east", "west"))


Found = tuple[int | None, list[list[float]], list[tuple[int, float]]]


def footprints(folder: CrawlFolder) -> dict[str, Found]:
    """Everything the pass may change, by URL."""
    found: dict[str, Found] = {}
    for node in folder.nodes():
        with closing(open_reader(node.database)) as db:
            for page, url, main, mentions in db.execute(
                "SELECT p.id, p.url, p.main_place, t.mentions FROM page p JOIN page_text t ON t.page_id = p.id"
            ):
                rows = db.execute("SELECT place_id, round(weight, 6) FROM page_place WHERE page_id = ?", (page,))
                found[url] = (main, json.loads(unpack_text(mentions)), sorted(rows.fetchall()))
    return found


def meant(folder: CrawlFolder, url: str) -> set[float]:
    return {row[2] for row in footprints(folder)[url][1]}


def test_a_host_decides_what_its_pages_leave_open(gazetteer: Gazetteer, tmp_path: Path) -> None:
    folder = crawl(tmp_path, gazetteer, list(TEXTS))
    assert meant(folder, "http://lamar.example/3") == {PARIS_FRANCE}
    done = relocate_crawl(folder, gazetteer)
    assert (done.pages, done.changed) == (5, 1)
    assert meant(folder, "http://lamar.example/3") == {PARIS_TEXAS}
    assert meant(folder, "http://alone.example/1") == meant(folder, "http://france.example/2") == {PARIS_FRANCE}
    main, _, places = footprints(folder)["http://lamar.example/3"]
    assert main == PARIS_TEXAS
    assert [place for place, _ in places] == [PARIS_TEXAS]
    assert places[0][1] == pytest.approx(1.0)


def test_neither_order_nor_repetition_matters(gazetteer: Gazetteer, tmp_path: Path) -> None:
    one = crawl(tmp_path / "one", gazetteer, list(TEXTS))
    two = crawl(tmp_path / "two", gazetteer, list(TEXTS)[::-1])
    relocate_crawl(one, gazetteer)
    relocate_crawl(two, gazetteer)
    assert footprints(one) == footprints(two)
    before = footprints(one)
    assert relocate_crawl(one, gazetteer).changed == 0
    assert footprints(one) == before


def test_searches_see_the_new_place(gazetteer: Gazetteer, tmp_path: Path) -> None:
    folder = crawl(tmp_path, gazetteer, list(TEXTS))
    relocate_crawl(folder, gazetteer)
    found = set()
    for node in folder.nodes():
        with closing(open_reader(node.database)) as db:
            pages = [row[0] for row in db.execute("SELECT id FROM page WHERE url = 'http://lamar.example/3'")]
        if pages:
            with closing(LocalShard.open(node.name, node)) as shard:
                found |= {place for _, _, place, _ in shard.texts(pages[:1])[pages[0]][1]}
    assert found == {PARIS_TEXAS}


def test_pages_are_read_in_the_language_that_the_crawl_found(
    gazetteer: Gazetteer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words "Lage 2025" do not say their language; the page does, and in German it is no town."""
    text, heard = "Lage 2025", set[tuple[str, int]]()
    pages = [SamplePage(f"http://lage.example/{number}", "News", text, language="de") for number in (1, 2)]
    folder = build_collection(tmp_path, pages)

    def listening(*words: Any, **options: Any) -> Located:
        located = locate(*words, **options)
        heard.add((words[0], len(located.mentions)))
        return located

    monkeypatch.setattr("periplus.relocation.locate", listening)
    relocate_crawl(folder, gazetteer)
    assert heard == {(text, 0)}
