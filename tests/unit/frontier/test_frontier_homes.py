"""Homes: with several machines a URL is let through once, whoever finds it how often and in whatever order."""

import random

from crawl_values import analysis, lease, new_url, routed

from periplus.frontier import HomeIntake, home_of
from periplus.model import NewUrl, Parcel
from periplus.settings import CrawlSettings, FetchSettings

NODES = ("a", "b", "c")


def intake(host_pages: int = 10_000) -> HomeIntake:
    return HomeIntake(NODES, CrawlSettings(host_pages=host_pages), FetchSettings())


def host_with_home(home: str) -> str:
    return next(f"h{n}.com" for n in range(1_000) if home_of(f"h{n}.com", NODES) == home)


def test_homes_are_the_same_everywhere_and_spread() -> None:
    homes = [home_of(f"host{n}.com", NODES) for n in range(3_000)]
    assert homes[:6] == [home_of(f"host{n}.com", NODES) for n in range(6)]
    assert all(900 < homes.count(node) < 1_100 for node in NODES)


def test_a_link_goes_by_way_of_its_home() -> None:
    gate = intake()
    mine, other = f"http://{host_with_home('a')}/1", f"http://{host_with_home('b')}/1"
    found = analysis(routed(mine, "a"), routed(mine + "2", "c"), routed(other, "a"), routed(other + "2", "b"))
    accepted = gate.accept("a", lease("http://x.com/"), found)
    assert [url.url for url in accepted.mine] == [mine]
    assert [(p.receiver, p.url.url, p.target) for p in accepted.others] == [
        ("c", mine + "2", ""),
        ("b", other, "a"),
        ("b", other + "2", "b"),
    ]
    again = gate.accept("a", lease("http://x.com/2"), found)
    assert (again.mine, again.others, again.dropped) == ((), (), {"seen": 4})


def test_a_home_lets_the_first_assignment_through_and_keeps_the_budget() -> None:
    gate = intake(host_pages=2)
    host = host_with_home("b")
    urls = tuple(new_url(f"http://{host}/{n}") for n in ("x", "x", "y", "z"))
    accepted = gate.receive("b", urls, ["c", "a", "b", "c"])
    assert accepted.others == (Parcel("c", urls[0]),)
    assert accepted.mine == (urls[2],)
    assert accepted.dropped == {"seen": 1, "host_quota": 1}


def test_who_is_not_its_home_or_no_node_refuses() -> None:
    gate = intake()
    url = new_url(f"http://{host_with_home('b')}/")
    assert gate.receive("a", (url,), ["c"]).dropped == {"not_home": 1}
    assert gate.receive("b", (url,), ["nobody"]).dropped == {"not_home": 1}


def test_what_was_let_through_is_taken_once() -> None:
    gate = intake()
    url = new_url("http://x.com/1")
    assert gate.receive("a", (url, url), ["", ""]).mine == (url,)
    assert gate.receive("a", (url,)).mine == ()


def test_a_seed_is_its_nodes_and_no_home_lets_it_through_again() -> None:
    gate = intake()
    seed = f"http://{host_with_home('b')}/"
    assert gate.accept_seed("a", seed) is not None
    assert gate.accept_seed("a", seed) is None
    gate.know_seed("b", seed)
    assert gate.receive("b", (new_url(seed),), ["c"]).dropped == {"seen": 1}


def test_the_node_that_reads_the_pages_of_a_pattern_says_how_many_it_may_bring() -> None:
    """Their home counts them for the host only. What is set aside joins when it is earned, also after a death."""
    host, given, links = host_with_home("b"), 4, 60
    settings = CrawlSettings(pattern_pages=given)
    at_home, reader, after_death = (HomeIntake(NODES, settings, FetchSettings()) for _ in range(3))
    urls = tuple(new_url(f"http://{host}/a/{number}") for number in range(links))
    passed = at_home.receive("b", urls, ["a"] * links)
    assert [parcel.receiver for parcel in passed.others] == ["a"] * links
    taken = reader.receive("a", tuple(parcel.url for parcel in passed.others))
    assert (len(taken.mine), len(taken.beyond), taken.dropped) == (given, links - given, {"trap": links - given})
    aside = taken.beyond
    assert [reader.accept_after_all("a", parcel) for parcel in aside] == [None] * len(aside)
    for url in taken.mine:
        after_death.remember("a", host, url.url, url.fingerprint)
    for gate in (reader, after_death):
        for number, url in enumerate(taken.mine):
            gate.group_of(host, url.url, random.Random(number).getrandbits(63))
        joined = [gate.accept_after_all("a", parcel) for parcel in aside]
        assert joined == [Parcel("a", parcel.url) for parcel in aside]
        assert gate.accept_after_all("a", aside[0]) is None, "once"


def test_a_home_sets_aside_what_its_own_patterns_may_still_earn() -> None:
    host = host_with_home("b")
    gate = HomeIntake(NODES, CrawlSettings(pattern_pages=1), FetchSettings())
    urls = tuple(new_url(f"http://{host}/a/{number}") for number in range(2))
    assert gate.receive("b", urls, ["b", "b"]).beyond == (Parcel("b", urls[1]),)
    assert gate.accept_after_all("b", Parcel("b", urls[1])) is None
    gate.group_of(host, urls[0].url, 7)
    assert gate.accept_after_all("b", Parcel("b", urls[1])) == Parcel("b", urls[1])


def test_random_webs_on_three_machines_fetch_every_url_once() -> None:
    """Each machine has an intake of its own; links find their ways in random order, some of them twice."""
    for seed in range(30):
        numbers = random.Random(seed)
        gates = {node: intake() for node in NODES}
        urls = [f"http://h{numbers.randrange(12)}.com/{n}" for n in range(150)]
        fetched: list[str] = []
        linked: set[str] = set()
        on_the_way: list[tuple[str, NewUrl, str]] = []
        for number in range(200):
            node = numbers.choice(NODES)
            links = tuple(routed(numbers.choice(urls), numbers.choice(NODES)) for _ in range(8))
            linked.update(link.url for link in links)
            accepted = gates[node].accept(node, lease(f"http://x.com/{number}"), analysis(*links))
            fetched += [url.url for url in accepted.mine]
            on_the_way += [(p.receiver, p.url, p.target) for p in accepted.others]
            numbers.shuffle(on_the_way)
            while on_the_way and numbers.random() < 0.9:
                receiver, url, target = on_the_way.pop()
                came = gates[receiver].receive(receiver, (url,), [target])
                fetched += [new.url for new in came.mine]
                on_the_way += [(p.receiver, p.url, p.target) for p in came.others]
        while on_the_way:
            receiver, url, target = on_the_way.pop()
            came = gates[receiver].receive(receiver, (url,), [target])
            fetched += [new.url for new in came.mine]
            on_the_way += [(p.receiver, p.url, p.target) for p in came.others]
        assert sorted(fetched) == sorted(linked), "each once, and none is lost"
