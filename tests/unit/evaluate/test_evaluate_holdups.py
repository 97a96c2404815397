"""What `why` says of a URL that waits."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sample_collection import build_collection, make_page

from periplus.evaluate.holdups import refused, waits_for
from periplus.evaluate.why import explain_url
from periplus.model import Outcome
from periplus.store.database import open_writer
from periplus.urls import canonicalize, fingerprint

NOW = 1_800_000_000.0
URL = canonicalize("http://late.example/story")
ORIGIN = "http://late.example"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return build_collection(tmp_path / "crawl", [make_page(1)], nodes=("main",)).path


@pytest.fixture
def db(crawl: Path) -> Iterator[sqlite3.Connection]:
    """The database of a crawl that has one page and a URL in its queue."""
    with closing(open_writer(crawl / "nodes" / "main" / "node.db")) as opened:
        assert URL is not None
        opened.execute("INSERT INTO host (name, domain) VALUES ('late.example', 'late.example')")
        opened.execute(
            "INSERT INTO url (fingerprint, url, host_id, priority, depth) "
            "VALUES (?, ?, (SELECT id FROM host WHERE name = 'late.example'), 0.5, 1)",
            (fingerprint(URL.href), URL.href),
        )
        yield opened


def read_robots(db: sqlite3.Connection, status: str, expires: float = NOW + 60) -> None:
    db.execute("INSERT INTO robots VALUES (?, ?, '', ?, ?, 2)", (ORIGIN, status, NOW - 60, expires))


def said(db: sqlite3.Connection) -> str:
    assert URL is not None
    return waits_for([db], db, URL, NOW)


def test_robots_come_first(db: sqlite3.Connection) -> None:
    assert said(db) == f"{ORIGIN}/robots.txt was not read yet, and nothing is fetched before"
    read_robots(db, "unreachable")
    assert said(db) == (
        f"{ORIGIN}/robots.txt could not be read (2 times), and nothing is fetched before; "
        "it is asked again at 2027-01-15 08:01:00+00:00"
    )


def test_then_failures_then_the_host_then_what_comes_before_it(db: sqlite3.Connection) -> None:
    read_robots(db, "found")
    assert said(db) == "nothing keeps it: it is the next of its host"
    db.execute(
        "INSERT INTO url (fingerprint, url, host_id, priority, depth) "
        "SELECT 5, 'http://late.example/better', host_id, 0.9, 1 FROM url WHERE url = 'http://late.example/story'"
    )
    assert said(db) == "one URL of late.example comes before it"
    db.execute("UPDATE host SET not_before = ? WHERE name = 'late.example'", (NOW + 5,))
    assert said(db) == "late.example is not asked again before 2027-01-15 08:00:05+00:00, to be polite"
    db.execute(
        "INSERT INTO progress (id, attempts, not_before) SELECT id, 1, ? FROM url WHERE url LIKE '%story'", (NOW + 300,)
    )
    assert said(db) == "1 try failed; it is tried again at 2027-01-15 08:05:00+00:00"


@pytest.mark.usefixtures("db")
def test_why_says_it(crawl: Path) -> None:
    assert "robots.txt was not read yet" in explain_url(crawl, "http://late.example/story")["reason"]
    assert explain_url(crawl, "http://site1.example/story-1")["reason"] == ""


def test_why_says_what_became_of_a_url_that_is_no_page(crawl: Path, db: sqlite3.Connection) -> None:
    others = {Outcome.KEPT, Outcome.NOT_RELEVANT, Outcome.SITEMAP, Outcome.NOT_MODIFIED, Outcome.RETRY}
    silent = {outcome for outcome in Outcome if outcome not in others and not refused(outcome)}
    assert silent == set()
    db.execute(
        "INSERT INTO progress (id, state, outcome) SELECT id, 1, 'robots_unreachable' FROM url WHERE url LIKE '%story'"
    )
    assert explain_url(crawl, "http://late.example/story")["reason"].startswith("robots.txt of its host could not be")
