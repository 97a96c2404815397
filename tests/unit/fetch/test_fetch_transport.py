"""The one way out: where it may lead, what it sends, and what a hostile server can cost (reliability S, H)."""

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import aiodns
import pytest
from fake_clock import FakeClock
from raw_server import Reply, ServerLog, http, serve

from periplus.clock import SystemClock
from periplus.errors import (
    BadContent,
    Blocked,
    ConnectionFailed,
    DnsError,
    FetchError,
    KeptConnectionEnded,
    TlsError,
    TooLarge,
    TooSlow,
)
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings

SITE = "http://site.test"


def fetch(
    reply: Reply,
    story: Callable[[Transport, ServerLog], Awaitable[Any]],
    *,
    allow: tuple[str, ...] = ("127.0.0.0/8",),
    **settings: Any,
) -> tuple[Any, ServerLog]:
    """Run `story` with a transport to a server that all of *.test leads to."""

    async def run() -> tuple[Any, ServerLog]:
        async with serve(reply) as log:
            guard = AddressGuard(list(allow))
            table = {"*.test": f"127.0.0.1:{log.port}"}
            clock = SystemClock()
            options = FetchSettings(**{"total_seconds": 5.0, "connect_seconds": 2.0, **settings})
            async with Transport(options, Resolver(table, guard, clock), guard, clock, agent="Periplus/t") as transport:
                return await story(transport, log), log

    return asyncio.run(run())


def get(reply: Reply | bytes, url: str = f"{SITE}/", *, cut: int | None = None, **settings: Any) -> Fetched:
    """GET one URL from a server that answers like this."""

    async def one(transport: Transport, _log: ServerLog) -> Fetched:
        return await transport.get(url, wire_bytes=cut, cut=cut is not None)

    result = fetch(always(reply) if isinstance(reply, bytes) else reply, one, **settings)[0]
    assert isinstance(result, Fetched)
    return result


def always(answer: bytes) -> Reply:
    async def reply(_path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return reply


# -- What is sent and what comes back ----------------------------------------------------------------


def test_an_answer_comes_back_whole() -> None:
    answer = get(http(b"<p>Hello", "Content-Type: text/html", "X-One: a", "X-One: b", "X-Latin: caf\xe9"))
    assert (answer.status, answer.body, answer.content_type) == (200, b"<p>Hello", "text/html")
    assert [value for name, value in answer.headers if name == "X-One"] == ["a", "b"]
    assert answer.header("x-latin") == "caf\xe9"
    assert (answer.address, answer.truncated, answer.url) == ("127.0.0.1", False, f"{SITE}/")
    assert answer.seconds > 0


def test_R2_H2_compressed_content_that_breaks_off_is_marked_whatever_its_length_says() -> None:
    packed = gzip.compress(b"User-agent: *\nDisallow: /\n")
    assert not get(http(packed, "Content-Encoding: gzip")).truncated
    assert get(http(packed[:-12], "Content-Encoding: gzip")).truncated


@pytest.mark.parametrize(
    "line",
    [
        "X-XSS-Protection=1;",
        "X Echo Stash: curl",
        ": nothing",
        "X@Foo[]: 1",
        "<b>Notice</b>: headers already sent",
        "X-Blank : 1",
        "X-Folded: a\r\n b",
        "Content-Length: 4",
        "Content-Length: 4, 4",
        "Content-Length : 4",
    ],
)
def test_a_line_that_is_no_header_costs_no_answer(line: str) -> None:
    answer = get(http(b"page", "Content-Type: text/html", line, "ETag: a"))
    assert (answer.status, answer.body, answer.content_type) == (200, b"page", "text/html")
    assert answer.header("ETag") == "a"
    assert not answer.truncated


@pytest.mark.parametrize(
    "line", ["Content-Length: 5", "Content-Length: 4, 5", "Content-Length: 5\r\nContent-Length: 4"]
)
def test_lengths_that_differ_are_refused(line: str) -> None:
    with pytest.raises(BadContent):
        get(http(b"page", line))


def test_encodings_in_several_headers_are_undone_in_order() -> None:
    packed = zlib.compress(gzip.compress(b"<p>Hello"))
    assert get(http(packed, "Content-Encoding: gzip", "Content-Encoding: deflate")).body == b"<p>Hello"


def test_the_request_names_the_crawler_and_carries_nothing_else() -> None:
    async def story(transport: Transport, _log: ServerLog) -> None:
        for _ in range(2):
            await transport.get(f"{SITE}/a%20b?x=%41&y")

    answer = http(b"", "Set-Cookie: a=1; Domain=test", "Set-Cookie: b=2", "Connection: close")
    _, log = fetch(always(answer), story)
    for request in log.requests:
        head = request.decode("latin-1")
        assert head.startswith("GET /a%20b?x=A&y HTTP/1.1\r\n")
        assert "Host: site.test\r\n" in head
        assert "User-Agent: Periplus/t\r\n" in head
        assert "Accept-Encoding: gzip, deflate, br, zstd\r\n" in head
        assert "cookie" not in head.lower()
        assert "authorization" not in head.lower()


def test_user_and_password_in_a_url_are_not_sent() -> None:
    _, log = fetch(always(http()), lambda transport, _: transport.get("http://user:secret@site.test/"))
    assert b"secret" not in log.requests[0]
    assert b"uthorization" not in log.requests[0]


def test_proxy_settings_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert get(http(b"direct")).body == b"direct"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
def test_redirects_are_not_followed(status: str) -> None:
    async def story(transport: Transport, _log: ServerLog) -> Fetched:
        return await transport.get(f"{SITE}/")

    answer, log = fetch(always(http(b"", "Location: http://10.0.0.1/", status=status)), story)
    assert answer.header("Location") == "http://10.0.0.1/"
    assert log.paths == ["/"]


def test_bodies_are_decoded() -> None:
    assert get(http(gzip.compress(b"<p>Hi"), "Content-Encoding: gzip")).body == b"<p>Hi"
    with pytest.raises(BadContent):
        get(http(b"plain", "Content-Encoding: gzip"))


# -- Where it may lead -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/",
        "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/", "http://0/", "http://0.0.0.0/", "http://192.168.0.1./", "http://[64:ff9b::a00:1]/",
        "http://①②⑦.0.0.1/",
    ],
)  # fmt: skip
def test_literal_private_addresses_are_refused_without_a_connection(url: str) -> None:
    async def story(transport: Transport, log: ServerLog) -> None:
        port = f":{log.port}" if log.port in (80, 8080) else ""
        with pytest.raises(Blocked):
            await transport.get(url.replace("/", f"{port}/", 3) if port else url)

    _, log = fetch(always(http()), story, allow=())
    assert log.requests == []
    assert log.open_at_most == 0


@pytest.mark.parametrize("port", [0, 1, 22, 25, 6379, 9200, 65535])
def test_other_ports_are_refused(port: int) -> None:
    with pytest.raises(Blocked, match="port"):
        get(http(), f"http://site.test:{port}/")


@pytest.mark.parametrize("url", ["ftp://site.test/", "file:///etc/passwd", "javascript:1", "", "site.test", "http://"])
def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(Blocked):
        get(http(), url)


def test_a_name_in_the_jobs_table_passes_the_guard_too() -> None:
    with pytest.raises(Blocked):
        get(http(), allow=())


class FakeDns:
    """Answers of a name server by name, one after the other."""

    answers: dict[str, list[list[str]]]
    asked: list[str]

    def __init__(self, *_servers: object, **_options: object) -> None:
        pass

    async def getaddrinfo(self, host: str, **_options: object) -> object:
        FakeDns.asked.append(host)
        rounds = FakeDns.answers.get(host)
        if rounds is None:
            raise aiodns.error.DNSError(4, "Domain name not found")
        addresses = rounds.pop(0) if len(rounds) > 1 else rounds[0]
        nodes = [type("Node", (), {"addr": (address.encode(), 80)}) for address in addresses]
        return type("Answer", (), {"nodes": nodes})

    async def close(self) -> None:
        pass


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> type[FakeDns]:
    FakeDns.answers, FakeDns.asked = {}, []
    monkeypatch.setattr("periplus.fetch.resolver.aiodns.DNSResolver", FakeDns)
    return FakeDns


def resolve(host: str, *, allow: tuple[str, ...] = (), times: int = 1) -> list[str]:
    async def run() -> list[str]:
        resolver = Resolver({}, AddressGuard(list(allow)), FakeClock())
        for _ in range(times):
            found = await resolver.resolve(host, 80)
        await resolver.close()
        return [result["host"] for result in found]

    return asyncio.run(run())


def test_public_names_resolve_and_are_remembered(dns: type[FakeDns]) -> None:
    dns.answers["a.example"] = [["93.184.216.34", "2606:2800:220:1::1"]]
    assert resolve("a.example", times=3) == ["93.184.216.34", "2606:2800:220:1::1"]
    assert dns.asked == ["a.example"]


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"], ["93.184.216.34", "fe80::1"]]
)
def test_a_name_with_any_private_address_is_refused(dns: type[FakeDns], addresses: list[str]) -> None:
    dns.answers["evil.example"] = [addresses]
    with pytest.raises(OSError, match="not a public address"):
        resolve("evil.example")


def test_a_name_that_changes_its_mind_is_checked_again() -> None:
    """DNS rebinding: every connection goes to an address that was checked for it."""

    async def run(dns_answers: list[list[str]]) -> None:
        clock = FakeClock()
        resolver = Resolver({}, AddressGuard([]), clock)
        FakeDns.answers, FakeDns.asked = {"evil.example": dns_answers}, []
        assert [r["host"] for r in await resolver.resolve("evil.example", 80)] == ["93.184.216.34"]
        clock.advance(301)  # the memory has expired
        with pytest.raises(OSError, match="not a public address"):
            await resolver.resolve("evil.example", 80)

    patch = pytest.MonkeyPatch()
    patch.setattr("periplus.fetch.resolver.aiodns.DNSResolver", FakeDns)
    try:
        asyncio.run(run([["93.184.216.34"], ["127.0.0.1"]]))
    finally:
        patch.undo()


def test_errors_of_names_are_told_apart(dns: type[FakeDns]) -> None:
    dns.answers["private.example"] = [["10.0.0.1"]]
    with pytest.raises(Blocked):
        get(http(), "http://private.example/", allow=())
    with pytest.raises(DnsError, match=r"nowhere\.example: Domain name not found"):
        get(http(), "http://nowhere.example/")


@pytest.mark.parametrize("host", ["a" * 64 + ".test", ".".join(["a" * 60] * 5) + ".test", "a_b.test", "-a-.test"])
def test_odd_names_give_an_answer_or_our_error(host: str, dns: type[FakeDns]) -> None:
    with contextlib.suppress(FetchError):
        get(http(b"x"), f"http://{host}/")


def test_the_table_knows_exact_names_and_the_longest_suffix() -> None:
    table = {"a.test": "127.0.0.1:1", "*.test": "127.0.0.2:2", "*.b.test": "127.0.0.3:3", "v6.test": "[::1]:4"}
    resolver = Resolver(table, AddressGuard([]), FakeClock())
    assert resolver.table_address("a.test") == ("127.0.0.1", 1)
    assert resolver.table_address("x.test") == ("127.0.0.2", 2)
    assert resolver.table_address("x.b.test") == ("127.0.0.3", 3)
    assert resolver.table_address("v6.test") == ("::1", 4)
    assert resolver.table_address("test") is None
    assert resolver.table_address("a.test.evil") is None


# -- What a hostile server can cost --------------------------------------------------------------------


def test_a_body_beyond_the_limit_is_refused_or_cut() -> None:
    big = http(b"x" * 300_000)
    with pytest.raises(TooLarge):
        get(big, wire_bytes=100_000)
    packed = http(gzip.compress(b"x" * 300_000), "Content-Encoding: gzip")
    for answer in (big, packed):
        cut = get(answer, cut=1_000, body_bytes=100_000)
        assert (cut.body, cut.truncated) == (b"x" * 1_000, True)


async def endless(_path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        await writer.drain()


def test_an_endless_stream_ends() -> None:
    with pytest.raises(TooLarge):
        get(endless, wire_bytes=200_000)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(TooLarge):
        get(http(gzip.compress(b"\0" * 3_000_000), "Content-Encoding: gzip"), body_bytes=1_000_000)


def test_a_body_shorter_than_announced_is_kept_and_marked() -> None:
    answer = get(http(b"<p>half", length=10_000))
    assert (answer.body, answer.truncated) == (b"<p>half", True)


def test_a_body_longer_than_announced_is_refused_in_one_line() -> None:
    with pytest.raises(BadContent) as caught:
        get(http(b"<p>whole", length=3))
    assert "\n" not in str(caught.value)


async def silence(_path: str, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def drip_head(_path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"X-A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_body(_path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def stall_in_chunk(_path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\nabc")
    await asyncio.Event().wait()


async def early_hints(_path: str, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("reply", [silence, drip_head, drip_body, stall_in_chunk, early_hints])
def test_the_deadline_holds_whatever_the_server_does(reply: Reply) -> None:
    with pytest.raises(FetchError) as caught:
        get(reply, total_seconds=0.4)
    assert isinstance(caught.value, TooSlow | BadContent)


GARBAGE = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "nothing": b"",
    "HTTP/0.9": b"<html>hello</html>",
    "header flood": b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(5_000)) + b"\r\n",
    "huge header": b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 2_000_000 + b"\r\n\r\n",
    "huge status": b"HTTP/1.1 200 " + b"a" * 2_000_000 + b"\r\n\r\n",
    "NUL in header": b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
    "huge length": b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000000\r\n\r\nabc",
    "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
    "negative chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
    "chunked twice": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "length and chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunk extension": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * 300_000 + b"\r\nx\r\n",
    "status 999": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "status 0": b"HTTP/1.1 0 Odd\r\nContent-Length: 0\r\n\r\n",
    "204 with body": b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "folded": b"HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok",
    "bad Location": b"HTTP/1.1 302 Found\r\nLocation: ht tp://\xff\xfe[\r\nContent-Length: 0\r\n\r\n",
    "bad type": b"HTTP/1.1 200 OK\r\nContent-Type: \xff\xfe;;;=\r\nContent-Length: 2\r\n\r\nok",
    "unknown encoding": b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 2\r\n\r\nok",
    "upgrade": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_gives_an_answer_or_our_error(name: str) -> None:
    with contextlib.suppress(BadContent, ConnectionFailed, TooSlow):
        answer = get(GARBAGE[name], total_seconds=2.0)
        assert isinstance(answer.body, bytes)


def test_an_answer_never_belongs_to_another_request() -> None:
    """Two responses for one request on a kept connection: the second is not taken for the next request's answer."""

    async def poison(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(http(path.encode(), "Connection: keep-alive") + http(b"poison", "Connection: keep-alive"))
        await writer.drain()
        await asyncio.sleep(0.01)

    async def story(transport: Transport, _log: ServerLog) -> list[bytes]:
        bodies = []
        for number in range(20):
            try:
                bodies.append((await transport.get(f"{SITE}/{number}")).body)
            except FetchError:
                bodies.append(f"/{number}".encode())
        return bodies

    bodies, _ = fetch(poison, story)
    assert bodies == [f"/{number}".encode() for number in range(20)]


def test_nothing_is_asked_twice_when_a_kept_connection_ends_without_an_answer() -> None:
    """Libraries ask again by themselves, at once; here the frontier decides when a host is asked again (P1)."""
    asked: list[bytes] = []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError):
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(http(b"first", "Connection: keep-alive"))
            asked.append(await reader.readuntil(b"\r\n\r\n"))

    async def run() -> None:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
            resolver = Resolver({"*.test": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t") as transport:
                await transport.get(f"{SITE}/1")
                with pytest.raises(KeptConnectionEnded):
                    await transport.get(f"{SITE}/2")

    asyncio.run(run())
    assert len(asked) == 2


def test_connections_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A polite crawl of many hosts does not run out of descriptors; who was asked lately keeps its connection."""
    monkeypatch.setattr("periplus.fetch.connections.MOST_KEPT", 8)
    opened: list[str] = []
    open_now: set[int] = set()

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append("")
        open_now.add(len(opened))
        number = len(opened)
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(http(b"x", "Connection: keep-alive"))
        open_now.discard(number)

    async def run() -> None:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
            resolver = Resolver({"*.test": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t") as transport:
                for number in range(40):
                    await transport.get(f"http://h{number}.test/")
                    await transport.get("http://often.test/")
                for _ in range(100):
                    if len(open_now) <= 8:
                        break
                    await asyncio.sleep(0.05)
                assert len(open_now) <= 8
                assert len(opened) == 41, "the host that was asked often had one connection"

    asyncio.run(run())


def test_a_refused_connection_is_connection_failed() -> None:
    async def run() -> None:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with serve(always(b"")) as log:
            port = log.port
        resolver = Resolver({"site.test": f"127.0.0.1:{port}"}, guard, clock)
        async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t") as transport:
            await transport.get(f"{SITE}/")

    with pytest.raises(ConnectionFailed):
        asyncio.run(run())


def test_what_does_not_speak_tls_is_a_tls_error() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"plain text"))
        writer.close()

    async def run() -> None:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            resolver = Resolver({"site.test": f"127.0.0.1:{port}"}, guard, clock)
            async with Transport(FetchSettings(), resolver, guard, clock, agent="Periplus/t") as transport:
                await transport.get("https://site.test/")

    with pytest.raises(FetchError) as caught:
        asyncio.run(run())
    assert isinstance(caught.value, TlsError | ConnectionFailed)
