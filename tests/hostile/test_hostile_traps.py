"""Sites without an end: names that are made up, pages that never fail, calendars beside articles with numbers (U6)."""

import asyncio
import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_runs import ClusterRun
from command_line import periplus
from nats_server import nats_server
from raw_server import ServerLog, http, serve

REAL_HOSTS, PAGES, MIRRORED = 8, 25, 30
BUDGET = 1_000
ARTICLES, LISTED, GIVEN = 240, 40, 8
JOB = """
seeds = [{seeds}]
[crawl]
keep = "all"
pages = {budget}
workers = 1
delay_seconds = 0.0
ip_delay_seconds = 0.0
domain_hosts = 40
{more}
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
[nodes.east]
places = ["Boston, MA"]
[nodes.general]
places = []
"""
TWO = ("east", "general")
RunJob = Callable[[Path], dict[str, dict[str, int]]]
MENU = ("news", "about", "events", "people", "projects", "contact")
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


class Newspaper(Web):
    """Articles that have only numbers for names, in lists, beside a calendar that has no end."""

    def _page(self, host: str, target: str) -> str:
        lists = [f"/list-{WORDS[at]}" for at in range(ARTICLES // LISTED)]
        if article := re.fullmatch(r"/2026/(\d+)/(\d+)/(\d+)", target):
            words = random.Random(article[3]).choices(WORDS, k=60)
            return f"<title>Article</title><p>{' '.join(words)}</p>"
        if date := re.fullmatch(r"/calendar/(\d+)/(\d+)", target):
            year, month = int(date[1]), int(date[2])
            after = [f"/calendar/{year + 1}/{month}", f"/calendar/{year}/{month + 1}"]
            return self._text(f"Nothing happens in {month} of {year}", after)
        if target in lists:
            first = lists.index(target) * LISTED
            return self._text(target, [self.article(number) for number in range(first, first + LISTED)])
        return self._text(host, [*lists, "/calendar/2026/11"])

    @staticmethod
    def article(number: int) -> str:
        """Where an article is."""
        return f"/2026/{number % 12 + 1}/{number % 28 + 1}/{number}"


class Folders(Web):
    """Sites that answer for every path, with the same menu of relative links; beside them one that is deep and ends."""

    def _page(self, host: str, target: str) -> str:
        if host == "deep.test":
            below = [path[len(target) :] for path in self.deep() if path != target and path.startswith(target)]
            near = [path for path in below if path.count("/") == 1 or (path.count("/") == 2 and path[0].isdigit())]
            return self._text(" ".join(random.Random(target).choices(WORDS, k=9)), ["/", "../", *near])
        here = target.strip("/").rpartition("/")[2]
        menu = [name for name in MENU if host != "current.test" or name != here]
        about = {"same.test": "welcome", "echo.test": target}.get(host, here)
        return self._text(about, ["/", *(f"{name}/" for name in menu)])

    @staticmethod
    def deep() -> list[str]:
        """The pages of a site with an archive by days, and categories whose names are met again in each other."""
        days = [f"/{year}/{month}/{day}/" for year in (2024, 2025) for month in (1, 2, 3) for day in (1, 2, 11)]
        articles = [f"{day}{WORDS[at]}/" for at, day in enumerate(days)]
        cities = [f"/us/{state}/{city}/" for state in ("new-york", "texas") for city in ("new-york", "texas", "troy")]
        things = [f"{city}{what}/{how}/" for city in cities for what in ("food", "art") for how in ("new", "art", "us")]
        paths = ["/", *articles, *things]
        above = {path[: at + 1] for path in paths for at, letter in enumerate(path) if letter == "/"}
        return sorted(above)


def in_one_process(job: Path) -> dict[str, dict[str, int]]:
    """Run a job; its summary."""
    done = periplus("crawl", job, "--out", job.with_name("crawl"), "--json")
    assert done.code in (0, 3), done.err
    summary: dict[str, dict[str, int]] = done.json
    return summary


def on_two_machines(job: Path) -> dict[str, dict[str, int]]:
    """Run a job by a process for each of its nodes, which have folders of their own; the summary of one."""
    with nats_server() as server, ClusterRun(job, server.url, job.with_name("crawl"), apart=True) as run:
        run.start(TWO)
        return run.finish()[TWO[0]]


def crawled(
    web: Web, folder: Path, hosts: list[str], more: str, run_job: RunJob = in_one_process
) -> dict[str, dict[str, int]]:
    """Crawl the hosts; the summary."""

    async def run() -> dict[str, dict[str, int]]:
        async with serve(web.reply, keep=True) as web.log:
            seeds = ", ".join(f'"http://{host}/"' for host in hosts)
            job = folder / "job.toml"
            job.write_text(JOB.format(seeds=seeds, port=web.log.port, budget=BUDGET, more=more), "utf-8")
            return await asyncio.to_thread(run_job, job)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("run_job", "overlap"),
    [
        (in_one_process, "forbid"),
        (in_one_process, "allow"),
        pytest.param(on_two_machines, "forbid", marks=pytest.mark.needs("nats-server")),
        pytest.param(on_two_machines, "allow", marks=pytest.mark.needs("nats-server")),
    ],
)
def test_U6_articles_with_numbers_are_all_found_and_a_calendar_is_not_followed_for_ever(
    tmp_path: Path, run_job: RunJob, overlap: str
) -> None:
    """Four numbers are worth one URL of the eight that are given; the articles' own texts earn the rest."""
    web = Newspaper()
    settings = f'pattern_pages = {GIVEN}\nstrategy = "hash"\noverlap = "{overlap}"'
    crawled(web, tmp_path, ["news.test"], settings, run_job)
    missing = {web.article(number) for number in range(ARTICLES)} - {url.removeprefix("news.test") for url in web.asked}
    assert not missing, sorted(missing)[:5]
    assert sum("/calendar/" in url for url in web.asked) <= GIVEN * len(TWO)


def test_U6_names_and_pages_that_are_made_up_take_little_of_the_budget(tmp_path: Path) -> None:
    web = Web()
    summary = crawled(web, tmp_path, [*(f"real{number}.test" for number in range(REAL_HOSTS)), "mirror.test"], "")
    trapped = sum(count for url, count in web.asked.items() if ".trap.test" in url)
    real = {url for url in web.asked if re.match(r"(real\d|mirror)\.test/(page-|$)", url)}
    assert trapped <= 40 <= 0.05 * BUDGET
    assert summary["dropped"]["domain_quota"] > 0, "and it is said"
    assert len(real) >= 0.95 * (REAL_HOSTS * (PAGES + 1) + MIRRORED + 1)
    order = list(web.asked)
    last = max(order.index(url) for url in real if url.startswith("mirror"))
    before = sum(url.startswith("mirror") and url not in real for url in order[:last])
    assert before <= 0.05 * BUDGET, "what is only said to be a page came behind the pages"


def test_U6_folders_without_end_end_and_a_deep_site_keeps_all_its_pages(tmp_path: Path) -> None:
    """Three levels of the menu are met; where it leaves out the page that it is on, four."""
    web = Folders()
    summary = crawled(web, tmp_path, ["same.test", "echo.test", "current.test", "deep.test"], "")
    asked = Counter(url.partition("/")[0] for url in web.asked)
    assert asked["same.test"] == asked["echo.test"] == 1 + 6 + 6 * 6
    assert asked["current.test"] == 1 + 6 + 6 * 5 + 6 * 5 * 5
    assert {url for url in web.asked if url.startswith("deep")} == {f"deep.test{path}" for path in web.deep()}
    assert summary["dropped"]["depth"] > 0, "and it is said"
