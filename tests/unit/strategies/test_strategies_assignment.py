"""Which node gets a link: `hash`, `url`, and who owns which place."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from periplus.errors import ConfigError
from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import STRATEGIES, Ownership, choose, load_targets

PAGE, NOWHERE = Page("http://example.com/", "", "", ()), Located()


@pytest.fixture(scope="module")
def gazetteer() -> Gazetteer:
    return open_gazetteer()


@pytest.fixture(scope="module")
def us100(gazetteer: Gazetteer) -> Ownership:
    return Ownership.of(load_targets("us100", Path(), gazetteer), gazetteer)


def claims(name: str, ownership: Ownership, gazetteer: Gazetteer, url: str) -> tuple[Assignment, ...]:
    return STRATEGIES[name](ownership, gazetteer).claims(Link(url, ""), PAGE, NOWHERE)


# -- Ownership -----------------------------------------------------------------------------------------


def test_us100_has_the_papers_cities(gazetteer: Gazetteer, us100: Ownership) -> None:
    nodes = load_targets("us100", Path(), gazetteer)
    sizes = {name: len(node.places) for name, node in nodes.items()}
    assert sizes == {"eastern": 33, "pacific": 22, "mountain": 10, "central": 33, "hawaii-alaska": 2, "general": 0}
    assert len(us100.targets) == 100
    assert all(place.kind == "city" and place.country == "US" for place in us100.targets)
    assert us100.general == ("general",)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Lexington-Fayette, KY", "http://www.lexington-fayette-ky.gov/"),
        ("Augusta-Richmond County, GA", "http://augusta-richmond-county.gov/"),
    ],
)
def test_us100_has_cities_also_by_the_names_that_the_paper_gives_them(
    gazetteer: Gazetteer, us100: Ownership, name: str, url: str
) -> None:
    place = gazetteer.resolve(name)
    assert us100.owner(place) == ("eastern", place.id)
    (claim,) = claims("url", us100, gazetteer, url)
    assert (claim.node, claim.target_id) == ("eastern", place.id)


def test_a_place_belongs_to_the_owner_of_what_lies_around_it(gazetteer: Gazetteer) -> None:
    nodes = {"west": ["Oregon"], "east": ["Boston, MA"], "rest": []}
    ownership = Ownership.of({name: NodeSettings(places=places) for name, places in nodes.items()}, gazetteer)
    assert ownership.owner(gazetteer.resolve("Salem, OR")) == ("west", gazetteer.resolve("Oregon").id)
    assert ownership.owner(gazetteer.resolve("Boston, MA")) == ("east", gazetteer.resolve("Boston, MA").id)
    assert ownership.owner(gazetteer.resolve("Lisbon, Portugal")) is None


def test_a_place_inside_anothers_place_is_refused_with_both_owners(gazetteer: Gazetteer) -> None:
    nodes = {"city": ["Portland, OR"], "country": ["United States"], "rest": []}
    with pytest.raises(ConfigError, match=r"nodes\.city: .*'country'"):
        Ownership.of({name: NodeSettings(places=places) for name, places in nodes.items()}, gazetteer)


def test_a_place_cannot_have_two_owners(gazetteer: Gazetteer) -> None:
    nodes = {"a": NodeSettings(places=["Portland, OR"]), "b": NodeSettings(places=["5746545"]), "g": NodeSettings()}
    with pytest.raises(ConfigError, match=r"nodes\.b: '5746545' belongs to node 'a' already, as 'Portland, OR'$"):
        Ownership.of(nodes, gazetteer)


def test_links_without_a_place_need_a_general_node(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError, match="general"):
        Ownership.of({"a": NodeSettings(places=["Portland, OR"])}, gazetteer)


def test_an_unknown_place_names_its_node(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError, match=r"nodes\.a: "):
        Ownership.of({"a": NodeSettings(places=["Nowhereville"]), "g": NodeSettings()}, gazetteer)


def test_ownership_does_not_depend_on_the_order_of_the_job(gazetteer: Gazetteer) -> None:
    nodes = load_targets("us100", Path(), gazetteer)
    backwards = {name: NodeSettings(places=list(reversed(node.places))) for name, node in reversed(list(nodes.items()))}
    assert Ownership.of(nodes, gazetteer) == Ownership.of(backwards, gazetteer)


def test_every_city_of_a_country(gazetteer: Gazetteer) -> None:
    nodes = load_targets("all:US", Path(), gazetteer)
    assert {"OR", "TX", "NY", "general"} <= set(nodes)
    assert len(nodes) >= 51
    ownership = Ownership.of(nodes, gazetteer)
    owned = ownership.owner(gazetteer.resolve("Portland, OR"))
    assert owned is not None
    assert owned[0] == "OR"
    assert load_targets("all:pt", Path(), gazetteer)
    for name in ("all:XX", "all:", "us1000", "missing.toml"):
        with pytest.raises(ConfigError):
            load_targets(name, Path(), gazetteer)


def test_targets_from_a_file(gazetteer: Gazetteer, tmp_path: Path) -> None:
    (tmp_path / "targets.toml").write_text('[nodes.a]\nplaces = ["Lisbon, Portugal"]\n[nodes.g]\n')
    assert load_targets("targets.toml", tmp_path, gazetteer)["a"].places == ["Lisbon, Portugal"]
    for text in ("", "[nodes", "[nodes.a]\nplacez = []\n", "\x00"):
        (tmp_path / "targets.toml").write_text(text)
        with pytest.raises(ConfigError):
            load_targets("targets.toml", tmp_path, gazetteer)


# -- hash ----------------------------------------------------------------------------------------------


def test_hash_spreads_urls_evenly(gazetteer: Gazetteer, us100: Ownership) -> None:
    strategy = STRATEGIES["hash"](us100, gazetteer)
    urls = [f"http://host{number % 97}.example/{number}" for number in range(12_000)]
    counts = Counter(strategy.claims(Link(url, ""), PAGE, NOWHERE)[0].node for url in urls)
    assert set(counts) == set(us100.names)
    assert all(abs(count - 2_000) < 200 for count in counts.values())


def test_hash_gives_a_url_one_node(gazetteer: Gazetteer, us100: Ownership) -> None:
    first = claims("hash", us100, gazetteer, "http://example.com/a")
    assert len(first) == 1
    assert claims("hash", us100, gazetteer, "http://example.com/a") == first


# -- url -----------------------------------------------------------------------------------------------

URLS = [
    ("http://example.com/portland-oregon/", "pacific"),
    ("http://example.com/portland-or/", "pacific"),
    ("http://example.com/portland-maine/", "general"),
    ("http://example.com/portland-me", "general"),
    ("http://example.com/portland", "pacific"),
    ("http://portland.example.com/", "pacific"),
    ("http://example.com/things-to-do-in-portland", "pacific"),
    ("http://example.com/maine/portland", "general"),
    ("http://www.visitportland.com/", "pacific"),
    ("http://example.com/new-york/", "eastern"),
    ("http://example.com/new_york/", "eastern"),
    ("http://example.com/new%20york/", "eastern"),
    ("http://example.com/NewYork/", "eastern"),
    ("http://newyork.example.com/", "eastern"),
    ("http://newyorkcity.example.com/", "eastern"),
    ("http://example.com/new-york-city", "eastern"),
    ("http://visitnewyork.com/", "eastern"),
    ("http://newyorknews.com/", "eastern"),
    ("http://losangelesca.com/", "pacific"),
    ("http://example.com/los%20angeles", "pacific"),
    ("http://example.com/?city=los+angeles", "pacific"),
    ("http://chicagoil.gov/", "central"),
    ("http://cityofchicago.org/", "central"),
    ("http://example.com/glendale-az/", "mountain"),
    ("http://example.com/glendale-ca/", "pacific"),
    ("http://example.com/arlington-tx/", "central"),
    ("http://example.com/arlington-va/", "eastern"),
    ("http://example.com/kansas-city/", "central"),
    ("http://example.com/kansas-city-mo/", "central"),
    ("http://example.com/st-louis/", "central"),
    ("http://example.com/saint-paul/", "central"),
    ("http://example.com/honolulu", "hawaii-alaska"),
    ("http://example.com/fort-worth/", "central"),
    ("http://example.com/ft-worth/", "central"),
    ("http://example.com/", "general"),
    ("http://example.com/about-us/", "general"),
    ("http://example.com/lisbon/", "general"),
    ("http://example.com/important/", "general"),
    ("http://example.com/portlandite/", "general"),
    ("http://example.com/boston-lincolnshire-united-kingdom", "general"),
]


@pytest.mark.parametrize(("url", "node"), URLS)
def test_names_in_urls(url: str, node: str, gazetteer: Gazetteer, us100: Ownership) -> None:
    assert claims("url", us100, gazetteer, url)[0].node == node


def test_a_claim_names_its_place_and_its_reason(gazetteer: Gazetteer, us100: Ownership) -> None:
    found = claims("url", us100, gazetteer, "http://example.com/portland-oregon/")[0]
    assert (found.target_id, found.reason) == (gazetteer.resolve("Portland, OR").id, "url")
    nothing = claims("url", us100, gazetteer, "http://example.com/x")[0]
    assert (nothing.target_id, nothing.reason) == (None, "no_place")


def test_several_names_claim_in_order_of_their_length_and_policy_chooses(
    gazetteer: Gazetteer, us100: Ownership
) -> None:
    both = claims("url", us100, gazetteer, "http://example.com/flights/seattle-washington/san-francisco/boston")
    assert [claim.node for claim in both] == ["pacific", "eastern"]
    assert choose(both, "a") == both[:1]
    assert choose(both, "b") == both


def test_a_host_without_a_place_stays_together(gazetteer: Gazetteer) -> None:
    nodes = {"a": NodeSettings(places=["Portland, OR"]), **{f"g{number}": NodeSettings() for number in range(4)}}
    ownership = Ownership.of(nodes, gazetteer)
    strategy = STRATEGIES["url"](ownership, gazetteer)
    for host in range(20):
        got = {strategy.claims(Link(f"http://h{host}.example/{n}", ""), PAGE, NOWHERE)[0].node for n in range(20)}
        assert len(got) == 1
    assert len({ownership.general_for(f"h{host}.example") for host in range(100)}) == 4


SCRIPT = """
import json, sys
from pathlib import Path
from periplus.model import Link, Located, Page
from periplus.places import open_gazetteer
from periplus.strategies import STRATEGIES, Ownership, load_targets
gazetteer = open_gazetteer()
ownership = Ownership.of(load_targets("us100", Path(), gazetteer), gazetteer)
urls = json.loads(sys.stdin.read())
page, nowhere = Page("http://example.com/", "", "", ()), Located()
for name in ("hash", "url"):
    strategy = STRATEGIES[name](ownership, gazetteer)
    for url in urls:
        print(name, [(c.node, c.target_id, c.reason) for c in strategy.claims(Link(url, ""), page, nowhere)])
"""


def test_every_machine_decides_the_same() -> None:
    count = int(os.environ.get("PERIPLUS_ASSIGNED", "100"))
    urls = [url for url, _ in URLS] + [f"http://h{n % 7}.example/seattle/boston/{n}/dallas-tx" for n in range(count)]
    answers = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps(urls),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(answers) == 1
    assert answers.pop().count("\n") == 2 * len(urls)
    print(f"PROOF {2 * len(urls):,} assignments by two strategies in processes with other hash seeds: all the same")
