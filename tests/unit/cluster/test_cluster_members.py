"""Who runs which node: on a real server, with a clock that is moved by hand."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from fake_clock import FakeClock
from nats_server import NatsServer, nats_server

from periplus.cluster import Board, CrawlRecord, Fenced, Membership, NodeRecord
from periplus.cluster.control import order, read_crawl, submit
from periplus.errors import ConfigError, EnvironmentFailure
from periplus.exchange.connection import connected
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

NODES = ("a", "b", "c")
BEAT = 10.0


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with nats_server() as running:
        yield running


Scene = Callable[["Stage"], Awaitable[None]]


class Stage:
    """Processes of one crawl that share a clock."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.clock = FakeClock()

    def process(self, folder: str = "/crawl") -> Membership:
        return Membership(self.board, NODES, self.clock, BEAT, version="1", folder=Path(folder))


def play(server: NatsServer, scene: Scene) -> None:
    async def go() -> None:
        async with connected(ClusterSettings(servers=[server.url]), name="test") as client:
            board = Board(client, f"members-{random.getrandbits(40):x}")
            await board.open(1)
            await scene(Stage(board))

    asyncio.run(go())


async def pass_time(stage: Stage, beats: float, living: list[Membership]) -> None:
    """Time in which these processes show that they live, and look."""
    for _ in range(int(beats * 2)):
        stage.clock.advance(BEAT / 2)
        for process in living:
            for node in process.mine:
                await process.beat(node)
        for process in living:
            await process.look()


def test_a_second_process_of_one_name_is_refused_while_the_first_lives(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        first, second = stage.process("/one"), stage.process("/two")
        assert await first.claim("a") is None

        async def living_sleep(_seconds: float) -> None:
            stage.clock.advance(BEAT / 4)
            await first.beat("a")

        stage.clock.sleep = living_sleep  # type: ignore[assignment,method-assign]  # the other lives
        with pytest.raises(EnvironmentFailure, match="node a runs already"):
            await second.claim("a")

    play(server, scene)


def test_a_process_that_holds_the_folder_of_a_dead_one_need_not_wait(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        first, again = stage.process(), stage.process()
        await first.claim("a")
        await first.beat("a", generation="g1")
        before = await again.claim("a", holds_folder=True)
        assert before is not None
        assert (before.epoch, before.generation, again.epoch("a")) == (1, "g1", 2)
        assert stage.clock.slept == []
        with pytest.raises(Fenced, match="taken over"):
            await first.beat("a")

    play(server, scene)


def test_one_of_the_living_takes_over_after_three_heartbeats_and_the_others_keep_theirs(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        processes = {node: stage.process(f"/{node}") for node in NODES}
        for node, process in processes.items():
            await process.claim(node)
        living = [processes["a"], processes["b"]]
        await pass_time(stage, 2.5, living)
        assert [process.orphans() for process in living] == [[], []], "two missed are not three"
        await pass_time(stage, 1, living)
        takers = [process for process in living if process.orphans() == ["c"]]
        assert len(takers) == 1
        before = await takers[0].take_over("c")
        assert before is not None
        assert before.member == processes["c"].member
        await pass_time(stage, 3, living)
        assert [process.orphans() for process in living] == [[], []]
        assert sorted(node for process in living for node in process.mine) == ["a", "b", "c"]
        with pytest.raises(Fenced):
            await processes["c"].beat("c")

    play(server, scene)


def test_who_was_stopped_in_order_is_waited_for_and_not_taken_over(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        for node, state in (("a", "ended"), ("b", "stopped"), ("c", "left")):
            process = stage.process(f"/{node}")
            await process.claim(node)
            await process.leave(state=state)
        first = stage.process("/a")
        await first.claim("a")
        await pass_time(stage, 20, [first])
        assert first.unclaimed == ["b"], "its own process may come yet"
        assert first.orphans() == ["c"], "which has failed"
        beside = stage.process("/b")  # it has the folder of b, so that nothing is lost
        await beside.claim("c")
        await pass_time(stage, 20, [first, beside])
        assert "b" in beside.orphans()
        late = stage.process("/elsewhere")
        assert await late.claim("b") is not None, "nobody is waited for who has said that he is gone"

    play(server, scene)


def test_a_node_that_is_being_opened_is_known_by_its_last_database(server: NatsServer) -> None:
    """Who is killed while it rebuilds a node leaves behind that it had one: the next begins the rebuilding anew."""

    async def scene(stage: Stage) -> None:
        process = stage.process("/a")
        await process.claim("a")
        await process.beat("a", generation="g1")
        await process.leave(state="stopped")
        for folder in ("/b", "/c"):
            before = await stage.process(folder).claim("a")
            assert before is not None
            assert before.generation == "g1"
            stage.clock.advance(4 * BEAT)

    play(server, scene)


def test_who_lost_sight_blames_nobody_and_stops_working(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        one, other = stage.process("/a"), stage.process("/b")
        await one.claim("a")
        await other.claim("b")
        await pass_time(stage, 1, [one, other])
        could = [one.may_work]
        stage.clock.advance(2 * BEAT)  # NATS is gone: nobody can write
        could.append(one.may_work)
        assert could == [True, False]
        stage.clock.advance(2 * BEAT)
        one.lost_sight()
        await one.beat("a")
        await one.look()
        assert one.may_work
        assert one.orphans() == [], "the other could not write either"
        await pass_time(stage, 3.5, [one])
        assert one.orphans() == ["b"]

    play(server, scene)


def test_a_heartbeat_that_came_late_is_not_taken_for_another_process(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        one = stage.process()
        await one.claim("a")
        found = await stage.board.get("node.a", NodeRecord)
        assert found is not None
        await stage.board.replace("node.a", found[0], found[1])  # ours, though nobody told us that it was written
        with pytest.raises(EnvironmentFailure) as late:
            await one.beat("a")
        assert not isinstance(late.value, Fenced)
        await one.beat("a")

    play(server, scene)


def test_two_heartbeats_of_one_process_at_once_are_no_strangers(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        process = stage.process()
        await process.claim("a")
        await asyncio.gather(*(process.beat("a", pages=number) for number in range(5)))
        found = await stage.board.get("node.a", NodeRecord)
        assert found is not None
        assert (found[0].beat, found[0].pages) == (5, 4)

    play(server, scene)


def test_two_who_change_a_record_do_not_undo_each_other(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        board = stage.board
        record = NodeRecord("a", "m", 1, 0, version="1", machine="x", folder="/", pid=1)
        assert await board.create("k", record) is not None
        found = await board.get("k", NodeRecord)
        assert found is not None
        assert await board.replace("k", NodeRecord("a", "n", 2, 0, "1", "x", "/", 1), found[1]) is not None
        assert await board.replace("k", NodeRecord("a", "o", 2, 0, "1", "x", "/", 1), found[1]) is None

    play(server, scene)


def test_one_job_a_name_and_one_version_a_crawl(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        board = stage.board
        await submit(board, "job = 1", NODES, "1.0")
        assert (await submit(board, "job = 1", NODES, "1.0")).state == "running"
        with pytest.raises(ConfigError, match="another job"):
            await submit(board, "job = 2", NODES, "1.0")
        await board.put("crawl", CrawlRecord(99, "9.9", "job = 1", NODES))
        with pytest.raises(EnvironmentFailure, match=r"Periplus 9\.9"):
            await read_crawl(board, "1.0")

    play(server, scene)


def test_orders_are_kept(server: NatsServer) -> None:
    async def scene(stage: Stage) -> None:
        assert await order(stage.board._client, stage.board, "x", "paused", "") is None
        await submit(stage.board, "job = 1", NODES, "1.0")
        await order(stage.board._client, stage.board, "x", "paused", "")
        record = await read_crawl(stage.board, "1.0")
        assert record is not None
        assert record.state == "paused"

    play(server, scene)
