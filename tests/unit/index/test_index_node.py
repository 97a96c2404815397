"""The index of a node: complete, never double, crash-safe, small."""

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from sample_collection import PAGES, add_pages, build_collection, make_page

from periplus.errors import Corrupt, EnvironmentFailure, FolderInUse
from periplus.index import DayRange, IndexQuery, NodeIndex, TextUnit, node_index
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder

KEPT = sum(page.kept for page in PAGES)


@pytest.fixture
def node(tmp_path: Path) -> NodeFolder:
    return build_collection(tmp_path / "crawl", nodes=("all",)).node("all")


@pytest.fixture
def db(node: NodeFolder) -> Iterator[sqlite3.Connection]:
    connection = open_reader(node.database)
    yield connection
    connection.close()


def words(*texts: str) -> IndexQuery:
    return IndexQuery(required=tuple((TextUnit(text),) for text in texts))


@pytest.fixture
def index(node: NodeFolder, db: sqlite3.Connection) -> NodeIndex:
    index = NodeIndex.open(node.index)
    index.update(db)
    return index


def test_every_kept_page_is_found_once(index: NodeIndex) -> None:
    assert index.count(IndexQuery()) == KEPT
    assert len({hit.page for hit in index.top(IndexQuery(), 1000).hits}) == KEPT


def test_update_sees_only_news(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    assert index.update(db) == 0
    add_pages(node.database, [make_page(1000, title="Zeppelin over the ship channel")])
    assert index.update(db) == 1
    assert index.count(IndexQuery()) == KEPT + 1
    assert index.count(words("zeppelin")) == 1


def test_a_crawl_that_is_faster_does_not_keep_an_update_from_its_end(
    node: NodeFolder, db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_index, "BATCH_PAGES", 5)
    monkeypatch.setattr(node_index, "COMMIT_PAGES", 5)
    index, before = NodeIndex.open(node.index), page_count(node)
    further = iter(range(1000, 1020))

    def crawl_on(_done: int) -> None:
        add_pages(node.database, [make_page(number) for number in itertools.islice(further, 5)])

    assert index.update(db, crawl_on) == before
    assert index.update(db) == page_count(node) - before > 0
    assert index.update(db) == 0


def test_a_revisited_page_replaces_its_old_self(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    add_pages(node.database, [make_page(5, title="Submarine of the bayou")])
    index.update(db)
    assert index.count(IndexQuery()) == KEPT
    assert index.count(words("submarine")) == 1


def test_a_page_that_is_no_longer_kept_leaves(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    add_pages(node.database, [make_page(5, kept=False)])
    index.update(db)
    assert index.count(IndexQuery()) == KEPT - 1


def test_another_process_reads_what_was_committed(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    other = NodeIndex.open(node.index)
    add_pages(node.database, [make_page(1001)])
    index.update(db)
    assert other.count(IndexQuery()) == KEPT
    assert other.refresh()
    assert other.count(IndexQuery()) == KEPT + 1


def test_rebuild_gives_the_same_index(index: NodeIndex, db: sqlite3.Connection) -> None:
    assert index.rebuild(db) == len(PAGES)
    assert index.count(IndexQuery()) == KEPT


def test_an_index_of_another_database_is_replaced(index: NodeIndex, node: NodeFolder, tmp_path: Path) -> None:
    other = build_collection(tmp_path / "other", PAGES[:3], nodes=("all",)).node("all")
    db = open_reader(other.database)
    index.update(db)
    db.close()
    assert index.count(IndexQuery()) == 3


def test_an_index_of_another_version_is_rebuilt(node: NodeFolder, db: sqlite3.Connection) -> None:
    from tantivy import Index, SchemaBuilder

    node.index.mkdir(parents=True)
    builder = SchemaBuilder()
    builder.add_text_field("old")
    Index(builder.build(), path=str(node.index))
    with pytest.raises(EnvironmentFailure, match="another version"):
        NodeIndex.open(node.index, create=False)
    index = NodeIndex.open(node.index)
    index.update(db)
    assert index.count(IndexQuery()) == KEPT


def test_a_missing_index_says_how_it_comes(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="built while crawling"):
        NodeIndex.open(tmp_path / "index", create=False)


def test_a_broken_index_says_what_to_do(index: NodeIndex, node: NodeFolder) -> None:
    (node.index / "meta.json").write_text("{")
    with pytest.raises(Corrupt, match="delete this folder"):
        NodeIndex.open(node.index)


def test_two_writers_do_not_mix(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    from tantivy import Index

    other = Index.open(str(node.index)).writer(heap_size=15_000_000, num_threads=1)
    add_pages(node.database, [make_page(1002)])
    with pytest.raises(FolderInUse, match="another process"):
        index.update(db)
    other.wait_merging_threads()
    assert index.update(db) == 1


def test_who_writes_in_turn_leaves_no_files_behind(node: NodeFolder, db: sqlite3.Connection) -> None:
    writers = [NodeIndex.open(node.index) for _ in range(3)]
    for number in range(6):
        add_pages(node.database, [make_page(2000 + number, title=f"Turn {number}")])
        writers[number % 3].update(db)
    (node.index / f"{'0' * 32}.pos").write_bytes(b"of a process that was killed")
    writers[0].rebuild(db)
    segments = {file.name.partition(".")[0] for file in node.index.glob("*.idx")}
    named = {s["segment_id"].replace("-", "") for s in json.loads((node.index / "meta.json").read_bytes())["segments"]}
    assert segments == named
    assert not list(node.index.glob("0" * 32 + ".*"))
    assert NodeIndex.open(node.index).count(IndexQuery()) == KEPT + 6


def test_a_small_index_in_many_pieces_is_gathered_into_one(node: NodeFolder, db: sqlite3.Connection) -> None:
    index = NodeIndex.open(node.index)
    for number in range(5):
        add_pages(node.database, [make_page(2000 + number, title=f"Turn {number}")])
        index.update(db)
    assert len(list(node.index.glob("*.idx"))) >= 4
    index.gather(db)
    assert len(list(node.index.glob("*.idx"))) == 1
    assert index.count(IndexQuery()) == KEPT + 5
    assert index.update(db) == 0
    index.gather(db)  # nothing to do


def test_threads_ask_while_one_updates(index: NodeIndex, node: NodeFolder, db: sqlite3.Connection) -> None:
    counts: list[int] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            counts.append(index.count(IndexQuery()))

    asker = threading.Thread(target=ask)
    asker.start()
    for number in range(2000, 2005):
        add_pages(node.database, [make_page(number)])
        index.update(db)
    done.set()
    asker.join()
    assert counts == sorted(counts)
    assert index.count(IndexQuery()) == KEPT + 5


_KILLED = """
import sys
from pathlib import Path
from periplus.index import NodeIndex, node_index
from periplus.store.database import open_reader
node_index.COMMIT_PAGES = node_index.BATCH_PAGES = 10
def progress(done):
    print(done, flush=True)
    if done >= 30:
        sys.stdin.readline()  # hold still until killed
NodeIndex.open(Path(sys.argv[1])).update(open_reader(Path(sys.argv[2])), progress)
"""


def test_killed_while_indexing_nothing_is_lost_or_double(node: NodeFolder, db: sqlite3.Connection) -> None:
    command = [sys.executable, "-c", _KILLED, str(node.index), str(node.database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != "30":
            pass
        os.kill(process.pid, signal.SIGKILL)
    index = NodeIndex.open(node.index)
    assert index.count(IndexQuery()) == 30
    index.update(db)
    assert index.count(IndexQuery()) == KEPT
    assert len({hit.page for hit in index.top(IndexQuery(), 1000).hits}) == KEPT


def test_the_index_is_smaller_than_the_text(tmp_path: Path) -> None:
    from random import Random

    random = Random(4)
    vocabulary = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 10))) for _ in range(8000)]
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]
    texts = [" ".join(random.choices(vocabulary, weights, k=2000)) for _ in range(300)]
    pages = [make_page(number, text=text) for number, text in enumerate(texts)]
    node = build_collection(tmp_path / "crawl", pages, nodes=("all",)).node("all")
    index = NodeIndex.open(node.index)
    db = open_reader(node.database)
    index.update(db)
    db.close()
    size = sum(file.stat().st_size for file in node.index.iterdir())
    assert size <= 0.6 * sum(map(len, texts))


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        (words("restaurants"), 25),  # stems: "restaurant" in English, "restaurantes" in Portuguese
        (words("musee"), 1),  # accents do not matter
        (words("ラーメン"), 1),
        (words("店"), 1),  # a single character of a script without spaces
        (words("pizza restaurant"), 24),  # a phrase
        (words("restaurant pizza"), 0),
        (words("pizza", "oven"), 24),
        (IndexQuery(required=((TextUnit("lobster"), TextUnit("rodeo")),)), 2),
        (IndexQuery(required=((TextUnit("pizza"),),), excluded=(TextUnit("oven"),)), 1),
        (IndexQuery(excluded=(TextUnit("pizza"),)), KEPT - 25),
        (IndexQuery(topics=("floods",)), 1),
        (IndexQuery(sites=("lisbon-nh.example",)), 2),
        (IndexQuery(languages=("fr", "ja")), 2),
        (IndexQuery(paths=("/6295630/6255149/6252001/4736286",)), 33),  # Texas: Houston and Dallas
        (IndexQuery(place_ids=(-7, 2198148)), 2),
        (IndexQuery(place_ids=()), 0),
        (IndexQuery(days=DayRange(date(2024, 2, 29), date(2024, 2, 29))), 1),
        (words("!!!"), 0),
    ],
)
def test_questions(index: NodeIndex, query: IndexQuery, pages: int) -> None:
    assert index.count(query) == pages


@pytest.mark.parametrize("most", [0, -1, 10_001])
def test_more_hits_than_possible_are_refused_before_tantivy_sees_them(index: NodeIndex, most: int) -> None:
    with pytest.raises(ValueError, match="hits asked for"):
        index.top(IndexQuery(), most)


def test_newest_first_and_undated_last(index: NodeIndex, db: sqlite3.Connection) -> None:
    hits = [hit.page for hit in index.top(IndexQuery(), 1000, by_time=True).hits]
    dates = [db.execute("SELECT published FROM page WHERE id = ?", (page,)).fetchone()[0] for page in hits]
    assert dates[-1] is None
    assert dates[:-1] == sorted(dates[:-1], reverse=True)


def test_links_alone_open_an_index_only_when_pages_are_indexed_again(tmp_path: Path) -> None:
    target = make_page(1)
    folder = build_collection(tmp_path / "crawl", [target], nodes=("a", "b"))
    node = next(node for node in folder.nodes() if page_count(node))
    other = next(one for one in folder.nodes() if one.name != node.name)
    index = NodeIndex.open(node.index)
    with closing(open_reader(node.database)) as db:
        index.update(db, again=False)
        stamp = index.stamp
        add_pages(other.database, [make_page(2, links=((target.url, "windmill", node.name),))])
        assert index.update(db, again=False) == 0
        assert (index.stamp, index.count(words("windmill"))) == (stamp, 0)
        assert index.update(db) == 1
        assert index.count(words("windmill")) == 1


def page_count(node: NodeFolder) -> int:
    with closing(open_reader(node.database)) as db:
        return int(db.execute("SELECT count(*) FROM page").fetchone()[0])
