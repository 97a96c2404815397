"""A site that changes its mind while it is crawled, and hosts that are written in many ways."""

import asyncio
from pathlib import Path

import pytest
from command_line import periplus
from raw_server import http, serve

from periplus.urls import canonicalize


def test_R11_no_page_is_asked_for_after_robots_has_changed_its_mind(tmp_path: Path) -> None:
    """Fifty URLs are queued; robots.txt, read anew after a second, forbids them all."""
    asked: list[str] = []

    async def reply(path: str, writer: asyncio.StreamWriter) -> None:
        asked.append(path)
        if path == "/robots.txt":
            rules = b"User-agent: *\nDisallow: /\n" if asked.count(path) > 1 else b"User-agent: *\nDisallow:\n"
            writer.write(http(rules, "Content-Type: text/plain"))
            return
        links = "".join(f'<a href="/p/{number}">{number}</a> ' for number in range(50))
        writer.write(http(f"<p>{path} {links}".encode(), "Content-Type: text/html"))

    async def run() -> dict[str, int]:
        async with serve(reply) as log:
            job = tmp_path / "job.toml"
            job.write_text(
                f"""
seeds = ["http://site.test/"]
[crawl]
keep = "all"
workers = 1
delay_seconds = 0.1
delay_factor = 0.0
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{log.port}" }}
[fetch]
robots_hours = 0.0003
[archive]
disk_reserve_bytes = 0
""",
                "utf-8",
            )
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", tmp_path / "crawl", "--json")
            assert done.code == 0, done.err
            outcomes: dict[str, int] = done.json["outcomes"]
            return outcomes

    outcomes = asyncio.run(run())
    second = asked.index("/robots.txt", 1)
    assert all(path == "/robots.txt" for path in asked[second:]), asked[second:]
    assert 1 < second < 50, "some pages were asked for before, and many were still queued"
    assert outcomes["robots"] >= 51 - second


@pytest.mark.parametrize(
    "written",
    [
        "http://EXAMPLE.com/", "http://example.com./", "http://example.com:80/", "http://example.com:8080/",
        "https://example.com/", "http://user:password@example.com/", "http://ex%61mple.com/", "http://ｅxample.com/",
    ],
)  # fmt: skip
def test_P9_a_host_has_one_key_however_it_is_written(written: str) -> None:
    url = canonicalize(written)
    assert url is not None
    assert url.host == "example.com"


def test_P9_unicode_and_punycode_are_one_host() -> None:
    one, other = canonicalize("http://bücher.example/"), canonicalize("http://xn--bcher-kva.example/")
    assert one is not None
    assert other is not None
    assert one.host == other.host
