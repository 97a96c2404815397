"""Crawled text that wants to run: as title, text, address, topic and place name, in every view. None does."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
import sample_collection
from attacks import attacks
from page_visits import IN_A_BROWSER
from playwright.sync_api import Browser, expect
from running_server import running_server
from sample_collection import SamplePage, SamplePlace, build_collection

from periplus.store.folder import CrawlFolder
from periplus.tasks import Schedule, TaskBook

pytestmark = IN_A_BROWSER


def hostile_collection(root: Path, monkeypatch: pytest.MonkeyPatch) -> CrawlFolder:
    """A page for each attack, about a place that bears it as its name."""
    pages = []
    for number, attack in enumerate(attacks()):
        identifier = -1000 - number
        place = SamplePlace(
            id=identifier,
            name=attack,
            kind="city",
            country="XX",
            admin1="",
            lon=-30.0 + number % 60,
            lat=float(number % 50),
            population=1,
            path=("World", "Continent", "Country", attack),
            ancestors=(1, 2, 3),
        )
        monkeypatch.setitem(sample_collection.PLACES, identifier, place)
        url = attack if number % 10 == 0 else f"http://site{number}.example/?{attack}"
        text = f"common words {attack} and {attack}"
        pages.append(
            SamplePage(
                url=url if "/" in url and len(url.split("/")) > 2 else f"http://site{number}.example/#{attack}",
                title=attack,
                text=text,
                places=((identifier, 0.9),),
                published="2026-05-05",
                topic=attack[:30],
                description=attack,
            )
        )
    return build_collection(root, pages, nodes=("all",))


def hostile_tasks(home: Path) -> None:
    """A task whose keywords, seeds, log, questions and reason are attacks, and a comparison that is made of them."""
    book = TaskBook(home)
    job = {"seeds": ["http://a.example/"], "topic": {"keywords": dict.fromkeys(attacks(), 1.0)}}
    task = book.add("Hostile", job, Schedule.of(""))
    task.folder.mkdir(parents=True)
    lines = [json.dumps({"time": attack, "event": attack, attack: attack}) for attack in attacks()[:50]]
    (task.folder / "log.jsonl").write_text("\n".join(lines))
    for attack in attacks()[:90]:
        book.add_question(task, attack, f"http://hook.example/?{attack}")
    run = book.begin_run(task, "hand", 0)
    assert run is not None
    book.update_run(run, state="failed", ended=1.8e9, reason=" ".join(attacks()))
    (home / "compared").mkdir()
    rows = {attack: {attack: 1.0, "geo_coverage": 0.5} for attack in attacks()[:20]}
    (home / "compared" / "results.json").write_text(
        json.dumps({"about": {attacks()[1]: attacks()[2]}, "strategies": rows})
    )


def test_a_hundred_attacks_do_not_run(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = hostile_collection(tmp_path / "crawl", monkeypatch)
    assert len(attacks()) == 100
    hostile_tasks(tmp_path / "tasks")
    served = running_server(folder.path, tasks=tmp_path / "tasks", comparisons=[tmp_path / "tasks" / "compared"])
    with served as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        outside: list[str] = []
        page.on("request", lambda request: None if request.url.startswith(server) else outside.append(request.url))
        paths = ["/", "/?q=common&view=statistics", f"/?q={quote(attacks()[0])}"]
        paths += [f"/?q=common&offset={offset}" for offset in range(0, 100, 10)]
        views = {"/?view=tasks": ".task-card", "/?view=tasks&task=1": ".questions li", "/?view=compare": ".compare td"}
        for path in [*paths, *views]:
            page.goto(server + path)
            page.locator("body:not(.is-loading) main > *").first.wait_for()
            if path in views:
                page.locator(views[path]).first.wait_for()
            if "offset" in path:
                expect(page.locator(".hit")).to_have_count(10)
                page.locator(".hit .number").first.click()
                expect(page.locator(".popup")).to_be_visible()
                page.get_by_role("button", name="Full text").first.click()
                expect(page.locator(".page-text")).to_be_visible()
            assert page.evaluate("window.__attacked") is None
            assert page.locator("main script, main img, main iframe, main object, main embed, .popup img").count() == 0
            hrefs = page.locator("main a, dialog a").evaluate_all("links => links.map(link => link.protocol)")
            assert set(hrefs) <= {"http:", "https:"}
        page.close()
    assert [url for url in outside if not url.startswith(("data:image/svg+xml", "blob:"))] == []
