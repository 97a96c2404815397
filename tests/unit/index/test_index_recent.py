"""What links have said lately is remembered in little memory, and not for ever; compiled or not, the same is new."""

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_python import plain

from periplus.index import recent
from periplus.index.recent import RecentLinks, numbers

PLAIN = plain("index/recent.py")
BOTH = pytest.mark.parametrize("module", [recent, PLAIN])
Links = list[tuple[int, int, str]]  # target, node, text
LINKS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2),
        st.integers(0, 2),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=4),
    ),
    max_size=12,
)


def take(links: RecentLinks, said: Links, number: int = 1) -> list[tuple[int, str]]:
    targets = numbers(np.array([target for target, _, _ in said], np.int64))
    nodes = numbers(np.array([node for _, node, _ in said], np.uint16))
    return links.take(targets, nodes, number, "\n".join(text for _, _, text in said).encode())


@given(st.lists(LINKS, max_size=6))
def test_each_link_to_the_node_is_taken_once_in_order(pages: list[Links]) -> None:
    for links in (RecentLinks(), PLAIN.RecentLinks()):
        known: set[tuple[int, str]] = set()
        for page in pages:
            said = dict.fromkeys((target, text) for target, node, text in page if node == 1 and text)
            assert take(links, page) == [pair for pair in said if pair not in known]
            known.update(said)


@BOTH
def test_many_are_remembered_and_all_are_forgotten(module: ModuleType) -> None:
    links = module.RecentLinks()
    many: Links = [(number, 1, f"text {number % 50}") for number in range(-10_000, 10_000)]
    assert len(take(links, many)) == len(many)
    assert take(links, many) == []
    links.clear()
    assert len(take(links, many)) == len(many)


@BOTH
def test_it_begins_anew_before_it_grows_too_large(module: ModuleType) -> None:
    links = module.RecentLinks()
    many: Links = [(number, 1, "a") for number in range(200_000)]
    assert len(take(links, many)) == len(many)
    assert take(links, many[:1]) == [(0, "a")]


@BOTH
def test_lines_that_are_missing_torn_or_no_text(module: ModuleType) -> None:
    links = module.RecentLinks()
    targets, nodes = numbers(np.arange(4, dtype=np.int64)), numbers(np.ones(4, np.uint16))
    assert links.take(targets, nodes, 1, b"one\n\nth\xffree") == [(0, "one"), (2, "th\ufffdree")]
    assert links.take(targets[:1], nodes, 1, b"new\nnew") == [(0, "new")]
    assert links.take(targets, nodes, 1, b"") == []
