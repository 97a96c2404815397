"""Registration data: read as they come, absent and hidden ones included; asked once, politely, and kept."""

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from raw_server import ServerLog, http, serve
from scripted_transport import ScriptedTransport

from periplus.clock import SystemClock
from periplus.errors import TooSlow
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.fetch.registration import Registrant, Registrations, read_registrant, read_whois
from periplus.settings import FetchSettings

ASKED = "http://rdap.test/domain/example.com"


def contact(role: str, locality: Any = "Houston", region: Any = "TX", country: Any = "", **kind: Any) -> dict[str, Any]:
    address = ["adr", kind, "text", ["", "", "1 Main St", locality, region, "77001", country]]
    return {"roles": [role], "vcardArray": ["vcard", [["version", {}, "text", "4.0"], address]]}


def answer(*entities: Any) -> bytes:
    return json.dumps({"objectClassName": "domain", "entities": list(entities)}).encode()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (answer(contact("registrant", country="United States")), Registrant("Houston", "TX", "United States")),
        (answer(contact("registrant", cc="US")), Registrant("Houston", "TX", "US")),
        (
            answer(contact("registrant", "Austin"), contact("administrative", "Dallas")),
            Registrant("Dallas", "TX"),
        ),
        (answer({"roles": ["registrar"], "entities": [contact("administrative")]}), Registrant("Houston", "TX")),
        (answer(contact("registrant", "REDACTED FOR PRIVACY", "Data Protected", "US")), Registrant(country="US")),
        (answer(contact("registrant", "REDACTED FOR PRIVACY", "", "")), Registrant()),
        (answer(contact("abuse")), Registrant()),
        (answer(), Registrant()),
        (answer("x", 3, None, {"roles": "registrant", "vcardArray": 5}), Registrant()),
        (answer({"roles": ["registrant"], "vcardArray": ["vcard", [["adr", {}, "text", "a line"]]]}), Registrant()),
        (answer(contact("registrant", ["a", "b"], 7, "x" * 10_000)), Registrant()),
        (b"[]", Registrant()),
        (b"<html>", Registrant()),
        (b"[" * 100_000, Registrant()),
        (b"", Registrant()),
    ],
)
def test_what_an_answer_says(body: bytes, found: Registrant) -> None:
    assert read_registrant(body) == found


class Asked:
    """Registrations over a scripted service, with the turns that they took."""

    def __init__(self, path: Path) -> None:
        self.transport = ScriptedTransport()
        self.turns: list[str] = []
        self.registrations = Registrations(self.transport.get, "http://rdap.test/", path, self._visit)

    @asynccontextmanager
    async def _visit(self, _host: str, other: str) -> AsyncIterator[None]:
        self.turns.append(other)
        yield

    def ask(self, domain: str = "example.com") -> Registrant | None:
        return asyncio.run(self.registrations.ask(domain))


def test_a_domain_is_asked_once_and_kept_for_the_next_run(tmp_path: Path) -> None:
    kept = tmp_path / "registrations.jsonl"
    first = Asked(kept)
    first.transport.answers[ASKED] = (200, answer(contact("registrant")), {})
    assert first.ask() == first.ask() == Registrant("Houston", "TX")
    assert first.transport.asked == [ASKED]
    assert first.transport.headers[0]["Accept"] == "application/rdap+json"
    assert first.turns == ["rdap.test"]
    again = Asked(kept)
    assert again.registrations.known("example.com") == Registrant("Houston", "TX")
    assert again.ask() == Registrant("Houston", "TX")
    assert again.transport.asked == []


def test_an_unknown_domain_is_remembered_as_such(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "kept")
    assert asked.ask() == Registrant()
    assert Asked(tmp_path / "kept").registrations.known("example.com") == Registrant()


@pytest.mark.parametrize("failure", [(500, b"", {}), (429, b"", {}), TooSlow("no answer")])
def test_no_answer_is_not_remembered_beyond_the_run(tmp_path: Path, failure: object) -> None:
    asked = Asked(tmp_path / "kept")
    asked.transport.answers[ASKED] = failure
    assert asked.ask() is asked.ask() is None
    assert len(asked.transport.asked) == 1
    assert Asked(tmp_path / "kept").registrations.known("example.com") is None


def test_redirects_lead_to_the_registry_and_end(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "kept")
    asked.transport.answers[ASKED] = (302, b"", {"Location": "http://registry.test/rdap/example.com"})
    asked.transport.answers["http://registry.test/rdap/example.com"] = (200, answer(contact("registrant")), {})
    assert asked.ask() == Registrant("Houston", "TX")
    assert asked.turns == ["rdap.test", "registry.test"]
    round_and_round = Asked(tmp_path / "other")
    round_and_round.transport.answers[ASKED] = (302, b"", {"Location": ASKED})
    assert round_and_round.ask() is None
    assert len(round_and_round.transport.asked) == 3


def test_a_torn_file_is_no_obstacle(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text('["a.test", "Houston", "TX", "US"]\n{"b": 1}\n[]\n7\n["c.test", "Hou', "utf-8")
    registrations = Asked(kept).registrations
    assert registrations.known("a.test") == Registrant("Houston", "TX", "US")
    assert registrations.known("c.test") is None


def test_what_is_wanted_is_asked_in_the_background(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "kept")
    asked.transport.answers[ASKED] = (200, answer(contact("registrant")), {})

    async def story() -> None:
        for _ in range(5):
            asked.registrations.want("example.com")
        running = asyncio.create_task(asked.registrations.run())
        for _ in range(100):
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(story())
    assert asked.transport.asked == [ASKED]
    assert asked.registrations.known("example.com") == Registrant("Houston", "TX")


def _over_loopback(opened: list[str], path: Path) -> tuple[Registrant | None, ServerLog]:
    """Ask a service on loopback through the real way out."""

    async def reply(_path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(http(answer(contact("registrant", cc="US")), "Content-Type: application/rdap+json"))

    @asynccontextmanager
    async def visit(_host: str, _other: str) -> AsyncIterator[None]:
        yield

    async def run() -> tuple[Registrant | None, ServerLog]:
        guard, clock = AddressGuard(opened), SystemClock()
        async with serve(reply) as log:
            resolver = Resolver({"rdap.test": f"127.0.0.1:{log.port}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t") as transport:
                get: Callable[..., Awaitable[Any]] = transport.get
                return await Registrations(get, "http://rdap.test", path, visit).ask("example.com"), log

    return asyncio.run(run())


def test_the_service_is_asked_through_the_one_way_out_and_its_guard(tmp_path: Path) -> None:
    found, log = _over_loopback(["127.0.0.0/8"], tmp_path / "a")
    assert found == Registrant("Houston", "TX", "US")
    assert log.paths == ["/domain/example.com"]
    blocked, unasked = _over_loopback([], tmp_path / "b")
    assert blocked is None
    assert unasked.paths == []


WHOIS = """
Domain Name: EXAMPLE.COM
Registrant City: Austin
Registrant State/Province: TX
Registrant Country: US
Admin City: REDACTED FOR PRIVACY
Tech City: Dallas
"""


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([WHOIS], Registrant("Austin", "TX", "US")),
        (["Admin City: Lisboa\r\nAdmin Country: PT\r\n" + WHOIS], Registrant("Lisboa", "", "PT")),
        (["No match for EXAMPLE.COM", WHOIS], Registrant("Austin", "TX", "US")),
        (["Registrant City:\nRegistrant Country: REDACTED"], Registrant()),
        (["\0" * 1000, "Registrant City: " + "x" * 10_000], Registrant()),
        ([], Registrant()),
    ],
)
def test_what_a_whois_answer_says(answers: list[str], found: Registrant) -> None:
    assert read_whois(answers) == found


def _by_whois(replies: dict[str, bytes], opened: list[str], path: Path) -> tuple[Registrant | None, list[str]]:
    """Ask WHOIS servers on loopback, all behind one port, through the real way out; what they were asked."""
    asked: list[str] = []

    async def run() -> Registrant | None:
        async def answer_one(name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(f"{name} {(await reader.readline()).decode().strip()}")
            writer.write(replies[name])
            writer.close()

        servers = {
            name: await asyncio.start_server(functools.partial(answer_one, name), "127.0.0.1", 0) for name in replies
        }
        table = {name: f"127.0.0.1:{one.sockets[0].getsockname()[1]}" for name, one in servers.items()}
        guard, clock = AddressGuard(opened), SystemClock()
        async with Transport(
            FetchSettings(), Resolver(table, guard, clock), guard, clock, agent="Periplus/t"
        ) as transport:
            known = Registrations(transport.get, "whois://first.test", path, _visit_at_once, transport.converse)
            found = await known.ask("example.com")
        for one in servers.values():
            one.close()
        return found

    return asyncio.run(run()), asked


@asynccontextmanager
async def _visit_at_once(_host: str, _other: str) -> AsyncIterator[None]:
    yield


def test_whois_is_asked_where_the_first_server_refers_to_and_no_further_than_that(tmp_path: Path) -> None:
    replies = {
        "first.test": b"refer: second.test\n",
        "second.test": b"Registrar WHOIS Server: third.test\r\n",
        "third.test": WHOIS.encode() + b"whois: first.test\n",
    }
    found, asked = _by_whois(replies, ["127.0.0.0/8"], tmp_path / "kept")
    assert found == Registrant("Austin", "TX", "US")
    assert asked == [f"{name}.test example.com" for name in ("first", "second", "third")]
    assert _by_whois(replies, [], tmp_path / "other") == (None, [])
