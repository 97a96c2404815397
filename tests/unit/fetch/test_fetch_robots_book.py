"""robots.txt fails closed: what an origin's silence, errors and redirects mean, and for how long (R1 to R6, R10)."""

import asyncio
import gzip
from typing import Literal

import pytest
from fake_clock import FakeClock
from scripted_transport import ScriptedTransport

from periplus.errors import BadContent, Blocked, ConnectionFailed, DnsError, FetchError, TlsError, TooLarge, TooSlow
from periplus.fetch import RobotsBook
from periplus.fetch.robots import Allow, Disallow, RobotsDecision, RobotsRecord, Unreachable
from periplus.settings import FetchSettings
from periplus.urls import CanonicalUrl, canonicalize

ORIGIN = "http://example.com"
ROBOTS = f"{ORIGIN}/robots.txt"
HOUR, DAY = 3600.0, 86_400.0


def page(url: str = f"{ORIGIN}/page") -> CanonicalUrl:
    parts = canonicalize(url)
    assert parts is not None
    return parts


class Site:
    """An origin whose robots.txt answers as the test says, a book of rules, and a clock."""

    def __init__(self, answer: object = None, *, retries: int = 3, refused: Literal["allow", "deny"] = "allow") -> None:
        self.clock = FakeClock()
        self.transport = ScriptedTransport(self.clock)
        self.transport.seconds = 0.0
        if answer is not None:
            self.transport.answers[ROBOTS] = answer
        settings = FetchSettings(robots_refused=refused)
        self.book = RobotsBook(self.transport, settings, retries=retries, retry_seconds=30)

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    def learn(self) -> RobotsRecord:
        return asyncio.run(self.book.learn(ORIGIN, self.now))

    def decide(self) -> RobotsDecision | None:
        return self.book.decide(page(), self.now)

    def live(self, seconds: float) -> int:
        """Do as a node does for some time: ask for robots.txt when told to; gives how often a page was allowed."""
        end, allowed = self.now + seconds, 0
        while self.now < end:
            decision = self.decide()
            if decision is None:
                self.learn()
            elif isinstance(decision, Unreachable) and not decision.given_up:
                self.clock.advance(max(1.0, decision.retry_at - self.now))
            else:
                allowed += isinstance(decision, Allow)
                self.clock.advance(600.0)
        return allowed


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 408, 429, 304, 300, 100, 999])
def test_no_page_is_allowed_while_robots_fails(status: int) -> None:
    site = Site((status, b"User-agent: *\nAllow: /", {}))
    assert site.live(DAY) == 0
    assert len(site.transport.asked) <= 6  # tries that grow apart, then one a day


@pytest.mark.parametrize(
    "error",
    [ConnectionFailed("refused"), DnsError("no name"), TlsError("bad"), TooSlow("slow"),
     BadContent("not HTTP"), TooLarge("big")],
)  # fmt: skip
def test_no_page_is_allowed_while_robots_cannot_be_reached(error: FetchError) -> None:
    site = Site(error)
    assert site.live(DAY) == 0
    assert site.book.last_failure == str(error)


def test_an_origin_that_is_out_of_bounds_is_not_waited_for() -> None:
    site = Site(Blocked("10.0.0.1 is not a public address"))
    with pytest.raises(Blocked):
        site.learn()
    assert site.decide() is None, "nothing was learnt"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_an_absent_file_allows(status: int) -> None:
    site = Site((status, b"User-agent: *\nDisallow: /", {}))
    assert site.learn().status == "absent"
    assert site.decide() == Allow(0.0)


def test_tries_grow_apart_and_end() -> None:
    site = Site((500, b"", {}), retries=2)
    waits = []
    for _ in range(2):
        site.learn()
        decision = site.decide()
        assert isinstance(decision, Unreachable)
        assert not decision.given_up
        waits.append(decision.retry_at - site.now)
        site.clock.advance(waits[-1])
    assert waits == [30.0, 60.0]
    site.learn()
    decision = site.decide()
    assert isinstance(decision, Unreachable)
    assert decision.given_up


def test_an_origin_that_was_given_up_is_asked_again_a_day_later() -> None:
    site = Site((500, b"", {}), retries=0)
    site.learn()
    site.clock.advance(24 * HOUR)
    assert site.decide() is None
    site.transport.answers[ROBOTS] = (200, b"", {})
    site.learn()
    assert site.decide() == Allow(0.0)


@pytest.mark.parametrize("status", [429, 503])
def test_robots_says_itself_when_to_come_back(status: int) -> None:
    site = Site((status, b"", {"Retry-After": "7200"}))
    site.learn()
    decision = site.decide()
    assert isinstance(decision, Unreachable)
    assert decision.retry_at == site.now + 7200
    site.clock.advance(7199)
    assert isinstance(site.decide(), Unreachable)
    site.clock.advance(2)
    site.transport.seconds = 5.0
    site.learn()
    decision = site.decide()
    assert isinstance(decision, Unreachable)
    assert decision.retry_at == site.now + 7205, "the time counts from the answer, which took five seconds"


def test_good_rules_are_read_again_after_a_day() -> None:
    site = Site((200, b"User-agent: *\nDisallow: /", {}))
    site.learn()
    site.clock.advance(24 * HOUR - 1)
    assert site.decide() == Disallow()
    site.clock.advance(1)
    assert site.decide() is None
    site.transport.answers[ROBOTS] = (200, b"", {})
    site.learn()
    assert site.decide() == Allow(0.0)


def test_good_rules_outlive_an_outage_for_a_month_and_no_longer() -> None:
    site = Site((200, b"User-agent: *\nDisallow: /private", {}))
    site.learn()
    site.transport.answers[ROBOTS] = (503, b"", {})
    site.clock.advance(25 * HOUR)
    assert site.decide() is None
    site.learn()
    assert site.decide() == Allow(0.0)
    assert site.book.decide(page(f"{ORIGIN}/private"), site.now) == Disallow()
    site.clock.advance(30 * DAY)
    assert site.decide() is None
    site.learn()
    assert isinstance(site.decide(), Unreachable)
    assert site.live(2 * DAY) == 0


def test_a_long_outage_does_not_overflow() -> None:
    site = Site((200, b"", {}))
    site.learn()
    site.transport.answers[ROBOTS] = (503, b"", {})
    for _ in range(1_200):
        site.clock.advance(600)
        site.learn()
    assert site.decide() == Allow(0.0)


def chain(site: Site, hops: int, final: object) -> None:
    for hop in range(hops):
        target = f"http://host{hop}.example/robots.txt"
        site.transport.answers[ROBOTS if hop == 0 else f"http://host{hop - 1}.example/robots.txt"] = (
            301,
            b"",
            {"Location": target},
        )
    site.transport.answers[f"http://host{hops - 1}.example/robots.txt"] = final


def test_five_redirects_are_followed_and_the_rules_count_for_the_first_origin() -> None:
    site = Site()
    chain(site, 5, (200, b"User-agent: *\nDisallow: /", {}))
    assert site.learn().origin == ORIGIN
    assert site.decide() == Disallow()
    assert site.book.decide(page("http://host4.example/"), site.now) is None  # not cached for where they came from


def test_R6_nobody_asks_robots_whether_robots_may_be_read() -> None:
    """Where it leads, robots.txt forbids everything: the file that was led to counts all the same."""
    site = Site((301, b"", {"Location": "http://other.example/closed/robots.txt"}))
    site.transport.answers["http://other.example/robots.txt"] = (200, b"User-agent: *\nDisallow: /", {})
    site.transport.answers["http://other.example/closed/robots.txt"] = (200, b"User-agent: *\nDisallow: /no", {})
    site.learn()
    assert site.transport.asked == [ROBOTS, "http://other.example/closed/robots.txt"]
    assert site.decide() == Allow(0.0)
    assert site.book.decide(page(f"{ORIGIN}/no"), site.now) == Disallow()


@pytest.mark.parametrize("case", ["six", "loop", "nowhere", "file", "private"])
def test_redirects_that_lead_nowhere_allow_nothing(case: str) -> None:
    site = Site()
    if case == "six":
        chain(site, 6, (200, b"", {}))
    elif case == "loop":
        site.transport.answers[ROBOTS] = (301, b"", {"Location": f"https{ROBOTS[4:]}"})
        site.transport.answers[f"https{ROBOTS[4:]}"] = (301, b"", {"Location": ROBOTS})
    elif case == "nowhere":
        site.transport.answers[ROBOTS] = (302, b"", {})
    elif case == "file":
        site.transport.answers[ROBOTS] = (302, b"", {"Location": "file:///etc/passwd"})
    else:
        site.transport.answers[ROBOTS] = (302, b"", {"Location": "http://10.0.0.1/robots.txt"})
        site.transport.answers["http://10.0.0.1/robots.txt"] = Blocked("10.0.0.1 is not a public address")
    assert site.learn().status == "unreachable"
    assert isinstance(site.decide(), Unreachable)
    assert len(site.transport.asked) <= 6


def test_origins_are_scheme_host_and_port() -> None:
    site = Site((200, b"", {}))
    site.learn()
    for other in ("https://example.com/", "http://example.com:8080/", "http://www.example.com/"):
        assert site.book.decide(page(other), site.now) is None


def test_records_survive_a_restart_and_the_newest_counts() -> None:
    site = Site((200, b"User-agent: *\nDisallow: /", {}))
    record = site.learn()
    again = Site()
    again.book.remember(record)
    again.book.remember(RobotsRecord(ORIGIN, "absent", b"", record.fetched_at - 1, 1e12))
    assert again.decide() == Disallow()
    again.book.remember(RobotsRecord(ORIGIN, "absent", b"", record.fetched_at + 1, 1e12))
    assert again.decide() == Allow(0.0)
    assert again.transport.asked == []


def test_a_crawl_of_ones_own_machine_may_ignore_robots() -> None:
    site = Site((200, b"User-agent: *\nDisallow: /", {}))
    book = RobotsBook(site.transport, FetchSettings(), retries=3, retry_seconds=30, obey=False)
    assert book.decide(page(), 0.0) == Allow(0.0)


def test_a_file_that_breaks_off_allows_nothing() -> None:
    """What is missing may have forbidden; what we cut off ourselves, at half a mebibyte, may not (R2)."""
    site = Site((200, b"User-agent: *\nAllow: /\n", {}))
    site.transport.truncated = True
    site.learn()
    assert isinstance(site.decide(), Unreachable)
    assert "broke off" in site.book.last_failure
    whole = Site((200, b"User-agent: *\nAllow: /\n" + b"#" * 2**20, {}))
    whole.transport.truncated = True
    whole.learn()
    assert isinstance(whole.decide(), Allow)


RULES = b"User-agent: *\nDisallow: /page\n"


@pytest.mark.parametrize(
    "body",
    [gzip.compress(RULES), gzip.compress(b"\xff\xfe" + RULES.decode().encode("utf-16-le")),
     gzip.compress(RULES[:14]) + gzip.compress(RULES[14:]), gzip.compress(RULES + b"#\n" * 2**22)],
    ids=["gzip", "UTF-16 in gzip", "two members", "more than is read"],
)  # fmt: skip
def test_R7_rules_in_gzip_count_though_nobody_says_that_it_is_gzip(body: bytes) -> None:
    site = Site((200, body, {"Content-Type": "text/plain"}))
    record = site.learn()
    assert record.status == "found"
    assert site.decide() == Disallow()
    assert isinstance(site.book.decide(page(f"{ORIGIN}/other"), site.now), Allow)
    assert len(record.body) <= FetchSettings().robots_bytes


@pytest.mark.parametrize(
    "body",
    [gzip.compress(b"User-agent: *\nAllow: /\n")[:-12], gzip.compress(gzip.compress(RULES)), b"\x1f\x8bnot gzip",
     b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"(\xb5/\xfd\x04\0" + bytes(range(64)), bytes(2**19)],
    ids=["breaks off", "twice", "broken", "a picture", "zstd", "NUL"],
)  # fmt: skip
def test_R7_what_is_no_text_allows_nothing(body: bytes) -> None:
    """Nobody has sent it to allow anything, and what it was meant to be may have forbidden."""
    site = Site((200, body, {"Content-Type": "text/plain"}))
    assert site.live(DAY) == 0
    assert site.book.last_failure


@pytest.mark.parametrize(
    "body",
    [b"", b"\xef\xbb\xbf# nothing\n", b"User-agent: *\n\0\x01Disallow: /x\n", "# déjà vu\n".encode("latin-1"),
     b"User-agent: *\nDisallow:\n".decode().encode("utf-16-le"), b"<title>x</title>" + b" " * 2**12 + b"\x02"],
    ids=["nothing", "a mark", "control characters", "Latin", "UTF-16 without a mark", "a page with a stray byte"],
)  # fmt: skip
def test_R7_text_is_read_whatever_stands_between(body: bytes) -> None:
    site = Site((200, body, {}))
    site.learn()
    assert isinstance(site.decide(), Allow)


def test_R7_the_line_that_our_bound_cuts_does_not_count() -> None:
    """Cut off, "Allow: /public" would be "Allow: /"."""
    start = b"User-agent: *\nDisallow: /\n"
    rule = b"Allow: /public\n"
    padding = b"#" * (FetchSettings().robots_bytes - len(start) - len(rule) + len("public")) + b"\n"
    site = Site((200, start + padding + rule, {}))
    site.transport.truncated = True
    site.learn()
    assert site.decide() == Disallow()


def test_R7_a_file_without_lines_that_exceeds_our_bound_allows_nothing() -> None:
    site = Site((200, bytes(2**20), {}))
    site.transport.truncated = True
    site.learn()
    assert isinstance(site.decide(), Unreachable)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_R7_a_file_in_utf16_is_read(encoding: str) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    text = f"{mark}User-agent: *\r\nDisallow: /page\r\nCrawl-delay: 7\r\nSitemap: /s.xml\r\n"
    site = Site((200, text.encode(encoding), {}))
    site.learn()
    assert site.decide() == Disallow()
    assert site.book.delays() == {"example.com": 7.0}
    assert site.book.sitemaps(ORIGIN) == [f"{ORIGIN}/s.xml"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_file_that_may_not_be_read_allows_or_not_as_the_job_says(status: int) -> None:
    allowing = Site((status, b"", {}))
    allowing.learn()
    assert isinstance(allowing.decide(), Allow)
    denying = Site((status, b"", {}), refused="deny")
    assert denying.live(DAY) == 0
    assert f"HTTP {status}" in denying.book.last_failure


@pytest.mark.parametrize("ahead", [-5 * HOUR, 0.0, 5 * HOUR, 30 * DAY])
def test_what_a_machine_with_another_clock_has_read_is_used_no_longer_than_a_file_of_ours(ahead: float) -> None:
    site = Site()
    there = site.now + ahead
    told = RobotsRecord(ORIGIN, "found", b"User-agent: *\nDisallow: /\n", there, there + DAY)
    believed = site.book.hear(told, site.now)
    assert believed is not None
    assert believed.fetched_at <= site.now
    assert isinstance(site.decide(), Disallow)
    site.clock.advance(DAY + 1)
    assert site.decide() is None, "to be read again"


def test_what_has_expired_elsewhere_is_read_here() -> None:
    site = Site()
    told = RobotsRecord(ORIGIN, "absent", b"", site.now - 2 * DAY, site.now - DAY)
    assert site.book.hear(told, site.now) is None
    assert site.decide() is None
