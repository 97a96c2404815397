"""Probes by message, over a real server."""

import asyncio

import pytest
from nats_server import nats_server

from periplus.cluster.probing import NatsProber, answer_probes
from periplus.exchange.connection import connected
from periplus.network.probes import Target
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")


def test_nodes_answer_for_themselves_and_silence_is_an_answer() -> None:
    async def scene() -> None:
        asked: list[Target] = []

        async def east(target: Target) -> float | None:
            asked.append(target)
            return 12.5

        async def west(_target: Target) -> float | None:
            return None

        with nats_server() as server:
            async with connected(ClusterSettings(servers=[server.url]), name="test") as client:
                await answer_probes(client, "c", "east", east)
                await answer_probes(client, "c", "west", west)
                prober, target = NatsProber(client, "c", 0.1), Target("x.com", "192.0.2.1", "192.0.2.0/24")
                assert await prober.probe("east", target) == 12.5
                assert asked == [target]
                assert await prober.probe("west", target) is None
                assert await prober.probe("nobody", target) is None
                malformed = await client.request("periplus.c.probe.east", b"\xc1", timeout=2)
                assert malformed.data == b"\xc0"
                assert asked == [target]

    asyncio.run(scene())
