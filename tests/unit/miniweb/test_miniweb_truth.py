"""The truth agrees with the bytes that are served: links, addresses, places, outcomes, and reach from the seeds."""

import json
import re
from collections import Counter, deque
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from periplus.errors import EnvironmentFailure
from periplus.miniweb import TRAP_PREFIXES, Miniweb, generate
from periplus.model import Outcome

Row = dict[str, Any]


@pytest.fixture(scope="module")
def web() -> Miniweb:
    return generate(1)


@pytest.fixture(scope="module")
def rows(web: Miniweb) -> list[Row]:
    return list(web.truth())


@pytest.fixture(scope="module")
def pages(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] not in ("other", "trap")]


def served(web: Miniweb, row: Row) -> str:
    parts = urlsplit(row["url"])
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return web.respond(parts.netloc, target, 1).body.decode(row["charset"])


def test_rows_have_the_documented_keys_and_every_url_once(rows: list[Row]) -> None:
    keys = {
        "url", "host", "site", "kind", "topic", "language", "charset", "title", "places", "addresses", "links",
        "published", "duplicate_of", "status", "outcome", "quirk",
    }  # fmt: skip
    assert all(row.keys() == keys for row in rows)
    assert len({row["url"] for row in rows}) == len(rows)


def test_links_are_those_of_the_served_page(web: Miniweb, pages: list[Row]) -> None:
    for row in pages[::13]:
        if row["outcome"] == "server_error":
            continue
        tree = LexborHTMLParser(served(web, row))
        hrefs = [node.attributes["href"] or "" for node in tree.css("a[href]")]
        found = [
            urljoin(row["url"], href).partition("#")[0]
            for href in hrefs
            if ":" not in href.partition("/")[0][:11] or href.startswith("http")
        ]
        assert found == row["links"], row["url"]


def test_addresses_stand_in_the_text_of_the_page(web: Miniweb, pages: list[Row]) -> None:
    checked = 0
    for row in pages[::3]:
        if not row["addresses"] or row["outcome"] == "server_error":
            continue
        text = unescape(re.sub(r"<[^>]+>", " ", served(web, row).replace("<br>", ", ")))
        text = re.sub(r"\s+", " ", text).replace(" ,", ",")
        for address in row["addresses"]:
            line = f"{address['street_number']} {address['street']}, {address['city']}, "
            assert line in text, row["url"]
            assert address["zip"] in text
            checked += 1
    assert checked > 500


def test_places_are_named_in_the_page_and_their_weights_sum_to_one(web: Miniweb, pages: list[Row]) -> None:
    for row in pages[::11]:
        if row["places"]:
            assert sum(place["weight"] for place in row["places"]) == pytest.approx(1, abs=0.01)
        if row["language"] != "en" or row["outcome"] == "server_error":
            continue
        text = served(web, row).casefold()
        assert all(place["name"].casefold() in text for place in row["places"]), row["url"]


def test_the_place_a_page_is_about_outweighs_the_others(web: Miniweb, pages: list[Row]) -> None:
    guides = [row for row in pages if row["site"] == "guide" and row["places"]]
    strong = sum(row["places"][0]["weight"] > 0.5 for row in guides)
    assert strong / len(guides) > 0.95


def test_outcomes_are_those_of_the_model_or_trap(rows: list[Row]) -> None:
    outcomes = Counter(row["outcome"] for row in rows)
    assert set(outcomes) <= {outcome.value for outcome in Outcome} | {"trap"}
    expected = {"kept", "redirected", "not_html", "http_error", "server_error", "robots", "robots_unreachable"}
    assert expected | {"not_indexed", "duplicate", "trap", "too_many_redirects"} == set(outcomes)


def test_traps_lie_where_they_are_said_to_lie_and_nothing_else_does(rows: list[Row]) -> None:
    trapped = {row["url"] for row in rows if row["outcome"] == "trap"}
    in_trap = {row["url"] for row in rows if row["url"].partition(row["host"])[2].startswith(TRAP_PREFIXES)}
    assert trapped == in_trap
    assert trapped


def test_the_expected_status_is_the_served_one(web: Miniweb, rows: list[Row]) -> None:
    for row in rows[::7]:
        parts = urlsplit(row["url"])
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        assert web.respond(parts.netloc, target, 0).status == row["status"], row["url"]


def test_duplicates_name_a_page_that_is_there(rows: list[Row]) -> None:
    urls = {row["url"] for row in rows}
    duplicates = [row for row in rows if row["duplicate_of"]]
    assert len(duplicates) >= 100
    assert all(row["duplicate_of"] in urls for row in duplicates)


def test_every_linked_address_has_a_row_unless_a_session_or_tracking_hides_it(rows: list[Row]) -> None:
    urls = {row["url"] for row in rows}
    hidden = re.compile(r";jsessionid=|[?&]sid=|[?&]utm_source=")
    for row in rows:
        for link in row["links"]:
            assert link in urls or hidden.search(link), (row["url"], link)


def test_the_seeds_reach_the_ordinary_pages_within_eight_links(web: Miniweb, rows: list[Row]) -> None:
    _check_reach(web, rows)


@pytest.mark.parametrize(("seed", "hosts", "count"), [(2, 60, 300), (3, 60, 2500)])
def test_so_they_do_in_webs_of_other_sizes(seed: int, hosts: int, count: int) -> None:
    web = generate(seed, hosts=hosts, pages=count)
    _check_reach(web, list(web.truth()))


def _check_reach(web: Miniweb, rows: list[Row]) -> None:
    assert 5 <= len(web.seeds()) <= 20
    depths = _depths(web.seeds(), {row["url"]: row for row in rows})
    closed = {"robots", "robots_unreachable"}
    ordinary = [
        row["url"]
        for row in rows
        if row["kind"] not in ("other", "trap") and row["outcome"] not in closed and row["quirk"] != "orphan"
    ]
    reached = sum(url in depths and depths[url] <= 8 for url in ordinary)
    assert reached / len(ordinary) > 0.95


def _depths(seeds: list[str], rows: dict[str, Row]) -> dict[str, int]:
    """Distance of each URL from the seeds for a crawler that obeys robots and strips session ids."""
    depths: dict[str, int] = {}
    queue = deque((seed, 0) for seed in seeds)
    while queue:
        url, depth = queue.popleft()
        if url in depths:
            continue
        depths[url] = depth
        row = rows.get(url)
        if row is not None and row["outcome"] not in ("robots", "robots_unreachable", "server_error"):
            queue.extend((_plain(link), depth + 1) for link in row["links"])
    return depths


def _plain(url: str) -> str:
    url = re.sub(r";jsessionid=[0-9A-F]+", "", url)
    return re.sub(r"[?&](?:sid|utm_\w+)=[^&]*", "", url)


def test_writing_the_truth_gives_one_json_object_a_line(tmp_path: Path) -> None:
    web = generate(1, hosts=60, pages=300)
    count = web.write_truth(tmp_path / "truth.jsonl")
    lines = (tmp_path / "truth.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == count > 300
    assert [json.loads(line)["url"] for line in lines[:3]] == list(web.urls())[:3]


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match=r"no-folder/truth\.jsonl: No such file or directory"):
        generate(1, hosts=60, pages=300).write_truth(tmp_path / "no-folder" / "truth.jsonl")
