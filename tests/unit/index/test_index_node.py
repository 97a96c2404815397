"""The index of a node: complete, never double, crash-safe, small."""

import sqlite3
from pathlib import Path

import pytest
from sample_collection import PAGES, add_pages, build_collection, make_page

from periplus.index import IndexQuery, NodeIndex, TextUnit
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder


@pytest.fixture
def node(tmp_path: Path) -> NodeFolder:
    return build_collection(tmp_path / "crawl", nodes=("all",)).node("all")


def words(*texts: str) -> IndexQuery:
    return IndexQuery(required=tuple((TextUnit(text),) for text in texts))


def open_updated(node: NodeFolder) -> tuple[NodeIndex, sqlite3.Connection]:
    db = open_reader(node.database)
    index = NodeIndex.open(node.index)
    index.update(db)
    return index, db


def test_every_kept_page_is_found_once(node: NodeFolder) -> None:
    index, _ = open_updated(node)
    kept = [page for page in PAGES if page.kept]
    assert index.count(IndexQuery()) == len(kept)
    assert len({hit.page for hit in index.top(IndexQuery(), 1000).hits}) == len(kept)


def test_update_is_idempotent_and_sees_only_news(node: NodeFolder) -> None:
    index, db = open_updated(node)
    before = index.count(IndexQuery())
    assert index.update(db) == 0
    add_pages(node.database, [make_page(1000, title="Zeppelin over the ship channel")])
    assert index.update(db) == 1
    assert index.count(IndexQuery()) == before + 1
    assert index.count(words("zeppelin")) == 1
