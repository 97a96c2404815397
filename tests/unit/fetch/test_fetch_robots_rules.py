"""What robots.txt means: RFC 9309 rule by rule (reliability R7 to R9, P4)."""

import asyncio
import os
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from own_process import SLACK, in_own_process
from scripted_transport import ScriptedTransport

from periplus.fetch import RobotsBook
from periplus.fetch.robots import Allow, Disallow, RobotsDecision, TooSlow
from periplus.settings import FetchSettings
from periplus.urls import canonicalize

ORIGIN = "http://example.com"


def decide(robots: bytes, path: str) -> RobotsDecision | None:
    transport = ScriptedTransport()
    transport.answers[f"{ORIGIN}/robots.txt"] = (200, robots, {"Content-Type": "text/plain"})
    book = RobotsBook(transport, FetchSettings(), retries=3, retry_seconds=30)
    url = canonicalize(ORIGIN + path)
    assert url is not None
    assert book.decide(url, 0.0) is None  # nothing is allowed before robots.txt was read
    asyncio.run(book.learn(ORIGIN, 0.0))
    return book.decide(url, 1.0)


ALL = "User-agent: *\n"
CASES: list[tuple[str, str, bool]] = [
    # (robots.txt, path, allowed)
    ("", "/", True),
    ("Disallow: /", "/", True),  # a rule without a group
    (ALL + "Disallow:", "/a", True),
    (ALL + "Disallow: /", "/", False),
    (ALL + "Disallow: /", "/a/b?c", False),
    (ALL + "Allow: /", "/a", True),
    (ALL + "Disallow: /a", "/a", False),
    (ALL + "Disallow: /a", "/ab", False),
    (ALL + "Disallow: /a", "/b/a", True),
    (ALL + "Disallow: /a/", "/a", True),
    (ALL + "Disallow: /a/", "/a/b", False),
    (ALL + "Disallow: /A", "/a", True),  # paths keep their case
    # the longest match counts, and Allow wins a tie
    (ALL + "Disallow: /a\nAllow: /a/b", "/a/b", True),
    (ALL + "Disallow: /a\nAllow: /a/b", "/a/c", False),
    (ALL + "Allow: /a/b\nDisallow: /a", "/a/b", True),
    (ALL + "Allow: /a\nDisallow: /a", "/a", True),
    (ALL + "Disallow: /a\nAllow: /a", "/a", True),
    (ALL + "Allow: /a\nDisallow: /a/b", "/a/b", False),
    (ALL + "Allow: /page\nDisallow: /*.htm", "/page.htm", False),
    (ALL + "Allow: /$\nDisallow: /", "/", True),
    (ALL + "Allow: /$\nDisallow: /", "/page.htm", False),
    # wildcards and the end mark
    (ALL + "Disallow: /*.php", "/a.php", False),
    (ALL + "Disallow: /*.php", "/a.php?x=1", False),
    (ALL + "Disallow: /*.php", "/a.html", True),
    (ALL + "Disallow: /*.php$", "/a.php", False),
    (ALL + "Disallow: /*.php$", "/a.php?x=1", True),
    (ALL + "Disallow: /a*b", "/aXXb", False),
    (ALL + "Disallow: /a*b", "/ab", False),
    (ALL + "Disallow: /a*b", "/b", True),
    (ALL + "Disallow: /*/private", "/x/private", False),
    (ALL + "Disallow: /*/private", "/private", True),
    (ALL + "Disallow: *", "/a", False),
    (ALL + "Disallow: /a$", "/a", False),
    (ALL + "Disallow: /a$", "/ab", True),
    (ALL + "Disallow: /*?", "/a", True),
    (ALL + "Disallow: /*?", "/a?b", False),
    (ALL + "Disallow: /***a", "/xa", False),
    # query strings belong to the path
    (ALL + "Disallow: /a?b=1", "/a?b=1", False),
    (ALL + "Disallow: /a?b=1", "/a?b=2", True),
    # percent-encoding means the same written either way
    (ALL + "Disallow: /%7Ejoe/", "/~joe/index", False),
    (ALL + "Disallow: /~joe/", "/%7Ejoe/index", False),
    (ALL + "Disallow: /a%3cd", "/a%3Cd", False),
    (ALL + "Disallow: /ü", "/%C3%BC", False),
    (ALL + "Disallow: /%C3%BC", "/ü", False),
    (ALL + "Disallow: /a%2Fb", "/a/b", True),
    # which group counts
    ("User-agent: Periplus\nDisallow: /\n", "/", False),
    ("User-agent: periplus\nDisallow: /\n", "/", False),
    ("User-agent: PERIPLUS\nDisallow: /\n", "/", False),
    ("User-agent: Periplus/0.1\nDisallow: /\n", "/", False),
    ("User-agent: Periplus/0.1 # us\nDisallow: /\n", "/", False),
    ("User-agent: Otherbot\nDisallow: /\n", "/", True),
    ("User-agent: Otherbot\nDisallow: /\n\nUser-agent: *\nAllow: /", "/", True),
    ("User-agent: *\nDisallow: /\n\nUser-agent: Periplus\nAllow: /", "/", True),
    ("User-agent: Periplus\nAllow: /\n\nUser-agent: *\nDisallow: /", "/", True),
    ("User-agent: Periplus\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", True),
    ("User-agent: Periplus\n\nUser-agent: *\nDisallow: /", "/a", False),
    ("User-agent: Otherbot\nUser-agent: Periplus\nDisallow: /a", "/a", False),
    ("User-agent: Periplus\nDisallow: /a\n\nUser-agent: Periplus\nDisallow: /b", "/b", False),  # groups are merged
    ("User-agent: Periplus\nDisallow: /a\n\nUser-agent: Periplus\nDisallow: /b", "/a", False),
    # how it is written
    ("user-agent:*\ndisallow:/a", "/a", False),
    ("USER-AGENT: *\nDISALLOW: /a", "/a", False),
    ("  User-agent :  *  \n  Disallow :  /a  ", "/a", False),
    ("User-agent: * # everyone\nDisallow: /a # not this", "/a", False),
    ("# only\n# comments", "/a", True),
    ("User-agent: *\r\nDisallow: /a\r\n", "/a", False),
    ("User-agent: *\rDisallow: /a\r", "/a", False),
    ("\ufeffUser-agent: *\nDisallow: /a", "/a", False),
    ("User-agent: *\n\n\nDisallow: /a", "/a", False),
    ("User-agent: *\nSitemap: http://example.com/s.xml\nDisallow: /a", "/a", False),
    ("User-agent: *\nNonsense: 7\nDisallow: /a", "/a", False),
    ("User-agent: *\nDisallow: /a\0b\nDisallow: /c", "/c", False),
    ("<!doctype html><html><body>User-agent: * Disallow: /</body></html>", "/", True),
    ("User-agent: *\nDisallow /a", "/a", False),  # a forgotten colon, as Google reads it
    ("User-agent: *\nDisallow: a", "/a", True),
    # the longest match by the length of the rule, whatever the order
    (ALL + "Disallow: /folder\nAllow: /folder/", "/folder/page", True),
    (ALL + "Disallow: /folder\nAllow: /folder/", "/folder", False),
    (ALL + "Allow: /p\nDisallow: /", "/page", True),
    (ALL + "Allow: /p\nDisallow: /", "/other", False),
    (ALL + "Allow: /folder\nDisallow: /folder", "/folder/page", True),
    (ALL + "Allow: /page\nDisallow: /*.html", "/page.html", False),
    (ALL + "Allow: /page.h\nDisallow: /*.html", "/page.html", True),
    (ALL + "Allow: /x/page.\nDisallow: /*.html", "/x/page.html", True),
    (ALL + "Disallow: /\nAllow: /a/\nDisallow: /a/b/\nAllow: /a/b/c", "/a/b/c", True),
    (ALL + "Disallow: /\nAllow: /a/\nDisallow: /a/b/\nAllow: /a/b/c", "/a/b/d", False),
    (ALL + "Disallow: /\nAllow: /a/\nDisallow: /a/b/\nAllow: /a/b/c", "/a/x", True),
    (ALL + "Disallow: /a\nDisallow: /a/b\nAllow: /a", "/a/b", False),
    (ALL + "Disallow:\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
    # stars in every place
    (ALL + "Disallow: /*", "/", False),
    (ALL + "Disallow: /*", "/anything", False),
    (ALL + "Disallow: /a*", "/a", False),
    (ALL + "Disallow: /a*", "/b/a", True),
    (ALL + "Disallow: */c", "/a/b/c", False),
    (ALL + "Disallow: */c$", "/a/b/cd", True),
    (ALL + "Disallow: /a/*/c", "/a/b/c", False),
    (ALL + "Disallow: /a/*/c", "/a/b/b/c", False),
    (ALL + "Disallow: /a/*/c", "/a/c", True),
    (ALL + "Disallow: /a*b*c", "/a1b2c3", False),
    (ALL + "Disallow: /a*b*c", "/a1c2b3", True),
    (ALL + "Disallow: /a*b*c$", "/a1b2c3", True),
    (ALL + "Disallow: /a*a", "/a", True),
    (ALL + "Disallow: /a*a", "/aa", False),
    (ALL + "Disallow: /fish*", "/fishheads/yummy.html", False),
    (ALL + "Disallow: /fish*", "/Fish.asp", True),
    (ALL + "Disallow: /fish/", "/fish.html", True),
    (ALL + "Disallow: /fish/", "/animals/fish/", True),
    (ALL + "Disallow: /*.gif$", "/a.gif?x", True),
    (ALL + "Disallow: /*.gif$", "/a.gif", False),
    (ALL + "Disallow: /*.gif$", "/a.GIF", True),
    # the end mark is one only at the end
    (ALL + "Disallow: /a$b", "/a$b", False),
    (ALL + "Disallow: /a$b", "/a", True),
    (ALL + "Disallow: /$", "/", False),
    (ALL + "Disallow: /$", "/a", True),
    (ALL + "Disallow: /a/$", "/a/", False),
    (ALL + "Disallow: /a/$", "/a/b", True),
    # queries
    (ALL + "Disallow: /*?*", "/a?b", False),
    (ALL + "Disallow: /*?$", "/a?b", True),
    (ALL + "Disallow: /*&sort=", "/a?b=1&sort=2", False),
    (ALL + "Disallow: /*&sort=", "/a?sort=2", True),
    (ALL + "Allow: /a?ok\nDisallow: /a?", "/a?ok=1", True),
    (ALL + "Allow: /a?ok\nDisallow: /a?", "/a?no=1", False),
    # groups
    ("User-agent: a\nUser-agent: b\nUser-agent: *\nDisallow: /x", "/x", False),
    ("User-agent: *\nDisallow: /x\nUser-agent: Otherbot\nDisallow: /y", "/y", True),
    ("User-agent: *\nDisallow: /x\nUser-agent: Otherbot\nDisallow: /y", "/x", False),
    ("User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /y", "/x", False),
    ("User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /y", "/y", False),
    ("User-agent: Periplus\nAllow: /x\n\nUser-agent: *\nDisallow: /x", "/x", True),
    ("User-agent: periplusbot\nDisallow: /\n", "/", True),
    ("User-agent: Peri\nDisallow: /\n", "/", True),
    ("User-agent: Otherbot Periplus\nDisallow: /\n", "/", True),
    ("User-agent: Periplus/0.1.0 (+https://example.org/us)\nDisallow: /\n", "/", False),
    ("User-agent: Periplus (us) # you\nDisallow: /a\n", "/a", False),
    ("User-agent: Periplus (us) # you\nDisallow: /a\n", "/b", True),
    ("User-agent: a\rDisallow:\r\rUser-agent: Periplus/1.0\rDisallow: /x\r", "/x", False),
    ("User-agent: a\rDisallow:\r\rUser-agent: Peri\rDisallow: /x\r", "/x", True),
]


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 120


@pytest.mark.parametrize(("robots", "path", "allowed"), CASES)
def test_rules(robots: str, path: str, allowed: bool) -> None:
    expected: RobotsDecision = Allow(0.0) if allowed else Disallow()
    assert decide(robots.encode(), path) == expected


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("0.1", Allow(0.1)),
        ("10", Allow(10.0)),
        ("300", Allow(300.0)),
        ("301", TooSlow()),
        ("10000", TooSlow()),
        ("1e308", TooSlow()),
        ("inf", Allow(0.0)),
        ("-1", Allow(0.0)),
        ("0", Allow(0.0)),
        ("nan", Allow(0.0)),
        ("abc", Allow(0.0)),
        ("", Allow(0.0)),
        ("10 seconds", Allow(0.0)),
    ],
)
def test_crawl_delay(stated: str, expected: RobotsDecision) -> None:
    assert decide(f"User-agent: *\nCrawl-delay: {stated}\nDisallow: /x".encode(), "/a") == expected


def test_another_crawlers_delay_is_not_ours() -> None:
    assert decide(b"User-agent: Otherbot\nCrawl-delay: 1000\n\nUser-agent: *\nDisallow: /x", "/a") == Allow(0.0)


def test_a_disallowed_url_is_disallowed_however_slow_the_host_wants_us() -> None:
    assert decide(b"User-agent: *\nCrawl-delay: 1000\nDisallow: /", "/a") == Disallow()


HOSTILE = {
    "R7 a page": (b"<!doctype html><title>Not found</title>" + b"<p>User-agent: *" * 30_000, 0.2),
    "R7 NUL": (b"\0" * 500_000, 0.2),
    "R7 line ends of another kind": (b"Disallow: /a\r" * 38_000, 0.2),
    "R7 a million lines": (b"\n" * 1_000_000, 0.2),
    "R7 a hundred megabytes": (b"Disallow: /a*b\n" * 7_000_000, 0.2),
    "R7 many rules": (b"User-agent: *\n" + b"Disallow: /a\n" * 40_000, 0.2),
    "R7 many agents": (b"User-agent: x\n" * 37_000, 0.2),
    "R7 one line": (b"A" * 500_000, 0.2),
    "R8 stars": (b"User-agent: *\nDisallow: /" + b"*" * 400_000 + b"a", 0.05),
    "R8 a star before each letter": (b"User-agent: *\nDisallow: /" + b"*a" * 200_000, 0.05),
}
"""Files, and the processor time in which each is to be read and to decide."""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_little(name: str) -> None:
    robots, seconds = HOSTILE[name]
    decide(b"", "/a")  # what is imported at the first use is not the file's
    _, cost = in_own_process(lambda: decide(robots, "/" + "a" * 2_000) is not None)
    assert cost.processor <= SLACK * seconds
    assert cost.memory <= 20 * 2**20


def test_only_the_first_half_mebibyte_counts() -> None:
    padding = b"# padding\n" * 60_000
    assert decide(b"User-agent: *\nDisallow: /a\n" + padding, "/a") == Disallow()
    assert decide(padding + b"User-agent: *\nDisallow: /a\n", "/a") == Allow(0.0)


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_decision(robots: bytes) -> None:
    assert decide(robots, "/a") is not None
    assert decide(b"User-agent: *\n" + robots, "/a") is not None


def test_real_files_are_read() -> None:
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder or not (Path(folder) / "conformance").is_dir():
        pytest.skip("PERIPLUS_DATA names no folder with conformance/: real robots.txt files are not read")
    files = sorted((Path(folder) / "conformance/protego/tests").rglob("*"))[:500]
    for file in (file for file in files if file.is_file()):
        assert decide(file.read_bytes(), "/") is not None
