"""What a task's crawl has to show, also when nobody runs it any more."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sample_collection import build_collection

from periplus.tasks.accounts import errors_of


def test_what_did_not_work_is_still_known_when_the_crawl_has_ended(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl")
    nodes = crawl.nodes()
    counts = [{"kept": 20, "sitemap": 2, "robots": 1}, {"kept": 5, "http_error": 2, "robots": 3}]
    for node, outcomes in zip(nodes, counts, strict=False):
        with closing(sqlite3.connect(node.database)) as db, db:
            db.executemany("INSERT OR REPLACE INTO outcome (name, count) VALUES (?, ?)", outcomes.items())
    assert list(errors_of(crawl.path).items()) == [("robots", 4), ("http_error", 2)]
    assert errors_of(tmp_path / "not begun") == {}
