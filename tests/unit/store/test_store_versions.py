"""Versions of a page: print views and the like leave a collection that has the page itself, and nothing else does."""

import random
from itertools import permutations
from pathlib import Path

import pytest
import zstandard
from crawl_values import analysis, fetched, new_url, open_store, routed
from msgspec.structs import replace

from periplus.model import Outcome
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.versions import leave_out_versions
from periplus.urls import fingerprint

NODES = ("a", "b")
STORY = " ".join(random.Random(1).choices(["river", "flood", "bridge", "council", "school", "storm"], k=150))
OTHER = " ".join(random.Random(2).choices(["tea", "wine", "bread", "cheese", "apple", "pear"], k=150))

Pages = dict[str, tuple[str, str]]  # URL -> the text, and the URL that it names


def crawl(folder: Path, pages: Pages, order: list[str] | None = None) -> tuple[set[str], list[NodeStore]]:
    """What is kept of pages, the first of every two URLs at one node and the second at the other."""
    stores = [open_store(folder, node=name, nodes=NODES) for name in NODES]
    for url in order or list(pages):
        text, named = pages[url]
        store = stores[list(pages).index(url) % 2]
        links = [routed("http://x.com/other", "a"), replace(routed(named, "a"), steps=0)] if named else []
        page = replace(analysis(*links, digest=fingerprint(url)), text=zstandard.compress(text.encode()))
        ((lease, _),) = store.commit(Batch(seeds=[new_url(url)])).queued
        store.commit(Batch(completions=[Completion(lease, Outcome.KEPT, fetched=fetched(url), analysis=page)]))
    leave_out_versions(stores)
    return kept(stores), stores


def kept(stores: list[NodeStore]) -> set[str]:
    return {url for store in stores for (url,) in store.db.execute("SELECT url FROM page WHERE kept = 1")}


BEST, PRINT, AMP = "http://x.com/a", "http://x.com/a?print=1", "http://x.com/a/amp"


@pytest.mark.parametrize("order", list(map(list, permutations([BEST, PRINT, AMP]))))
def test_of_several_versions_the_one_they_name_stays_whatever_came_first(tmp_path: Path, order: list[str]) -> None:
    pages = {BEST: (f"Menu {STORY}", ""), PRINT: (f"{STORY} Printed from x", BEST), AMP: (STORY, BEST)}
    left, stores = crawl(tmp_path, pages, order)
    assert left == {BEST}
    for store in stores:
        accounts = dict(store.db.execute("SELECT name, count FROM outcome"))
        ended = dict(store.db.execute("SELECT outcome, count(*) FROM known_url GROUP BY outcome"))
        assert {name: number for name, number in accounts.items() if number} == ended
        assert store.db.execute("SELECT count(*) FROM page_text").fetchone()[0] == ended.get("kept", 0)
    assert leave_out_versions(stores) == 0, "once is enough"


@pytest.mark.parametrize(
    "pages",
    [
        {BEST: (STORY, ""), PRINT: (OTHER, BEST)},
        {BEST: (STORY[:200], ""), PRINT: (STORY, BEST)},
        {BEST: (STORY, ""), PRINT: (STORY, "http://x.com/nowhere")},
        {BEST: ("", ""), PRINT: ("", BEST)},
    ],
    ids=["another text", "says more than the one it names", "names what is not kept", "no text"],
)
def test_what_says_something_of_its_own_stays(tmp_path: Path, pages: Pages) -> None:
    assert crawl(tmp_path, pages)[0] == set(pages)


def test_a_text_that_cannot_be_unpacked_is_nobodys_version(tmp_path: Path) -> None:
    left, stores = crawl(tmp_path, {BEST: (STORY, ""), PRINT: (OTHER, BEST)})
    stores[1].db.execute("UPDATE page_text SET text = x'00112233'")
    assert leave_out_versions(stores) == 0
    assert kept(stores) == left


def test_of_pages_that_name_each_other_one_stays(tmp_path: Path) -> None:
    left, _ = crawl(tmp_path, {BEST: (STORY, PRINT), PRINT: (STORY, AMP), AMP: (STORY, BEST)})
    assert len(left) == 1


def test_what_was_left_out_has_a_new_revision_so_that_indexes_take_notice(tmp_path: Path) -> None:
    _, stores = crawl(tmp_path, {BEST: (STORY, ""), "http://x.com/b": (OTHER, ""), PRINT: (STORY, BEST)})
    rows = stores[0].db.execute("SELECT url, outcome FROM page ORDER BY revision").fetchall()
    assert rows[-1] == (PRINT, "duplicate")
