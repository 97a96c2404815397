"""Probes on loopback: what they measure, where they may lead, and that they end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from raw_server import Reply, ServerLog, http, serve

from periplus.clock import SystemClock
from periplus.errors import Blocked, ConnectionFailed, DnsError, TooSlow
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.fetch.probe import icmp_allowed, round_trip_ms
from periplus.settings import FetchSettings

SITE = "http://site.test/"


async def hello(_: str, writer: asyncio.StreamWriter) -> None:
    writer.write(http(b"", "Content-Type: text/html"))


async def silence(_: str, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def probe(
    story: Callable[[Transport, ServerLog], Awaitable[Any]],
    reply: Reply = hello,
    *,
    allow: tuple[str, ...] = ("127.0.0.0/8",),
    watch: bool = False,
) -> tuple[Any, ServerLog]:
    """Run `story` with a transport to a server that all of *.test leads to."""

    async def run() -> tuple[Any, ServerLog]:
        async with serve(reply) as log:
            guard, clock = AddressGuard(list(allow)), SystemClock()
            resolver = Resolver({"*.test": f"127.0.0.1:{log.port}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t", watch=watch) as transport:
                return await story(transport, log), log

    return asyncio.run(run())


@pytest.mark.parametrize("way", ["tcp", "head", "icmp"])
def test_a_round_trip_on_loopback_is_short_and_sends_next_to_nothing(way: str) -> None:
    if way == "icmp" and not icmp_allowed():
        pytest.skip("needs ping sockets or root")
    ms, log = probe(lambda transport, _: round_trip_ms(transport, SITE, way, 5.0, SystemClock()))
    assert 0 < ms < 5000
    assert [request.split(b" ")[0] for request in log.requests] == ([b"HEAD"] if way == "head" else [])


@pytest.mark.parametrize("way", ["tcp", "head", "icmp"])
@pytest.mark.parametrize("url", [SITE, "http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/"])
def test_no_probe_leads_where_no_request_may(way: str, url: str) -> None:
    async def story(transport: Transport, _: ServerLog) -> None:
        with pytest.raises(Blocked):
            await round_trip_ms(transport, url, way, 5.0, SystemClock())

    _, log = probe(story, allow=())
    assert log.requests == []


def test_a_host_that_does_not_answer_costs_the_deadline_and_no_more() -> None:
    async def story(transport: Transport, _: ServerLog) -> None:
        with pytest.raises(TooSlow, match=r"head probe in 0\.05 s"):
            await round_trip_ms(transport, SITE, "head", 0.05, SystemClock())

    probe(story, silence)


def test_nobody_listens_and_nobody_is_called_so() -> None:
    async def story(transport: Transport, log: ServerLog) -> None:
        with pytest.raises(ConnectionFailed):
            await round_trip_ms(transport, "http://127.0.0.1:8443/", "tcp", 5.0, SystemClock())
        with pytest.raises((DnsError, TooSlow)):
            await round_trip_ms(transport, "http://nobody.invalid/", "tcp", 0.5, SystemClock())
        assert log.requests == []

    probe(story)


def test_a_fetch_shows_the_round_trip_that_the_kernel_saw() -> None:
    async def slow(_: str, writer: asyncio.StreamWriter) -> None:
        whole = http(b"x" * 100, "Content-Type: text/html")
        writer.write(whole[:-50])
        await asyncio.sleep(0.05)  # the server's own time is not the network's
        writer.write(whole[-50:])

    async def story(transport: Transport, _: ServerLog) -> dict[str, float]:
        await transport.get(SITE)
        return dict(transport.round_trips)

    seen, _ = probe(story, slow, watch=True)
    assert 0 < seen["site.test"] < 50
    unseen, _ = probe(story, slow)
    assert unseen == {}
