"""The product's way out in a process of its own: asks for URLs one by one and says what each came to and cost.

    python visitor.py PORT '{"total_seconds": 1.0}' URL...

A JSON object a line: the outcome (`answer` or the name of our error), status, size of the body, seconds, processor
seconds, and by how much the peak of the process's memory grew above what it held before.
"""

import asyncio
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from periplus.clock import SystemClock
from periplus.errors import FetchError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.settings import FetchSettings

STATUS = Path("/proc/self/status")


def memory(name: str) -> int:
    """Bytes that the kernel knows of: VmRSS now, VmHWM at most."""
    return 1024 * int(re.findall(rf"{name}:\s*(\d+)", STATUS.read_text("ascii"))[0])


def forget_peak() -> int:
    """Count the peak anew from here; gives what is held now."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return memory("VmRSS")


async def visit(transport: Transport, url: str) -> dict[str, Any]:
    """Ask once."""
    before = forget_peak()
    began, processor = time.monotonic(), time.process_time()
    told: dict[str, Any] = {"url": url}
    try:
        answer = await transport.get(url)
        told |= {"outcome": "answer", "status": answer.status, "size": len(answer.body), "truncated": answer.truncated}
        told |= {"body": answer.body[:200].decode("latin-1"), "location": answer.header("Location")}
    except FetchError as error:
        told |= {"outcome": type(error).__name__, "message": str(error)}
    return told | {
        "seconds": time.monotonic() - began,
        "processor": time.process_time() - processor,
        "memory": memory("VmHWM") - before,
    }


async def main(port: str, settings: str, urls: list[str]) -> None:
    """Ask for all of them."""
    guard, clock = AddressGuard(["127.0.0.1/32"]), SystemClock()
    resolver = Resolver({"*.test": f"127.0.0.1:{port}"}, guard, clock)
    options = FetchSettings(**json.loads(settings))
    async with Transport(options, resolver, guard, clock, agent="Periplus/hostile") as transport:
        for url in urls:
            sys.stdout.write(json.dumps(await visit(transport, url)) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
