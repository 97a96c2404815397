"""The product's way out in a process of its own: asks for URLs and says what each came to and cost.

    python visitor.py PORT '{"total_seconds": 1.0}' apart|together URL...

`apart` asks for each in a further process of its own, `together` for all of them through one transport. A JSON object
a line: the outcome (`answer` or the name of our error), status, size of the body, bytes that were read from the wire;
and `apart` also seconds, processor seconds, and by how much the peak of the memory grew above what was held before.
"""

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from aiohttp.client_proto import ResponseHandler
from own_process import in_own_process

from periplus.clock import SystemClock
from periplus.errors import FetchError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.settings import FetchSettings


class Wire:
    """Counts what comes from the network, before anybody has looked at it."""

    def __init__(self) -> None:
        self.bytes = 0
        take = ResponseHandler.data_received

        def counted(handler: ResponseHandler, data: bytes) -> None:
            self.bytes += len(data)
            take(handler, data)

        setattr(ResponseHandler, "data_received", counted)  # noqa: B010 - in this process, for all its connections


WIRE = Wire()


async def visit(transport: Transport, url: str) -> dict[str, Any]:
    """Ask once."""
    before = WIRE.bytes
    told = await answered(transport, url)
    return told | {"wire": WIRE.bytes - before}


async def answered(transport: Transport, url: str) -> dict[str, Any]:
    """What came of a request."""
    try:
        answer = await transport.get(url)
    except FetchError as error:
        return {"url": url, "outcome": type(error).__name__, "message": str(error)}
    told = {"url": url, "outcome": "answer", "status": answer.status, "size": len(answer.body)}
    told |= {"truncated": answer.truncated, "body": answer.body[:200].decode("latin-1")}
    return told | {"location": answer.header("Location")}


async def visit_all(port: str, settings: str, urls: list[str]) -> list[dict[str, Any]]:
    """Ask for all of them, through one transport."""
    guard, clock = AddressGuard(["127.0.0.1/32"]), SystemClock()
    resolver = Resolver({"*.test": f"127.0.0.1:{port}"}, guard, clock)
    options = FetchSettings(**json.loads(settings))
    async with Transport(options, resolver, guard, clock, agent="Periplus/hostile") as transport:
        return [await visit(transport, url) for url in urls]


def ask(port: str, settings: str, urls: list[str]) -> list[dict[str, Any]]:
    """The same, from outside an event loop."""
    return asyncio.run(visit_all(port, settings, urls))


def main(port: str, settings: str, how: str, *urls: str) -> None:
    """Ask for all of them, and tell."""
    if how == "together":
        told = ask(port, settings, list(urls))
    else:
        told = []
        for url in urls:
            (one,), cost = in_own_process(partial(ask, port, settings, [url]))
            told.append(one | cost._asdict())
    sys.stdout.write("".join(json.dumps(one) + "\n" for one in told))


if __name__ == "__main__":
    main(*sys.argv[1:])
