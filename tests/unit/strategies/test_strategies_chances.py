"""The fast ways of `blend`, `anchor` and `content` against the same written out: nothing is decided otherwise."""

import re
from functools import cache

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.model import Link, LinkPosition, Located, Page
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import BlendStrategy, HostView, Ownership
from periplus.strategies.blend import CLEAR, ENOUGH
from periplus.strategies.closeness import closest
from periplus.strategies.names import Named, NameTable
from periplus.strategies.naming import region_after
from periplus.strategies.textnames import TextNames
from periplus.strategies.weighing import FEATURES, probabilities

NODES = {
    "east": NodeSettings(places=["Boston, MA", "New York City, NY"]),
    "north": NodeSettings(places=["Minneapolis, MN"]),
    "west": NodeSettings(places=["Seattle, WA", "Portland, OR"]),
    "general": NodeSettings(),
}
PLACES = ("Boston, MA", "Seattle, WA", "Portland, OR", "Minneapolis, MN", "Paris, France", "Lisbon, Portugal")
EVIDENCE = [number for number, name in enumerate(FEATURES) if name.startswith(("url ", "anchor, t", "content of"))]


@cache
def gazetteer() -> Gazetteer:
    return open_gazetteer()


@cache
def blend() -> BlendStrategy:
    return BlendStrategy(Ownership.of(NODES, gazetteer()), gazetteer())


@cache
def table() -> NameTable:
    return NameTable(Ownership.of(NODES, gazetteer()), gazetteer())


@cache
def place(name: str) -> int:
    return gazetteer().resolve(name).id


SHARES = st.floats(0.0, 1.0)
TERMS = st.lists(st.tuples(st.sampled_from(PLACES).map(place), st.sampled_from(EVIDENCE), SHARES), max_size=16).map(
    tuple
)
VIEWS = st.builds(
    HostView,
    st.lists(st.tuples(st.sampled_from(PLACES).map(place), SHARES), max_size=8).map(tuple),
    st.integers(0, 9),
    st.dictionaries(st.sampled_from(["east", "north", "west"]), SHARES).map(lambda d: tuple(sorted(d.items()))),
)


@given(
    TERMS,
    VIEWS,
    st.tuples(st.sampled_from(["", "east", "general", "west"]), st.booleans()),
    st.floats(-3.0, 3.0),
    st.dictionaries(st.sampled_from(["east", "west"]), SHARES),
)
@settings(max_examples=examples(200), deadline=None)
def test_a_decision_is_what_the_written_out_probabilities_say(
    terms: tuple[tuple[int, int, float], ...],
    view: HostView,
    parent: tuple[str, bool],
    odds: float,
    bars: dict[str, float],
) -> None:
    strategy = blend()
    weights = list(strategy.weights)
    chances = probabilities(strategy.features(terms, view, parent), weights, odds)
    node, worth, likeliest = strategy.decide(
        "a.example", terms, strategy.told(view), parent, weights=weights, odds=odds, bars=bars
    )
    ranked = sorted((-chance, name) for name, chance in chances.items() if name is not None)
    geographic = 1 - chances[None]
    if not ranked:
        assert (node, likeliest) == ("general", ("", 0.0))
        return
    best, name = -ranked[0][0], ranked[0][1]
    assert likeliest[0] == name
    assert likeliest[1] == pytest.approx(best)
    if best >= max(ENOUGH, bars.get(name or "", 0.0)) and best >= CLEAR * geographic:
        assert node == name
        assert worth == pytest.approx(best)
    else:
        assert node == "general"
        assert worth == pytest.approx(geographic)


def test_links_without_words_of_their_own_share_their_evidence() -> None:
    page = Page("http://a.example/", "", "", ())
    links = [Link(f"http://a.example/{n}", "", position=LinkPosition.NAVIGATION) for n in range(3)]
    found = blend().evidence(links, page, Located())
    assert found == [(), (), ()]
    routed = blend().route([*links, Link("http://seattle.example/", "")], page, Located())
    assert [claims[0].node for claims in routed] == ["general"] * 3 + ["west"]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 5)), max_size=12),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 6)), max_size=6),
)
def test_names_closest_to_links_are_those_that_counting_finds(
    names: list[tuple[int, int]], links: list[tuple[int, int]]
) -> None:
    starts = sorted(start for start, _ in names)
    ends = [start + 1 for start in starts]
    spans = [(start, start + length) for start, length in links]
    boston = table().candidates["boston"][0]
    named = [Named(start, end, boston, False) for start, end in zip(starts, ends, strict=True)]
    before = np.arange(80, dtype=np.int32) // 2  # a word is two letters
    outside = Link("", "", start=70, end=90)
    standing = [Link("", "", start=start, end=end) for start, end in spans]
    *found, none = closest(named, [*standing, outside], before.data, 10, 2)
    assert none is None
    for (start, end), near in zip(spans, found, strict=True):
        first = sum(one < start for one in starts)
        wanted = []
        for n in range(max(0, first - 2), min(first + 2, len(starts))):
            distance = 0
            if ends[n] <= start:
                distance = 1 + start // 2 - ends[n] // 2
            elif starts[n] >= end:
                distance = 1 + starts[n] // 2 - end // 2
            if distance <= 10:
                wanted.append((distance, n))
        assert near == [(distance, named[n]) for distance, n in sorted(wanted)]


def test_names_are_found_at_the_same_places_whatever_else_the_text_has() -> None:
    names = TextNames(table())
    plain = "We left Boston, MA for New-York\nand Seattle; bostonians and PORTLAND stayed. St. Paul"
    expected = [(named.start, named.end, named.candidate.place.id, named.paired) for named in names.find(plain)]
    assert len(expected) >= 4
    for other in ("é", "中", "\u212a", "İ", "\xa0", "😀", "\ud800"):
        text = plain.replace("for", f"f{other}r").replace("left Boston", "left\xa0Boston")
        assert [(n.start, n.end, n.candidate.place.id, n.paired) for n in names.find(text)] == expected, repr(other)


AFTER = re.compile(r"[,\s(]{1,3}(?:([A-Z]{2})\b(?!\.\w)|([A-Z][a-z]+(?:\s[A-Z][a-z]+)?))")
PIECES = [
    ",",
    " ",
    "(",
    "\n",
    "\xa0",
    ".",
    "_",
    "9",
    "TX",
    "Texas",
    "New",
    "Mexico",
    "Ny",
    "x",
    "É",
    "é",
    "ſ",
    "A",
    "b",
]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@settings(max_examples=500, deadline=None)
def test_the_region_after_a_name_is_what_the_pattern_says(text: str) -> None:
    for end in range(len(text) + 1):
        match = AFTER.match(text, end)
        expected = ""
        if match is not None and match[1]:
            expected = match[1].lower()
        elif match is not None:
            words = match[2].lower().split()
            expected = "newmexico" if words == ["new", "mexico"] else words[0]
        assert region_after(text, end) == expected, (text, end)


def test_a_crawl_without_targets_finds_no_names() -> None:
    nothing = NameTable(Ownership.of({"general": NodeSettings()}, gazetteer()), gazetteer())
    assert TextNames(nothing).find("Boston, MA\x00\x00") == []
