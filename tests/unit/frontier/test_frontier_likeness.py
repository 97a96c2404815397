"""Near-duplicates: which texts are alike, which pages form a group, and which patterns are put off."""

import random

import pytest
from crawl_values import analysis, lease, routed
from plain_python import plain

import periplus.frontier.likeness
from periplus.frontier import Intake
from periplus.frontier.likeness import NEAR_BITS, Likenesses, differing_bits, likeness
from periplus.settings import CrawlSettings, FetchSettings

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(count: int, seed: int) -> list[str]:
    numbers = random.Random(seed)
    return ["".join(numbers.choices(LETTERS, k=numbers.randint(2, 9))) for _ in range(count)]


@pytest.mark.parametrize("count", [30, 300, 3_000])
def test_a_few_other_words_are_a_near_duplicate_and_another_text_is_not(count: int) -> None:
    numbers = random.Random(count)
    near = 0
    for seed in range(20):
        text = words(count, seed)
        other = list(text)
        for _ in range(count // 250):
            other[numbers.randrange(count)] = "else"
        same, changed = likeness(" ".join(text).encode()), likeness(" ".join(other).encode())
        near += differing_bits(same, changed) <= NEAR_BITS
        assert differing_bits(same, likeness(" ".join(words(count, 1000 + seed)).encode())) > 2 * NEAR_BITS
    assert near >= 18


def test_other_numbers_are_not_another_text() -> None:
    text = " ".join(words(80, 3))
    assert likeness(f"12 March 2026 {text} page 4 of 971".encode()) == likeness(
        f"29 March 1999 {text} page 3 of 118".encode()
    )
    assert likeness(b"too short to say") == 0
    assert -(2**63) <= likeness(text.encode()) < 2**63


def test_the_hash_is_the_same_compiled_and_plain_and_in_every_version(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(words(count, count)).encode() for count in (9, 10, 40, 300)]
    texts += [b"a" * 64, b"Stra\xc3\x9fe 12, " * 90, bytes(70), b"aAbB" * 3_000]
    found = [likeness(text) for text in texts]
    assert found[:4] == [3890033210001893572, -7211986308277608083, 3380591182571519399, 9122319688984865737]
    pieces = plain("frontier/pieces.py")
    monkeypatch.setattr(periplus.frontier.likeness, "chosen_pieces", pieces.chosen_pieces)
    monkeypatch.setattr(periplus.frontier.likeness, "voted_bits", pieces.voted_bits)
    assert [likeness(text) for text in texts] == found


def test_groups_are_within_a_host_and_named_by_their_first_page() -> None:
    one, other = likeness(" ".join(words(80, 1)).encode()), likeness(" ".join(words(80, 2)).encode())
    pages = Likenesses(3)
    assert pages.take("a.com", "http://a.com/1", one) == one
    assert pages.take("a.com", "http://a.com/2", other) == other
    assert pages.take("a.com", "http://a.com/3", one ^ 0b11) == one
    assert pages.take("b.com", "http://b.com/3", one ^ 0b11) == one ^ 0b11
    assert pages.take("a.com", "http://a.com/4", 0) == 0


def streak(pages: Likenesses, count: int, mark: int, start: int = 0) -> None:
    for number in range(start, start + count):
        pages.take("a.com", f"http://a.com/list?page={number}", mark)


def test_a_pattern_of_near_duplicates_is_put_off_and_others_are_not() -> None:
    pages = Likenesses(3)
    streak(pages, 3, 99)  # the first is new, two are like it
    assert not pages.is_put_off("http://a.com/list?page=99")
    pages.take("a.com", "http://a.com/list?page=4", ~99)  # another text ends the streak
    streak(pages, 3, 99, start=10)
    assert pages.is_put_off("http://a.com/list?page=99")
    assert not pages.is_put_off("http://a.com/list?sort=name")
    assert not pages.is_put_off("http://a.com/list")
    off = Likenesses(0)
    streak(off, 100, 99)
    assert not off.is_put_off("http://a.com/list?page=99")


def test_what_is_put_off_comes_last_and_is_not_dropped() -> None:
    gate = Intake(["a"], CrawlSettings(near_duplicates=2), FetchSettings())
    for number in range(3):
        gate.group_of("x.com", f"http://x.com/list?page={number}", 99)
    page = analysis(routed("http://x.com/list?page=50", "a"), routed("http://x.com/news", "a"), priority=0.1)
    accepted = gate.accept("a", lease("http://x.com/"), page)
    assert accepted.dropped == {}
    put_off, ordinary = accepted.mine
    assert put_off.priority < 0 < ordinary.priority
