"""One crawl of a hundred hostile hosts, as an operator starts it: what was asked for, and how every lease ended."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Finished, periplus
from hostile_site import HostileSite, hostile_site

ROBOTS_CLOSED = (
    *("500", "502", "503", "504", "599", "429"),
    *("torn", "loop", "private", "silence", "nothing", "http-09", "bomb-gzip", "headers-million", "length-and-chunked"),
    *("picture", "packed-torn", "packed-twice", "packed-bomb"),
)
ROBOTS_OPEN = ("400", "401", "403", "404", "410", "451", "html")
OUTCOMES = {
    "bomb-gzip": "too_large",
    "bomb-br": "too_large",
    "length-huge": "too_large",
    "length-long": "kept duplicate",
    "length-two": "bad_content",
    "endless": "too_large",
    "drip-body": "too_slow",
    "silence": "too_slow",
    "hints-flood": "bad_content",
    "header-long": "bad_content",
    "chunk-size-bad": "bad_content",
    "http-09": "bad_content",
    "status-999": "server_error",
    "304-unasked": "http_error",
    "pdf-as-html": "not_html",
    "zip-as-html": "not_html",
    "film-as-html": "not_html",
    "cookie-bomb": "duplicate kept",
    "to-file": "bad_content",
    "to-private": "redirected",
    "to-loopback": "redirected",
    "to-metadata": "redirected",
    "to-port": "redirected",
    "location-split": "redirected",
    "location-raw": "redirected",
    "to-itself": "too_many_redirects",
    "growing": "redirected",
    "nested": "kept",
    "many-links": "kept",
    "busy": "server_error",
    "refresh-private": "empty",
}
WITHOUT_END = ("endless", "drip", "silence", "flood", "huge", "long", "bomb", "robots")


class Crawled:
    """The crawl's own account and the server's."""

    def __init__(self, done: Finished, folder: Path, site: HostileSite) -> None:
        assert done.code == 0, done.err
        self.done = done
        self.folder = folder
        self.site = site
        self.ends: dict[str, list[str]] = defaultdict(list)
        for line in (folder / "log.jsonl").read_text("utf-8").splitlines():
            event: dict[str, Any] = json.loads(line)
            if event["event"] == "lease ended":
                self.ends[event["url"]].append(event["outcome"])
        self.asked: dict[str, list[str]] = defaultdict(list)
        for row in site.requests():
            self.asked[row["host"]].append(row["path"])


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawl")
    with hostile_site(folder) as site:
        seeds = [f"http://robots-{kind}.x.test/fine" for kind in (*ROBOTS_CLOSED, *ROBOTS_OPEN, "big")]
        seeds += [f"http://robots-{kind}.x.test/{path}" for kind in ("big", "packed") for path in ("closed", "open")]
        seeds += [f"http://{name}.y.test/{name}" for name in OUTCOMES]
        seeds += [f"http://chain{n}.y.test/chain/{n}" for n in (5, 6)] + ["http://loop.y.test/to-a"]
        seeds += ["http://10.0.0.3/", "http://0x7f000001/"]
        settings = {"delay_seconds": 0.0, "ip_delay_seconds": 0.0, "retries": 1, "retry_seconds": 0.05}
        job = folder / "job.toml"
        job.write_text(
            f"""
contact = "mailto:operator@example.org"
seeds = {json.dumps(seeds)}
[crawl]
keep = "all"
workers = 1
depth = 6
allow_private = ["127.0.0.1/32"]
{chr(10).join(f"{name} = {value}" for name, value in settings.items())}
resolve = {{ "*.test" = "127.0.0.1:{site.port}" }}
[fetch]
total_seconds = 4.0
[run]
log = "pages"
[archive]
disk_reserve_bytes = 0
""",
            "utf-8",
        )
        yield Crawled(periplus("crawl", job, "--out", folder / "crawl", "--json"), folder / "crawl", site)


def test_the_crawl_ends_and_its_outcomes_add_up(crawled: Crawled) -> None:
    assert crawled.done.code == 0, crawled.done.err
    assert Counter(crawled.done.json["outcomes"]) == Counter(end for ends in crawled.ends.values() for end in ends)
    assert crawled.done.json["queued"] == 0
    assert "Traceback" not in crawled.done.err


@pytest.mark.parametrize("kind", ROBOTS_CLOSED)
def test_R1_R2_R4_R6_no_page_is_asked_for_while_robots_cannot_be_read(crawled: Crawled, kind: str) -> None:
    host = f"robots-{kind}.x.test"
    assert set(crawled.asked[host]) == {"/robots.txt"}
    assert len(crawled.asked[host]) <= 2 * 6, "tries, each with its redirects"
    assert crawled.ends[f"http://{host}/fine"][-1] == "robots_unreachable"


@pytest.mark.parametrize("kind", ROBOTS_OPEN)
def test_R3_R7_an_absent_robots_file_allows(crawled: Crawled, kind: str) -> None:
    host = f"robots-{kind}.x.test"
    assert crawled.asked[host][:2] == ["/robots.txt", "/fine"]
    assert crawled.ends[f"http://{host}/fine"][-1] in ("kept", "duplicate")


def test_R7_the_first_half_mebibyte_of_a_huge_robots_file_counts(crawled: Crawled) -> None:
    assert "/closed" not in crawled.asked["robots-big.x.test"]
    assert "/open" in crawled.asked["robots-big.x.test"]
    assert crawled.ends["http://robots-big.x.test/closed"] == ["robots"]


def test_R7_a_packed_robots_file_counts_though_nobody_says_that_it_is_packed(crawled: Crawled) -> None:
    assert "/closed" not in crawled.asked["robots-packed.x.test"]
    assert "/open" in crawled.asked["robots-packed.x.test"]
    assert crawled.ends["http://robots-packed.x.test/closed"] == ["robots"]


@pytest.mark.parametrize("name", OUTCOMES)
def test_H10_every_answer_has_its_outcome(crawled: Crawled, name: str) -> None:
    ends = crawled.ends[f"http://{name}.y.test/{name}"]
    assert ends[-1] in OUTCOMES[name].split(), ends
    assert len(ends) <= 2
    assert all(end == "retry" for end in ends[:-1])


def test_H7_five_redirects_are_followed_and_no_more(crawled: Crawled) -> None:
    assert crawled.asked["chain5.y.test"].count("/chain/0") == 1
    assert "/chain/0" not in crawled.asked["chain6.y.test"]
    assert "too_many_redirects" in {end for url, ends in crawled.ends.items() if "chain6" in url for end in ends}
    assert crawled.asked["to-itself.y.test"].count("/to-itself") == 1
    assert len(crawled.asked["loop.y.test"]) <= 1 + 6
    assert len(crawled.asked["growing.y.test"]) <= 1 + 6


def test_H6_no_location_splits_a_request(crawled: Crawled) -> None:
    """Line ends and controls of a Location arrive escaped, in one request line."""
    for host, path in (("location-split", "/next%0D%0AX-Bad:1%01%20here"), ("location-raw", "/a%20bc")):
        (row,) = [row for row in crawled.site.requests(f"{host}.y.test") if row["path"] == path]
        assert row["bytes"].startswith(f"GET {path} HTTP/1.1\r\n")
        assert "x-bad" not in row["bytes"].partition("\r\n")[2].lower()


def test_S1_S4_nothing_private_was_connected_to(crawled: Crawled) -> None:
    assert {row["to"] for row in crawled.site.log() if row["event"] == "open"} == {"127.0.0.1"}
    hosts = {row["host"].partition(":")[0] for row in crawled.site.requests()}
    assert not [host for host in hosts if not host.endswith(".test")]
    for url in ("http://10.0.0.1/", "http://127.0.0.9/", "http://169.254.169.254/latest/", "http://10.0.0.7/"):
        assert crawled.ends[url] == ["blocked"], "nobody waits for an address that is out of bounds"
    assert "http://10.0.0.3/" in crawled.ends
    assert "http://ports.x.test:6379/" not in crawled.ends, "the rules of URLs refused its port already"


def test_P1_never_two_connections_to_a_host_at_once(crawled: Crawled) -> None:
    """By the server's log: between a request of a host and its answer no other request of that host comes in.

    Of hosts that answer: when somebody leaves a silent one, the server cannot tell.
    """
    answered = {row["host"] for row in crawled.site.log() if row["event"] == "answered"}
    silent = {host for host, paths in crawled.asked.items() if any(end in paths[-1] for end in WITHOUT_END)}
    busy: dict[str, int] = {}
    open_for: dict[int, str] = {}
    for row in crawled.site.log():
        if row["event"] == "request" and row["host"] in answered - silent:
            assert busy.setdefault(row["host"], row["connection"]) == row["connection"], row
            open_for[row["connection"]] = row["host"]
        elif row["event"] in ("answered", "close"):
            busy.pop(open_for.get(row["connection"], ""), None)


def test_U7_links_of_a_page_are_bounded(crawled: Crawled) -> None:
    assert sum(path.startswith("/p/") for path in set(crawled.asked["many-links.y.test"])) == 500


def test_X6_no_file_is_named_by_what_was_crawled(crawled: Crawled) -> None:
    """Names of files come from the job and from counting, never from a URL, a title or a header."""
    folders = r"|".join((r"lock", r"crawl\.toml", r"log(\.1)?\.jsonl", r"nodes/main/node\.db(-wal|-shm)?"))
    known = re.compile(rf"{folders}|nodes/main/archive/main-\d{{5}}\.warc\.gz|nodes/main/index/[\w.-]+")
    files = [str(path.relative_to(crawled.folder)) for path in crawled.folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [name for name in files if not known.fullmatch(name)]
