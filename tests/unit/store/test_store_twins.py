"""The same text under several URLs of a host: the best of them is kept, whichever came first."""

from itertools import permutations
from pathlib import Path

import pytest
import zstandard
from crawl_values import analysis, fetched, new_url, open_store, routed
from msgspec.structs import replace

from periplus.model import Outcome
from periplus.store.checks import check_archive, check_pages
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.records import scan_records

BEST, INDEX, FROM, PRINT = (f"https://x.com/{path}" for path in ("flood", "flood/index.html", "flood?ref=rss", "p/1"))


def crawl(folder: Path, urls: list[str], named: dict[str, str], *, at_once: bool = False) -> NodeStore:
    """Pages that all say the same; `named` is what some of them say that their content is at."""
    store, batches = open_store(folder), [Batch()]
    for url in urls:
        links = [replace(routed(named[url], "main"), steps=0)] if url in named else []
        response = fetched(url, f"<p>Text<!-- {url} -->".encode())
        ((lease, _),) = store.commit(Batch(seeds=[new_url(url)])).queued
        outcome = Outcome.KEPT if url == urls[0] else Outcome.DUPLICATE
        page = replace(analysis(*links, response=response, digest=7), text=zstandard.compress(b"Text"))
        batches[-1].completions.append(Completion(lease, outcome, fetched=response, analysis=page))
        batches += [] if at_once else [Batch()]
    for batch in batches:
        store.commit(batch)
    return store


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("order", list(map(list, permutations([BEST, INDEX, FROM]))))
def test_the_best_url_stays_with_text_archive_and_accounts(tmp_path: Path, order: list[str], at_once: bool) -> None:
    store = crawl(tmp_path, order, {}, at_once=at_once)
    rows = store.db.execute("SELECT url, outcome, warc_file, warc_offset FROM page WHERE kept = 1").fetchall()
    assert [row[:2] for row in rows] == [(BEST, "kept")]
    assert dict(store.db.execute("SELECT outcome, count(*) FROM progress GROUP BY outcome")) == {
        "kept": 1,
        "duplicate": 2,
    }
    assert dict(store.db.execute("SELECT name, count FROM outcome")) == {"kept": 1, "duplicate": 2}
    assert store.db.execute("SELECT url FROM page JOIN page_text t ON t.page_id = page.id").fetchall() == [(BEST,)]
    records = {record.offset: record for record in scan_records(store.folder.archive / rows[0][2])}
    assert records[rows[0][3]].url == BEST
    assert not check_pages(store.folder, store.db, repair=False)
    assert not check_archive(store.folder, store.db, repair=False)[1]
    latest = store.db.execute("SELECT url FROM page ORDER BY revision").fetchall()
    assert order[-1] == latest[-1][0], "indexes take notice of the page that comes, after the one that goes"


@pytest.mark.parametrize("order", [[BEST, PRINT], [PRINT, BEST]])
def test_a_page_that_names_another_url_is_worse_than_the_one_it_names(tmp_path: Path, order: list[str]) -> None:
    store = crawl(tmp_path, order, {PRINT: BEST})
    assert store.db.execute("SELECT url FROM page WHERE kept = 1").fetchall() == [(BEST,)]


def test_of_two_hosts_the_first_stays(tmp_path: Path) -> None:
    store = crawl(tmp_path, ["https://mirror.x.com/flood", "https://x.com/flood"], {})
    assert store.db.execute("SELECT url FROM page WHERE kept = 1").fetchall() == [("https://mirror.x.com/flood",)]
