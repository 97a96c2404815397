"""Politeness with the server's own log as the judge, also across kill -9 and restart."""

import asyncio
import contextlib
import itertools
import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from command_line import miniweb, periplus, start
from raw_server import http

DELAY = 0.4
SLACK = 0.995  # the server's clock ticks when it reads a request, ours when the answer before it was complete


def gaps_by_host(requests: list[dict[str, Any]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for row in requests:
        times[row["host"]].append(row["time"])
    return {host: [b - a for a, b in itertools.pairwise(at)] for host, at in times.items()}


def test_one_request_at_a_time_and_never_too_early_even_after_a_kill(tmp_path: Path) -> None:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 300, "--slow", 0.1) as web:
        text = web.job.read_text("utf-8").replace("delay_seconds = 0.0", f"delay_seconds = {DELAY}")
        web.job.write_text(text, "utf-8")
        folder = tmp_path / "crawl"
        first = start("crawl", web.job, "--out", folder, "--pages", 250, "--json")
        while len(web.requests()) < 60:
            assert first.poll() is None, "it ended before it could be killed"
            with contextlib.suppress(subprocess.TimeoutExpired):
                first.wait(timeout=0.05)
        first.kill()
        first.communicate()
        killed_after = len(web.requests())
        done = periplus("crawl", web.job, "--out", folder, "--pages", 250, "--json")
        assert done.code == 3, done.err
        requests = web.requests()
    assert 0 < killed_after < len(requests), "it was killed in the middle"
    assert max(row["in_flight"] for row in requests) == 1, "never two requests to a host at once"
    gaps = gaps_by_host(requests)
    assert sum(len(values) for values in gaps.values()) > 100
    early = [(host, gap) for host, values in gaps.items() for gap in values if gap < SLACK * DELAY]
    assert not early, early[:5]


def test_connections_that_the_server_closes_cost_a_turn_and_no_page(tmp_path: Path) -> None:
    """Servers end kept connections when they like: a page is then asked for again, in its turn, and has not failed."""
    asked: list[tuple[float, str]] = []
    pages = [f"/{number}" for number in range(6)]
    home = "".join(f'<a href="{page}">page</a> ' for page in pages)

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One answer a connection; the next request on it finds the connection closed."""
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            for answers in (True, False):
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
                asked.append((time.monotonic(), path))
                if answers and path == "/robots.txt":
                    writer.write(http(b"", status="404 Not Found"))
                elif answers:
                    writer.write(http(f"<title>{path}</title><p>On {path}. {home}".encode(), "Content-Type: text/html"))

    async def run() -> dict[str, int]:
        async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
            job = tmp_path / "job.toml"
            job.write_text(
                f"""
seeds = ["http://site.test/"]
[crawl]
keep = "all"
retries = 0
delay_seconds = {DELAY}
allow_private = ["127.0.0.0/8"]
resolve = {{ "site.test" = "127.0.0.1:{server.sockets[0].getsockname()[1]}" }}
[archive]
disk_reserve_bytes = 0
""",
                "utf-8",
            )
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", tmp_path / "crawl", "--json")
            assert done.code == 0, done.err
            outcomes: dict[str, int] = json.loads(done.out.splitlines()[-1])["outcomes"]
            return outcomes

    outcomes = asyncio.run(run())
    assert sum(outcomes.values()) == len(pages) + 1
    assert set(outcomes) <= {"kept", "duplicate"}
    counts = {page: [path for _, path in asked].count(page) for page in pages}
    assert all(1 <= count <= 2 for count in counts.values()), "once, and once more at most"
    assert 2 in counts.values(), "some connections were closed"
    times = [at for at, _ in asked]
    assert all(later - earlier >= SLACK * DELAY for earlier, later in itertools.pairwise(times))
