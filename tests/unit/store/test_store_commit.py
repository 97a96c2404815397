"""The commit: all of a batch or nothing, accounts that add up, and the folder's lock."""

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from crawl_values import analysis, fetched, lease, new_url, open_store, place, routed

from periplus.errors import Corrupt, DiskFull, EnvironmentFailure, FolderInUse, NotACrawl
from periplus.fetch import RobotsRecord
from periplus.model import Lease, Outcome, Parcel, WeightedPlace
from periplus.store.commit import Batch, Completion, Delivery, NodeStore
from periplus.store.database import open_reader, open_writer, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.store.records import scan_records
from periplus.store.summary import summarize

TABLES = ("host", "url", "progress", "queue", "spent", "page", "page_text", "page_place", "place", "entity", "link",
          "outcome", "dropped", "outbox", "inbox", "traffic", "robots")  # fmt: skip


def contents(store: NodeStore) -> dict[str, list[object]]:
    db = open_reader(store.folder.database)
    try:
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}
    finally:
        db.close()


def seeded(folder: Path, count: int = 3) -> tuple[NodeStore, list[Lease]]:
    store = open_store(folder, nodes=("main", "other"))
    committed = store.commit(Batch(seeds=[new_url(f"http://x.com/{number}") for number in range(count)]))
    return store, [queued for queued, _ in committed.queued]


def completion(done: Lease, number: int = 0, body: bytes = b"<p>text") -> Completion:
    response = fetched(done.url, body)
    found = analysis(
        routed(f"http://x.com/new/{number}", "main"),
        routed(f"http://y.com/new/{number}", "other"),
        response=response,
        digest=number,
        places=(WeightedPlace(place(5, "Five", (1, 2)), 0.75), WeightedPlace(place(6), 0.25)),
    )
    return Completion(
        done,
        Outcome.KEPT,
        host_not_before=123.5,
        fetched=response,
        analysis=found,
        topic="floods",
        new_urls=(new_url(f"http://x.com/new/{number}"),),
        parcels=(Parcel("other", new_url(f"http://y.com/new/{number}", priority=0.25, depth=2)),),
        dropped={"seen": 2},
    )


def test_a_page_and_all_it_brought(tmp_path: Path) -> None:
    store, (first, *_) = seeded(tmp_path)
    committed = store.commit(Batch(completions=[completion(first)]))
    db = store.db
    assert [queued.url for queued, _ in committed.queued] == ["http://x.com/new/0"]
    assert [(sequence, parcel.url.url) for sequence, parcel in committed.outbox] == [(1, "http://y.com/new/0")]
    assert db.execute("SELECT state, outcome, attempts FROM known_url WHERE id = ?", (first.url_id,)).fetchone() == (
        1,
        "kept",
        1,
    )
    row = db.execute("SELECT url, kept, topic, main_place, warc_offset, domain FROM page").fetchone()
    assert row[:4] == ("http://x.com/0", 1, "floods", 5)
    assert row[4] > 0
    assert row[5] == "x.com"
    assert db.execute("SELECT place_id, weight FROM page_place ORDER BY 1").fetchall() == [(5, 0.75), (6, 0.25)]
    assert db.execute("SELECT name, path, ancestors FROM place WHERE id = 5").fetchone() == (
        "Five",
        '["P1", "P2", "Five"]',
        "[1, 2]",
    )
    marks, nodes = db.execute("SELECT fingerprints, nodes FROM link").fetchone()
    names = dict(db.execute("SELECT id, name FROM node_name").fetchall())
    assert [names[number] for number in np.frombuffer(nodes, "<u2").tolist()] == ["main", "other"]
    assert np.frombuffer(marks, "<i8").tolist()[0] == new_url("http://x.com/new/0").fingerprint
    assert db.execute("SELECT not_before FROM host WHERE name = 'x.com'").fetchone() == (123.5,)
    assert db.execute("SELECT receiver, url, priority, depth FROM outbox").fetchall() == [
        ("other", "http://y.com/new/0", 0.25, 2)
    ]
    assert db.execute("SELECT peer, sent, received FROM traffic").fetchall() == [("other", 1, 0)]
    assert db.execute("SELECT * FROM dropped").fetchall() == [("seen", 2)]
    store.close()


def test_pages_that_are_not_kept_leave_no_text_and_no_record(tmp_path: Path) -> None:
    store, (first, *_) = seeded(tmp_path)
    found = analysis(outcome=Outcome.NOT_RELEVANT)
    store.commit(
        Batch(completions=[Completion(first, Outcome.NOT_RELEVANT, fetched=fetched(first.url), analysis=found)])
    )
    assert store.db.execute("SELECT kept, warc_file FROM page").fetchall() == [(0, None)]
    assert store.db.execute("SELECT count(*) FROM page_text").fetchone() == (0,)
    assert not store.folder.archive.exists()
    store.close()


def test_revisions_grow_also_over_restarts(tmp_path: Path) -> None:
    store, leases = seeded(tmp_path)
    store.commit(Batch(completions=[completion(leases[0], 0)]))
    store.close()
    again = open_store(tmp_path, nodes=("main", "other"))
    again.commit(Batch(completions=[completion(leases[1], 1), completion(leases[2], 2)]))
    rows = again.db.execute("SELECT id, revision FROM page ORDER BY id").fetchall()
    assert rows == [(1, 1), (2, 2), (3, 3)]
    again.close()


def test_deliveries_confirmations_and_robots(tmp_path: Path) -> None:
    store, (first, *_) = seeded(tmp_path)
    store.commit(Batch(completions=[completion(first)]))
    record = RobotsRecord("http://x.com", "found", b"User-agent: *", 1.0, 2.0, 0)
    urls = (new_url("http://z.com/1"), new_url("http://z.com/2"))
    batch = Batch(deliveries=[Delivery("other", 9, urls, 3, 1)], confirmed={"other": 1}, robots=[record])
    assert [queued.url for queued, _ in store.commit(batch).queued] == ["http://z.com/1", "http://z.com/2"]
    assert store.db.execute("SELECT * FROM inbox").fetchall() == [("other", 9)]
    assert store.db.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
    assert store.db.execute("SELECT sent, received, duplicate FROM traffic").fetchall() == [(1, 3, 1)]
    row = store.db.execute("SELECT origin, status, body, fetched_at, expires_at, failures FROM robots").fetchone()
    assert RobotsRecord(*row) == record
    store.close()


def test_a_full_disk_leaves_nothing_of_the_batch(tmp_path: Path) -> None:
    store, leases = seeded(tmp_path, 40)
    store.commit(Batch(completions=[completion(leases[0], 0)]))
    before = contents(store)
    pages = store.db.execute("PRAGMA page_count").fetchone()[0]
    store.db.execute(f"PRAGMA max_page_count = {pages + 1}")
    big = Batch(
        completions=[completion(one, number, b"x" * 20_000) for number, one in enumerate(leases[1:], 1)],
        seeds=[new_url(f"http://many.com/{'y' * 500}/{number}") for number in range(200)],
    )
    with pytest.raises(DiskFull, match="no room left"):
        store.commit(big)
    assert contents(store) == before
    store.db.execute("PRAGMA max_page_count = 1000000")
    store.commit(big)  # the same batch of the same store, once there is room
    assert store.db.execute("SELECT count(*) FROM page").fetchone() == (40,)
    rows = store.db.execute("SELECT url, warc_offset, warc_length FROM page ORDER BY id").fetchall()
    (file,) = (tmp_path / "main" / "archive").iterdir()
    found = [(r.url, r.offset, r.length) for r in scan_records(file) if r.kind == "response"]
    assert found == rows  # no gap, no overlap, nothing of the failed try
    assert store.db.execute("SELECT count(*) FROM url").fetchone() == (40 + 200 + 40,)
    store.close()


def test_a_failing_batch_leaves_nothing_wherever_it_fails(tmp_path: Path) -> None:
    """The n-th statement fails, for every n."""
    store, leases = seeded(tmp_path)
    before = contents(store)
    batch = Batch(
        completions=[completion(leases[0], 0)],
        seeds=[new_url("http://s.com/")],
        deliveries=[Delivery("other", 3, (new_url("http://d.com/"),), 1)],
        robots=[RobotsRecord("http://x.com", "absent", b"", 1.0, 2.0)],
    )
    for number in range(1, 200):
        calls = 0

        def deny(*_: object, stop: int = number) -> int:
            nonlocal calls
            calls += 1
            return sqlite3.SQLITE_DENY if calls == stop else sqlite3.SQLITE_OK

        broken = open_store(tmp_path, nodes=("main", "other"))
        broken.db.set_authorizer(deny)
        try:
            broken.commit(batch)
        except (sqlite3.DatabaseError, EnvironmentFailure):
            broken.db.set_authorizer(None)
            assert contents(broken) == before, f"statement {number}"
        else:
            assert number > 20
            break
        finally:
            broken.close()
    store.close()


def test_a_store_killed_at_any_moment_has_whole_batches_only(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2] / "support")!r})
from pathlib import Path
from crawl_values import new_url, open_store
from periplus.store.commit import Batch
store = open_store(Path({str(tmp_path)!r}))
number = 0
print("ready", flush=True)
while True:
    store.commit(Batch(seeds=[new_url(f"http://x.com/{{number}}/{{part}}") for part in range(10)]))
    number += 1
    print(number, flush=True)
"""
    numbers = random.Random(3)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(numbers.randint(2, 60)):
            process.stdout.readline()
        process.kill()
        process.communicate()
        store = open_store(tmp_path)
        assert store.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.db.execute("SELECT count(*) % 10 FROM url").fetchone() == (0,)
        store.close()


def test_the_accounts_add_up(tmp_path: Path) -> None:
    numbers = random.Random(8)
    folder = CrawlFolder(tmp_path)
    folder.write_job("name = 'x'\n")
    leases = 0
    for first, node in ((0, "a"), (1_000, "b")):
        store = open_store(tmp_path / "nodes", node=node, nodes=("a", "b", "main", "other"))
        waiting = [
            queued
            for queued, _ in store.commit(Batch(seeds=[new_url(f"http://{node}.com/{n}") for n in range(50)])).queued
        ]
        for number in range(first, first + 120):
            if not waiting:
                break
            one = waiting.pop(0)
            leases += 1
            outcome = numbers.choice([Outcome.KEPT, Outcome.RETRY, Outcome.HTTP_ERROR, Outcome.ROBOTS])
            done = completion(one, number) if outcome is Outcome.KEPT else Completion(one, outcome)
            store.commit(Batch(completions=[done]))
            if outcome is Outcome.RETRY:
                waiting.append(one)
        store.close()
    summary = summarize(folder, "test", 2.0, 10)
    assert sum(summary.outcomes.values()) == leases
    assert summary.pages == summary.kept == summary.outcomes["kept"] == sum(n.pages for n in summary.nodes.values())
    assert summary.pages_per_second == 5.0
    assert summary.dropped == {"seen": 2 * summary.kept}
    assert summary.nodes["a"].sent == summary.nodes["a"].kept
    queued = sum(
        open_reader(folder.node(node).database).execute("SELECT count(*) FROM known_url WHERE state = 0").fetchone()[0]
        for node in ("a", "b")
    )
    assert summary.queued == queued + summary.kept  # each kept page left one parcel in the outbox
    assert summary.seen == 100 + 2 * summary.kept  # each kept page brought one URL of its own and one for another


# -- Databases and folders -------------------------------------------------------------------------------


def test_a_file_that_is_not_a_database_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    path.write_bytes(b"this is not a database, and long enough to be taken for one" * 50)
    with pytest.raises(Corrupt, match=r"node\.db"):
        open_writer(path)
    with pytest.raises(Corrupt):
        open_reader(path)
    with pytest.raises(NotACrawl):
        open_reader(tmp_path / "missing.db")


def test_a_database_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "node.db"
    open_writer(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(Corrupt, match="version 99"):
        open_writer(path)


def test_errors_of_the_system_become_one_line(tmp_path: Path) -> None:
    for number, kind in ((28, DiskFull), (122, DiskFull), (13, EnvironmentFailure), (5, EnvironmentFailure)):
        with pytest.raises(kind, match=str(tmp_path)), storage_errors(tmp_path):
            raise OSError(number, os.strerror(number))


def test_a_second_process_is_kept_out_and_told_by_whom(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    with folder.locked():
        code = (
            "import sys\nfrom pathlib import Path\nfrom periplus.errors import FolderInUse\n"
            "from periplus.store.folder import CrawlFolder\n"
            "try:\n    with CrawlFolder(Path(sys.argv[1])).locked(): print('in')\n"
            "except FolderInUse as error: print(error)\n"
        )
        told = subprocess.run(
            [sys.executable, "-c", code, str(folder.path)], capture_output=True, text=True, check=True
        ).stdout
        assert f"process {os.getpid()} " in told
        with pytest.raises(FolderInUse), folder.locked():
            pass
    with folder.locked():
        pass  # free again


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, os, signal\nfrom pathlib import Path\nfrom periplus.store.folder import CrawlFolder\n"
        "with CrawlFolder(Path(sys.argv[1])).locked(): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    with CrawlFolder(tmp_path).locked():
        pass


def test_folders(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NotACrawl):
            CrawlFolder.existing(path)
    folder = CrawlFolder(tmp_path)
    folder.write_job("name = 'x'\n")
    open_store(tmp_path / "nodes", node="b").close()
    open_store(tmp_path / "nodes", node="a").close()
    assert [node.name for node in CrawlFolder.existing(tmp_path).nodes()] == ["a", "b"]
    assert folder.job_file.read_text() == "name = 'x'\n"
    folder.check_room(0)
    with pytest.raises(DiskFull, match="disk_reserve_bytes"):
        folder.check_room(2**62)


def test_retries_keep_their_time(tmp_path: Path) -> None:
    store, (first, *_) = seeded(tmp_path)
    store.commit(Batch(completions=[Completion(first, Outcome.RETRY, retry_at=99.0)]))
    assert store.db.execute("SELECT state, attempts, not_before FROM known_url WHERE id = 1").fetchone() == (0, 1, 99.0)
    later = lease(first.url, url_id=first.url_id, attempts=1)
    store.commit(Batch(completions=[Completion(later, Outcome.SERVER_ERROR)]))
    assert store.db.execute("SELECT state, outcome, attempts FROM known_url WHERE id = 1").fetchone() == (
        1,
        "server_error",
        2,
    )
    store.close()
