"""Saved questions: what is new goes into feeds and to webhooks, which lead only where they may."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from sample_collection import add_pages, build_collection, make_page

from periplus.errors import QueryError, UsageError
from periplus.store.folder import CrawlFolder
from periplus.tasks import Schedule, Task, TaskBook
from periplus.tasks.alerts import Alerts, Hooks, check_question, check_webhook, feed_paths
from periplus.tasks.feeds import atom_feed, rss_feed
from periplus.tasks.records import FoundPage, Question

NASTY = "<script>alert(1)</script> \x00\x1b ]]> & \ud800 \uffff"


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    return build_collection(tmp_path / "crawl", [make_page(1), make_page(2)], nodes=("main",))


@pytest.fixture
def book(tmp_path: Path) -> TaskBook:
    return TaskBook(tmp_path / "tasks")


@pytest.fixture
def task(book: TaskBook, crawl: CrawlFolder) -> Task:
    return book.add("bayou", {"seeds": ["http://a.example/"]}, Schedule.of(""), crawl.path)


def test_only_what_comes_later_is_news(book: TaskBook, task: Task, crawl: CrawlFolder) -> None:
    question, alerts = book.add_question(task, "bayou"), Alerts(book)
    alerts.ask(task)
    assert book.fresh_hits(question, 10) == []
    add_pages(crawl.node("main").database, [make_page(3)])
    alerts.ask(task)
    alerts.ask(task)
    assert [page.url for page in book.fresh_hits(question, 10)] == ["http://site3.example/story-3"]
    for form, path in feed_paths(book, question).items():
        feed = ET.fromstring(path.read_bytes())  # noqa: S314  # written by us
        assert len(feed.findall("{*}entry" if form == "atom" else "channel/item")) == 1


def test_a_question_of_a_crawl_without_pages_finds_all_of_them_new(tmp_path: Path, book: TaskBook) -> None:
    task = book.add("new", {"seeds": ["http://a.example/"]}, Schedule.of(""), tmp_path / "later")
    question, alerts = book.add_question(task, "bayou"), Alerts(book)
    alerts.ask(task)
    build_collection(tmp_path / "later", [make_page(1)], nodes=("main",))
    alerts.ask(task)
    assert len(book.fresh_hits(question, 10)) == 1


@pytest.mark.parametrize("question", ["place:Dallas", "inclass:rodeo"])
def test_a_question_about_what_no_page_has_yet_waits_for_it(
    book: TaskBook, task: Task, crawl: CrawlFolder, question: str
) -> None:
    saved, alerts = book.add_question(task, question), Alerts(book)
    alerts.ask(task)
    assert book.question(saved.id).trouble == ""
    add_pages(crawl.node("main").database, [make_page(3, places=((4684888, 0.9),), topic="rodeo")])
    alerts.ask(task)
    assert [page.url for page in book.fresh_hits(saved, 10)] == ["http://site3.example/story-3"]


def test_a_question_that_cannot_be_asked_is_refused_or_asked_no_more_than_others(book: TaskBook, task: Task) -> None:
    for text in ("near:95,200", "dam before:2026-02-31", "-lang:pt", "inclass:"):
        with pytest.raises(QueryError):
            check_question(text)
    assert check_question("dam place:Atlantis inclass:floods") == "dam place:Atlantis inclass:floods"
    saved = book.add_question(task, "near:95,200")  # as an earlier version let it in
    Alerts(book).ask(task)
    told = book.question(saved.id)
    assert told.asked is not None
    assert "cannot be asked: near '95,200': longitude 200.0 is not between" in told.trouble


def hooked(book: TaskBook, task: Task, crawl: CrawlFolder, url: str, hooks: Hooks) -> Question:
    """Save a question with a webhook, let a page come, and ask."""
    question, alerts = book.add_question(task, "bayou", url), Alerts(book, hooks)
    alerts.ask(task)
    add_pages(crawl.node("main").database, [make_page(3)])
    alerts.ask(task)
    return book.question(question.id)


@pytest.mark.parametrize(
    ("url", "hooks", "word"),
    [
        ("http://127.0.0.1/hook", Hooks(), "not a public address"),
        ("http://[::1]/hook", Hooks(), "not a public address"),
        ("http://169.254.169.254/latest/meta-data", Hooks(), "not a public address"),
        ("http://localhost/hook", Hooks(), "127.0.0.1|::1|not a public"),
        ("http://127.0.0.1:22/hook", Hooks(("127.0.0.0/8",)), "port 22"),
        ("http://127.0.0.1:1/hook", Hooks(("127.0.0.0/8",), (1,)), "127.0.0.1"),
    ],
)
def test_webhooks_lead_only_where_they_may(book: TaskBook, task: Task, url: str, hooks: Hooks, word: str) -> None:
    question = hooked(book, task, CrawlFolder(task.folder), url, hooks)
    assert any(part in question.trouble for part in word.split("|")), question.trouble
    assert len(book.fresh_hits(question, 10, untold=True)) == 1, "it is told again the next time"


def test_a_webhook_is_a_url() -> None:
    for url in ("ftp://a.example/", "javascript:alert(1)", "a", "http://" + "x" * 3000):
        with pytest.raises(UsageError, match="webhook"):
            check_webhook(url)
    assert check_webhook(" ") == ""
    assert check_webhook("HTTPS://Hooks.Example/a") == "https://hooks.example/a"


def test_feeds_are_xml_whatever_pages_say() -> None:
    question = Question(1, 1, NASTY, "", 0.0, 1.0, "")
    pages = [FoundPage("http://a.example/?" + NASTY, NASTY, NASTY, NASTY, 1.8e9)]
    for feed in (atom_feed(question, NASTY, pages), rss_feed(question, NASTY, pages)):
        root = ET.fromstring(feed)  # noqa: S314  # written by us
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        assert any("<script>" in (element.text or "") for element in root.iter())


def test_a_feed_without_a_server_names_none() -> None:
    question = Question(7, 1, "dam", "", 1.8e9, 1.0, "")
    assert b"<link>urn:periplus:question:7:1800000000</link>" in rss_feed(question, "floods", [])
    assert b"http://127" not in rss_feed(question, "floods", []) + atom_feed(question, "floods", [])


def test_bounds(book: TaskBook, task: Task) -> None:
    for text in ("", " ", "x" * 1001):
        with pytest.raises(UsageError, match="question"):
            book.add_question(task, text)
    for number in range(100):
        book.add_question(task, f"question {number}")
    with pytest.raises(UsageError, match="100 saved"):
        book.add_question(task, "one more")
