"""The paper's strategies: url, anchor and content, with their ambiguities settled as the paper and real data say."""

import time
from functools import cache
from pathlib import Path

import pytest
from effort import FOURFOLD, examples, least_seconds
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.frontier import home_of
from periplus.model import Link, Located, Page
from periplus.places import Gazetteer, locate, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import STRATEGIES, Ownership, Strategy, choose, load_targets
from periplus.strategies.content import ContentStrategy, probability
from periplus.strategies.names import NameTable
from periplus.strategies.scoring import ALPHA, BETA
from periplus.strategies.url import UrlStrategy
from periplus.strategies.urlwords import UrlWords

BLANK = Page("http://example.org/", "", "", ())


@cache
def gazetteer() -> Gazetteer:
    return open_gazetteer()


@cache
def ownership() -> Ownership:
    return Ownership.of(load_targets("us100", Path(), gazetteer()), gazetteer())


@cache
def strategy(name: str) -> Strategy:
    return STRATEGIES[name](ownership(), gazetteer())


def place(name: str) -> int:
    return gazetteer().resolve(name).id


def target(name: str, link: Link, text: str = "") -> int | None:
    page = Page("http://example.org/", "", text, (link,))
    located = locate(text, gazetteer()) if text else Located()
    return strategy(name).claims(link, page, located)[0].target_id


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.example.com/new-york/hotels", "New York City, NY"),
        ("http://www.newyorkcity.example/", "New York City, NY"),
        ("http://example.com/?city=new%20york", "New York City, NY"),
        ("http://losangeles-ca.example.com/", "Los Angeles, CA"),
        ("http://losangelesca.example.com/", "Los Angeles, CA"),
        ("http://visitseattle.example/", "Seattle, WA"),
        ("http://nyc.example.com/", "New York City, NY"),
        ("http://example.com/portland-or/", "Portland, OR"),
        ("http://stpaul.example.com/", "Saint Paul, MN"),
        ("http://example.com/glendale/", "Glendale, AZ"),
        ("http://example.com/glendale-ca/", "Glendale, CA"),
        ("http://example.com/california/glendale", "Glendale, CA"),
        ("http://ci.arlington.tx.us/", "Arlington, TX"),
        ("http://www.fresnocourier.example/", "Fresno, CA"),  # newspapers are called so
        ("http://thetulsastandard.example/", "Tulsa, OK"),
        ("http://www.tampacountynews-houston.example/", "Houston, TX"),
    ],
)
def test_url_names_a_target(url: str, expected: str) -> None:
    assert target("url", Link(url, "")) == place(expected)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/portland-maine/",  # another Portland, which nobody owns
        "http://example.com/bostonian/",
        "http://example.com/about/contact.html",
        "http://delaware.example/",
        "http://birmingham.co.uk/",
        "http://www.lincolncountynews.example/",  # a county's name is no city's
        "http://lincoln-county-news.example/",
        "not a url at all",
        "http://",
    ],
)
def test_url_without_a_target_is_none_and_goes_to_a_general_node(url: str) -> None:
    claim = strategy("url").claims(Link(url, ""), BLANK, Located())[0]
    assert (claim.node, claim.target_id) == ("general", None)


def test_what_newspapers_are_called_is_no_town_in_a_url() -> None:
    nodes = {"kansas": NodeSettings(places=["Tribune, KS", "Enterprise, NV"]), "general": NodeSettings()}
    owners = Ownership.of(nodes, gazetteer())
    url = STRATEGIES["url"](owners, gazetteer())
    said = {
        link: url.claims(Link(f"http://{link}", ""), BLANK, Located())[0].node
        for link in (
            "valley-tribune.example/",
            "example.org/enterprise/",
            "tribune-ks.example/",
            "enterprisenv.example/",
        )
    }
    assert list(said.values()) == ["general", "general", "kansas", "kansas"]


def test_a_name_in_a_path_is_the_one_that_the_host_says_with_its_state() -> None:
    """Nobody owns Portland in Maine, and Oregon has no claim to its guide, under policy B either."""
    claims = strategy("url").claims(Link("http://portland-me-guide.example/portland-food", ""), BLANK, Located())
    assert [claim.node for claim in claims] == ["general"]
    found = UrlStrategy(ownership(), gazetteer()).findings(["http://portland-me-guide.example/portland-food"])[0]
    assert {finding.candidate.place.admin1 for finding in found} == {"ME"}


def test_four_times_the_links_take_about_four_times_as_long() -> None:
    """A page of links that all name places; each name's line was counted from the first one on."""

    words = UrlWords(NameTable(ownership(), gazetteer()))

    def seconds(count: int) -> float:
        urls = [f"http://example.org/visit{number}-goseattle" for number in range(count)]
        assert len(list(words.sightings(urls, urls, in_host=False))) == count
        return least_seconds(lambda: list(words.sightings(urls, urls, in_host=False)), rounds=3)

    assert seconds(20_000) < FOURFOLD * seconds(5_000)


def test_a_url_of_nothing_but_names_is_read_quickly() -> None:
    link = Link("http://example.org/" + "boston-denver-" * 500, "")
    started = time.process_time()
    assert strategy("url").claims(link, BLANK, Located())[0].node in {"eastern", "mountain"}
    assert time.process_time() - started < 0.5


def test_anchor_takes_the_closest_target() -> None:
    link = Link("http://x.example/", "cheap flights", before="From Boston and Chicago", after="or Denver today")
    assert target("anchor", link) == place("Chicago, IL")
    inside = Link("http://x.example/", "Hotels in Denver", before="Chicago", after="Boston")
    assert target("anchor", inside) == place("Denver, CO")


def test_anchor_reads_the_page_where_links_know_their_position() -> None:
    text = "Boston is far away from here. " + "word " * 60 + "See Seattle here"
    start = text.index("here", 100)
    link = Link("http://x.example/", "here", start=start, end=start + 4)
    assert target("anchor", link, text) == place("Seattle, WA")
    alone = Link("http://x.example/", "word", start=text.index("word ") + 250, end=text.index("word ") + 254)
    claims = strategy("anchor").claims(alone, Page("http://e.org/", "", "word " * 200, ()), Located())
    assert claims[0].node == "general"


def test_anchor_resolves_a_shared_name_by_the_state_beside_it_else_by_population() -> None:
    assert target("anchor", Link("http://x.example/", "Glendale")) == place("Glendale, AZ")
    assert target("anchor", Link("http://x.example/", "Glendale, CA")) == place("Glendale, CA")
    assert target("anchor", Link("http://x.example/", "News", before="Arlington, Texas")) == place("Arlington, TX")


def test_content_formula_by_hand() -> None:
    # α = 0.7, β = 0.5: 2 pairs, 3 bare mentions, half of the people, a quarter of the state's mentions
    assert probability(2, 3, 0.5, 0.25, ALPHA, BETA) == pytest.approx(0.7 * 2 + 0.3 * (0.25 + 0.125) * 3)
    assert probability(0, 0, 1.0, 1.0, ALPHA, BETA) == 0
    assert probability(1, 0, 0.0, 0.0, ALPHA, BETA) == pytest.approx(0.7)
    assert probability(0, 4, 0.2, 0.0, alpha=0.0, beta=1.0) == pytest.approx(0.8)


def test_content_counts_pairs_cities_and_states_apart() -> None:
    text = "Glendale is sunny. Glendale, CA has shops. California taxes. California again. Glendale council met."
    page = Page("http://e.org/", "", text, ())
    content = strategy("content")
    assert isinstance(content, ContentStrategy)
    scores = {p.id: score for score, p in content.scores(page, locate(text, gazetteer()))}
    table = NameTable(ownership(), gazetteer())
    people = {c.place.id: c.weight for c in table.candidates["glendale"]}
    california, arizona = place("Glendale, CA"), place("Glendale, AZ")
    share = people[california] / sum(people.values())
    assert scores[california] == pytest.approx(0.7 * 1 + 0.3 * (0.5 * share + 0.5 * 1.0) * 2)
    assert scores[arizona] == pytest.approx(0.3 * 0.5 * people[arizona] / sum(people.values()) * 2)


def test_content_lets_places_compete_that_nobody_owns() -> None:
    text = (
        "Paris hosts the fair. The fair in Paris was full; Paris, France, and then Paris again. One came from Boston."
    )
    page = Page("http://e.org/", "", text, ())
    claims = strategy("content").claims(Link("http://x.example/", ""), page, locate(text, gazetteer()))
    assert claims[0].node == "general"


def test_the_name_of_a_country_means_the_country() -> None:
    nodes = {
        "islands": NodeSettings(places=["all of Jamaica", "all of Grenada"]),
        "us": NodeSettings(places=["all of US"]),
    }
    owners = Ownership.of(nodes | {"general": NodeSettings()}, gazetteer())
    found = NameTable(owners, gazetteer()).candidates
    assert [found[name][0].node for name in ("jamaica", "grenada", "delaware")] == ["islands", "islands", "us"]
    assert found["washington"][0].place.kind == "city"  # a division counts for a part of its people


def test_policy_b_sends_to_every_node_with_a_claim() -> None:
    claims = strategy("url").claims(Link("http://example.com/boston-to-seattle/", ""), BLANK, Located())
    assert {claim.node for claim in choose(claims, "b")} == {"eastern", "pacific"}
    assert len(choose(claims, "a")) == 1


TEXTS = st.text(alphabet=st.sampled_from("abÉß .,-%/?=Boston Seattle NYC\n"), max_size=60)


@settings(deadline=None, max_examples=examples(60))
@given(url=TEXTS, anchor=TEXTS, before=TEXTS, name=st.sampled_from(["hash", "hash-host", "url", "anchor", "content"]))
def test_assignment_is_total_and_each_node_is_named_once(url: str, anchor: str, before: str, name: str) -> None:
    link = Link(f"http://{url}", anchor, before)
    claims = strategy(name).claims(link, Page("http://e.org/", "", anchor, (link,)), Located())
    nodes = [claim.node for claim in claims]
    assert nodes
    assert len(set(nodes)) == len(nodes)
    assert set(nodes) <= set(ownership().names)
    assert len(choose(claims, "a")) == 1


def test_links_that_go_by_their_host_go_to_its_home_at_once() -> None:
    """So that in a cluster they travel once, not by way of somebody else."""
    links = [Link(f"http://host{number}.example.com/x", "") for number in range(200)]
    chosen = [claims[0].node for claims in strategy("hash-host").route(links, BLANK, Located())]
    assert chosen == [home_of(f"host{number}.example.com", ownership().names) for number in range(200)]
