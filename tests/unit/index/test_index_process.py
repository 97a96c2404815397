"""The process that keeps the indexes of a crawl: it does what is asked, dies with its crawl and is made anew."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sample_collection import PAGES, add_pages, build_collection, make_page

from periplus.errors import Corrupt, EnvironmentFailure, FolderInUse
from periplus.index import IndexQuery, NodeIndex
from periplus.index.process import IndexProcess
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder

KEPT = sum(page.kept for page in PAGES)


@pytest.fixture
def node(tmp_path: Path) -> NodeFolder:
    return build_collection(tmp_path / "crawl", nodes=("all",)).node("all")


@pytest.fixture
def indexes() -> Iterator[IndexProcess]:
    process = IndexProcess()
    process.start()
    yield process
    process.close()


def pages(node: NodeFolder) -> int:
    return NodeIndex.open(node.index, create=False).count(IndexQuery())


def pid_of(indexes: IndexProcess) -> int:
    assert indexes._process is not None
    return indexes._process.pid


def test_it_indexes_what_is_committed(indexes: IndexProcess, node: NodeFolder) -> None:
    assert indexes.update(node, again=False) == ""
    assert pages(node) == KEPT
    add_pages(node.database, [make_page(1000)])
    assert indexes.update(node, again=True) == ""
    assert pages(node) == KEPT + 1


def test_the_crawl_comes_first(indexes: IndexProcess, node: NodeFolder) -> None:
    indexes.update(node, again=False)
    assert os.getpriority(os.PRIO_PROCESS, pid_of(indexes)) > os.getpriority(os.PRIO_PROCESS, 0)


def test_killed_between_or_within_updates_it_is_made_anew(indexes: IndexProcess, node: NodeFolder) -> None:
    for number in range(3):
        os.kill(pid_of(indexes), signal.SIGKILL)
        add_pages(node.database, [make_page(1000 + number)])
        assert indexes.update(node, again=True) == ""
        assert pages(node) == KEPT + 1 + number


def test_an_index_that_cannot_be_read_is_built_anew_and_that_is_said(indexes: IndexProcess, node: NodeFolder) -> None:
    indexes.update(node, again=True)
    os.kill(pid_of(indexes), signal.SIGKILL)
    (node.index / "meta.json").write_text("{")
    assert "the index cannot be read" in indexes.update(node, again=True)
    assert pages(node) == KEPT


def test_errors_are_those_of_the_index(indexes: IndexProcess, node: NodeFolder) -> None:
    node.database.write_bytes(b"no database at all, and long enough to be seen as none" * 100)
    with pytest.raises(Corrupt, match="not a readable database"):
        indexes.update(node, again=True)


def test_an_index_that_somebody_else_writes_is_left_to_them(indexes: IndexProcess, node: NodeFolder) -> None:
    from tantivy import Index

    indexes.update(node, again=True)
    other = Index.open(str(node.index)).writer(heap_size=15_000_000, num_threads=1)
    add_pages(node.database, [make_page(1002)])
    assert indexes.update(node, again=True) == ""
    with pytest.raises(FolderInUse), closing(open_reader(node.database)) as db:
        NodeIndex.open(node.index).update(db)
    other.wait_merging_threads()
    assert pages(node) == KEPT


def test_what_ends_the_process_again_and_again_is_built_anew_and_then_given_up(
    node: NodeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = IndexProcess()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    node.index.mkdir()
    (node.index / "meta.json").write_text("of a damaged index")
    with pytest.raises(EnvironmentFailure, match="has died"):
        deadly.update(node, again=True)
    assert not node.index.exists()
    deadly.close()


def test_nothing_is_started_after_the_end(node: NodeFolder) -> None:
    indexes = IndexProcess()
    indexes.close()
    with pytest.raises(EnvironmentFailure, match="has died"):
        indexes.update(node, again=True)
    assert indexes._process is None
    assert not node.index.exists()


_CRAWL = """
import sys
from periplus.index.process import IndexProcess
indexes = IndexProcess()
indexes.start()
print(indexes._process.pid, flush=True)
sys.stdin.readline()
"""


def test_it_ends_with_its_crawl_though_that_was_killed() -> None:
    crawl = subprocess.Popen([sys.executable, "-c", _CRAWL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert crawl.stdout is not None
    pid = int(crawl.stdout.readline())
    watched = os.pidfd_open(pid)
    crawl.kill()
    crawl.communicate()
    assert select.select([watched], [], [], 30.0)[0], "the process that indexes goes on without its crawl"
    os.close(watched)


def test_signals_for_the_crawl_do_not_end_it(indexes: IndexProcess, node: NodeFolder) -> None:
    indexes.update(node, again=False)
    pid = pid_of(indexes)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(pid, number)
    assert indexes.update(node, again=True) == ""
    assert pid_of(indexes) == pid
