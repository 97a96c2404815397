"""Saved crawls over HTTP: forms, wishes, live events, questions, lessons, and what must not get through."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from http_client import Reply, get, send
from mmdb_file import mmdb
from running_server import running_server
from sample_collection import SamplePage, build_collection, make_page

from periplus.errors import UsageError
from periplus.places import open_gazetteer
from periplus.settings import load_job
from periplus.store.folder import CrawlFolder
from periplus.tasks import TaskBook, sample_process
from periplus.tasks.alerts import feed_paths
from periplus.tasks.lessons import Judgements
from periplus.web.choices import Choices

FORM: dict[str, Any] = {
    "name": "Floods",
    "seeds": ["https://news.example/"],
    "contact": "https://me.example/",
    "keywords": {"flood": 1, "dam": 0.5},
    "places": {"Sylhet": 1.0},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    about = "The river rose and the flood broke the dam; the flood water stood in the streets of Houston. " * 8
    other = "The bakery sells bread and cake, and the cake is sweet. People of Houston like bread. " * 8
    pages = [make_page(n, text=about, title=f"Flood {n}", topic="floods") for n in range(4)]
    pages += [make_page(10 + n, text=other, title=f"Bread {n}", topic="floods") for n in range(3)]
    linked = SamplePage(
        url="http://hub.example/", title="Hub", text="Links about Houston.", places=((4699066, 0.9),),
        links=((pages[0].url, "the flood", "west"), ("http://unknown.example/", "nowhere", "east")),
    )  # fmt: skip
    folder = build_collection(tmp_path_factory.mktemp("web") / "crawl", [*pages, linked], nodes=("east", "west"))
    text = folder.job_file.read_text().replace(
        '[topic]\nname = "travel"\n', '[topic]\nname = "floods"\nkeywords = {flood = 1.0}\nplaces = {Houston = 1.0}\n'
    )
    folder.write_job(text)
    return folder.path


@pytest.fixture(scope="module")
def server(folder: Path, home: Path) -> Iterator[str]:
    with running_server(folder, tasks=home) as address:
        yield address


def add(server: str, **changes: Any) -> dict[str, Any]:
    reply = send(server, "/api/tasks", FORM | changes)
    assert reply.status == 200, reply.body
    added: dict[str, Any] = reply.json
    return added


def test_a_form_is_checked_field_by_field(server: str) -> None:
    wrong = {"name": "!", "seeds": ["ftp://x/", "/etc/passwd"], "keywords": {}, "places": {"Qqqqqqq": 1.0},
             "schedule": "cron 99 * * * *", "nodes": {"a b": []}}  # fmt: skip
    checked = send(server, "/api/tasks/check", wrong).json
    assert {error["field"] for error in checked["errors"]} == {"name", "seeds", "places", "schedule", "nodes"}
    right = send(server, "/api/tasks/check", FORM | {"schedule": "daily at 03:30", "zone": "Asia/Dhaka"}).json
    assert right["errors"] == []
    assert right["places"]["Sylhet"]["chosen"]["country"] == "BD"
    assert len(right["next"]) == 3
    alone = send(server, "/api/tasks/check", FORM | {"contact": ""}).json
    assert [error["field"] for error in alone["errors"]] == ["contact"]
    assert send(server, "/api/tasks/check", {"name": "x", "seeds": []}).json["errors"]


def test_addresses_may_come_with_the_quotes_and_commas_of_a_list(server: str) -> None:
    pasted = ['"https://one.example/",', " <https://two.example/a,b>;", "", '"",']
    task = add(server, name="Pasted", seeds=pasted)
    shown = get(server, f"/api/tasks/{task['id']}").json
    assert shown["job"]["seeds"] == ["https://one.example/", "https://two.example/a,b"]


@pytest.mark.parametrize(
    "bad",
    [
        {"out": "/etc"},
        {"crawl": {"allow_private": ["127.0.0.0/8"]}},
        {"nodes": {"a": ["polygon /etc/passwd"]}},
        {"seeds": ["/etc/passwd"]},
        {"seeds": ["file:///etc/passwd"]},
        {"keywords": {"flood": 2}},
        {"pages": -1},
        {"strategy": "classifier"},
    ],
)
def test_no_path_and_no_private_address_gets_in(server: str, bad: dict[str, Any]) -> None:
    reply = send(server, "/api/tasks", FORM | {"name": "Bad"} | bad)
    assert (reply.status, reply.json["ok"]) == (400, False)


def test_a_task_is_saved_shown_wished_and_removed(server: str, home: Path) -> None:
    task = add(server, name="One")
    assert (task["state"], task["schedule"]) == ("new", "")
    assert send(server, "/api/tasks", FORM | {"name": "One"}).status == 400
    detail = get(server, f"/api/tasks/{task['id']}").json
    assert detail["job"]["keywords"] == {"flood": 1.0, "dam": 0.5}
    assert str(home) not in json.dumps(detail), "no path of the machine is told"
    wished = send(server, f"/api/tasks/{task['id']}/wish", {"wish": "start"}).json
    assert wished["wish"] == "start"
    assert send(server, f"/api/tasks/{task['id']}/wish", {"wish": "stop"}).status == 400
    assert send(server, f"/api/tasks/{task['id']}/wish", {"wish": "erase"}).status == 400
    assert get(server, f"/api/tasks/{task['id']}?erase=1", method="DELETE").json == {"ok": True}
    assert TaskBook(home).task(task["id"]).wish == "erase"
    for path in ("/api/tasks/999", "/api/questions/999/feed"):
        assert get(server, path).status == 404
    assert get(server, "/api/tasks/999", method="DELETE").status == 404


def test_feeds_lead_to_the_server_that_gave_them(server: str, home: Path) -> None:
    task, book = add(server, name="Fed"), TaskBook(home)
    question = book.add_question(book.task(task["id"]), "dam failure")
    for path in feed_paths(book, question).values():
        path.parent.mkdir(exist_ok=True)
        path.touch()  # it was asked
    feeds = [get(server, f"/api/questions/{question.id}/feed?form={form}").body for form in ("rss", "atom")]
    assert f"<link>{server}/</link>" in feeds[0].decode()
    assert f'<link href="{server}/" />' in feeds[1].decode()


def test_questions_and_feeds(server: str) -> None:
    task = add(server, name="Asked")
    path = f"/api/tasks/{task['id']}/questions"
    question = send(server, path, {"text": "dam failure", "webhook": "https://hooks.example/a"}).json
    assert question["fresh"] == 0
    assert get(server, f"/api/questions/{question['id']}/feed?form=rss").status == 404, "it was not asked yet"
    assert get(server, f"/api/questions/{question['id']}/feed?form=../x").status == 400
    assert send(server, path, {"text": "x", "webhook": "javascript:alert(1)"}).status == 400
    assert get(server, f"/api/questions/{question['id']}", method="DELETE").status == 200


# -- Other sites may not write ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_forged_requests_are_refused(server: str, home: Path, headers: dict[str, str], status: int) -> None:
    before = len(TaskBook(home).tasks())
    assert send(server, "/api/tasks", FORM | {"name": "Forged"}, headers=headers).status == status
    assert len(TaskBook(home).tasks()) == before


def test_a_page_of_this_server_may_write_and_needs_the_token(folder: Path, tmp_path: Path) -> None:
    with running_server(folder, tasks=tmp_path, token="long enough", origins=("https://maps.example",)) as address:
        own = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
        assert send(address, "/api/tasks", FORM, headers=own).status == 401
        token = {"Authorization": "Bearer long enough"}
        assert send(address, "/api/tasks", FORM, headers=token | {"Origin": "https://maps.example"}).status == 403
        assert send(address, "/api/tasks", FORM, headers=own | token).status == 200


def test_what_is_too_large_or_no_json_is_refused(server: str) -> None:
    assert send(server, "/api/tasks", b"{" + b" " * (3 * 2**20) + b"}").status == 413
    for body in (b"", b"[]", b"{", b"\xff", b'{"name": 1}', b"[" * 100_000):
        assert send(server, "/api/tasks", body).status == 400


def test_without_tasks_nothing_can_be_written(folder: Path) -> None:
    with running_server(folder) as address:
        assert send(address, "/api/tasks", FORM).status == 405
        assert get(address, "/api/tasks").status == 404


# -- Live ------------------------------------------------------------------------------------------


def test_events_say_how_tasks_stand_and_end_with_the_server(folder: Path, tmp_path: Path) -> None:
    with running_server(folder, tasks=tmp_path) as address:
        task = add(address, name="Live")
        parts = urlsplit(address)
        connection = HTTPConnection(str(parts.hostname), parts.port or 80, timeout=20)
        connection.request("GET", f"/api/tasks/events?task={task['id']}")
        response = connection.getresponse()
        assert response.headers["content-type"].startswith("text/event-stream")
        assert _event(response)["task"]["name"] == "Live"
        send(address, f"/api/tasks/{task['id']}/wish", {"wish": "start"})
        assert _event(response)["task"]["wish"] == "start"
        assert get(address, "/api/tasks/events?task=999").status == 404
    connection.close()


def _event(response: Any) -> dict[str, Any]:
    while not (line := response.readline()).startswith(b"data: "):
        assert line, "the stream ended"
    found: dict[str, Any] = json.loads(line[6:])
    return found


# -- Places and lessons ----------------------------------------------------------------------------


def test_places_by_name_and_on_the_map(server: str) -> None:
    named = get(server, "/api/places?q=Portland").json["places"]
    assert len({place["label"] for place in named}) > 2, "all Portlands, told apart"
    there = get(server, "/api/places?near=24.9,91.87").json["places"]
    assert there[0]["name"] == "Sylhet"
    assert there[-1]["name"] == "Bangladesh"
    for near in ("1", "a,b", "91,0", "nan,nan"):
        assert get(server, f"/api/places?near={near}").status == 400


def test_a_topic_is_learnt_from_samples(server: str, home: Path) -> None:
    text = "The flood in Houston broke the dam; water rose and the flood covered the streets of Houston, Texas. " * 5
    samples = [{"name": f"{n}.txt", "text": f"{text} Report {n}."} for n in range(4)]
    samples.append({"name": "page.html", "text": f"<html><title>Flood</title><p>{text}</p></html>"})
    preview = send(server, "/api/learn", {"samples": samples}).json
    assert preview["samples"] == 5
    assert "flood" in preview["keywords"]
    assert preview["places"][0]["name"] in ("Houston", "Texas", "United States")
    task = add(
        server, name="Learnt", keywords=preview["keywords"], learnt=preview["learnt"], memory=preview["memory"],
        places={str(place["id"]): place["weight"] for place in preview["places"]},
    )  # fmt: skip
    folder = TaskBook(home).task(task["id"]).folder
    assert (folder / "topic.memory.json").is_file(), "what it was learnt from is kept for judgements"
    few = send(server, "/api/learn", {"samples": samples[:1]})
    assert (few.status, "1 sample with text" in few.json["error"]) == (400, True)


def test_thumbs_teach_the_topic(server: str, folder: Path) -> None:
    hits = get(server, "/api/search?q=inclass:floods&limit=20").json["hits"]
    floods = [hit for hit in hits if hit["title"].startswith("Flood")]
    bread = [hit for hit in hits if hit["title"].startswith("Bread")]
    said = {}
    for hit, good in [(floods[0], True), (floods[1], True), (bread[0], False), (floods[2], True)]:
        said = send(server, "/api/judge", {"node": hit["node"], "page": hit["page"], "good": good}).json
    assert (said["judged"], said["retrained"]) == (4, True)
    job = load_job(folder / "crawl.toml")
    assert job.topic.learnt.form != "none"
    assert any(word.startswith("flood") for word in job.topic.keywords)
    send(server, "/api/judge", {"node": bread[0]["node"], "page": bread[0]["page"], "good": None})
    assert bread[0]["url"] not in Judgements(CrawlFolder(folder)).all()
    assert send(server, "/api/judge", {"node": "east", "page": 99999, "good": True}).status == 404


def test_thumbs_teach_one_of_several_topics(tmp_path: Path) -> None:
    wet = [
        make_page(n, title=f"Flood {n}", text=f"The flood {n} rose over the dam. " * 20, topic="floods\nrivers")
        for n in range(3)
    ]
    dry = [make_page(9, title="Bread", text="Bread and butter of the baker. " * 20, topic="floods")]
    crawl = build_collection(tmp_path / "crawl", [*wet, *dry], nodes=("east",))
    topics = "[topics.floods]\nkeywords = { flood = 1.0 }\n[topics.rivers]\nkeywords = { river = 1.0 }\n"
    crawl.job_file.write_text(f'name = "two"\nout = "."\n{topics}', "utf-8")
    with running_server(crawl.path, tasks=tmp_path / "tasks") as server:
        hits = get(server, "/api/search?q=flood&limit=20").json["hits"]
        assert [hit["topics"] for hit in hits] == [["floods", "rivers"]] * 3

        def judge(hit: dict[str, Any], **more: Any) -> Reply:
            return send(server, "/api/judge", {"node": hit["node"], "page": hit["page"], "good": True} | more)

        assert judge(hits[0]).status == 400, "which topic?"
        assert judge(hits[0], topic="seas").status == 400
        for hit in hits:
            said = judge(hit, topic="rivers").json
        assert (said["topic"], said["judged"], said["retrained"]) == ("rivers", 3, True)
        bread = get(server, "/api/search?q=bread").json["hits"][0]
        assert judge(bread, good=False).json["topic"] == "floods", "the only topic that the page has"
    job = load_job(crawl.job_file)
    assert any(word.startswith("flood") for word in job.topics["rivers"].keywords)
    assert job.topics["floods"].keywords == {"flood": 1.0}


def test_samples_cost_no_more_than_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [(f"{n}.html", "<p>The flood of Houston.</p>") for n in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(sample_process, "SECONDS", 0.001)
        with pytest.raises(UsageError, match="too long"):
            sample_process.read_samples(samples, open_gazetteer())
    with monkeypatch.context() as patch:
        patch.setattr(sample_process, "MODULE", "periplus.no_such_module")
        with pytest.raises(UsageError, match="broke the process"):
            sample_process.read_samples(samples, open_gazetteer())


def test_strategies_are_chosen_with_what_they_need(tmp_path: Path) -> None:
    model, database = tmp_path / "six.model", tmp_path / "cities.mmdb"
    model.write_bytes(b"no model")
    database.write_bytes(mmdb("192.0.2.0/24", 4930956))
    nodes = {"nodes": {"east": ["Boston, MA"], "general": []}}
    with running_server(None, tasks=tmp_path / "tasks", choices=Choices.of([model], [database])) as server:
        assert get(server, "/api/tasks").json["files"] == {"models": ["six.model"], "databases": ["cities.mmdb"]}

        def wrong(**form: Any) -> list[tuple[str, str]]:
            found = send(server, "/api/tasks/check", FORM | nodes | form).json["errors"]
            return [(error["field"], error["text"]) for error in found]

        for strategy in ("blend", "nearest", "content", "hash"):
            assert wrong(strategy=strategy) == []
        assert wrong(strategy="place+nearest", nodes={"a": ["Boston, MA"], "b": ["Boston, MA"], "c": []}) == []
        assert wrong(strategy="ip", database="cities.mmdb") == []
        assert wrong(strategy="blend", database="cities.mmdb") == []
        for bad, word in (
            ({"strategy": "ip"}, "ip_database"),
            ({"strategy": "classifier"}, "classifier_model"),
            ({"strategy": "classifier", "model": "six.model"}, "not a model"),
            ({"strategy": "classifier", "model": "../six.model"}, "offered"),
            ({"strategy": "ip", "database": str(database)}, "offered"),
        ):
            ((field, text),) = wrong(**bad)
            assert field == "strategy"
            assert word in text
        ((field, text),) = wrong(nodes={"east": ["Boston, MA"]})
        assert field == "nodes"
        assert "general" in text
        saved = send(
            server, "/api/tasks", FORM | nodes | {"name": "By ip", "strategy": "ip", "database": "cities.mmdb"}
        )
        assert saved.status == 200
    task = TaskBook(tmp_path / "tasks").task(saved.json["id"])
    assert task.job.crawl.ip_database == str(database)


# -- Behind a page ---------------------------------------------------------------------------------


def test_a_page_tells_its_evidence_and_its_links(server: str, folder: Path) -> None:
    hit = get(server, "/api/search?q=flood+dam").json["hits"][0]
    details = get(server, f"/api/page/{hit['node']}/{hit['page']}/details").json
    (evidence,) = details["evidence"]
    assert evidence["topic"] == "floods"
    assert evidence["keywords"]
    hub = get(server, "/api/search?q=Hub").json["hits"][0]
    links = get(server, f"/api/page/{hub['node']}/{hub['page']}/details").json["links"]
    assert [(link["anchor"], link["node"]) for link in links] == [("the flood", "west"), ("nowhere", "east")]
    assert links[0]["url"].startswith("http://site0.example/")
    assert get(server, f"/api/page/{hit['node']}/{hit['page']}/record").status == 404, "the sample has no archive"
    node = folder / "nodes" / hit["node"]
    (node / "archive").mkdir(exist_ok=True)
    (node / "archive" / "a.warc.gz").write_bytes(b"xxRECORDyy")
    with closing(sqlite3.connect(node / "node.db")) as db, db:
        values = ("a.warc.gz", 2, 6, hit["page"])
        db.execute("UPDATE page SET warc_file = ?, warc_offset = ?, warc_length = ? WHERE id = ?", values)
    record = get(server, f"/api/page/{hit['node']}/{hit['page']}/record")
    assert record.body == b"RECORD"
    assert "attachment" in record.headers["content-disposition"]
    with closing(sqlite3.connect(node / "node.db")) as db, db:
        db.execute("UPDATE page SET warc_file = '../node.db' WHERE id = ?", (hit["page"],))
    assert get(server, f"/api/page/{hit['node']}/{hit['page']}/record").status == 503


@pytest.mark.parametrize(
    ("form", "begins"), [("csv", b"\xef\xbb\xbfnode,page"), ("geojson", b'{"type"'), ("gpkg", b"SQLite")]
)
def test_results_as_files(server: str, form: str, begins: bytes) -> None:
    answer = get(server, f"/api/export?to={form}&q=bread")
    assert answer.status == 200
    assert answer.body.startswith(begins)
    assert f"periplus-results.{form}" in answer.headers["content-disposition"]
    if form == "geojson":
        assert len(answer.json["features"]) == 3
    assert get(server, "/api/export?to=exe").status == 400


def test_a_polygon_is_searched(server: str) -> None:
    around = "-96,29;-95,29;-95,30.5;-96,30.5"
    assert get(server, f"/api/search?polygon={around}").json["total"] == 8
    beside = "-96,29;-95.5,29;-95.5,30.5;-96,30.5"
    assert get(server, f"/api/search?polygon={beside}").json["total"] == 0
    for wrong in ("1,2", "1,2;3,4", "a,b;c,d;e,f", "999,0;1,1;2,2"):
        assert get(server, f"/api/search?polygon={wrong}").status == 400


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"name": "x" * 81}, "name: at most 80 characters"),
        ({"name": 3}, "name: text is needed, not a whole number"),
        ({"pages": -1}, "pages: at least 0"),
        ({"keywords": {"flood": 7}}, "keywords: at most 1.0"),
        ({"seeds": "http://a.example/"}, "seeds: a list is needed, not text"),
        ({"nodes": {"a": ["x"] * 501}}, "nodes: at most 500 items"),
        ({"colour": "red"}, "Object contains unknown field 'colour'"),
    ],
)
def test_what_is_wrong_with_a_body_is_said_in_words(server: str, bad: dict[str, Any], message: str) -> None:
    for path in ("/api/tasks", "/api/tasks/check"):
        reply = send(server, path, FORM | bad)
        assert (reply.status, reply.json["error"]) == (400, f"the body cannot be read: {message}")
