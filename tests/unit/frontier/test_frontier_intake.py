"""What is let in: new URLs once, with budgets and depth, shared or by node."""

import random

import pytest
from crawl_values import analysis, lease, new_url, routed

from periplus.frontier import Intake, SeenSet
from periplus.model import Outcome
from periplus.settings import CrawlSettings, FetchSettings

NODES = ("a", "b")


def intake(**crawl: object) -> Intake:
    return Intake(NODES, CrawlSettings(**crawl), FetchSettings(redirects=2))  # type: ignore[arg-type]  # free choice


def test_links_go_to_their_nodes_once() -> None:
    gate = intake()
    page = analysis(routed("http://x.com/1", "a"), routed("http://x.com/2", "b"), priority=0.8)
    first = gate.accept("a", lease("http://x.com/"), page)
    assert [url.url for url in first.mine] == ["http://x.com/1"]
    assert [(parcel.receiver, parcel.url.url) for parcel in first.others] == [("b", "http://x.com/2")]
    assert first.dropped == {}
    again = gate.accept("b", lease("http://y.com/"), page)
    assert (again.mine, again.others, again.dropped) == ((), (), {"seen": 2})
    assert gate.seen() == 2


def test_links_of_better_pages_and_nearer_ones_go_first() -> None:
    gate = intake()
    good = gate.accept("a", lease("http://x.com/"), analysis(routed("http://x.com/1", "a"), priority=0.9)).mine[0]
    deep = gate.accept("a", lease("http://x.com/", depth=5), analysis(routed("http://x.com/2", "a"), priority=0.9))
    poor = gate.accept("a", lease("http://x.com/"), analysis(routed("http://x.com/3", "a"), priority=0.1)).mine[0]
    assert good.priority > deep.mine[0].priority > poor.priority
    assert (good.depth, deep.mine[0].depth) == (1, 6)


def test_depth_limit_counts_what_it_drops() -> None:
    gate = intake(depth=2)
    page = analysis(routed("http://x.com/1", "a"), routed("http://x.com/2", "b"), dropped={"file_kind": 3})
    accepted = gate.accept("a", lease("http://x.com/", depth=2), page)
    assert (accepted.mine, accepted.others) == ((), ())
    assert accepted.dropped == {"depth": 2, "file_kind": 3}
    assert gate.accept("a", lease("http://x.com/", depth=1), page).mine


def test_independent_nodes_each_take_a_url() -> None:
    gate = intake(overlap="allow")
    page = analysis(routed("http://x.com/1", "a"), routed("http://x.com/1", "b"))
    accepted = gate.accept("a", lease("http://x.com/"), page)
    assert len(accepted.mine) == len(accepted.others) == 1
    delivered = tuple(parcel.url for parcel in accepted.others)
    assert gate.receive("b", delivered).mine == delivered  # new to b, although a has it
    assert gate.receive("b", delivered).mine == ()  # the second time it is not


def test_nodes_that_share_what_they_have_seen_take_deliveries_as_they_are() -> None:
    gate = intake()
    accepted = gate.accept("a", lease("http://x.com/"), analysis(routed("http://x.com/1", "b")))
    delivered = tuple(parcel.url for parcel in accepted.others)
    assert gate.receive("b", delivered).mine == delivered


def test_policy_b_with_forbidden_overlap_fetches_once() -> None:
    gate = intake()
    page = analysis(routed("http://x.com/1", "b"), routed("http://x.com/1", "a"))
    accepted = gate.accept("a", lease("http://x.com/"), page)
    assert len(accepted.mine) + len(accepted.others) == 1
    assert accepted.dropped == {"seen": 1}


def test_budgets_are_counted_reasons() -> None:
    gate = intake(host_pages=10, pattern_pages=3)
    page = analysis(*(routed(f"http://x.com/{number}", "a") for number in range(5)))
    accepted = gate.accept("a", lease("http://x.com/"), page)
    assert len(accepted.mine) == 3
    assert accepted.dropped == {"trap": 2}


def test_what_a_pattern_has_no_budget_for_waits_until_its_pages_have_earned_it() -> None:
    gate = intake(pattern_pages=1)
    page = analysis(*(routed(f"http://x.com/{number}", "a") for number in range(30)))
    accepted = gate.accept("a", lease("http://x.com/"), page)
    assert (len(accepted.mine), len(accepted.beyond)) == (1, 29)
    assert not any(gate.accept_after_all("a", parcel) for parcel in accepted.beyond)
    gate.group_of("x.com", "http://x.com/0", 99)
    joined = [gate.accept_after_all("a", parcel) for parcel in accepted.beyond]
    assert sum(parcel is not None for parcel in joined) == 20
    for number in range(1, 21):
        gate.group_of("x.com", f"http://x.com/{number}", 99)  # the same text again and again
    assert not any(gate.accept_after_all("a", parcel) for parcel in accepted.beyond)


def test_that_a_page_is_also_under_another_kind_of_url_neither_earns_nor_costs() -> None:
    """A forum's list leads to the end of each thread by the number of a post, the thread by the number of a page."""
    gate = intake(pattern_pages=1)
    page = analysis(*(routed(f"http://x.com/t?start={number}", "a") for number in range(60)))
    accepted = gate.accept("a", lease("http://x.com/"), page)
    gate.group_of("x.com", "http://x.com/t?start=0", random.Random(0).getrandbits(63))
    for number in range(1, 10):
        text = random.Random(number).getrandbits(63)
        gate.group_of("x.com", f"http://x.com/t?post={number}", text)
        gate.group_of("x.com", f"http://x.com/t?start={number}", text)
    joined = [gate.accept_after_all("a", parcel) for parcel in accepted.beyond]
    assert sum(parcel is not None for parcel in joined) == 20, "one page with a text of its own"


def test_what_a_sitemap_lists_needs_no_budget_of_its_pattern() -> None:
    gate = intake(pattern_pages=1)
    page = analysis(*(routed(f"http://x.com/{number}", "a") for number in range(30)))
    assert len(gate.accept("a", lease("http://x.com/sitemap.xml", sitemap=True), page).mine) == 30


def test_a_redirect_is_a_new_url_that_passes_every_rule() -> None:
    gate = intake()
    hop = gate.accept_redirect("a", lease("http://x.com/", depth=3, redirects=1), "http://y.com/new")
    assert [(url.url, url.depth, url.redirects) for url in hop.mine] == [("http://y.com/new", 3, 2)]
    for target, reason in (
        ("http://y.com/new", "seen"),
        ("http://y.com:22/", "port"),
        ("http://y.com/a.zip", "file_kind"),
        ("file:///etc/passwd", "not_http"),
    ):
        refused = gate.accept_redirect("a", lease("http://x.com/"), target)
        assert (refused.mine, refused.dropped) == ((), {reason: 1})


def test_redirects_in_a_row_end() -> None:
    gate = intake()  # fetch.redirects = 2
    assert gate.accept_redirect("a", lease("http://x.com/", redirects=1), "http://x.com/1").mine
    assert gate.accept_redirect("a", lease("http://x.com/", redirects=2), "http://x.com/2").dropped == {"redirects": 1}


def test_seeds_are_let_in_once_and_first() -> None:
    gate = intake()
    seed = gate.accept_seed("a", "http://x.com")
    assert seed is not None
    assert (seed.url, seed.priority, seed.depth) == ("http://x.com/", 1.0, 0)
    assert gate.accept_seed("b", "http://x.com/#again") is None


def test_same_content_is_a_duplicate_of_what_is_kept() -> None:
    gate = intake()
    assert gate.outcome_of(analysis(digest=7, outcome=Outcome.NOT_RELEVANT)) is Outcome.NOT_RELEVANT
    assert gate.outcome_of(analysis(digest=7)) is Outcome.KEPT
    assert gate.outcome_of(analysis(digest=7)) is Outcome.DUPLICATE
    assert gate.outcome_of(analysis(digest=7, outcome=Outcome.NOT_INDEXED)) is Outcome.NOT_INDEXED


def test_content_that_no_page_has_any_more_is_no_duplicates_original() -> None:
    """A page that says one thing, another and the first again is kept each time."""
    gate = intake()
    assert gate.outcome_of(analysis(digest=7)) is Outcome.KEPT
    assert gate.outcome_of(analysis(digest=8)) is Outcome.KEPT
    gate.forget_digest(7)
    assert gate.outcome_of(analysis(digest=7)) is Outcome.KEPT
    assert gate.outcome_of(analysis(digest=7)) is Outcome.DUPLICATE


@pytest.mark.parametrize("overlap", ["forbid", "allow"])
def test_an_intake_taken_up_from_disk_decides_the_same(overlap: str) -> None:
    live, resumed = (intake(overlap=overlap, pattern_pages=5) for _ in range(2))
    page = analysis(*(routed(f"http://x.com/{number}", "a") for number in range(4)))
    for url in live.accept("a", lease("http://x.com/"), page).mine:
        resumed.remember("a", url.host, url.url, url.fingerprint)
    sent = live.accept("a", lease("http://x.com/"), analysis(routed("http://x.com/b/1", "b"))).others[0].url
    resumed.remember_sent("a", sent.host, sent.url, sent.fingerprint)
    live.outcome_of(analysis(digest=3))
    resumed.remember_digest(3)
    for number in range(2, 9):
        link = analysis(routed(f"http://x.com/{number}", "a"), routed(f"http://x.com/b/{number - 1}", "b"))
        assert live.accept("a", lease("http://x.com/"), link) == resumed.accept("a", lease("http://x.com/"), link)
    assert live.outcome_of(analysis(digest=3)) is resumed.outcome_of(analysis(digest=3)) is Outcome.DUPLICATE


def test_seen_set() -> None:
    seen = SeenSet()
    mark = new_url("http://x.com/").fingerprint
    assert seen.add(mark)
    assert not seen.add(mark)
    seen.update([1, 2, 2])
    assert len(seen) == 3
    assert mark in seen
    assert 3 not in seen
