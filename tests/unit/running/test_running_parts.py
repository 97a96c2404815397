"""What a crawl tells while it runs: log, metrics, progress, pauses, and a loop that stands still."""

import asyncio
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_clock import FakeClock

from periplus.errors import DiskFull, PortTaken, UsageError
from periplus.running import (
    DiskRoom,
    Journal,
    Progress,
    ProgressFile,
    Rate,
    Sample,
    Watchdog,
    disk,
    exposition,
    serve_metrics,
    time_left,
    why_empty,
)
from periplus.store.folder import CrawlFolder


def journal(folder: Path, max_bytes: int = 2**20) -> Journal:
    return Journal(folder / "log.jsonl", max_bytes, FakeClock().now)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# -- Log -----------------------------------------------------------------------------------------------


def test_each_line_of_the_log_is_one_json_object(tmp_path: Path) -> None:
    log = journal(tmp_path)
    log.write("started", pid=7, nodes=["a", "b"])
    log.write("odd", text='"quotes"\nand lines\u2028', path=tmp_path)
    log.close()
    first, second = lines(tmp_path / "log.jsonl")
    assert first == {"time": "2026-03-01T12:00:00.000+00:00", "event": "started", "pid": 7, "nodes": ["a", "b"]}
    assert second["text"] == '"quotes"\nand lines\u2028'


def test_the_log_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    log = journal(tmp_path, max_bytes=5_000)
    for number in range(1_000):
        log.write("event", number=number)
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.1.jsonl", "log.jsonl"]
    assert all(path.stat().st_size <= 5_000 for path in tmp_path.iterdir())
    numbers = [line["number"] for name in ("log.1.jsonl", "log.jsonl") for line in lines(tmp_path / name)]
    assert numbers == list(range(1_000 - len(numbers), 1_000))


def test_a_torn_line_stays_alone(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"event": "torn')
    log = journal(tmp_path)
    log.write("next")
    log.close()
    text = (tmp_path / "log.jsonl").read_text("utf-8").splitlines()
    assert text[0] == '{"event": "torn'
    assert json.loads(text[1])["event"] == "next"


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    log = Journal(tmp_path / "absent" / "log.jsonl", 2**20, FakeClock().now)
    log.write("lost")
    assert log.lost == 1
    (tmp_path / "absent").mkdir()
    log.write("kept")
    log.close()
    assert [line["event"] for line in lines(tmp_path / "absent" / "log.jsonl")] == ["kept"]
    Journal(None, 2**20, FakeClock().now).write("nowhere")


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    log = journal(tmp_path)

    def talk() -> None:
        for _ in range(200):
            log.write("event", text="x" * 200)

    threads = [threading.Thread(target=talk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    assert len(lines(tmp_path / "log.jsonl")) == 800


# -- Metrics -------------------------------------------------------------------------------------------

SAMPLES = [
    Sample.single("pages_total", "counter", "Pages.", 12_345_678),
    Sample("leases_total", "counter", "Leases.", {"kept": 3, 'o"dd\n\\': 0.5}, "outcome"),
]
TEXT = """# HELP periplus_pages_total Pages.
# TYPE periplus_pages_total counter
periplus_pages_total 12345678
# HELP periplus_leases_total Leases.
# TYPE periplus_leases_total counter
periplus_leases_total{outcome="kept"} 3
periplus_leases_total{outcome="o\\"dd\\n\\\\"} 0.5
"""


def test_metrics_are_in_prometheus_text_form() -> None:
    assert exposition(SAMPLES) == TEXT


async def ask(port: int, request: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.decode()


@pytest.mark.parametrize(
    ("request_line", "host", "status"),
    [
        ("GET /metrics HTTP/1.1", "127.0.0.1", "200 OK"),
        ("GET /metrics?x=1 HTTP/1.1", "localhost:9090", "200 OK"),
        ("GET / HTTP/1.1", "127.0.0.1", "404 Not Found"),
        ("POST /metrics HTTP/1.1", "127.0.0.1", "405 Method Not Allowed"),
        ("GET /metrics HTTP/1.1", "evil.example", "421 Misdirected Request"),
        ("nonsense", "127.0.0.1", "405 Method Not Allowed"),
    ],
)
def test_metrics_are_served_on_loopback(request_line: str, host: str, status: str) -> None:
    async def story() -> str:
        async with serve_metrics("127.0.0.1", 0, lambda: exposition(SAMPLES)) as port:
            assert port
            return await ask(port, f"{request_line}\r\nHost: {host}\r\n\r\n")

    answer = asyncio.run(story())
    assert answer.startswith(f"HTTP/1.1 {status}\r\n")
    assert ("periplus_pages_total" in answer) == (status == "200 OK")


def test_requests_without_end_are_cut_off() -> None:
    async def story() -> str:
        async with serve_metrics("127.0.0.1", 0, lambda: "") as port:
            assert port
            return await ask(port, "GET /" + "x" * 100_000)

    assert asyncio.run(asyncio.wait_for(story(), 60)) == ""


def test_a_taken_port_is_one_clear_line() -> None:
    async def story() -> None:
        async with serve_metrics("127.0.0.1", 0, lambda: "") as port, serve_metrics("127.0.0.1", port, lambda: ""):
            pass

    with pytest.raises(PortTaken, match="take another port"):
        asyncio.run(story())


def test_without_a_port_nothing_listens() -> None:
    async def story() -> int | None:
        async with serve_metrics("127.0.0.1", None, lambda: "") as port:
            return port

    assert asyncio.run(story()) is None


# -- Progress ------------------------------------------------------------------------------------------


def test_the_rate_is_that_of_the_last_half_minute() -> None:
    rate = Rate()
    assert rate.at(0.0, 100) == 0.0
    assert rate.at(10.0, 200) == 10.0
    for second in range(20, 200, 10):
        assert rate.at(float(second), 200) <= 10.0
    assert rate.at(200.0, 200) == 0.0
    assert rate.at(210.0, 1_100) == 30.0


@pytest.mark.parametrize(
    ("so_far", "limits", "left"),
    [
        ((10, 5.0, 1.0), (0, 0.0), None),
        ((10, 5.0, 1.0), (110, 0.0), 20.0),
        ((10, 0.0, 1.0), (110, 0.0), None),
        ((10, 5.0, 50.0), (110, 1.0), 10.0),
        ((10, 0.0, 90.0), (0, 1.0), 0.0),
        ((120, 5.0, 1.0), (110, 0.0), 0.0),
    ],
)
def test_time_left(so_far: tuple[int, float, float], limits: tuple[int, float], left: float | None) -> None:
    (pages, rate, seconds), (limit, minutes) = so_far, limits
    found = time_left(pages=pages, page_limit=limit, rate=rate, seconds=seconds, minutes_limit=minutes)
    assert found == left


def test_errors_by_kind() -> None:
    outcomes = Counter({"kept": 9, "redirected": 3, "retry": 2, "dns_error": 5})
    now = Progress(9, 9, 0, 1, 1, 1.0, 9, 0, 9.0, None, "", outcomes)
    assert list(now.errors.items()) == [("dns_error", 5), ("retry", 2)]


@pytest.mark.parametrize(
    ("dropped", "outcomes", "reason"),
    [
        ({}, {"kept": 3}, "frontier empty"),
        ({"seen": 90}, {}, "frontier empty"),
        ({}, {"kept": 3, "http_error": 2}, "frontier empty"),
        (
            {"seen": 1},
            {"redirected": 1, "retry": 3, "http_error": 2},
            "frontier empty: no page was read (2 http error, 1 redirected)",
        ),
        ({"seen": 1}, {"redirected": 2}, "frontier empty: no page was read (2 redirected)"),
        (
            {"seen": 90, "depth": 312},
            {"robots": 40},
            "frontier empty: 312 URLs dropped by depth, 40 by robots",
        ),
        (
            {"host_pages": 5, "not_http": 4, "nofollow": 3, "depth": 2, "page_links": 1},
            {"blocked": 1_000},
            "frontier empty: 1,000 URLs dropped by address guard, 5 by host pages, 4 by not http, 3 by nofollow, "
            "3 for other reasons",
        ),
    ],
)
def test_an_empty_frontier_says_what_kept_the_crawl_from_going_on(
    dropped: dict[str, int], outcomes: dict[str, int], reason: str
) -> None:
    assert why_empty(Counter(dropped), Counter(outcomes)) == reason


# -- Disk ----------------------------------------------------------------------------------------------


class Disk:
    """How much room there is, as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.low = False
        monkeypatch.setattr(CrawlFolder, "check_room", self.check)

    def check(self, _: int) -> None:
        if self.low:
            raise DiskFull("low; free some and run the same command again")


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_low_disk_pauses_and_room_lets_it_go_on(tmp_path: Path, space: Disk) -> None:
    log, clock = journal(tmp_path), FakeClock()
    room = DiskRoom(CrawlFolder(tmp_path), 1, 60.0, clock, log)
    room.look()
    assert room.paused == ""
    space.low = True
    room.look()
    assert room.paused == "low"
    clock.advance(100)
    room.look()
    space.low = False
    room.look()
    assert room.paused == ""
    log.close()
    assert [(line["event"], line.get("paused_seconds")) for line in lines(tmp_path / "log.jsonl")] == [
        ("paused", None),
        ("goes on", 100.0),
    ]


def test_a_pause_has_an_end(tmp_path: Path, space: Disk) -> None:
    clock = FakeClock()
    room = DiskRoom(CrawlFolder(tmp_path), 1, 1.0, clock, journal(tmp_path))
    space.low = True
    room.look()
    clock.advance(59)
    room.look()
    clock.advance(1)
    with pytest.raises(DiskFull):
        room.look()


def test_a_write_that_found_no_room_is_tried_again_until_it_succeeds(tmp_path: Path, space: Disk) -> None:
    clock = FakeClock()
    room = DiskRoom(CrawlFolder(tmp_path), 0, 1.0, clock, journal(tmp_path))

    async def story() -> int:
        tries = 0
        while tries < 10:
            await room.wait(DiskFull("full"), lambda: False)
            room.look()
            assert room.paused, "room elsewhere on the disk is not enough: this write has to succeed"
            tries += 1
        room.wrote()
        return tries

    assert asyncio.run(story()) == 10
    assert clock.monotonic() == 10 * disk.RETRY_SECONDS
    assert room.paused == ""


def test_whoever_interrupts_a_pause_ends_it(tmp_path: Path, space: Disk) -> None:
    room = DiskRoom(CrawlFolder(tmp_path), 0, 1.0, FakeClock(), journal(tmp_path))
    with pytest.raises(DiskFull):
        asyncio.run(room.wait(DiskFull("full"), lambda: True))


# -- Watchdog ------------------------------------------------------------------------------------------


def stand_still(until: Callable[[], bool]) -> None:
    """Block the loop until the watchdog has noticed, a minute at most."""
    deadline = time.monotonic() + 60.0
    while not until() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_blocked_loop_is_reported_with_what_blocks_it(tmp_path: Path) -> None:
    log = journal(tmp_path)
    dog = Watchdog(0.1, log)

    async def story() -> None:
        async with dog:
            stand_still(lambda: dog.blocks > 0)
            for _ in range(600):  # until it has seen the loop run again
                if "runs again" in (tmp_path / "log.jsonl").read_text("utf-8"):
                    return
                await asyncio.sleep(0.1)

    asyncio.run(story())
    log.close()
    blocked, again = lines(tmp_path / "log.jsonl")[:2]
    assert blocked["event"] == "loop blocked"
    assert any("stand_still" in str(frame) for frame in blocked["stack"])  # type: ignore[attr-defined]
    assert again["event"] == "loop runs again"
    assert dog.blocks >= 1
    assert dog.longest_seconds >= 0.1


def test_a_watchdog_of_no_seconds_does_not_watch(tmp_path: Path) -> None:
    dog = Watchdog(0.0, journal(tmp_path))

    async def story() -> None:
        before = threading.active_count()
        async with dog:
            assert threading.active_count() == before

    asyncio.run(story())
    assert dog.blocks == 0


def test_the_progress_is_kept_in_no_pipe_and_no_folder(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(UsageError, match="not a file; name a file"):
            ProgressFile(path)
    assert pipe.is_fifo()
