"""What topics mean for a crawl: links valued by all parents and by experience, several topics, harvest, time."""

from datetime import date

import msgspec
import pytest

from periplus.errors import ConfigError
from periplus.model import Link, Links, Located, Page, RoutedLink
from periplus.places import Gazetteer
from periplus.settings import TopicSettings, job_from_dict
from periplus.store.summary import Harvest
from periplus.topics import LinkBook, judge, link_features, make_topic, make_topics


def _link(mark: int, priority: float, features: bytes = b"") -> RoutedLink:
    return RoutedLink(f"http://a.test/{mark}", "a.test", mark, "main", priority, features=features)


def test_a_url_is_worth_the_mean_of_its_parents() -> None:
    book = LinkBook(adaptive=False)
    assert book.value(Links.of([_link(1, 0.8)])) == [pytest.approx(0.8)]
    assert book.take_changed("main") == []
    assert book.value(Links.of([_link(1, 0.4)])) == [pytest.approx(0.6)]
    changed = book.take_changed("main")
    assert [mark for mark, _ in changed] == [1]
    assert changed[0][1] == pytest.approx(0.6)
    assert book.take_changed("main") == []


def test_words_of_links_that_paid_are_worth_more() -> None:
    atoll = link_features(Link("http://a.test/x", "Johnston Atoll"), "en")
    king = link_features(Link("http://b.test/y", "King Henry"), "en")
    book = LinkBook()
    for mark in range(30):
        book.value(Links.of([_link(mark, 0.3, atoll), _link(1000 + mark, 0.3, king)]))
        book.learn(mark, 0.9)
        book.learn(1000 + mark, 0.0)
    good, bad = book.value(Links.of([_link(5000, 0.3, atoll), _link(5001, 0.3, king)]))
    assert good > 0.5
    assert bad == pytest.approx(0.3)
    off = LinkBook(adaptive=False)
    off.value(Links.of([_link(1, 0.3, atoll)]))
    off.learn(1, 0.9)
    assert off.value(Links.of([_link(2, 0.3, atoll)])) == [pytest.approx(0.3)]


def test_links_beside_those_that_paid_move_up_without_being_seen_again() -> None:
    book = LinkBook()
    rich, poor = [_link(mark, 0.3) for mark in range(40)], [_link(100 + mark, 0.3) for mark in range(40)]
    book.value(Links.of(rich))
    book.value(Links.of(poor))
    for mark in range(20):
        book.learn(mark, 0.8)
        book.learn(100 + mark, 0.0)
        book.value(
            Links.of([_link(1000 + mark, 0.1)])
        )  # other pages come in; from time to time all links are valued anew
    moved = dict(book.take_changed("main"))
    assert moved.keys() & {link.fingerprint for link in rich} == set(range(20, 40))
    assert all(moved[mark] > 0.3 for mark in range(20, 40))
    assert not moved.keys() & {link.fingerprint for link in poor}


def test_where_many_relevant_pages_point_goes_before_where_one_does() -> None:
    book = LinkBook(adaptive=False)
    for _ in range(20):
        popular = book.value(Links.of([_link(1, 0.3)]), relevance=0.8)
    assert popular[0] > book.value(Links.of([_link(2, 0.3)]), relevance=0.8)[0]


def test_the_same_links_in_the_same_order_give_the_same_worths() -> None:
    def played() -> list[float]:
        book, found = LinkBook(max_links=50), []
        for page in range(200):
            links = [_link((page * 7 + i) % 300, ((page + i) % 10) / 10, bytes([i, page % 50])) for i in range(9)]
            found += book.value(Links.of(links), (page % 5) / 5)
            book.learn((page * 7) % 300, (page % 3) / 3)
        return found

    assert played() == played()
    assert all(0.0 <= worth <= 1.0 for worth in played())


def test_the_book_is_bounded() -> None:
    book = LinkBook(max_links=10)
    book.value(Links.of([_link(mark, 0.5) for mark in range(100)]))
    assert len(book) == 10


def test_several_topics_have_names_and_none_is_empty(gazetteer: Gazetteer) -> None:
    named = {"floods": TopicSettings(keywords={"flood": 1.0}), "Peru": TopicSettings(places={"Peru": 1.0})}
    assert [topic.name for topic in make_topics(TopicSettings(), named, "job", gazetteer)] == ["floods", "Peru"]
    both = make_topics(TopicSettings(keywords={"dam": 1.0}), named, "job", gazetteer)
    assert [topic.name for topic in both] == ["job", "floods", "Peru"]
    with pytest.raises(ConfigError, match=r"topics\.none: the topic is empty"):
        make_topics(TopicSettings(), {"none": TopicSettings()}, "job", gazetteer)
    with pytest.raises(ConfigError, match="two are called"):
        make_topics(
            TopicSettings(keywords={"dam": 1.0}), {"Job": TopicSettings(keywords={"dam": 1.0})}, "job", gazetteer
        )


def test_wrong_topics_are_refused_in_one_line() -> None:
    for data, message in (
        ({"topics": {"a": {"keywords": {"x": 2.0}}}}, "topics.a.keywords: weight 2.0"),
        ({"topics": {"a": {"keyword": {}}}}, "unknown key topics.a.keyword"),
        ({"topic": {"keywords": {str(n): 1.0 for n in range(20_001)}}}, "at most 20,000 keywords"),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            job_from_dict(data, "job.toml")
        assert "\n" not in str(caught.value)


def test_harvest_by_topic_and_lately() -> None:
    harvest = Harvest()
    for number in range(2000):
        harvest.add(["floods"] if number >= 1500 else [])
    shares = harvest.shares()
    assert (shares["floods"].pages, shares["floods"].share, shares["floods"].recent) == (500, 0.25, 0.5)
    assert shares["all"] == shares["floods"]


def test_dates_in_the_text_and_age_count(gazetteer: Gazetteer) -> None:
    span = TopicSettings(keywords={"flood": 1.0}, since=date(2026, 1, 1), dates="either")
    topic = make_topic(span, "t", gazetteer)
    old = Page("http://a.test/", "Flood", "Flood of 3 May 1953, and the flood of June 1954.", (), "en")
    new = Page("http://a.test/", "Flood", "Flood of 3 May 2026, as the flood of 1953.", (), "en")
    assert not judge(old, Located(), topic).relevant
    assert judge(new, Located(), topic).relevant
    fading = make_topic(TopicSettings(keywords={"flood": 1.0}, half_life_days=30), "t", gazetteer)
    page = Page("http://a.test/", "Flood", "Flood.", (), "en", published=date(2026, 1, 1))
    assert judge(page, Located(), fading, date(2026, 1, 31)).time_relevance == pytest.approx(0.5)


def test_links_as_columns_are_the_same_links() -> None:
    links = [
        RoutedLink("http://a.test/", "a.test", -5, "west", 0.25, bytes(range(9)), ((7, 1, 0.5),), 3, b"ab"),
        RoutedLink("http://b.test/", "b.test", 1 << 62, "east", None, bytes(9)),
    ]
    columns = Links.of(links)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(columns), type=Links)
    assert list(again) == links
    assert (len(again), again.fingerprints, again.worths(0.9)) == (2, [-5, 1 << 62], [0.25, 0.9])
    assert (list(Links()), bool(Links())) == ([], False)
