"""The whole story on the miniature web, from outside: crawl, kill, resume, search, evaluate."""

import contextlib
import json
import random
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import MiniwebProcess, miniweb, periplus, start

from periplus.miniweb.odd import TRAP_PREFIXES

SUMMARY_KEYS = {
    "pages", "kept", "seen", "queued", "seconds", "pages_per_second", "outcomes", "stop_reason", "nodes",
}  # fmt: skip
KILLS = 4


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniwebProcess]:
    with miniweb(tmp_path_factory.mktemp("web"), "--hosts", 60, "--pages", 320, "--slow", 0.05) as served:
        text = served.job.read_text("utf-8").replace("pages = 3000", "pages = 0")
        served.job.write_text(text.replace("retry_seconds = 1.0", "retry_seconds = 0.1"), "utf-8")
        yield served


@pytest.fixture(scope="module")
def whole(web: MiniwebProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that nothing disturbed."""
    folder = tmp_path_factory.mktemp("crawl") / "whole"
    done = periplus("crawl", web.job, "--out", folder, "--json")
    assert done.code == 0, done.err
    assert done.json["stop_reason"].startswith("frontier empty: ")
    return folder


def pages_of(folder: Path) -> dict[str, str]:
    """URL → outcome of every page that the crawl has read."""
    pages: dict[str, str] = {}
    for path in folder.glob("nodes/*/node.db"):
        with sqlite3.connect(path) as db:
            pages.update(db.execute("SELECT url, outcome FROM page").fetchall())
        db.close()
    return pages


def leases_of(folder: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in folder.glob("nodes/*/node.db"):
        with sqlite3.connect(path) as db:
            counts.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
        db.close()
    return counts


def truth_of(web: MiniwebProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in web.truth.read_text("utf-8").splitlines()]


def test_people_are_told_once_what_kept_the_crawl_from_going_on(web: MiniwebProcess, whole: Path) -> None:
    shown = periplus("crawl", web.job, "--out", whole).out
    assert "Stopped: frontier empty. Links left out: " in shown
    assert "dropped by" not in shown


def test_summary_follows_the_contract(web: MiniwebProcess, whole: Path) -> None:
    done = periplus("crawl", web.job, "--out", whole, "--json")  # nothing is left to do
    assert done.code == 0
    summary = done.json
    assert set(summary) >= SUMMARY_KEYS
    assert summary["queued"] == 0
    assert sum(node["pages"] for node in summary["nodes"].values()) == summary["pages"] == len(pages_of(whole))
    assert set(summary["nodes"]) == {"central", "eastern", "general", "hawaii-alaska", "mountain", "pacific"}
    assert all(set(node) == {"pages", "kept", "sent", "received"} for node in summary["nodes"].values())
    assert sum(node["sent"] for node in summary["nodes"].values()) > 0
    assert sum(n["sent"] for n in summary["nodes"].values()) == sum(n["received"] for n in summary["nodes"].values())
    assert Counter(summary["outcomes"]) == leases_of(whole)


def test_ordinary_pages_of_the_web_are_found(web: MiniwebProcess, whole: Path) -> None:
    expected = {row["url"] for row in truth_of(web) if row["outcome"] == "kept" and row["kind"] != "trap"}
    found = pages_of(whole)
    missing = expected - set(found)
    assert len(missing) <= 0.05 * len(expected), sorted(missing)[:10]


def test_U6_traps_take_little_of_the_budget(whole: Path) -> None:
    """A calendar, facets in any order and folders without end: of the 3,000 pages that this web's job allows, 5 %."""
    trapped = [url for url in pages_of(whole) if f"/{url.split('/', 3)[3]}".startswith(TRAP_PREFIXES)]
    assert 0 < len(trapped) <= 0.05 * 3_000


def test_robots_and_status_are_respected(web: MiniwebProcess, whole: Path) -> None:
    asked = {f"http://{row['host']}{row['path']}" for row in web.requests()}
    forbidden = {row["url"] for row in truth_of(web) if row["outcome"].startswith("robots")}
    assert forbidden, "the miniature web has pages that robots.txt forbids"
    assert not asked & forbidden


def test_no_page_is_asked_for_twice(web: MiniwebProcess, tmp_path: Path) -> None:
    before = len(web.requests())
    done = periplus("crawl", web.job, "--out", tmp_path / "crawl", "--json")
    asked = Counter(f"{row['host']}{row['path']}" for row in web.requests()[before:] if row["status"] == 200)
    assert done.code == 0
    assert asked.most_common(1)[0][1] == 1, asked.most_common(3)


def test_killed_at_random_moments_it_ends_with_the_same_pages(web: MiniwebProcess, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    moments = random.Random(20061)
    for _ in range(KILLS):
        process = start("crawl", web.job, "--out", folder, "--json")
        limit = len(web.requests()) + moments.randrange(5, 90)
        while len(web.requests()) < limit and process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.02)
        process.kill()
        process.communicate()
    process = start("crawl", web.job, "--out", folder, "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert set(pages_of(folder)) == set(pages_of(whole))
    summary = json.loads(out.splitlines()[-1])
    assert summary["queued"] == 0


def test_page_limit_is_exact_and_resumable(web: MiniwebProcess, tmp_path: Path) -> None:
    folder = tmp_path / "limited"
    first = periplus("crawl", web.job, "--out", folder, "--pages", 40, "--json")
    assert (first.code, first.json["pages"], first.json["stop_reason"]) == (3, 40, "page limit: 40 pages")
    assert first.json["queued"] > 0
    finished = sum(first.json["outcomes"].values()) - first.json["outcomes"].get("retry", 0)
    assert first.json["seen"] == first.json["queued"] + finished, "every URL is queued or done"
    again = periplus("crawl", web.job, "--out", folder, "--pages", 40, "--json")
    assert (again.code, again.json["pages"]) == (3, 40)
    more = periplus("crawl", folder, "--pages", 60, "--json")
    assert (more.code, more.json["pages"]) == (3, 60)


def test_hash_strategy_spreads_and_keeps_the_same_pages(web: MiniwebProcess, whole: Path, tmp_path: Path) -> None:
    done = periplus("crawl", web.job, "--out", tmp_path / "hash", "--strategy", "hash", "--json")
    assert done.code == 0
    shares = [node["pages"] / done.json["pages"] for node in done.json["nodes"].values()]
    assert min(shares) > 0.08, "six nodes get a sixth each, more or less"
    assert set(pages_of(tmp_path / "hash")) == set(pages_of(whole))


def test_topic_decides_what_is_kept(web: MiniwebProcess, tmp_path: Path) -> None:
    done = periplus(
        "crawl", web.job, "--out", tmp_path / "topic", "--keep", "relevant", "--place", "Houston, TX", "--json"
    )  # fmt: skip
    assert done.code == 0
    assert 0 < done.json["kept"] < done.json["pages"] / 4
    assert done.json["outcomes"]["not_relevant"] > done.json["kept"]


def test_search_finds_by_word_and_place(whole: Path) -> None:
    answer = periplus("search", whole, "restaurant in Houston", "--json").json
    assert set(answer) >= {"query", "total", "hits", "facets"}
    assert answer["query"]["where"][0]["name"] == "Houston"
    assert answer["total"] > 0
    hit = answer["hits"][0]
    assert {"rank", "url", "title", "snippet", "score", "published", "fetched", "topics", "place", "path"} <= set(hit)
    assert "Houston" in hit["path"]


def test_evaluate_gives_every_measure(whole: Path) -> None:
    measures = periplus("evaluate", whole, "--json").json
    assert set(measures) >= {
        "pages", "geo_coverage", "geo_focus", "entity_uniqueness", "geo_centrality", "overlap", "diversity",
        "communication_overhead", "locality", "accuracy", "coverage", "nodes",
    }  # fmt: skip
    assert measures["pages"] == len(pages_of(whole))
    assert 0 < measures["geo_coverage"] < 1
    assert measures["overlap"] == 0
    assert set(measures["locality"]) == {"linked", "unlinked"}
    assert measures["locality"]["linked"] > measures["locality"]["unlinked"], "links stay with their town"


def test_why_explains_a_url(whole: Path) -> None:
    with sqlite3.connect(whole / "nodes" / "general" / "node.db") as db:
        url = db.execute("SELECT url FROM page WHERE depth = 2 LIMIT 1").fetchone()[0]
    db.close()
    found = periplus("why", whole, url, "--json").json
    assert found["node"] == "general"
    assert found["page"]["outcome"] == pages_of(whole)[url]
    assert found["parents"], "some page links to it"
    parent = found["parents"][0]
    assert parent["sent_to"] in {"central", "eastern", "general", "hawaii-alaska", "mountain", "pacific"}
    assert 0 <= parent["parts"]["priority"] <= 1
    assert set(parent["parts"]) == {
        "spatial", "focus", "rank", "places", "keywords", "anchor", "time", "parent_keywords", "parent_places",
        "priority",
    }  # fmt: skip
    assert found["priority"] == pytest.approx(found["mean_priority"] + found["bonus"], abs=1e-3)
    periplus("why", whole, "http://nowhere.mini.test/").assert_one_line_error(2, "not known")


def test_a_topic_is_learnt_against_a_crawl_and_taught_with_its_pages(whole: Path, tmp_path: Path) -> None:
    samples, topic = tmp_path / "samples", tmp_path / "floods.toml"
    samples.mkdir()
    for number, place in enumerate(("Houston", "Dallas", "Austin", "El Paso")):
        text = f"Flood in {place}, Texas\nThe flooded river rose in {place}, Texas, and boats rescued people {number}."
        (samples / f"{number}.txt").write_text(text, "utf-8")
    learnt = periplus("topic", "learn", samples, "-o", topic, "--background", whole, "--json").json
    assert learnt["samples"] == 4
    assert 'form = "logistic"' in topic.read_text("utf-8"), "there was something to learn against"
    with sqlite3.connect(whole / "nodes" / "central" / "node.db") as db:
        urls = [url for (url,) in db.execute("SELECT url FROM page WHERE kept = 1 ORDER BY id LIMIT 2")]
    db.close()
    taught = periplus("topic", "judge", topic, "--crawl", whole, "--good", urls[0], "--bad", urls[1], "--json").json
    assert taught["samples"] == 5
    memory = json.loads(topic.with_suffix(".memory.json").read_text("utf-8"))
    assert (len(memory["samples"]), len(memory["rejected"])) == (5, 1)
    gone = periplus("topic", "judge", topic, "--crawl", whole, "--good", "http://nowhere.mini.test/")
    gone.assert_one_line_error(2, "has kept no such page")


def test_assign_and_score_answer_for_single_texts(tmp_path: Path) -> None:
    links = tmp_path / "links.jsonl"
    links.write_text('{"id": 1, "url": "http://www.visit-houston-tx.com/eat"}\n', "utf-8")
    assigned = periplus("assign", "--strategy", "url", "--targets", "us100", links).json
    assert (assigned["id"], assigned["node"], assigned["target"]["name"]) == (1, "central", "Houston")
    topic, text = tmp_path / "topic.toml", tmp_path / "text.txt"
    topic.write_text('[topic]\nkeywords = { flood = 1.0 }\nplaces = { "Texas" = 1.0 }\n', "utf-8")
    text.write_text("Floods hit Houston and all of Texas. The flood in Houston was the worst flood.", "utf-8")
    scored = periplus("score", topic, text, "--json").json
    assert scored["relevant"] is True
    assert scored["evidence"]["keywords"]["flood"] == 3


def test_places_finds_places_in_text(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Floods hit Sylhet, Bangladesh. Our shop: 1200 Main Street, Springfield, IL 62701.", "utf-8")
    found = periplus("places", text, "--json").json
    assert {"mentions", "addresses", "footprint"} <= set(found)
    assert {m["place"]["name"] for m in found["mentions"] if m["place"]} >= {"Sylhet", "Springfield"}
    assert found["addresses"][0]["zip"] == "62701"


def test_config_explains_every_setting() -> None:
    out = periplus("config", "--explain").out
    assert "crawl.delay_seconds" in out
    assert "seconds" in out
