"""A name server that lies, and the one way out that asks it: every connection goes to an address that was checked."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from dns import NameServer, name_server
from fake_clock import FakeClock
from raw_server import ServerLog, http, serve

from periplus.errors import Blocked, DnsError, FetchError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.settings import FetchSettings

OPEN, CLOSED = "127.0.0.1", "127.0.0.2"
"""The job opens the first address; the second is what rebinding wants. The server listens on both."""

Script = dict[str, list[list[str]]]
Story = Callable[[Transport, FakeClock, int], Any]


def told(script: Script, story: Story, *, keep: bool = False, **settings: Any) -> tuple[Any, ServerLog, NameServer]:
    """Run a story with a transport that asks the scripted name server; the web server's log has all connections."""

    async def reply(_path: str, writer: asyncio.StreamWriter) -> None:
        assert writer.get_extra_info("sockname")[0] == OPEN
        writer.write(http(b"<p>Hello", f"Connection: {'keep-alive' if keep else 'close'}"))

    async def run() -> tuple[Any, ServerLog, NameServer]:
        async with serve(reply, "0.0.0.0", keep=keep) as log, name_server(script) as names:
            guard, clock = AddressGuard([f"{OPEN}/32"]), FakeClock()
            resolver = Resolver({}, guard, clock, name_servers=[f"127.0.0.1:{names.port}"])
            options = FetchSettings(ports=(log.port, 80), **settings)
            async with Transport(options, resolver, guard, clock, agent="Periplus/t") as transport:
                return await story(transport, clock, log.port), log, names

    return asyncio.run(run())


def test_S2_a_name_that_rebinds_is_refused_at_its_next_connection() -> None:
    async def story(transport: Transport, clock: FakeClock, port: int) -> None:
        assert (await transport.get(f"http://evil.test:{port}/")).address in (OPEN, "")
        clock.advance(301)  # what was looked up has been forgotten
        with pytest.raises(Blocked):
            await transport.get(f"http://evil.test:{port}/")

    _, log, names = told({"evil.test": [[OPEN], [CLOSED]]}, story)
    assert len(log.requests) == 1
    assert b"Host: evil.test:" in log.requests[0], "the name stays the name"
    assert log.open_at_most == 1
    assert len([kind for name, kind in names.asked if kind == 1]) == 2


def test_S2_between_check_and_use_there_is_no_second_look_up() -> None:
    """The answer that was checked is the one that is connected to, although the next one would be another."""

    async def story(transport: Transport, _clock: FakeClock, port: int) -> None:
        await transport.get(f"http://evil.test:{port}/")

    _, log, names = told({"evil.test": [[OPEN], [CLOSED]]}, story)
    assert len(log.requests) == 1
    assert [kind for name, kind in names.asked].count(1) == 1


@pytest.mark.parametrize("answers", [[OPEN, CLOSED], ["93.184.216.34", "10.0.0.1"], ["93.184.216.34", "::1"]])
def test_S3_one_private_address_among_others_spoils_the_name(answers: list[str]) -> None:
    async def story(transport: Transport, _clock: FakeClock, port: int) -> None:
        with pytest.raises(Blocked):
            await transport.get(f"http://mixed.test:{port}/")

    _, log, _ = told({"mixed.test": [answers]}, story)
    assert log.open_at_most == 0


def test_S5_a_kept_connection_leads_where_it_was_checked_to_lead() -> None:
    """The name moves: a connection that is kept is the one that was checked, one that is new is checked."""

    async def story(transport: Transport, clock: FakeClock, port: int) -> list[str]:
        ends = []
        for _ in range(4):
            try:
                await transport.get(f"http://moves.test:{port}/")
                ends.append("answer")
            except FetchError as error:
                ends.append(type(error).__name__)
            clock.advance(200)
        return ends

    ends, log, _ = told({"moves.test": [[OPEN], [CLOSED]]}, story)
    assert ends == ["answer", "answer", "Blocked", "Blocked"]
    assert len(log.requests) == 2
    ends, log, names = told({"moves.test": [[OPEN], [CLOSED]]}, story, keep=True)
    assert ends == ["answer"] * 4, "all over the connection to the address that was checked"
    assert log.opened == 1
    assert len([kind for _, kind in names.asked if kind == 1]) == 1


@pytest.mark.parametrize("word", ["nxdomain", "servfail", "cname-loop", "garbage", "truncated", "silence"])
def test_R2_names_that_do_not_resolve_are_dns_errors(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.fetch.resolver.DNS_SECONDS", 0.2)

    async def story(transport: Transport, _clock: FakeClock, port: int) -> str:
        with pytest.raises(DnsError) as caught:
            await transport.get(f"http://lost.test:{port}/")
        return str(caught.value)

    message, log, names = told({"lost.test": [[word]]}, story)
    assert "lost.test" in message
    assert "\n" not in message
    assert log.open_at_most == 0
    assert len(names.asked) <= 20, "a loop of aliases ends"


def test_S3_a_thousand_addresses_are_bounded() -> None:
    async def story(transport: Transport, _clock: FakeClock, _port: int) -> int:
        return len(await transport._resolver.resolve("many.test", 80))

    count, _, _ = told({"many.test": [["many"]]}, story)
    assert count <= 16
