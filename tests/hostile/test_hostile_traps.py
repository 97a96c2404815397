"""Sites without an end that no pattern gives away: names that are made up, and pages that never fail (U6)."""

import asyncio
import itertools
import re
from collections import Counter
from pathlib import Path

from command_line import periplus
from raw_server import ServerLog, http, serve

REAL_HOSTS, PAGES, MIRRORED = 8, 25, 30
BUDGET = 1_000
JOB = """
seeds = [{seeds}]
[crawl]
keep = "all"
pages = {budget}
workers = 1
delay_seconds = 0.0
ip_delay_seconds = 0.0
domain_hosts = 40
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
"""
WORDS = [a + b + c for a in ("ka", "lo", "mi", "ru") for b in ("ben", "dor", "fin", "gal", "hum") for c in ("", "sta")]


class Web:
    """Real sites, a domain whose name server knows every name, and a site that answers for every path."""

    def __init__(self) -> None:
        self.log = ServerLog()
        self.asked: Counter[str] = Counter()
        self._made_up = ("-".join(words) for words in itertools.permutations(WORDS, 3))

    async def reply(self, target: str, writer: asyncio.StreamWriter) -> None:
        host = re.search(rb"host: *([a-z0-9.-]+)", self.log.requests[-1], re.IGNORECASE)
        if target == "/robots.txt" or host is None:
            writer.write(http(status="404 Not Found"))
            return
        name = host[1].decode()
        self.asked[f"{name}{target}"] += 1
        writer.write(http(self._page(name, target).encode(), "Content-Type: text/html"))

    def _page(self, host: str, target: str) -> str:
        if host.endswith("trap.test"):
            links = [f"http://{next(self._made_up)}.trap.test/" for _ in range(5)]
            return self._text(host, links)
        is_mirror = host == "mirror.test"
        number = target.removeprefix("/page-")
        pages = [f"/page-{WORDS[n % 40]}{'x' * (n // 40)}" for n in range(MIRRORED if is_mirror else PAGES)]
        if target != "/" and target not in pages:
            # What is not there is said to be not there, with status 200 and with links to more that is not.
            return self._text("nothing here, we are sorry", [f"/{next(self._made_up)}" for _ in range(6)])
        gone = [f"/{next(self._made_up)}" for _ in range(3)] if is_mirror else ["http://start.trap.test/"]
        return self._text(f"{host} {number}", [*gone, *pages])

    @staticmethod
    def _text(about: str, links: list[str]) -> str:
        words = " ".join(f"{about} {word}" for word in WORDS[:12])
        anchors = " ".join(f'<a href="{link}">on</a>' for link in links)
        return f"<title>{about}</title><p>{words}</p>{anchors}"


def test_U6_names_and_pages_that_are_made_up_take_little_of_the_budget(tmp_path: Path) -> None:
    web, job = Web(), tmp_path / "job.toml"
    hosts = [*(f"real{number}.test" for number in range(REAL_HOSTS)), "mirror.test"]

    async def run() -> dict[str, dict[str, int]]:
        async with serve(web.reply, keep=True) as web.log:
            seeds = ", ".join(f'"http://{host}/"' for host in hosts)
            job.write_text(JOB.format(seeds=seeds, port=web.log.port, budget=BUDGET), "utf-8")
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", tmp_path / "crawl", "--json")
            assert done.code in (0, 3), done.err
            summary: dict[str, dict[str, int]] = done.json
            return summary

    summary = asyncio.run(run())
    trapped = sum(count for url, count in web.asked.items() if ".trap.test" in url)
    real = {url for url in web.asked if re.match(r"(real\d|mirror)\.test/(page-|$)", url)}
    assert trapped <= 40 <= 0.05 * BUDGET
    assert summary["dropped"]["domain_quota"] > 0, "and it is said"
    assert len(real) >= 0.95 * (REAL_HOSTS * (PAGES + 1) + MIRRORED + 1)
    order = list(web.asked)
    last = max(order.index(url) for url in real if url.startswith("mirror"))
    before = sum(url.startswith("mirror") and url not in real for url in order[:last])
    assert before <= 0.05 * BUDGET, "what is only said to be a page came behind the pages"
