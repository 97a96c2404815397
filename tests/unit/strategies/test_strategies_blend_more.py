"""Blend and what it learns from; classifier and ip; and that nothing depends on process, hash seed or order."""

import json
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mmdb_file import mmdb

from periplus.errors import ConfigError, UsageError
from periplus.model import Link, Links, Located, Page, RoutedLink
from periplus.places import Gazetteer, locate, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import (
    BlendStrategy,
    HostPlaces,
    HostView,
    Known,
    Ownership,
    Settling,
    Strategy,
    Told,
    choose,
    make_strategy,
)
from periplus.strategies.blend import ENOUGH
from periplus.strategies.classifier import NOT_GEOGRAPHIC, load_model, train
from periplus.strategies.demands import MANY, MOST, Demands
from periplus.strategies.planning import plan_nodes
from periplus.strategies.samples import Labels, read_samples
from periplus.strategies.shapes import Shapes, forms
from periplus.strategies.weighing import FEATURES, Terms, probabilities, stepped
from periplus.urls import fingerprint

NODES = {
    "east": NodeSettings(places=["Boston, MA", "New York City, NY"]),
    "west": NodeSettings(places=["Seattle, WA", "Portland, OR"]),
    "general": NodeSettings(),
}
BLANK = Page("http://example.org/", "", "", ())


@cache
def gazetteer() -> Gazetteer:
    return open_gazetteer()


@cache
def ownership() -> Ownership:
    return Ownership.of(NODES, gazetteer())


@cache
def blend() -> BlendStrategy:
    return BlendStrategy(ownership(), gazetteer())


def place(name: str) -> int:
    return gazetteer().resolve(name).id


def test_blend_without_evidence_is_general() -> None:
    assert blend().claims(Link("http://x.example/a", ""), BLANK, Located())[0].node == "general"


def test_blend_hears_url_anchor_and_page() -> None:
    assert blend().claims(Link("http://seattle.example/", ""), BLANK, Located())[0].node == "west"
    text = "Seattle, WA has rain. Seattle, Washington has coffee. In Seattle people read."
    page = Page("http://example.org/", "", text, ())
    located = locate(text, gazetteer())
    assert blend().claims(Link("http://x.example/", "Seattle hotels"), page, located)[0].node == "west"
    assert blend().claims(Link("http://x.example/", ""), page, located)[0].node == "general"
    both = blend().claims(Link("http://x.example/", "Boston hotels"), page, located)
    assert [claim.node for claim in both] == ["east", "general"], "what the link says is nearer than its page"


def test_a_name_before_an_ordinary_word_of_a_host_says_little() -> None:
    """Phoenix Software is a company, wherever it is; its name in the link's text is the same name again."""

    def node(host: str, anchor: str) -> str:
        return blend().claims(Link(f"http://{host}.example/", anchor), BLANK, Located())[0].node

    assert node("seattle-software", "Seattle Software") == "general"
    for host in (
        "seattle",
        "seattle-guide",
        "seattle-wa",
        "joes-diner-seattle",
        "seattle-herald-2",
        "seattle.software",
    ):
        assert node(host, "Seattle Software") == "west", host


def test_a_hosts_place_outweighs_what_one_page_says() -> None:
    hosts = HostPlaces()
    for _ in range(4):
        hosts.learn("www.campus.example", [(place("Seattle, WA"), 0.8)], ["west"])
    link = Link("http://www.campus.example/people/", "Boston conference")
    known = Known(hosts={"www.campus.example": hosts.view("www.campus.example")})
    assert blend().claims(link, BLANK, Located(), known)[0].node == "west"


def test_a_host_elsewhere_keeps_its_links_from_targets() -> None:
    view = HostView(((place("Paris, France"), 0.9),), 10)
    link = Link("http://x.example/", "", before="our talk in Boston last year and many other words here")
    claims = blend().claims(link, BLANK, Located(), Known(hosts={"x.example": view}))
    assert claims[0].node == "general"


def test_hosts_are_known_by_their_domain_until_they_have_pages() -> None:
    hosts = HostPlaces()
    hosts.learn("cs.campus.edu", [(place("Boston, MA"), 1.0)])
    assert hosts.view("math.campus.edu").places[0][0] == place("Boston, MA")
    assert hosts.view("other.example") == HostView()
    hosts.learn("cs.campus.edu", [])
    assert hosts.view("cs.campus.edu").places[0][1] == pytest.approx(0.5)


def test_assignment_does_not_depend_on_the_order_of_nodes_and_places() -> None:
    turned = {name: NodeSettings(places=node.places[::-1]) for name, node in reversed(NODES.items())}
    other = Ownership.of(turned, gazetteer())
    links = [Link(f"http://h{i}.example/{name}", "") for i, name in enumerate(["boston", "x", "portland-or", "nyc"])]
    for name in ("hash", "blend"):
        one = make_strategy(name, ownership(), gazetteer()).route(links, BLANK, Located())
        two = make_strategy(name, other, gazetteer()).route(links, BLANK, Located())
        assert one == two


def test_assignment_is_the_same_in_processes_with_other_hash_seeds(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        '[nodes.a]\nplaces = ["Boston, MA"]\n[nodes.b]\nplaces = ["Seattle, WA"]\n[nodes.g]\n'
    )
    rows = [
        {"id": i, "url": f"http://h.example/{w}", "anchor": w.title()} for i, w in enumerate(["boston", "b", "seattle"])
    ]
    (tmp_path / "l.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    answers = set()
    for seed in ("1", "77"):
        command: list[str | Path] = [
            Path(sys.executable).parent / "periplus",
            "assign",
            "--strategy",
            "blend",
            "--targets",
            "t.toml",
            "l.jsonl",
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        answers.add(done.stdout)
    assert len(answers) == 1
    assert [json.loads(line)["node"] for line in answers.pop().splitlines()] == ["a", "g", "b"]


def test_classifier_learns_is_saved_and_refuses_other_nodes(tmp_path: Path) -> None:
    lines = (
        ["east\tharbor lobster clam bay"] * 3
        + ["Seattle, WA\train coffee sound ferry"] * 3
        + ["\tpython code tests"] * 3
    )
    (tmp_path / "pages.tsv").write_text("\n".join(lines))
    model = train(read_samples(tmp_path / "pages.tsv", Labels(ownership(), gazetteer())), ownership())
    assert model.metadata["pages"] == {"not geographic": 3, "east": 3, "west": 3}
    model.save(tmp_path / "m.npz")
    strategy = make_strategy("classifier", ownership(), gazetteer(), base=tmp_path, classifier_model="m.npz")
    said = (("clam and lobster", "east"), ("ferry in the rain", "west"), ("code and tests", "general"))
    for text, node in (*said, ("", "general"), ("12 34", "general")):  # without a word there is nothing to go by
        claims = strategy.claims(Link("http://x.example/", ""), Page("http://e.org/", "", text, ()), Located())
        assert claims[0].node == node
    other = Ownership.of({"solo": NodeSettings(places=["Chicago, IL"]), "g": NodeSettings()}, gazetteer())
    with pytest.raises(ConfigError, match="trained for other nodes"):
        make_strategy("classifier", other, gazetteer(), base=tmp_path, classifier_model="m.npz")


def test_words_that_no_sample_has_say_nothing() -> None:
    """They were least improbable at the node with the fewest samples, which then got every page of another language."""
    samples = [("east", "harbor lobster clam bay " * 50)] * 9 + [(NOT_GEOGRAPHIC, "python code tests " * 50)] * 10
    unknown = "quantum chromodynamics renormalization lattice gauge boson fermion hadron collider detector " * 3
    few = train([*samples, ("west", "rain coffee")], ownership())
    assert few.scores(unknown)[0][1] == NOT_GEOGRAPHIC
    assert few.scores("rain")[0][1] == "west"
    none = train(samples, ownership())
    assert none.scores(unknown)[0][1] == NOT_GEOGRAPHIC
    assert none.scores("code harbor " + unknown)[-1][1] == "west"


def test_classifier_reads_jsonl_and_rdf_and_refuses_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"text": "a", "place": "Boston, MA"}\nbroken\n{"text": "b"}\n')
    assert list(read_samples(tmp_path / "p.jsonl", Labels(ownership(), gazetteer()))) == [
        ("east", "a"),
        (NOT_GEOGRAPHIC, "b"),
    ]
    (tmp_path / "l.jsonl").write_text('{"text": "a", "label": "west"}\n{"text": "b", "label": "Boston, MA"}\n')
    assert list(read_samples(tmp_path / "l.jsonl", Labels(ownership(), gazetteer()))) == [("west", "a"), ("east", "b")]
    (tmp_path / "c.rdf").write_text(
        '<ExternalPage about="http://b.example/">\n <d:Title>Harbor</d:Title>\n <d:Description>R</d:Description>\n'
        " <topic>Top/Regional/North_America/United_States/Massachusetts/Localities/B/Boston</topic>\n</ExternalPage>\n"
        '<ExternalPage about="http://c.example/">\n <d:Title>Chess</d:Title>\n'
        " <topic>Top/Games/Board</topic>\n</ExternalPage>\n"
    )
    labels = [label for label, _ in read_samples(tmp_path / "c.rdf", Labels(ownership(), gazetteer()))]
    assert labels == ["east", NOT_GEOGRAPHIC]
    (tmp_path / "bad.npz").write_bytes(b"not a model")
    with pytest.raises(ConfigError, match="not a model"):
        load_model(tmp_path / "bad.npz")
    with pytest.raises(UsageError, match="two classes"):
        train([("east", "x")], ownership())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ip", "ip_database"),
        ("nearest", "a crawl measures"),
        ("classifier", "classifier_model"),
        ("magic", "no strategy"),
    ],
)
def test_what_is_missing_is_said_in_one_line(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        make_strategy(name, ownership(), gazetteer())
    assert "\n" not in str(caught.value)


def test_ip_goes_by_the_address_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb("192.0.2.0/24", place("Seattle, WA")))
    strategy = make_strategy("ip", ownership(), gazetteer(), base=tmp_path, ip_database="city.mmdb")
    link = Link("http://x.example/", "")
    assert strategy.claims(link, BLANK, Located(), Known(address="192.0.2.9"))[0].node == "west"
    for address in ("198.51.100.1", "", "nonsense", "2001:db8::1"):
        assert strategy.claims(link, BLANK, Located(), Known(address=address))[0].node == "general"
    (tmp_path / "bad.mmdb").write_bytes(b"x" * 100)
    with pytest.raises(ConfigError, match=r"ip_database: .*bad\.mmdb cannot be read"):
        make_strategy("ip", ownership(), gazetteer(), base=tmp_path, ip_database="bad.mmdb")


def test_blend_believes_an_address_about_its_own_host(tmp_path: Path) -> None:
    """Where a page's server stands says something of the links that stay there, and nothing of those that lead away."""
    (tmp_path / "city.mmdb").write_bytes(mmdb("192.0.2.0/24", place("Seattle, WA")))
    strategy = make_strategy("blend", ownership(), gazetteer(), base=tmp_path, ip_database="city.mmdb")
    assert isinstance(strategy, BlendStrategy)
    page = Page("http://x.example/", "", "", ())

    def chance_of_west(url: str, address: str) -> float:
        terms = strategy.evidence([Link(url, "")], page, Located(), Known(address=address))[0]
        features = strategy.features(terms, HostView(), ("west", url.startswith(page.url)))
        return probabilities(features, strategy.weights)["west"]

    here, away = "http://x.example/contact.html", "http://y.example/contact.html"
    assert chance_of_west(here, "192.0.2.9") > chance_of_west(here, "198.51.100.1")
    assert chance_of_west(away, "192.0.2.9") == chance_of_west(away, "198.51.100.1")


@pytest.mark.parametrize("by", ["population", "timezone", "links"])
@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_plans_give_every_target_to_one_node(by: str, nodes: int) -> None:
    groups = plan_nodes(ownership().targets, nodes, by, zone_of=gazetteer().timezone, links={})
    assert len(groups) == nodes
    assert sorted(p.id for group in groups for p in group) == sorted(p.id for p in ownership().targets)
    assert all(groups)


def test_a_plan_needs_as_many_targets_as_nodes() -> None:
    with pytest.raises(UsageError, match="1 to 4"):
        plan_nodes(ownership().targets, 5, "population", zone_of=gazetteer().timezone, links={})


# -- Weights, memory and what is learnt on the way ---------------------------------------------------


def test_probabilities_are_a_softmax_and_a_step_makes_what_came_more_probable() -> None:
    weights = [1.0] * len(FEATURES)
    features = {None: {0: 1.0}, "a": {1: 2.0}, "b": {}}
    found = probabilities(features, weights)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["a"] / found[None] == pytest.approx(math.e)
    assert probabilities(features, weights, odds=1.0)["a"] > found["a"], "odds speak for all that are not general"
    wrong = stepped(weights, features, "b", 0.1)
    assert wrong == pytest.approx(found[None]), "it was more geographic than expected"
    assert probabilities(features, weights)["a"] < found["a"]


def test_the_form_of_a_url_is_learnt_from_what_its_pages_had() -> None:
    shapes = Shapes()
    for i in range(20):
        shapes.learn(forms(f"http://a.edu/~u{i}/"), 0.8)
        shapes.learn(forms(f"http://a.edu/notes/l{i}.html"), -0.2)
    assert shapes.odds(forms("http://a.edu/~new/")) > 0.5
    assert shapes.odds(forms("http://a.edu/notes/l99.html")) < 0
    assert shapes.odds(forms("http://b.org/x?y=1")) == pytest.approx(0.0, abs=0.6)


def routed(url: str, terms: Terms = ()) -> RoutedLink:
    host = url.split("/")[2]
    return RoutedLink(url, host, fingerprint(url), "general", 0.5, b"", terms)


def test_the_first_decision_about_a_url_stands_and_redirects_keep_to_it() -> None:
    settling = Settling(blend(), policy="a", overlap="allow", orders=True)
    terms = blend().evidence((Link("http://seattle-wa.example/", ""),), BLANK, Located())[0]
    first = next(iter(settling.settle(Links.of([routed("http://seattle-wa.example/", terms)]), "general")))
    assert first.node == "west"
    assert 0 < (first.priority or 0) < 1
    assert next(iter(settling.settle(Links.of([routed("http://seattle-wa.example/")]), "east"))).node == "west"
    assert settling.redirected("http://seattle-wa.example/", "seattle-wa.example", "east") == "west"
    assert settling.redirected("http://nothing.example/", "nothing.example", "east") == "east"


def test_redirects_are_assigned_like_links_where_the_url_says_all() -> None:
    for name, node in (("url", "west"), ("content", "east")):
        settling = Settling(make_strategy(name, ownership(), gazetteer()), policy="a", overlap="allow")
        assert settling.redirected("http://seattle-wa.example/", "seattle-wa.example", "east") == node
    hashed = make_strategy("hash", ownership(), gazetteer())
    wanted = hashed.claims(Link("http://x.example/9", ""), BLANK, Located())[0].node
    assert Settling(hashed, policy="a", overlap="allow").redirected("http://x.example/9", "x.example", "?") == wanted


@pytest.mark.parametrize(
    ("addressed", "titled", "better"), [({"west"}, False, True), (set(), True, True), (set(), False, False)]
)
def test_outcomes_teach_while_the_crawl_runs(addressed: set[str], titled: bool, better: bool) -> None:
    """By addresses; where there are none, by the places that titles name: a page that only mentions one is not its."""
    settling = Settling(blend(), policy="a", overlap="allow", orders=True)
    seattle = place("Seattle, WA")
    told = Told(((seattle, 0.6), (place("Boston, MA"), 0.2)), frozenset(addressed), seattle if titled else None)
    for i in range(30):
        url = f"http://h{i}.example/~u{i}/"
        settling.settle(Links.of([routed(url, ((place("Seattle, WA"), FEATURES.index("url host"), 1.0),))]), "general")
        settling.learn(url, f"h{i}.example", told)
    terms = ((place("Seattle, WA"), FEATURES.index("url host"), 1.0),)
    after = next(iter(settling.settle(Links.of([routed("http://other.example/~q/", terms)]), "general"))).priority
    fresh = Settling(blend(), policy="a", overlap="allow", orders=True)
    before = next(iter(fresh.settle(Links.of([routed("http://other.example/~q/", terms)]), "general"))).priority
    assert ((after or 0) > (before or 0)) is better


def test_a_link_that_says_nothing_but_a_name_outweighs_one_that_names_it_in_passing() -> None:
    def chance(url: str, anchor: str) -> float:
        found = Settling(blend(), policy="a", overlap="allow", orders=True)
        terms = blend().evidence(
            (Link(url, anchor, start=0, end=len(anchor)),), Page(BLANK.url, "", anchor, ()), Located()
        )
        return next(iter(found.settle(Links.of([routed(url, terms[0])]), "general"))).priority or 0

    wiki = "http://wiki.example/wiki"
    assert chance(f"{wiki}/Seattle", "") > 2 * chance(f"{wiki}/History_of_Seattle", "")
    assert chance(f"{wiki}/Seattle.html?x=1", "") == chance(f"{wiki}/Seattle/", "") == chance(f"{wiki}/Seattle", "")
    assert chance("http://a.example/1", "Seattle") > chance("http://a.example/1", "The weather in Seattle today")


@pytest.mark.parametrize(
    ("anchor", "node"),
    [
        ("Algarve", "iberia"),  # a region of an owned country
        ("Algarve in spring with children", "general"),  # not the page of a place
        ("Andes", "general"),  # lies in no one country
        ("Tasmania", "general"),  # nobody's
    ],
)
def test_a_link_whose_text_the_page_reads_as_a_place_goes_to_the_owner_of_what_is_around_it(
    anchor: str, node: str
) -> None:
    nodes = {"iberia": NodeSettings(places=["all of Portugal"]), "general": NodeSettings()}
    strategy = BlendStrategy(Ownership.of(nodes, gazetteer()), gazetteer())
    text = f"Notes on journeys, kept for friends. The longest was to the {anchor} and back."
    start = text.index(anchor)
    link = Link("http://wiki.example/wiki/81", anchor, start=start, end=start + len(anchor))
    page = Page("http://wiki.example/wiki/80", "", text, (link,))
    located = locate(text, gazetteer())
    assert any(mention.text == anchor.partition(" ")[0] for mention in located.mentions)
    assert strategy.claims(link, page, located)[0].node == node


def test_a_node_asks_for_more_the_more_it_has_waiting() -> None:
    demands = Demands()
    demands.ended("west")
    for _ in range(200):
        demands.take_up("west", ("west", 0.9))
        demands.take_up("east", ("east", 0.9))
    assert demands.bars["west"] == pytest.approx(MOST)
    assert "east" not in demands.bars, "it was never seen at work here: nobody knows what it has waiting"
    for _ in range(200 - MANY // 2):
        demands.ended("west")
    assert demands.bars["west"] == pytest.approx((MOST + ENOUGH) / 2)
    for _ in range(MANY):
        demands.ended("west")
    assert demands.bars["west"] == ENOUGH


def test_where_links_are_mostly_right_an_idle_node_leaves_the_doubtful_to_others() -> None:
    good, poor = Demands(), Demands()
    for demands, right in ((good, 0.9), (poor, 0.1)):
        for number in range(200):
            demands.came(right=number % 10 < right * 10)
        demands.ended("west")
    assert poor.bars["west"] == ENOUGH
    assert 0.2 < good.bars["west"] < 0.33
    for _ in range(200):
        good.take_up("west", ("west", 0.9))
    assert good.bars["west"] == pytest.approx(MOST)


def test_a_node_asks_for_no_more_than_is_usual_on_the_web() -> None:
    demands = Demands()
    demands.ended("west")
    for _ in range(500):
        demands.take_up("west", ("west", 0.12))
    assert ENOUGH < demands.bars["west"] < 0.14


def test_a_doubtful_link_goes_to_a_node_with_nothing_to_do_and_not_to_a_busy_one() -> None:
    terms = ((place("Seattle, WA"), FEATURES.index("url host"), 0.6),)
    chance = blend().settle("a.example", terms, HostView()).likeliest[1]
    assert ENOUGH < chance < MOST
    assert blend().settle("a.example", terms, HostView()).claims[0].node == "west"
    assert blend().settle("a.example", terms, HostView(), bars={"west": MOST}).claims[0].node == "general"
    assert blend().settle("a.example", terms, HostView(), bars={"east": MOST}).claims[0].node == "west"


# -- Properties --------------------------------------------------------------------------------------

URLS = st.builds(
    "http://{}.{}/{}".format,
    st.sampled_from(["seattle", "x", "visitboston", "portland-or", "nyc", "a1", "h--h"]),
    st.sampled_from(["example", "gov", "co.uk", "us"]),
    st.text(alphabet="abcdefgh/-_%20?=~.é", max_size=20),
)


@pytest.mark.parametrize("name", ["hash", "hash-host", "url", "anchor", "content", "blend"])
@given(links=st.lists(st.builds(Link, URLS, st.sampled_from(["", "Boston", "Seattle hotels", "x"])), max_size=5))
@settings(max_examples=examples(25), deadline=None)
def test_every_link_gets_exactly_one_node_under_policy_a(name: str, links: list[Link]) -> None:
    strategy = made(name)
    found = strategy.route(links, BLANK, Located())
    assert len(found) == len(links)
    for claims in found:
        assert len(choose(claims, "a")) == 1
        assert choose(claims, "a")[0].node in ownership().names
        assert len({claim.node for claim in claims}) == len(claims), "each node once"
    assert strategy.route(links, BLANK, Located()) == found


@cache
def made(name: str) -> Strategy:
    return make_strategy(name, ownership(), gazetteer())
