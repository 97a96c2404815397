"""The server on a real loopback port: HTTP/1.1 conformance, the log, flaky and slow pages, clean ends."""

import asyncio
import contextlib
import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from periplus.errors import EnvironmentFailure, PortTaken, UsageError
from periplus.miniweb import Miniweb, MiniwebServer, generate, serve

WEB = generate(1, hosts=70, pages=900, slow_seconds=0.05)
HOME = "webatlas.mini.test"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A keep-alive connection that can also send garbage."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    def ask(self, host: str, target: str, method: str = "GET", extra: str = "") -> None:
        self.send(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n".encode())

    async def answer(self, *, head_only: bool = False) -> Answer:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split()[1])
        length = 0 if head_only or status == 304 else int(headers["content-length"])
        return Answer(status, headers, await self.reader.readexactly(length))

    async def get(self, host: str, target: str) -> Answer:
        self.ask(host, target)
        return await self.answer()


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until the condition holds; the story's deadline bounds it."""
    met = asyncio.Event()
    loop = asyncio.get_running_loop()

    def look() -> None:
        if condition():
            met.set()
        else:
            loop.call_soon(look)

    look()
    await met.wait()


def run(
    story: Callable[[MiniwebServer, Client], Awaitable[None]], web: Miniweb = WEB, *, prerender: bool = False
) -> None:
    """Serve the web, connect one client and run the story, with a deadline around everything."""

    async def main() -> None:
        async with asyncio.timeout(20), serve(web, prerender=prerender) as server:
            client = Client(*await asyncio.open_connection("127.0.0.1", server.port))
            try:
                await story(server, client)
            finally:
                client.writer.close()

    asyncio.run(main())


@pytest.mark.parametrize("prerender", [False, True])
def test_every_page_is_served_as_the_web_says(prerender: bool) -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        for page in WEB.blueprint.pages[::5]:
            if page.quirk == "flaky":
                continue
            host = WEB.blueprint.hosts[page.host].name
            answer, expected = await client.get(host, page.path), WEB.page_response(page)
            assert (answer.status, answer.body) == (expected.status, expected.body)
            assert answer.headers["content-type"] == expected.content_type

    run(story, prerender=prerender)


def test_pipelined_requests_are_answered_in_order_even_behind_a_slow_page() -> None:
    slow = next(page for page in WEB.blueprint.pages if page.quirk == "slow")
    host = WEB.blueprint.hosts[slow.host].name

    async def story(server: MiniwebServer, client: Client) -> None:
        client.ask(host, slow.path)
        client.ask(HOME, "/")
        client.ask(HOME, "/no-such-page")
        answers = [await client.answer() for _ in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 404]
        assert answers[1].body == WEB.respond(HOME, "/").body

    run(story)


def test_a_request_may_come_byte_by_byte() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        for byte in f"GET / HTTP/1.1\r\nHost: {HOME}\r\n\r\n".encode():
            client.send(bytes([byte]))
            await client.writer.drain()
        assert (await client.answer()).status == 200

    run(story)


def test_head_has_the_headers_of_get_and_no_body() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        client.ask(HOME, "/", "HEAD")
        head = await client.answer(head_only=True)
        full = await client.get(HOME, "/")
        assert head.headers == full.headers
        assert int(head.headers["content-length"]) == len(full.body)

    run(story)


def test_an_unchanged_page_is_not_sent_again() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        first = await client.get(HOME, "/")
        client.ask(HOME, "/", extra=f"If-None-Match: {first.headers['etag']}\r\n")
        assert (await client.answer()).status == 304
        assert (await client.get(HOME, "/")).status == 200

    run(story)


def test_host_names_are_compared_without_case_port_and_final_dot() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        for name in ("WebAtlas.Mini.Test", f"{HOME}:8480", f"{HOME}."):
            assert (await client.get(name, "/")).status == 200
        assert {entry.host for entry in server.log} == {HOME}
        assert (await client.get("elsewhere.example", "/")).status == 421
        assert (await client.get("elsewhere.example", f"http://{HOME}/")).status == 200

    run(story)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        (b"GET relative HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000, 431),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_ends(request_bytes: bytes, status: int) -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        client.send(request_bytes)
        answer = await client.answer()
        assert answer.status == status
        assert answer.headers["connection"] == "close"
        assert await client.reader.read() == b""

    run(story)


@pytest.mark.parametrize("head", ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"])
def test_the_connection_ends_when_the_client_wants_it(head: str) -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        client.send(f"GET / {head}\r\nHost: {HOME}\r\n\r\n".encode())
        assert (await client.answer()).headers["connection"] == "close"
        assert await client.reader.read() == b""

    run(story)


def test_a_flaky_page_fails_once_and_each_server_starts_anew() -> None:
    flaky = next(page for page in WEB.blueprint.pages if page.quirk == "flaky")
    host = WEB.blueprint.hosts[flaky.host].name

    async def story(server: MiniwebServer, client: Client) -> None:
        statuses = [(await client.get(host, flaky.path)).status for _ in range(3)]
        assert statuses == [500, 200, 200]

    run(story)
    run(story, prerender=True)


def test_a_busy_page_asks_to_come_back_after_a_second() -> None:
    web = generate(1)
    busy = next(page for page in web.blueprint.pages if page.quirk == "busy")
    host = web.blueprint.hosts[busy.host].name

    async def story(server: MiniwebServer, client: Client) -> None:
        first, second = await client.get(host, busy.path), await client.get(host, busy.path)
        assert (first.status, first.headers["retry-after"], second.status) == (429, "1", 200)

    run(story, web)


def test_a_client_that_asks_without_reading_is_sent_away() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        request = f"GET / HTTP/1.1\r\nHost: {HOME}\r\n\r\n".encode() * 100
        with contextlib.suppress(ConnectionError):
            while not client.writer.transport.is_closing() and server.open_connections:
                client.send(request)
                await client.writer.drain()
        assert len(server.log) < 100_000

    run(story)


def test_redirects_and_robots_tags_are_headers() -> None:
    hidden = next(p for p in WEB.blueprint.pages if p.quirk == "noindex" and p.index % 2)

    async def story(server: MiniwebServer, client: Client) -> None:
        assert (await client.get("redirect-office.mini.test", "/loop/a")).headers["location"] == "/loop/b"
        answer = await client.get(WEB.blueprint.hosts[hidden.host].name, hidden.path)
        assert answer.headers["x-robots-tag"] == "noindex"

    run(story)


def test_the_log_counts_connections_and_requests_of_each_host() -> None:
    slow = next(page for page in WEB.blueprint.pages if page.quirk == "slow")
    host = WEB.blueprint.hosts[slow.host].name

    async def story(server: MiniwebServer, client: Client) -> None:
        second = Client(*await asyncio.open_connection("127.0.0.1", server.port))
        client.ask(host, slow.path, extra="User-Agent: tester\r\n")
        await until(lambda: bool(server.log))
        second.ask(host, slow.path)
        assert (await client.answer()).status == (await second.answer()).status == 200
        assert [(entry.connections, entry.in_flight) for entry in server.log] == [(1, 1), (2, 2)]
        assert server.log[0].agent == "tester"
        assert server.log[0].time <= server.log[1].time
        await second.get(HOME, "/")
        await client.get(host, "/")
        assert [(entry.host, entry.connections, entry.in_flight) for entry in list(server.log)[2:]] == [
            (HOME, 1, 1),
            (host, 1, 1),
        ]
        second.writer.close()

    run(story)


def test_the_log_file_has_one_json_line_for_each_request() -> None:
    log_file = io.StringIO()

    async def main() -> None:
        async with asyncio.timeout(20), serve(WEB, log_file=log_file) as server:
            client = Client(*await asyncio.open_connection("127.0.0.1", server.port))
            for target in ("/", "/robots.txt", "/none"):
                await client.get(HOME, target)
            client.writer.close()

    asyncio.run(main())
    lines = [json.loads(line) for line in log_file.getvalue().splitlines()]
    assert [(line["path"], line["status"]) for line in lines] == [("/", 200), ("/robots.txt", 200), ("/none", 404)]
    assert {"time", "wall", "host", "connections", "in_flight", "method", "agent"} < lines[0].keys()


def test_a_client_that_leaves_early_frees_its_host() -> None:
    slow = next(page for page in WEB.blueprint.pages if page.quirk == "slow")
    host = WEB.blueprint.hosts[slow.host].name

    async def story(server: MiniwebServer, client: Client) -> None:
        leaver = Client(*await asyncio.open_connection("127.0.0.1", server.port))
        leaver.ask(host, slow.path)
        await until(lambda: bool(server.log))
        leaver.writer.transport.abort()
        await until(lambda: not server.connections[host])
        assert server.in_flight[host] == 0

    run(story)


def test_a_taken_port_is_one_clear_line() -> None:
    async def story(server: MiniwebServer, client: Client) -> None:
        with pytest.raises(PortTaken, match=f"port {server.port} of 127.0.0.1 is taken"):
            async with serve(WEB, port=server.port):
                pass
        with pytest.raises(EnvironmentFailure, match="cannot listen on"):
            async with serve(WEB, host="192.0.2.1"):
                pass
        with pytest.raises(UsageError, match=r"--host 0\.0\.0\.300: no such address"):
            async with serve(WEB, host="0.0.0.300"):
                pass

    run(story)


def test_the_port_is_free_again_after_the_server() -> None:
    async def main() -> None:
        async with serve(WEB) as server:
            port = server.port
            client = Client(*await asyncio.open_connection("127.0.0.1", port))
            await client.get(HOME, "/")
        with contextlib.suppress(ConnectionError):
            assert await client.reader.read() == b""
        client.writer.close()
        async with serve(WEB, port=port) as again:
            assert again.port == port

    asyncio.run(main())
