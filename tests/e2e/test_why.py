"""`periplus why` says what sent a URL to a node, also where that stood beside the link."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line import periplus
from mmdb_file import mmdb

from periplus.model import Fetched
from periplus.store.wacz import write_wacz

HOME = "http://guide.example/"
PAGES = {
    HOME: '<p>A calm day.</p><p>Where to stay in Boston: <a href="/list">the list</a></p>',
    f"{HOME}list": "<p>Nothing but names of inns.</p>",
}


BOSTON = 4930956


def record(pages: dict[str, str], path: Path) -> None:
    """Pages as a recorded web."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    responses = [
        Fetched(url, 200, (("Content-Type", "text/html"),), body.encode(), "text/html", moment, 0.01, "192.0.2.9")
        for url, body in pages.items()
    ]
    write_wacz(responses, path)


def explained(folder: Path, strategy: str, more: str = "") -> dict[str, Any]:
    """What `why` says of the linked page, after a crawl of the two; `more` is what the job has besides."""
    record(PAGES, folder / "web.wacz")
    (folder / "job.toml").write_text(
        f'seeds = ["{HOME}"]\n[nodes.east]\nplaces = ["Boston, MA"]\n[nodes.general]\n'
        f'[crawl]\nstrategy = "{strategy}"\nkeep = "all"\nreplay = "web.wacz"\ndelay_seconds = 0.0\nworkers = 1\n'
        f"{more}",
        "utf-8",
    )
    done = periplus("crawl", folder / "job.toml", "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return periplus("why", folder / "crawl", f"{HOME}list", "--json").json


@pytest.mark.parametrize(
    ("strategy", "evidence"), [("anchor", "anchor"), ("content", "content"), ("ip", "ip"), ("blend", "around, text")]
)
def test_the_evidence_names_the_node_that_got_the_url(tmp_path: Path, strategy: str, evidence: str) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb("192.0.2.0/24", BOSTON))
    found = explained(tmp_path, strategy, 'ip_database = "city.mmdb"\n')
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


@pytest.mark.parametrize(
    ("strategy", "owned", "evidence"), [("place+nearest", '["Boston, MA"]', "anchor"), ("nearest", "[]", "nearest")]
)
def test_where_the_network_decides_that_is_said(tmp_path: Path, strategy: str, owned: str, evidence: str) -> None:
    """Round trips decide between two nodes that own Boston, or between all; a recorded web has none of its own."""
    rows = "".join(f"guide.example,{node},{ms}\n" for node, ms in (("east", 80), ("far", 10), ("general", 90)))
    (tmp_path / "trips.csv").write_text(f"site,crawler,ms\n{rows}", "utf-8")
    network = '[network]\nround_trips = "trips.csv"\nplaces = "anchor"\n'
    found = explained(tmp_path, strategy, f"{network}[nodes.far]\nplaces = {owned}\n")
    (parent,) = found["parents"]
    assert found["node"] == parent["sent_to"]
    assert [one["evidence"] for one in parent["evidence"]] == [evidence]


DAY = '<meta property="article:published_time" content="2019-05-01">'


def test_a_page_that_the_topics_time_kept_out_says_so(tmp_path: Path) -> None:
    record({HOME: f"{DAY}<title>Inns</title><p>Inns of Boston.</p>"}, tmp_path / "dated.wacz")
    (tmp_path / "dated.toml").write_text(
        f'seeds = ["{HOME}"]\n[topic]\nsince = 2020-01-01\n[nodes.main]\n'
        '[crawl]\nreplay = "dated.wacz"\ndelay_seconds = 0.0\nworkers = 1\n',
        "utf-8",
    )
    assert periplus("crawl", tmp_path / "dated.toml", "--out", tmp_path / "dated").code == 0
    found = periplus("why", tmp_path / "dated", HOME, "--json").json
    assert (found["outcome"], found["page"]["published"]) == ("not_relevant", "2019-05-01")
    assert found["reason"] == "published 2019-05-01, before the topic's since 2020-01-01"
    assert f"not kept: {found['reason']}" in periplus("why", tmp_path / "dated", HOME).out


def test_what_was_left_out_is_said_with_its_reason(tmp_path: Path) -> None:
    """The rules are asked again; what is too far away, or one of too many, the crawl has noted."""
    home = "http://guide.example/"
    numbered = "".join(f'<a href="/n/{number}">number {number}</a> ' for number in range(30))
    pages = {
        home: f'<p>A day.</p><a href="/near">near</a> <a href="/map.pdf">map</a> <a href="/secret/x">x</a> {numbered}',
        f"{home}near": '<p>Nothing but inns.</p><a href="/far">farther</a> <a href="/away" rel="nofollow">away</a>',
    }
    record(pages, tmp_path / "web.wacz")
    (tmp_path / "job.toml").write_text(
        f'seeds = ["{home}"]\n[crawl]\nkeep = "all"\nreplay = "web.wacz"\ndelay_seconds = 0.0\nworkers = 1\n'
        'depth = 1\npattern_pages = 10\nscope = ["reject path /secret/*"]\n',
        "utf-8",
    )
    done = periplus("crawl", tmp_path / "job.toml", "--out", tmp_path / "crawl", "--json")
    assert done.code == 0, done.err
    for path, reason in {
        "map.pdf": "a file kind that is not HTML",
        "secret/x": "outside crawl.scope",
        "far": "farther from the seeds than crawl.depth",
        "n/29": "the host has as many URLs of this pattern",
    }.items():
        found = periplus("why", tmp_path / "crawl", f"{home}{path}", "--json").json
        assert (found["node"], found["reason"][: len(reason)]) == (None, reason)
    shown = periplus("why", tmp_path / "crawl", f"{home}far").out
    assert "left out: farther from the seeds than crawl.depth" in shown
    assert f"linked from {home}near" in shown
    unknown = periplus("why", tmp_path / "crawl", f"{home}away")
    unknown.assert_one_line_error(2, "not known", "no page that was read leads to it")


MENU = "<nav><a href='/a'>Rates</a> <a href='/b'>Rooms in Seattle</a></nav>"
NAMED = "<p>Boston, Massachusetts, has inns for everybody who comes to Boston: <a href='/list'>a list</a>.</p>"


def crawled(
    folder: Path, pages: dict[str, str], job: str, moved: dict[str, str] | None = None, *, keep: str = "all"
) -> Path:
    """A crawl of these pages and redirects, by nodes that own Boston and Seattle."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    responses = [
        Fetched(url, 200, (("Content-Type", "text/html"),), body.encode(), "text/html", moment, 0.01, "192.0.2.9")
        for url, body in pages.items()
    ]
    responses += [
        Fetched(url, 301, (("Location", target),), b"", "", moment, 0.01, "192.0.2.9")
        for url, target in (moved or {}).items()
    ]
    write_wacz(responses, folder / "web.wacz")
    (folder / "job.toml").write_text(
        f'seeds = ["{HOME}"]\n[nodes.east]\nplaces = ["Boston, MA"]\n[nodes.west]\nplaces = ["Seattle, WA"]\n'
        f'[nodes.general]\n[crawl]\nkeep = "{keep}"\nreplay = "web.wacz"\ndelay_seconds = 0.0\nworkers = 1\n{job}',
        "utf-8",
    )
    done = periplus("crawl", folder / "job.toml", "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return folder / "crawl"


@pytest.mark.parametrize("strategy", ["anchor", "content"])
def test_a_page_with_a_menu_says_what_it_said_when_it_was_crawled(tmp_path: Path, strategy: str) -> None:
    """The text that is kept has no menu; the links were sent by all that the page has."""
    body = f"<title>Inns</title>{MENU}<main><h1>Inns</h1>{NAMED}{'<p>A calm day by the sea.</p>' * 20}</main>"
    crawl = crawled(tmp_path, {HOME: body}, f'strategy = "{strategy}"\n')
    for path, node in {"anchor": {"list": "east", "b": "west"}, "content": {"list": "east", "b": "east"}}[
        strategy
    ].items():
        (parent,) = periplus("why", crawl, f"{HOME}{path}", "--json").json["parents"]
        assert (parent["sent_to"], parent["evidence"][0]["node"]) == (node, node)
        assert parent["evidence"][0]["evidence"] == strategy


def test_what_the_crawl_went_by_and_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb("192.0.2.0/24", BOSTON))
    found = explained(tmp_path, "ip", 'ip_database = "city.mmdb"\n')
    assert found["unexplained"] == ""
    (tmp_path / "city.mmdb").unlink()
    found = periplus("why", tmp_path / "crawl", f"{HOME}list", "--json").json
    assert "evidence" not in found["parents"][0]
    assert found["unexplained"] == f"crawl.ip_database: {tmp_path}/city.mmdb cannot be read: No such file or directory"
    shown = periplus("why", tmp_path / "crawl", f"{HOME}list").out
    assert f"what spoke for which node cannot be told: {found['unexplained']}" in shown


@pytest.mark.parametrize(("weights", "node"), [("", "east"), ("content_alpha = 0.1\n", "west")])
def test_a_crawl_and_why_weigh_names_as_the_job_says(tmp_path: Path, weights: str, node: str) -> None:
    body = (
        "<p>The inns of Boston, MA are small. The mayor of Seattle spoke in Seattle.</p><p><a href='/list'>inns</a></p>"
    )
    crawl = crawled(tmp_path, {HOME: body}, f'strategy = "content"\n{weights}')
    (parent,) = periplus("why", crawl, f"{HOME}list", "--json").json["parents"]
    assert (parent["sent_to"], parent["evidence"][0]["node"]) == (node, node)


def test_seeds_and_redirects_are_told_apart(tmp_path: Path) -> None:
    pages = {HOME: "<p>Go <a href='/old'>there</a>.</p>", "http://visitseattle.example/": "<p>Rain.</p>"}
    crawl = crawled(tmp_path, pages, 'strategy = "url"\n', {f"{HOME}old": "http://visitseattle.example/"})
    seed = periplus("why", crawl, HOME, "--json").json
    assert [(one["kind"], one["evidence"][0]["node"]) for one in seed["origins"]] == [("seed", seed["node"])]
    assert "a seed" in periplus("why", crawl, HOME).out.splitlines()
    old = periplus("why", crawl, f"{HOME}old", "--json").json
    assert (old["outcome"], old["leads_to"], old["origins"]) == ("redirected", "http://visitseattle.example/", [])
    new = periplus("why", crawl, "http://visitseattle.example/", "--json").json
    (origin,) = new["origins"]
    assert (origin["kind"], origin["url"], new["node"]) == ("redirect", f"{HOME}old", "west")
    assert (origin["evidence"][0]["node"], origin["evidence"][0]["evidence"]) == ("west", "url")
    shown = periplus("why", crawl, "http://visitseattle.example/").out
    assert f"redirected from {HOME}old, node general" in shown
    assert "no page links to it" in shown


def test_a_redirect_stays_with_the_node_that_met_it_where_pages_decide(tmp_path: Path) -> None:
    pages = {HOME: "<p>Boston: <a href='/old'>inns</a>.</p>", "http://other.example/": "<p>Rain.</p>"}
    crawl = crawled(tmp_path, pages, 'strategy = "anchor"\n', {f"{HOME}old": "http://other.example/"})
    new = periplus("why", crawl, "http://other.example/", "--json").json
    assert new["node"] == new["origins"][0]["node"] == "east"
    assert new["origins"][0]["evidence"] == [{"node": "east", "evidence": "node that met the redirect", "place": None}]


def test_all_nodes_of_a_link_are_named_under_policy_b(tmp_path: Path) -> None:
    body = "<p>From Boston, Massachusetts to Seattle, Washington: <a href='/list'>a list</a></p>"
    crawl = crawled(tmp_path, {HOME: body}, 'strategy = "content"\npolicy = "b"\n')
    (parent,) = periplus("why", crawl, f"{HOME}list", "--json").json["parents"]
    assert {parent["sent_to"], *parent["also_sent_to"]} == {"east", "west"}
    assert {one["node"] for one in parent["evidence"]} == {"east", "west"}
    assert "sent to west and east: " in periplus("why", crawl, f"{HOME}list").out


def test_what_no_node_has_says_why(tmp_path: Path) -> None:
    pages = {HOME: "<p><a href='/near'>near</a></p>", f"{HOME}near": "<p><a href='/far'>far</a></p>"}
    crawl = crawled(tmp_path, pages, 'strategy = "url"\ndepth = 1\n')
    assert "left out: farther from the seeds than crawl.depth" in periplus("why", crawl, f"{HOME}far").out
    assert "left out: a file kind that is not HTML" in periplus("why", crawl, f"{HOME}photo.jpg").out


def test_evidence_of_a_page_that_was_not_kept_is_not_made_up(tmp_path: Path) -> None:
    pages = {HOME: f"<title>Inns</title>{NAMED}", f"{HOME}list": "<p>Nothing.</p>"}
    crawl = crawled(tmp_path, pages, 'strategy = "content"\n[topic]\nkeywords = { volcano = 1.0 }\n', keep="relevant")
    (parent,) = periplus("why", crawl, f"{HOME}list", "--json").json["parents"]
    assert parent["sent_to"] == "east"
    assert [(one["node"], one["evidence"]) for one in parent["evidence"]] == [
        ("east", "what the page said, which was not kept")
    ]
