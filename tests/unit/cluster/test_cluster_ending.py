"""The end of a crawl on several machines is found out when it is there, and never before."""

import random
from collections import deque
from dataclasses import dataclass, field

from periplus.cluster import Report, is_over

NODES = ("a", "b", "c", "d")


def report(node: str, *, idle: bool = True, outbox: int = 0, activity: int = 3, member: str = "m") -> Report:
    return Report(node, member, 1, idle=idle, outbox=outbox, activity=activity)


def rounds(**changed: Report) -> dict[str, Report]:
    return {node: changed.get(node, report(node)) for node in NODES}


def test_all_idle_twice_without_anything_between_is_the_end() -> None:
    assert is_over(NODES, rounds(), rounds())


def test_anything_else_is_not() -> None:
    busy, sent = report("b", idle=False), report("c", outbox=1)
    assert not is_over(NODES, rounds(b=busy), rounds(b=busy))
    assert not is_over(NODES, rounds(c=sent), rounds(c=sent))
    assert not is_over(NODES, rounds(), rounds(a=report("a", activity=4))), "it did something in between"
    assert not is_over(NODES, rounds(), rounds(d=report("d", member="other"))), "another process runs it now"
    assert not is_over(NODES, {}, rounds())
    assert not is_over(NODES, rounds(), {node: report(node) for node in NODES[:3]}), "one did not answer"


@dataclass
class Node:
    """A node that works off links and sends new ones; a link is confirmed some time after it was taken."""

    queue: int = 0
    inbox: deque[str] = field(default_factory=deque)
    unconfirmed: int = 0
    activity: int = 0


def step(nodes: dict[str, Node], confirmations: deque[str], numbers: random.Random, left: list[int]) -> None:
    """One thing happens somewhere: a page, a delivery, or a confirmation."""
    name = numbers.choice(NODES)
    node, what = nodes[name], numbers.randrange(3)
    if what == 0 and node.queue:
        node.queue -= 1
        node.activity += 1
        for _ in range(min(left[0], numbers.randrange(3))):
            left[0] -= 1
            node.unconfirmed += 1
            nodes[numbers.choice(NODES)].inbox.append(name)
    elif what == 1 and node.inbox:
        confirmations.append(node.inbox.popleft())
        node.queue += 1
        node.activity += 1
    elif what == 2 and confirmations:
        nodes[confirmations.popleft()].unconfirmed -= 1


def test_random_runs_end_neither_early_nor_never() -> None:
    for seed in range(300):
        numbers = random.Random(seed)
        nodes = {name: Node() for name in NODES}
        nodes["a"].queue = 1
        confirmations: deque[str] = deque()
        left = [numbers.randrange(1, 60)]
        first: dict[str, Report] = {}
        for _ in range(5_000):
            second: dict[str, Report] = {}
            for name in numbers.sample(NODES, len(NODES)):  # things happen between the answers as well
                for _ in range(numbers.randrange(3)):
                    step(nodes, confirmations, numbers, left)
                node = nodes[name]
                second[name] = report(
                    name, idle=not node.queue and not node.inbox, outbox=node.unconfirmed, activity=node.activity
                )
            if is_over(NODES, first, second):
                break
            first = second
        assert is_over(NODES, first, second), f"run {seed} never ends"
        assert not any(node.queue or node.inbox or node.unconfirmed for node in nodes.values()), f"run {seed}"
