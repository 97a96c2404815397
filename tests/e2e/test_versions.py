"""Pages that a site has under several addresses: each is in the collection once, and long threads are there whole."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from command_line import periplus
from raw_server import ServerLog, http, serve

JOB = """
seeds = ["http://site.test/"]
[crawl]
workers = 1
keep = "all"
delay_seconds = 0.0
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
"""
WORDS = ["river", "flood", "bridge", "council", "school", "harbour", "market", "museum", "rescue", "storm", "rain"]
THREADS, PAGES, POSTS = 40, 6, 10


def prose(key: str, words: int = 150) -> str:
    return f"<p>{' '.join(random.Random(key).choices(WORDS, k=words))}</p>"


def wiki(target: str) -> str | None:
    """Ten articles: each also in print, and under another name, which says so above it."""
    kind, _, number = target.strip("/").partition("/")
    if not number:
        return "".join(f"<a href=/print/{n}>print</a> <a href=/also/{n}>also</a> " for n in range(10)) + prose("front")
    if kind not in ("article", "also", "print") or int(number) > 9:
        return None
    canonical = f"<link rel=canonical href=/article/{number}>"
    menu = "" if kind == "print" else '<ul><li><a href="/">Front page</a></li></ul>'
    above = "<p>Redirected from another name</p>" if kind == "also" else ""
    return f"<title>{kind} {number}</title>{canonical}{menu}<h1>Town {number}</h1>{above}{prose(number)}"


def shop(target: str) -> str | None:
    """Ten pages, each of which has several addresses and says nothing of it; the worse ones are linked first."""
    path, _, query = target.partition("?")
    if path == "/":
        worse = ("/index.html", "?ref=front", "?view=print", "")
        return "".join(f"<a href=/goods/{number}{end}>{end}</a> " for end in worse for number in range(10))
    number = path.split("/")[2]
    if not path.startswith("/goods/") or not number.isdigit():
        return None
    return f"<title>Goods {number}</title><!-- {query} --><h1>Goods {number}</h1>{prose(number)}"


def forum(target: str) -> str | None:
    """Threads of several pages; the list leads to the first page of each, and to the last by a post's number."""
    path, _, query = target.partition("?")
    given = dict(part.split("=") for part in query.split("&")) if query else {}
    if path == "/":
        return "".join(
            f"<p><a href='/viewtopic.php?f=1&t={n}'>Thread {n}</a> "
            f"<a href='/viewtopic.php?f=1&t={n}&p={n * 1000 + PAGES * POSTS}'>last</a></p>"
            for n in range(THREADS)
        )
    thread = given["t"]
    page = PAGES - 1 if "p" in given else int(given.get("start", 0)) // POSTS
    starts = ["", *(f"&start={number * POSTS}" for number in range(1, PAGES))]
    links = "".join(f"<a href='/viewtopic.php?f=1&t={thread}{start}'>{start or 1}</a> " for start in starts)
    return f"<title>Thread {thread}, page {page + 1}</title>{links}{prose(f'{thread}.{page}')}"


def crawl(folder: Path, site: Callable[[str], str | None]) -> tuple[ServerLog, list[str]]:
    """Crawl a site; the URLs and titles of what is kept."""
    log = ServerLog()

    async def reply(target: str, writer: asyncio.StreamWriter) -> None:
        html = None if target == "/robots.txt" else site(target)
        found = http((html or "").encode(), "Content-Type: text/html", status="200 OK" if html else "404 Not Found")
        writer.write(found)

    async def run() -> None:
        nonlocal log
        async with serve(reply, keep=True) as log:
            job = folder / "job.toml"
            job.write_text(JOB.format(port=log.port), "utf-8")
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", folder / "crawl", "--json")
            assert done.code == 0, done.err

    asyncio.run(run())
    listed = periplus("export", folder / "crawl", "--to", "csv", "-o", folder / "pages.csv")
    assert listed.code == 0, listed.err
    assert periplus("verify", folder / "crawl").code == 0
    return log, (folder / "pages.csv").read_text("utf-8").splitlines()[1:]


def test_each_article_is_there_once_under_the_url_that_its_versions_name(tmp_path: Path) -> None:
    log, rows = crawl(tmp_path, wiki)
    for number in range(10):
        versions = [row for row in rows if f"/{number}," in row]
        assert [f"/article/{number}," in row for row in versions] == [True], "nothing links there but its versions"
        why = periplus("why", tmp_path / "crawl", f"http://site.test/print/{number}")
        assert "same content" in why.out
    assert len(set(log.paths)) == len(log.paths), "nothing is asked for twice"
    found = periplus("search", tmp_path / "crawl", "river", "--json", "--limit", 100)
    assert "/print/" not in found.out
    assert found.json["total"] == 11


def test_a_page_with_several_addresses_is_there_under_the_best_of_them(tmp_path: Path) -> None:
    log, rows = crawl(tmp_path, shop)
    goods = [row for row in rows if "/goods/" in row]
    assert [sum(f"/goods/{number}," in row for row in goods) for number in range(10)] == [1] * 10
    assert len(goods) == 10
    assert len(set(log.paths)) == len(log.paths) == 42, "nothing is asked for twice"
    found = periplus("search", tmp_path / "crawl", "goods", "--json", "--limit", 100).json
    assert {hit["url"] for hit in found["hits"]} >= {f"http://site.test/goods/{number}" for number in range(10)}
    assert not any("index.html" in hit["url"] or "?" in hit["url"] for hit in found["hits"])


def test_long_threads_are_there_whole_and_each_page_once(tmp_path: Path) -> None:
    _, rows = crawl(tmp_path, forum)
    titles = [f"Thread {thread}, page {page + 1}" for thread in range(THREADS) for page in range(PAGES)]
    missing = [title for title in titles if sum(f'"{title}"' in row for row in rows) != 1]
    assert not missing
