"""Probes by message: a node asks another how far a site is from there, and gets an answer in time or none."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from periplus.exchange.connection import Temporary, temporary_errors
from periplus.network.probes import Target

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["NatsProber", "answer_probes"]

MAX_QUESTION_BYTES = 16 * 1024


class NatsProber:
    """Asks nodes for their round trips (`network.probes.Prober`)."""

    def __init__(self, client: "Client", crawl: str, seconds: float) -> None:
        self._client = client
        self._crawl = crawl
        self._seconds = seconds

    async def probe(self, node: str, target: Target) -> float | None:
        """The node's round trip to the target in ms; None if it has no answer in time."""
        subject = f"periplus.{self._crawl}.probe.{node}"
        with contextlib.suppress(Temporary, msgspec.DecodeError, UnicodeDecodeError):
            async with temporary_errors(node):
                question = msgspec.msgpack.encode(target)
                # The desk waits for its turn and then measures, each up to the deadline.
                answer = await self._client.request(subject, question, timeout=2 * self._seconds + 1.0)
                return msgspec.msgpack.decode(answer.data, type=float | None)
        return None


async def answer_probes(
    client: "Client", crawl: str, node: str, probe: Callable[[Target], Awaitable[float | None]]
) -> None:
    """Answer what other nodes ask a node that this process runs."""

    async def on_question(message: "Msg") -> None:
        ms: float | None = None
        if len(message.data) <= MAX_QUESTION_BYTES:
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                ms = await probe(msgspec.msgpack.decode(message.data, type=Target))
        with contextlib.suppress(Temporary):
            async with temporary_errors(node):
                await message.respond(msgspec.msgpack.encode(ms))

    await client.subscribe(f"periplus.{crawl}.probe.{node}", cb=on_question)
