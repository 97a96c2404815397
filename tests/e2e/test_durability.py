"""What a crawl takes up again: how long that takes, and what a wrong clock does to it."""

import sqlite3
import time
from datetime import datetime, timedelta
from pathlib import Path

from crawl_values import open_store
from fake_clock import FakeClock

from periplus.clock import steady
from periplus.frontier.queue import UNBELIEVED_WAIT_SECONDS, UrlQueue
from periplus.store.database import open_reader

HOSTS, EACH = 1_000, 100


class JumpingClock(FakeClock):
    """A clock whose wall time somebody sets."""

    def __init__(self) -> None:
        super().__init__()
        self.jumped = timedelta()

    def now(self) -> datetime:
        return super().now() + self.jumped


def filled(folder: Path, *, not_before: float = 0.0, each: int = EACH) -> sqlite3.Connection:
    """A node's database with a hundred thousand queued URLs, open for reading."""
    store = open_store(folder)
    db = store.db
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO host (id, name, domain) VALUES (?, ?, '')", ((n + 1, f"h{n}.example") for n in range(HOSTS))
    )
    db.executemany(
        "INSERT INTO url (url, fingerprint, host_id, depth, priority) VALUES (?, ?, ?, 0, 1)",
        ((f"http://h{n % HOSTS}.example/{n}", n, n % HOSTS + 1) for n in range(HOSTS * each)),
    )
    if not_before:
        db.execute("INSERT INTO progress (id, not_before) SELECT id, ? FROM url", (not_before,))
    db.execute("COMMIT")
    path = folder / "main" / "node.db"
    store.close()
    return open_reader(path)


def test_K4_taking_up_a_frontier_is_one_scan(tmp_path: Path) -> None:
    """Five seconds for a million URLs are the aim; a tenth of them may take ten times as long here, not for ever."""
    queue = UrlQueue(filled(tmp_path))
    began = time.process_time()
    hosts = queue.load(0.0)
    assert time.process_time() - began < 5.0
    assert (len(hosts), queue.size) == (HOSTS, HOSTS * EACH)
    queue.close()


def test_K6_jumps_of_the_wall_clock_move_no_delay() -> None:
    clock = JumpingClock()
    unix = steady(clock)
    began = unix()
    for jump in (timedelta(hours=-1), timedelta(days=1), timedelta(hours=1), timedelta(days=-20_000)):
        clock.jumped = jump
        clock.advance(10.0)
    assert unix() - began == 40.0


def test_K6_what_was_put_off_under_a_wrong_clock_is_not_put_off_for_long(tmp_path: Path) -> None:
    """Rows of a run whose clock was ten years ahead: they are due after a few minutes."""
    now = 1_000_000.0
    queue = UrlQueue(filled(tmp_path, not_before=now + 10 * 365 * 86_400.0, each=2))
    queue.load(now)
    due = queue.next_due("h7.example", now)
    assert due == now + UNBELIEVED_WAIT_SECONDS
    assert queue.lease("h7.example", now) is None
    assert queue.lease("h7.example", now + UNBELIEVED_WAIT_SECONDS) is not None
    queue.close()
