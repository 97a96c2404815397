"""Server-sent events: how tasks stand, said again whenever it changes, for the live view."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from periplus.errors import PeriplusError

__all__ = ["MOST_STREAMS", "Streams"]

MOST_STREAMS = 32
EVENT_SECONDS = 1.0
QUIET_SECONDS = 15.0
"""After so long without a change a comment keeps the connection open."""


class Streams:
    """The open streams of a server."""

    def __init__(self) -> None:
        self.open = 0
        self.leaving: Callable[[], bool] = lambda: False
        """Whether the server is about to end: streams end then, or it would wait for them."""

    def response(self, state: Callable[[], dict[str, Any]]) -> StreamingResponse:
        """A stream of `state`, at once and whenever it has changed."""
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._said(state), media_type="text/event-stream", headers=headers)

    async def _said(self, state: Callable[[], dict[str, Any]]) -> AsyncIterator[str]:
        self.open += 1
        before, quiet = "", 0.0
        try:
            while not self.leaving():
                try:
                    now = json.dumps(await run_in_threadpool(partial(state)))
                    kind = "state"
                except PeriplusError as error:  # the task was removed, or the machine has trouble
                    now, kind = json.dumps({"error": str(error)}), "trouble"
                if now != before:
                    before, quiet = now, 0.0
                    yield f"event: {kind}\ndata: {now}\n\n"
                elif quiet >= QUIET_SECONDS:
                    quiet = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(EVENT_SECONDS)
                quiet += EVENT_SECONDS
        finally:
            self.open -= 1
