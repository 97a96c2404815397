"""Where a domain is registered: the place, what it means for links, and which seeds are kept."""

import asyncio
from pathlib import Path

import pytest

from periplus.fetch.registration import Registrant, Registrations
from periplus.model import Link, Links, Page, RoutedLink
from periplus.places import Gazetteer, locate
from periplus.registering import RegisteredLinks, kept_seeds
from periplus.settings import TopicSettings
from periplus.topics import LinkScorer, Topic, judge, make_topic, packed_parts, unpacked_parts
from periplus.topics.registered import registered_parts, registered_place

TEXT = "Floods in Texas. Houston and Dallas are under water, and so is Austin."


@pytest.fixture(scope="module")
def topic(gazetteer: Gazetteer) -> Topic:
    return make_topic(TopicSettings(keywords={"flood": 1.0}, places={"Texas": 1.0}), "t", gazetteer)


@pytest.fixture(scope="module")
def scorer(gazetteer: Gazetteer, topic: Topic) -> LinkScorer:
    page = Page("http://a.test/", "Floods", TEXT, (), "en")
    located = locate(TEXT, gazetteer)
    return LinkScorer(page, located, judge(page, located, topic), topic)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (("Houston", "TX", "US"), "Houston"),
        (("Houston", "TX", ""), "Houston"),
        (("Lisboa", "", "PT"), "Lisbon"),
        (("Nowhere Zzz", "Texas", "US"), "Texas"),
        (("", "", "DE"), "Germany"),
        (("", "", "Germany"), "Germany"),
        (("", "", ""), None),
        (("", "", "ZZ"), None),
        (("Nowhere Zzz", "", ""), None),
    ],
)
def test_the_place_of_an_address(gazetteer: Gazetteer, address: tuple[str, str, str], name: str | None) -> None:
    place = registered_place(*address, gazetteer)
    assert (place.name if place else None) == name


def test_a_silent_link_gains_by_where_its_domain_is_registered(
    gazetteer: Gazetteer, topic: Topic, scorer: LinkScorer
) -> None:
    silent = scorer.parts(Link("http://x.example/page", "more"))
    near = registered_parts(silent, gazetteer.resolve("Houston, TX"), topic)
    far = registered_parts(silent, gazetteer.resolve("Berlin, Germany"), topic)
    assert near.priority > silent.priority > far.priority
    assert near.spatial == far.spatial == 1.0, "one entity alone"
    assert near.rank > silent.rank


def test_a_place_in_the_url_is_nearer_than_the_registration(
    gazetteer: Gazetteer, topic: Topic, scorer: LinkScorer
) -> None:
    named = scorer.parts(Link("http://x.example/houston", "more"))
    assert registered_parts(named, gazetteer.resolve("Berlin, Germany"), topic) == named


def _registered(path: Path, gazetteer: Gazetteer, topic: Topic) -> RegisteredLinks:
    async def get(url: str, **_options: object) -> None:
        raise AssertionError(f"{url} was asked for")

    return RegisteredLinks(Registrations(get, "http://rdap.test", path, None), gazetteer, [topic])  # type: ignore[arg-type]  # never asked


def test_links_are_valued_by_what_is_known_by_now(
    tmp_path: Path, gazetteer: Gazetteer, topic: Topic, scorer: LinkScorer
) -> None:
    kept = tmp_path / "registrations.jsonl"
    kept.write_text('["near.example", "Houston", "TX", "US"]\n["hidden.example", "", "", ""]\n', "utf-8")
    parts = scorer.parts(Link("http://near.example/a", "more"))
    links = [
        RoutedLink(f"http://{host}/a", host, 1, "main", parts.priority, packed_parts(parts))
        for host in ("www.near.example", "hidden.example", "unknown.example")
    ]
    near, hidden, unknown = _registered(kept, gazetteer, topic).value(Links.of(links))
    assert near.priority is not None
    assert near.priority > parts.priority
    assert unpacked_parts(near.parts).spatial == 1.0
    assert (hidden, unknown) == (links[1], links[2])


def test_seeds_without_a_place_or_with_places_far_apart_are_left_out(
    tmp_path: Path, gazetteer: Gazetteer, topic: Topic
) -> None:
    kept = tmp_path / "registrations.jsonl"
    domains = {"plain.example": "Houston", "hidden.example": "", "houston-eats.example": "Dallas"}
    kept.write_text("".join(f'["{d}", "{city}", "TX", "US"]\n' for d, city in domains.items() if city), "utf-8")
    with kept.open("a", encoding="utf-8") as file:
        file.write('["hidden.example", "", "", ""]\n["sydney-opera.example", "Lisbon", "", "PT"]\n')
    seeds = [(f"http://{host}/", "main") for host in (*domains, "sydney-opera.example")]
    registered = _registered(kept, gazetteer, topic)

    def chosen(least: float, known: RegisteredLinks | None) -> list[str]:
        return [url for url, _ in asyncio.run(kept_seeds(seeds, least, gazetteer, known))]

    assert chosen(0.0, None) == [url for url, _ in seeds]
    assert chosen(0.5, registered) == ["http://plain.example/", "http://houston-eats.example/"]
    assert chosen(0.5, None) == ["http://houston-eats.example/", "http://sydney-opera.example/"]


def test_registrants_are_what_the_file_says(tmp_path: Path, gazetteer: Gazetteer, topic: Topic) -> None:
    kept = tmp_path / "registrations.jsonl"
    kept.write_text('["a.example", "Houston", "TX", "US"]\n', "utf-8")
    place = asyncio.run(_registered(kept, gazetteer, topic).place_of("www.a.example"))
    assert place is not None
    assert (place.name, Registrant("Houston", "TX", "US").country) == ("Houston", place.country)
