"""`periplus why` says what sent a URL to a node, also where that stood beside the link."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import periplus

from periplus.model import Fetched
from periplus.store.wacz import write_wacz

HOME = "http://guide.example/"
PAGES = {
    HOME: '<p>A calm day.</p><p>Where to stay in Boston: <a href="/list">the list</a></p>',
    f"{HOME}list": "<p>Nothing but names of inns.</p>",
}


@pytest.mark.parametrize(
    ("strategy", "evidence"), [("anchor", "anchor"), ("content", "content"), ("blend", "around, text")]
)
def test_the_evidence_names_the_node_that_got_the_url(tmp_path: Path, strategy: str, evidence: str) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    responses = [
        Fetched(url, 200, (("Content-Type", "text/html"),), body.encode(), "text/html", moment, 0.01, "127.0.0.1")
        for url, body in PAGES.items()
    ]
    write_wacz(responses, tmp_path / "web.wacz")
    (tmp_path / "job.toml").write_text(
        f'seeds = ["{HOME}"]\n[nodes.east]\nplaces = ["Boston, MA"]\n[nodes.general]\n'
        f'[crawl]\nstrategy = "{strategy}"\nkeep = "all"\nreplay = "web.wacz"\ndelay_seconds = 0.0\nworkers = 1\n',
        "utf-8",
    )
    done = periplus("crawl", tmp_path / "job.toml", "--out", tmp_path / "crawl", "--json")
    assert done.code == 0, done.err
    found = periplus("why", tmp_path / "crawl", f"{HOME}list", "--json").json
    (parent,) = found["parents"]
    assert found["node"] == parent["sent_to"]
    if strategy != "blend":  # one piece of evidence decides
        assert parent["sent_to"] == parent["evidence"][0]["node"] == "east"
    reasons = [
        (one["node"], one["evidence"], one["place"].rpartition(" / ")[2]) for one in parent["evidence"] if one["place"]
    ]
    assert ("east", evidence, "Boston") in reasons
    shown = periplus("why", tmp_path / "crawl", f"{HOME}list").out.splitlines()
    (line,) = [line for line in shown if line.startswith(f"linked from {HOME} ")]
    assert len(line) > 80, "a line is whole, however long"
    assert "priority" in line
