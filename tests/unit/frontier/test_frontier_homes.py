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
    urls = [new_url(f"http://{host}/{n}") for n in ("x", "x", "y", "z")]
    mine, onward, dropped = gate.receive("b", urls, ["c", "a", "b", "c"])
    assert onward == (Parcel("c", urls[0]),)
    assert mine == (urls[2],)
    assert dropped == {"seen": 1, "host_quota": 1}


def test_who_is_not_its_home_or_no_node_refuses() -> None:
    gate = intake()
    url = new_url(f"http://{host_with_home('b')}/")
    assert gate.receive("a", [url], ["c"])[2] == {"not_home": 1}
    assert gate.receive("b", [url], ["nobody"])[2] == {"not_home": 1}


def test_what_was_let_through_is_taken_once() -> None:
    gate = intake()
    url = new_url("http://x.com/1")
    assert gate.receive("a", [url, url], ["", ""])[0] == (url,)
    assert gate.receive("a", [url], [])[0] == ()


def test_a_seed_is_its_nodes_and_no_home_lets_it_through_again() -> None:
    gate = intake()
    seed = f"http://{host_with_home('b')}/"
    assert gate.accept_seed("a", seed) is not None
    assert gate.accept_seed("a", seed) is None
    gate.know_seed("b", seed)
    assert gate.receive("b", [new_url(seed)], ["c"])[2] == {"seen": 1}


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
                mine, onward, _ = gates[receiver].receive(receiver, [url], [target])
                fetched += [new.url for new in mine]
                on_the_way += [(p.receiver, p.url, p.target) for p in onward]
        while on_the_way:
            receiver, url, target = on_the_way.pop()
            mine, onward, _ = gates[receiver].receive(receiver, [url], [target])
            fetched += [new.url for new in mine]
            on_the_way += [(p.receiver, p.url, p.target) for p in onward]
        assert sorted(fetched) == sorted(linked), "each once, and none is lost"
