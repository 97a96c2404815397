"""Work in a process of its own, and what it cost there: processor time, memory, and how long it waited for a core."""

import json
import os
import re
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["SLACK", "Cost", "in_own_process"]

SLACK = 10.0
"""How many times the processor time that a case aims at a test allows: others are busy on the machine as well."""

SELF = Path("/proc/self")


class Cost(NamedTuple):
    """What a piece of work cost its process."""

    seconds: float
    """By the clock, without the time in which the process could have run and no core was free."""

    processor: float
    memory: int
    """Bytes by which the peak of its memory lay above what it held before."""


def in_own_process(work: Callable[[], Any]) -> tuple[Any, Cost]:
    """What the work gives (as JSON keeps it) and costs; what it raises fails the test that asked for it."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of the caller: the child uses none of theirs
        child = os.fork()
    if child == 0:
        os.close(read)
        told = json.dumps(_measured(work)).encode()
        with os.fdopen(write, "wb") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    assert told, f"the process died: {status}"
    one = json.loads(told)
    assert "error" not in one, one["error"]
    return one["value"], Cost(*one["cost"])


def _measured(work: Callable[[], Any]) -> dict[str, Any]:
    (SELF / "clear_refs").write_text("5", "ascii")  # the peak counts anew from here
    before, waited = _memory("VmRSS"), _waited()
    began, processor = time.monotonic(), time.process_time()
    try:
        value = work()
    except BaseException:  # noqa: BLE001 - whatever it is, the caller is told
        return {"error": traceback.format_exc()}
    spent = time.monotonic() - began - (_waited() - waited)
    return {"value": value, "cost": [spent, time.process_time() - processor, _memory("VmHWM") - before]}


def _memory(name: str) -> int:
    """Bytes that the kernel knows of: VmRSS now, VmHWM at most."""
    return 1024 * int(re.findall(rf"{name}:\s*(\d+)", (SELF / "status").read_text("ascii"))[0])


def _waited() -> float:
    """Seconds for which this process was ready and had no core."""
    return int((SELF / "schedstat").read_text("ascii").split()[1]) / 1e9
