"""Probes by message: a node asks another how far a site is from there, and gets an answer in time or none."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from periplus.exchange.connection import Temporary, give_way, temporary_errors
from periplus.network.probes import Target

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["NatsProber", "answer_probes"]

MAX_QUESTION_BYTES = 16 * 1024
AGAIN_SECONDS = 0.25


class NatsProber:
    """Asks nodes for their round trips (`network.probes.Prober`)."""

    def __init__(self, client: "Client", crawl: str, seconds: float) -> None:
        self._client = client
        self._crawl = crawl
        self._seconds = seconds

    async def probe(self, node: str, target: Target) -> float | None:
        """The node's round trip to the target in ms; None if it has no answer in time."""
        subject, question = f"periplus.{self._crawl}.probe.{node}", msgspec.msgpack.encode(target)
        seconds = 2 * self._seconds + 1.0  # the desk waits for its turn and then measures, each up to the deadline
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._asked(subject, question, seconds)
        return None

    async def _asked(self, subject: str, question: bytes, seconds: float) -> float | None:
        """The answer; who is not there yet, or is being taken over, is asked again."""
        while True:
            try:
                async with temporary_errors(subject):
                    answer = await self._client.request(subject, question, timeout=seconds)
                    return msgspec.msgpack.decode(answer.data, type=float | None)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
            except Temporary:
                give_way()
                await asyncio.sleep(AGAIN_SECONDS)


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
