"""Sites that give their visitor a new name with every link: the same pages under ever new URLs (U5)."""

import asyncio
import itertools
import re
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import quote

from command_line import periplus
from raw_server import ServerLog, http, serve

from periplus.settings import CrawlSettings

PAGES = 30
FORMS = {
    "path": "/{page};jsessionid={token}",
    "php": "/{page}?PHPSESSID={token}",
    "short": "/{page}?x=1&sid={token}&y=2",
    "cold": "/{page}?CFID={token}&CFTOKEN={token}",
    "asp": "/(S({token}{token}))/{page}",
    "shop": "/{page}?osCsid={token}",
    "tracked": "/{page}?utm_source={token}&utm_id={token}&gclid={token}",
}
"""Where sites put the name of a visitor."""

UNKNOWN = "/{page}?visit={token}"
"""A name for it that nobody can know beforehand."""


class Sites:
    """One site for each form; `asked` counts what they showed, by site and page."""

    def __init__(self) -> None:
        self.log = ServerLog()
        self.asked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._tokens = itertools.count(0x3F9A_0000_0000)

    async def reply(self, target: str, writer: asyncio.StreamWriter) -> None:
        host = re.search(rb"host: *([a-z]+)", self.log.requests[-1], re.IGNORECASE)
        if target == "/robots.txt" or host is None:
            writer.write(http(status="404 Not Found"))
            return
        site, page = host[1].decode(), re.search(r"/p(\d+)", target)
        self.asked[site][page[1] if page else target] += 1
        if site == "escapes":
            body = f'<p>Come back: <a href="/back?to={quote(target, safe="")}">here</a>'
        else:
            body = self._page(site, int(page[1]) if page else 0)
        writer.write(http(body.encode(), "Content-Type: text/html"))

    def _page(self, site: str, number: int) -> str:
        form = FORMS.get(site, UNKNOWN)
        ways = (form.format(page=f"p{(number * 3 + n) % PAGES}", token=f"{next(self._tokens):x}") for n in range(4))
        links = " ".join(f'<a href="{way}">on</a>' for way in ways)
        words = " ".join(f"{site}{number}th{n}word" for n in range(40))
        return f"<title>Page {number}</title><p>{words}</p>{links}"


JOB = """
seeds = [{seeds}]
[crawl]
keep = "all"
workers = 1
delay_seconds = 0.0
ip_delay_seconds = 0.0
depth = 1000
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
"""


def crawled(folder: Path, *names: str) -> tuple[Sites, dict[str, int]]:
    """Crawl the sites; gives them and what was dropped, by reason."""
    sites, job = Sites(), folder / "job.toml"

    async def run() -> dict[str, int]:
        async with serve(sites.reply, keep=True) as sites.log:
            seeds = ", ".join(
                f'"http://{name}.test{FORMS.get(name, "/p0").format(page="p0", token="3f9affffffff")}"'
                for name in names
            )
            job.write_text(JOB.format(seeds=seeds, port=sites.log.port), "utf-8")
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", folder / "crawl", "--json")
            assert done.code == 0, done.err
            dropped: dict[str, int] = done.json["dropped"]
            return dropped

    dropped = asyncio.run(run())
    return sites, dropped


def test_U5_pages_under_ever_new_session_ids_are_asked_for_once(tmp_path: Path) -> None:
    sites, _ = crawled(tmp_path, *FORMS)
    assert sites.asked == {name: {str(number): 1 for number in range(PAGES)} for name in FORMS}


def test_U5_what_only_looks_like_new_pages_is_budgeted(tmp_path: Path) -> None:
    """A name that is not known, and addresses that escape each other again and again: both end, and all was found."""
    sites, dropped = crawled(tmp_path, "unknown", "escapes")
    assert set(sites.asked["unknown"]) == {str(number) for number in range(PAGES)}
    assert sites.asked["unknown"].total() <= CrawlSettings().pattern_pages + 2 * PAGES
    assert sites.asked["escapes"].total() <= 50
    assert dropped["trap"] > 0
    assert dropped["too_long"] > 0
