"""A hostile server and the one way out, each case in a process whose time and memory are looked at (H1 to H12, R7)."""

import asyncio
import contextlib
import os
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hostile_site import HostileSite, hostile_site
from raw_server import ServerLog, http, serve

from periplus.clock import SystemClock
from periplus.errors import FetchError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.settings import FetchSettings

MEBIBYTE = 2**20
DEADLINE = 1.0
PIECE = 256 * 1024
"""What the event loop reads from a socket at once, at most."""

SITE = "http://h.test"

ENDS = {
    "bomb-gzip": "TooLarge",
    "bomb-deflate": "TooLarge",
    "bomb-br": "TooLarge",
    "bomb-zstd": "TooLarge",
    "bomb-members": "TooLarge",
    "bomb-nested": "TooLarge",
    "bomb-thrice": "BadContent",
    "garbage-behind-gzip": "answer",
    "length-huge": "TooLarge",
    "length-short": "BadContent answer",  # the rest may come after the answer is complete
    "length-long": "answer",
    "length-missing": "answer",
    "length-negative": "BadContent",
    "length-two": "BadContent",
    "endless": "TooLarge",
    "drip-head": "TooSlow",
    "drip-body": "TooSlow",
    "silence": "TooSlow",
    "stall-in-chunk": "TooSlow",
    "stall-in-body": "TooSlow",
    "hints-flood": "BadContent",
    "headers-million": "BadContent",
    "header-long": "BadContent",
    "nul-in-header": "BadContent",
    "cr-in-header": "BadContent",
    "bare-lf": "answer",
    "folded": "answer",
    "length-and-chunked": "BadContent",
    "chunked-twice": "answer BadContent",
    "chunk-size-bad": "BadContent",
    "chunk-size-negative": "BadContent",
    "chunk-size-huge": "BadContent",
    "chunk-extension": "BadContent",
    "extension-endless": "BadContent",
    "chunks-tiny": "BadContent",
    "trailers-endless": "BadContent answer",  # the body is complete before they begin
    "http-09": "BadContent",
    "status-999": "answer",
    "status-0": "BadContent",
    "204-with-body": "answer BadContent",
    "304-unasked": "answer",
    "not-http": "BadContent",
    "nothing": "ConnectionFailed",
    "cookie-bomb": "answer",
}
"""How a request ends for each behaviour; two words where it depends on when the bytes come."""

Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileSite]:
    with hostile_site(tmp_path_factory.mktemp("hostile")) as running:
        yield running


@pytest.fixture(scope="module")
def told(site: HostileSite) -> Told:
    """All behaviours, each in a process of its own with the default limits but for the deadline."""
    answers = site.visit(*(f"http://{name}.test/{name}" for name in ENDS), total_seconds=DEADLINE)
    assert len(answers) == len(ENDS), "no process died"
    return {answer["url"].rpartition("/")[2]: answer for answer in answers}


@pytest.mark.parametrize("name", ENDS)
def test_H_every_behaviour_ends_as_it_should_in_time_and_memory(told: Told, name: str) -> None:
    """H1 to H5, H10, H11: the outcome, a second beyond the deadline, processor time, 64 MiB, and 5 on the wire."""
    one = told[name]
    assert one["outcome"] in ENDS[name].split(), one
    assert one["seconds"] <= DEADLINE + 1.0, one
    assert one["processor"] <= 2.0, one
    assert one["memory"] <= 64 * MEBIBYTE, one
    assert one["wire"] <= FetchSettings().wire_bytes + PIECE, one
    assert one.get("size", 0) <= 10 * MEBIBYTE


@pytest.mark.parametrize(
    "name",
    [
        *("drip-head", "headers-million", "header-long", "hints-flood", "trailers-endless"),
        *("chunk-extension", "extension-endless", "chunks-tiny"),
    ],
)
def test_H4_H5_what_is_no_body_is_read_for_three_quarters_of_a_mebibyte_at_most(told: Told, name: str) -> None:
    """A line of 8 KiB is refused, and 128 of them; and all that frames a body beyond 256 KiB and its own size."""
    assert told[name]["wire"] <= 3 * PIECE


def test_H1_bombs_of_every_kind_stop_at_the_bound(told: Told) -> None:
    bombs = [name for name in ENDS if name.startswith("bomb-") and name != "bomb-thrice"]
    assert len(bombs) == 6
    assert all("more than 10485760 bytes after decoding" in told[name]["message"] for name in bombs)


def test_H2_a_length_that_lies_marks_the_page(told: Told) -> None:
    assert told["length-long"]["truncated"]
    assert not told["length-missing"]["truncated"]


def test_H4_interim_responses_do_not_keep_a_core_busy(told: Told) -> None:
    assert "interim" in told["hints-flood"]["message"], "refused, not read until the deadline"
    assert told["hints-flood"]["processor"] < 0.5


def test_H12_no_cookie_is_ever_sent_back(site: HostileSite) -> None:
    site.visit(f"{SITE}/cookie-bomb", f"{SITE}/fine", f"{SITE}/fine", how="together")
    sent = [row["bytes"].partition("\r\n")[2] for row in site.requests("h.test")]
    assert len(sent) >= 3
    assert not any("cookie" in headers.lower() for headers in sent)


@pytest.mark.parametrize(
    "path",
    [
        "/a b", "/a\tb", "/a\r\nX-Bad: 1", "/a\nb", "/a\0b", "/a%0d%0aX-Bad:%201", "/ä",
        "/a?b=c d\r\nHost: evil.test", "/#\r\nX: y",
    ],
)  # fmt: skip
def test_H6_no_url_splits_a_request(site: HostileSite, path: str) -> None:
    before = len(site.requests())
    (answer,) = site_visit(site, f"{SITE}{path}")
    requests = site.requests()[before:]
    assert len(requests) == (0 if answer["outcome"] == "Blocked" else 1)
    for request in requests:
        lines = request["bytes"].removesuffix("\r\n\r\n").split("\r\n")
        assert re.fullmatch(r"GET /[!-~]* HTTP/1\.1", lines[0])
        names = [line.partition(":")[0].lower() for line in lines[1:]]
        assert sorted(names) == ["accept", "accept-encoding", "host", "user-agent"]
        assert request["host"] == "h.test"


def site_visit(site: HostileSite, url: str) -> list[dict[str, Any]]:
    """Ask from this process: no command line takes a NUL."""

    async def run() -> dict[str, Any]:
        guard, clock = AddressGuard(["127.0.0.1/32"]), SystemClock()
        resolver = Resolver({"*.test": f"127.0.0.1:{site.port}"}, guard, clock)
        async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/hostile") as transport:
            try:
                return {"outcome": "answer", "status": (await transport.get(url)).status}
            except FetchError as error:
                return {"outcome": type(error).__name__}

    return [asyncio.run(run())]


def test_H5_an_answer_belongs_to_its_request_whatever_garbage_comes_between() -> None:
    """Pairs on kept connections (PERIPLUS_PAIRS=10000 for the whole proof); behind each right answer comes garbage."""
    pairs = int(os.environ.get("PERIPLUS_PAIRS", "1000"))
    dice = random.Random(5)
    parts = [
        http(b"poison", "Connection: keep-alive"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npois",
        b"HTTP/1.1 103 Early\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\npoison\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n6\r\npoison\r\n0\r\n\r\n",
        b"0\r\n\r\n",
        b"\r\n\r\n",
    ]

    def garbage() -> bytes:
        """Nothing, parts of responses that nobody asked for, whole or damaged, or any bytes."""
        kind = dice.randrange(4)
        if kind < 2:
            return dice.choice(parts) if kind else b""
        if kind == 2:
            return dice.randbytes(dice.randrange(200))
        damaged = bytearray(b"".join(dice.choices(parts, k=dice.randint(1, 3))))
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        return bytes(damaged[dice.randrange(len(damaged)) :])

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
                data = http(path, "Connection: keep-alive") + garbage()
                cut = dice.randrange(len(data) + 1)
                writer.write(data[:cut])
                await writer.drain()
                if dice.random() < 0.2:
                    await asyncio.sleep(0)
                writer.write(data[cut:])
                await writer.drain()

    async def run() -> tuple[int, int]:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
            table = {"*.test": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"}
            options = FetchSettings(total_seconds=0.5)
            async with Transport(options, Resolver(table, guard, clock), guard, clock, agent="P/t") as transport:
                right = wrong = 0
                for number in range(pairs):
                    with contextlib.suppress(FetchError):
                        same = (await transport.get(f"{SITE}/{number}")).body == b"/%d" % number
                        right, wrong = right + same, wrong + (not same)
            await asyncio.sleep(0.05)  # until the server has seen that we left
            return right, wrong

    right, wrong = asyncio.run(run())
    assert wrong == 0
    assert right > pairs / 4
    print(f"PROOF {pairs:,} pairs of requests with garbage between: {wrong} answers of another, {right:,} of their own")


def test_H8_redirects_carry_nothing_over_to_another_origin() -> None:
    """Nothing is followed below the frontier, and no request has credentials, so there is nothing to carry over."""

    async def reply(_path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"", "Location: http://other.test/", "Set-Cookie: a=b", status="302 Found"))

    async def run() -> ServerLog:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with serve(reply) as log:
            resolver = Resolver({"*.test": f"127.0.0.1:{log.port}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="P/t") as transport:
                await transport.get("http://user:secret@h.test/")
                await transport.get("http://other.test/")
            return log

    log = asyncio.run(run())
    assert len(log.requests) == 2
    for request in log.requests:
        assert not re.search(rb"authorization|cookie|secret|referer", request, re.IGNORECASE)


def test_R7_a_robots_file_of_a_hundred_megabytes_costs_half_a_mebibyte(site: HostileSite) -> None:
    """The page of that host is asked for by its first half mebibyte of rules."""
    (answer,) = site.visit("http://robots-big.x.test/robots.txt", wire_bytes=MEBIBYTE)
    assert answer["outcome"] == "TooLarge"  # as a page it is refused; as robots.txt the book asks for it to be cut
    assert answer["memory"] <= 20 * MEBIBYTE
