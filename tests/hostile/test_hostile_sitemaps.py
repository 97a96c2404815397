"""Sitemaps that lead to themselves, to others without end, to bombs and to what is none (U8)."""

import asyncio
import gzip
import re
from collections import Counter
from pathlib import Path

from command_line import periplus
from raw_server import ServerLog, http, serve

from periplus.frontier.intake import MAX_SITEMAP_NESTING, MAX_SITEMAPS

ROBOTS = """User-agent: *
Sitemap: /level0.xml
Sitemap: /level0.xml
Sitemap: /robots.txt
Sitemap: /bomb.xml.gz
Sitemap: /up/there.xml
Sitemap: /moved.xml
Sitemap: http://wide.test/wide0.xml
"""
JOB = """
seeds = ["http://maps.test/"]
[crawl]
keep = "all"
workers = 1
sitemaps = "robots"
delay_seconds = 0.0
ip_delay_seconds = 0.0
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
"""


def index(*names: str) -> bytes:
    rows = "".join(f"<sitemap><loc>/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{rows}</sitemapindex>".encode()


def answer(host: str, path: str) -> bytes:
    """Indexes that name themselves and a next one; the wide host's name a hundred each."""
    found = re.search(r"(level|wide)(\d+)", path)
    if path == "/robots.txt":
        return http((ROBOTS if host == "maps" else "Sitemap: /wide0.xml\n").encode(), "Content-Type: text/plain")
    if path == "/up/there.xml":
        return http(b"", "Location: /level0.xml", status="301 Moved Permanently")
    if path == "/moved.xml":
        return http(b"", "Location: /where/it/is.xml", status="301 Moved Permanently")
    if path == "/where/it/is.xml":
        return http(b"<urlset><url><loc>/listed</loc></url></urlset>", "Content-Type: text/xml")
    if path == "/bomb.xml.gz":
        return http(gzip.compress(b"<urlset>" + b" " * 60_000_000 + b"<url><loc>/far</loc></url></urlset>"))
    if found and found[1] == "level":
        number = int(found[2])
        body = index(f"level{number}.xml", f"level{number + 1}.xml") + b"\n"
        return http(body, "Content-Type: text/xml")
    if found:
        number = int(found[2])
        return http(index(*(f"wide{number * 100 + n}.xml" for n in range(1, 101))), "Content-Type: text/xml")
    link = b'<a href="http://wide.test/">wide</a>' if host == "maps" else b""
    return http(b"<title>Home</title><p>Nothing here." + link, "Content-Type: text/html")


def test_U8_sitemaps_without_end_end(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    log = ServerLog()

    async def reply(path: str, writer: asyncio.StreamWriter) -> None:
        name = re.search(rb"host: *([a-z]+)", log.requests[-1], re.IGNORECASE)
        host = name[1].decode() if name else ""
        asked[f"{host}{path}"] += 1
        writer.write(answer(host, path))

    async def run() -> dict[str, dict[str, int]]:
        nonlocal log
        async with serve(reply, keep=True) as log:
            job = tmp_path / "job.toml"
            job.write_text(JOB.format(port=log.port), "utf-8")
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", tmp_path / "crawl", "--json")
            assert done.code == 0, done.err
            summary: dict[str, dict[str, int]] = done.json
            return summary

    summary = asyncio.run(run())
    maps = {name: count for name, count in asked.items() if name.startswith("maps") and ".xml" in name}
    assert [name for name in maps if "level" in name] == [f"maps/level{n}.xml" for n in range(MAX_SITEMAP_NESTING + 1)]
    assert max(maps.values()) <= 2, maps
    assert asked["maps/listed"] == 1, "a sitemap that has moved is read where it is"
    wide = sum(count for name, count in asked.items() if name.startswith("wide") and ".xml" in name)
    assert 3 < wide <= MAX_SITEMAPS
    assert summary["dropped"]["sitemaps"] > 0
    assert summary["outcomes"]["bad_content"] == 2, "robots.txt, and the bomb"
