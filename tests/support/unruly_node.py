"""`periplus`, as a program, with deliveries between nodes that are repeated and out of order.

Of all envelopes that come for a node, one in five is taken a second time some time later, and another one in five is
held back so that those behind it overtake it. The numbers of both are written to the node's log at the end.
"""

import asyncio
import random
from typing import Any

from periplus.cli import main
from periplus.exchange.nats import NatsExchange

SHARE = 0.2
LONGEST_SECONDS = 0.6


def make_unruly() -> None:
    """Replace how the exchange takes what has come."""
    take, numbers, tasks = NatsExchange._take, random.Random(5), set()

    async def later(exchange: NatsExchange, node: str, inbox: Any, message: Any, how: str) -> None:
        await asyncio.sleep(numbers.uniform(0.05, LONGEST_SECONDS))
        exchange.counts[f"made {how}"] += 1  # only now: the crawl may end before
        await take(exchange, node, inbox, message)

    async def unruly(exchange: NatsExchange, node: str, inbox: Any, message: Any) -> None:
        chance = numbers.random()
        if chance < 2 * SHARE:
            task = asyncio.create_task(later(exchange, node, inbox, message, "late" if chance < SHARE else "twice"))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if chance >= SHARE:
            await take(exchange, node, inbox, message)

    setattr(NatsExchange, "_take", unruly)  # noqa: B010  (an assignment that no type allows)


if __name__ == "__main__":
    make_unruly()
    main()
