"""`periplus nodes plan --by links` and `classifier train` read a crawl: what it has, and what is wrong with it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import periplus

from periplus.model import Fetched
from periplus.store.wacz import write_wacz

HOME = "http://guide.example/"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about Boston with six links, one about Seattle with two."""
    folder = tmp_path_factory.mktemp("plan")
    links = "".join(f'<a href="/b{number}">inn</a> ' for number in range(5))
    pages = {
        HOME: f'<title>Boston, Massachusetts</title><p>Inns of Boston.</p>{links}<a href="/seattle">more</a>',
        f"{HOME}seattle": '<title>Seattle, Washington</title><p>Seattle.</p><a href="/s1">a</a><a href="/s2">b</a>',
    }
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    responses = [
        Fetched(url, 200, (("Content-Type", "text/html"),), body.encode(), "text/html", moment, 0.01, "192.0.2.9")
        for url, body in pages.items()
    ]
    write_wacz(responses, folder / "web.wacz")
    (folder / "job.toml").write_text(
        f'seeds = ["{HOME}"]\ntargets = "us100"\n[crawl]\nkeep = "all"\nreplay = "web.wacz"\ndelay_seconds = 0.0\n',
        "utf-8",
    )
    done = periplus("crawl", folder / "job.toml", "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return folder / "crawl"


def test_links_of_a_crawl_are_balanced(crawl: Path) -> None:
    done = periplus("nodes", "plan", "--nodes", 2, "--by", "links", "--crawl", crawl, "--json")
    assert done.code == 0, done.err
    found = {
        name: ({place["name"] for place in node["places"]}, node["links"]) for name, node in done.json["nodes"].items()
    }
    assert "Seattle" in found["node1"][0]
    assert "Boston" in found["node2"][0]
    assert (found["node1"][1], found["node2"][1]) == (2, 6)
    shown = periplus("nodes", "plan", "--nodes", 2, "--by", "links", "--crawl", crawl).out
    assert "2 links; " in shown
    assert "6 links; " in shown


def test_a_crawl_that_cannot_be_read_is_said_in_one_line(crawl: Path, tmp_path: Path) -> None:
    plan = ("nodes", "plan", "--nodes", 2, "--by", "links", "--crawl")
    periplus(*plan, tmp_path / "none").assert_one_line_error(2, "none: no such folder")
    periplus(*plan, tmp_path).assert_one_line_error(2, "not a crawl")
    for database in crawl.glob("nodes/*/node.db"):
        database.write_bytes(b"no database" * 1000)
    train = ("classifier", "train", crawl, "--targets", "us100", "-o", tmp_path / "model.npz")
    for command in ((*plan, crawl), train):
        done = periplus(*command)
        done.assert_one_line_error(done.code, "node.db: not a readable database")
        assert done.code != 1
