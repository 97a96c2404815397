"""Turns over hosts: one request at a time, never too early, fair between hosts and nodes."""

import itertools
import os
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from periplus.frontier import Schedule, Turn


def schedule(*nodes: str, delay: float = 1.0, ip_delay: float = 0.0) -> Schedule:
    return Schedule(list(nodes) or ["n"], delay_seconds=delay, ip_delay_seconds=ip_delay)


def test_a_host_has_one_turn_at_a_time_over_all_nodes() -> None:
    turns = schedule("a", "b")
    turns.want("x.com", "a", 0.0)
    turns.want("x.com", "b", 0.0)
    first = turns.take(0.0)
    assert first == Turn("x.com", "a")
    assert turns.take(0.0) is None
    assert turns.take(1_000.0) is None
    turns.give_back(first, 1_000.0, asked=True)
    assert turns.take(1_000.9) is None
    assert turns.take(1_001.0) == Turn("x.com", "b")


def test_the_delay_counts_from_the_end_of_the_request() -> None:
    turns = schedule(delay=2.0)
    turns.want("x.com", "n", 0.0)
    turn = turns.take(0.0)
    assert turn is not None
    turns.give_back(turn, 5.0, asked=True)
    assert turns.ready_at("x.com") == 7.0
    assert turns.next_at() == 7.0
    assert turns.take(6.99) is None
    assert turns.take(7.0) == turn


def test_a_turn_without_a_request_costs_no_delay() -> None:
    turns = schedule(delay=60.0)
    turns.want("x.com", "n", 0.0)
    turn = turns.take(0.0)
    assert turn is not None
    turns.give_back(turn, 1.0, asked=False)
    assert turns.take(1.0) == turn


def test_a_host_may_ask_for_more_rest_but_not_for_less() -> None:
    turns = schedule(delay=2.0)
    for extra, rest in ((0.5, 2.0), (10.0, 10.0)):
        turns.want("x.com", "n", 0.0)
        turn = turns.take(turns.ready_at("x.com"))
        assert turn is not None
        now = turns.ready_at("x.com")
        turns.give_back(turn, now, asked=True, extra_seconds=extra)
        assert turns.ready_at("x.com") == now + rest


def test_hold_keeps_a_host_back_also_when_it_is_ready_already() -> None:
    turns = schedule()
    turns.want("x.com", "n", 0.0)
    turns.hold("x.com", 30.0)
    assert turns.take(29.9) is None
    assert turns.next_at() == 30.0
    turns.hold("x.com", 5.0)  # an earlier promise does not undo a later one
    assert turns.take(29.9) is None
    assert turns.take(30.0) == Turn("x.com", "n")


def test_a_throttled_host_does_not_hold_up_others() -> None:
    turns = schedule()
    turns.hold("slow.com", 10_000.0)
    turns.want("slow.com", "n", 0.0)
    for number in range(50):
        turns.want(f"h{number}.com", "n", 0.0)
    taken = [turns.take(0.0) for _ in range(51)]
    assert sum(turn is not None for turn in taken) == 50
    assert turns.busy == 50


def test_a_url_that_is_due_later_waits() -> None:
    turns = schedule()
    turns.want("x.com", "n", 100.0)
    assert turns.take(99.0) is None
    assert turns.next_at() == 100.0
    turns.want("x.com", "n", 50.0)
    assert turns.take(50.0) == Turn("x.com", "n")


def test_nothing_wanted_nothing_to_wait_for() -> None:
    turns = schedule()
    assert turns.next_at() is None
    turns.want("x.com", "n", 0.0)
    turn = turns.take(0.0)
    assert turn is not None
    turns.no_longer_wanted("x.com", "n")
    turns.give_back(turn, 0.0, asked=True)
    assert turns.next_at() is None
    assert turns.take(100.0) is None


def test_a_node_that_gives_up_its_want_does_not_take_it_from_another() -> None:
    turns = schedule("a", "b")
    turns.want("x.com", "a", 0.0)
    turns.want("y.com", "a", 0.0)
    turns.want("y.com", "b", 5.0)
    assert turns.take(0.0) == Turn("x.com", "a")  # and y.com is now on the list of a
    turns.no_longer_wanted("y.com", "a")
    assert turns.take(0.0) is None
    assert turns.next_at() == 5.0
    assert turns.take(5.0) == Turn("y.com", "b")


def test_hosts_are_served_in_turn_however_many_urls_they_have() -> None:
    turns = schedule(delay=1.0)
    for number in range(10):
        turns.want(f"h{number}.com", "n", 0.0)
    served: Counter[str] = Counter()
    now = 0.0
    while now < 100.0:
        turn = turns.take(now)
        if turn is None:
            now = max(now + 0.001, turns.next_at() or now)
            continue
        served[turn.host] += 1
        now += 0.25  # a single slow connection: 4 requests a second for 10 hosts
        turns.give_back(turn, now, asked=True)
    assert max(served.values()) - min(served.values()) <= 1


def test_nodes_are_served_in_rotation() -> None:
    turns = schedule("busy", "quiet", delay=0.0)
    for number in range(1_000):
        turns.want(f"busy{number}.com", "busy", 0.0)
    for number in range(10):
        turns.want(f"quiet{number}.com", "quiet", 0.0)
    first = [turns.take(0.0) for _ in range(20)]
    assert Counter(turn.node for turn in first if turn) == {"busy": 10, "quiet": 10}


def test_hosts_on_one_address_share_its_delay() -> None:
    turns = schedule(delay=0.0, ip_delay=1.0)
    hosts = [f"h{number}.com" for number in range(5)]
    waits = [turns.connect_wait(host, "192.0.2.1", 0.0) for host in hosts]
    assert waits == [0.0, 1.0, 2.0, 3.0, 4.0]  # each is told another time to come back
    assert turns.connect_wait("h0.com", "192.0.2.1", 0.0) == 0.0  # known: its turns wait in the schedule instead
    for host in hosts:
        turns.want(host, "n", 5.0)
    times: list[float] = []
    now = 5.0
    while len(times) < 10:
        turn = turns.take(now)
        if turn is None:
            now = max(now, turns.next_at() or now)
            continue
        times.append(now)
        turns.give_back(turn, now, asked=True)
    assert all(later - earlier >= 1.0 for earlier, later in itertools.pairwise(times))
    assert times[-1] - times[0] == pytest.approx(9.0)


def test_other_addresses_are_not_slowed_down() -> None:
    turns = schedule(delay=0.0, ip_delay=1.0)
    assert turns.connect_wait("a.com", "192.0.2.1", 0.0) == 0.0
    assert turns.connect_wait("b.com", "192.0.2.2", 0.0) == 0.0
    assert turns.connect_wait("c.com", "192.0.2.1", 0.0) == 1.0
    assert schedule().connect_wait("a.com", "192.0.2.1", 0.0) == 0.0


@dataclass
class Rules:
    """The promises of the schedule, kept by a judge that only sees turns and their ends."""

    delay: float
    ip_delay: float
    not_before: dict[str, float] = field(default_factory=dict)
    address: dict[str, str] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)
    wanted: dict[tuple[str, str], float] = field(default_factory=dict)
    busy: set[str] = field(default_factory=set)

    def taken(self, turn: Turn, now: float) -> None:
        assert turn.host not in self.busy, "two turns of one host at once"
        assert now >= self.not_before.get(turn.host, 0.0), "too early for the host"
        assert self.wanted.get((turn.host, turn.node), float("inf")) <= now, "a turn that nobody asked for"
        address = self.address.get(turn.host)
        if address and self.ip_delay:
            assert now >= self.asked_at.get(address, -1e9) + self.ip_delay, "too early for the address"
            self.asked_at[address] = now
        self.busy.add(turn.host)

    def connected(self, host: str, wait: float, now: float) -> None:
        address = self.address[host]
        if wait == 0.0 and self.ip_delay:
            assert now >= self.asked_at.get(address, -1e9) + self.ip_delay, "too early for the address"
            self.asked_at[address] = now

    def ended(self, turn: Turn, now: float, *, asked: bool, extra: float) -> None:
        self.busy.discard(turn.host)
        if asked:
            rest = now + max(self.delay, extra)
            self.not_before[turn.host] = max(rest, self.not_before.get(turn.host, 0.0))


def one_schedule(seed: int) -> None:
    """A random life of a schedule, to its end: every want is served, no promise is broken."""
    numbers = random.Random(seed)
    nodes = ["a", "b", "c"][: numbers.randint(1, 3)]
    hosts = [f"h{number}" for number in range(numbers.randint(1, 4))]
    rules = Rules(numbers.choice([0.0, 1.0, 3.0]), numbers.choice([0.0, 0.5]))
    turns = schedule(*nodes, delay=rules.delay, ip_delay=rules.ip_delay)
    now = 0.0
    open_turns: list[Turn] = []
    for _ in range(numbers.randint(5, 30)):
        now += numbers.choice([0.0, 0.0, 0.3, 2.0])
        host, node = numbers.choice(hosts), numbers.choice(nodes)
        action = numbers.randrange(6)
        if action <= 1:
            at = now + numbers.choice([0.0, 0.0, 5.0])
            turns.want(host, node, at)
            rules.wanted[host, node] = min(at, rules.wanted.get((host, node), at))
        elif action == 2:
            until = now + numbers.choice([0.5, 4.0])
            turns.hold(host, until)
            rules.not_before[host] = max(until, rules.not_before.get(host, 0.0))
        elif action == 3 and host not in rules.address and host not in rules.busy:
            rules.address[host] = numbers.choice(["ip1", "ip2"])
            rules.connected(host, turns.connect_wait(host, rules.address[host], now), now)
        elif action == 4 and open_turns:
            end(turns, rules, open_turns.pop(numbers.randrange(len(open_turns))), now, numbers)
        else:
            take(turns, rules, open_turns, now)
    for _ in range(1_000):  # no want may be forgotten
        while open_turns:
            end(turns, rules, open_turns.pop(), now, numbers)
        if not rules.wanted:
            return
        take(turns, rules, open_turns, now)
        if not open_turns:
            due = turns.next_at()
            assert due is not None, f"forgotten: {rules.wanted}"
            now = max(now, due)
    raise AssertionError(f"never served: {rules.wanted}")


def take(turns: Schedule, rules: Rules, open_turns: list[Turn], now: float) -> None:
    turn = turns.take(now)
    if turn is not None:
        rules.taken(turn, now)
        open_turns.append(turn)


def end(turns: Schedule, rules: Rules, turn: Turn, now: float, numbers: random.Random) -> None:
    asked, extra = numbers.random() < 0.7, numbers.choice([0.0, 0.0, 6.0])
    rules.wanted.pop((turn.host, turn.node), None)
    turns.no_longer_wanted(turn.host, turn.node)
    turns.give_back(turn, now, asked=asked, extra_seconds=extra)
    rules.ended(turn, now, asked=asked, extra=extra)


def test_random_schedules_break_no_promise() -> None:
    """Nodes race for hosts. PERIPLUS_SCHEDULES=100000 is the whole proof."""
    count = int(os.environ.get("PERIPLUS_SCHEDULES", "4000"))
    for seed in range(count):
        try:
            one_schedule(seed)
        except AssertionError as error:
            raise AssertionError(f"schedule {seed}: {error}") from error
    print(f"PROOF {count:,} random schedules of up to three nodes: no host was leased twice at once or too early")
