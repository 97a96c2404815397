"""`periplus verify`: every kind of damage is found, named, and put right where that is possible."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import zstandard
from command_line import periplus
from crawl_values import analysis, fetched, lease, new_url, open_store
from warcio.archiveiterator import ArchiveIterator

from periplus.errors import FolderInUse
from periplus.index import NodeIndex
from periplus.model import Outcome, Parcel
from periplus.store.commit import Batch, Completion, Delivery
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder
from periplus.store.gaps import Gap, close_gap
from periplus.store.records import scan_records
from periplus.verify import Report, verify_crawl

PAGES = 12
NODES = ("main", "other")


def make_crawl(folder: Path) -> CrawlFolder:
    """A crawl of two nodes as it is left on disk."""
    for name in NODES:
        store = open_store(folder / "nodes", node=name, nodes=NODES)
        host = f"{name}.test"
        queued = store.commit(Batch(seeds=[new_url(f"http://{host}/{number}") for number in range(PAGES)])).queued
        done = []
        for number, (leased, _) in enumerate(queued):
            response = fetched(leased.url, b"<p>%d" % (number % (PAGES - 2)) * 20)
            found = msgspec.structs.replace(
                analysis(response=response, digest=number % (PAGES - 2)),
                text=zstandard.compress(f"Text {number} about floods".encode()),
                mentions=zstandard.compress(b"[]"),
            )
            outcome = Outcome.KEPT if number < PAGES - 2 else Outcome.DUPLICATE
            parcels = (Parcel("other" if name == "main" else "main", new_url(f"http://far.test/{name}/{number}")),)
            done.append(Completion(leased, outcome, fetched=response, analysis=found, parcels=parcels))
        store.commit(Batch(completions=done))
        store.commit(Batch(deliveries=[Delivery("other" if name == "main" else "main", 5, (), 5)]))
        with closing(open_reader(store.folder.database)) as db:
            NodeIndex.open(store.folder.index).update(db)
        store.close()
    (folder / "crawl.toml").write_text('name = "test"\n', "utf-8")
    return CrawlFolder(folder)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_crawl(tmp_path_factory.mktemp("sound") / "crawl").path


@pytest.fixture
def crawl(sound: Path, tmp_path: Path) -> CrawlFolder:
    shutil.copytree(sound, tmp_path / "crawl")
    return CrawlFolder(tmp_path / "crawl")


def change(crawl: CrawlFolder, *statements: str) -> None:
    with closing(sqlite3.connect(crawl.node("main").database)) as db, db:
        for statement in statements:
            db.execute(statement)


def warc(crawl: CrawlFolder) -> Path:
    (path,) = crawl.node("main").archive.iterdir()
    return path


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def problems(report: Report) -> list[str]:
    return [f"{problem.part}: {problem.what}" for problem in report.problems]


def test_a_sound_crawl_is_sound(crawl: CrawlFolder) -> None:
    report = verify_crawl(crawl, repair=False)
    assert (report.ok, report.problems) == (True, [])
    node = report.nodes["main"]
    assert (node.pages, node.kept, node.indexed) == (PAGES, PAGES - 2, PAGES - 2)
    assert node.records == 1 + 3 * PAGES  # warcinfo; response or revisit, request, metadata
    kinds = [record.kind for record in scan_records(warc(crawl))]
    assert (kinds.count("response"), kinds.count("revisit")) == (PAGES - 2, 2)


def damage_text(crawl: CrawlFolder) -> None:
    change(crawl, "UPDATE page_text SET text = x'0011' WHERE page_id = 3")


def damage_record(crawl: CrawlFolder) -> None:
    record = next(record for record in scan_records(warc(crawl)) if record.url == "http://main.test/4")
    overwrite(warc(crawl), record.offset + record.length // 2, b"\xff\x00\xff\x00")


def cut_archive(crawl: CrawlFolder) -> None:
    path = warc(crawl)
    overwrite(path, 0, b"")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size * 2 // 3)


def extend_archive(crawl: CrawlFolder) -> None:
    with warc(crawl).open("ab") as file:
        file.write(b"\x1f\x8b\x08 torn")


def stray_file(crawl: CrawlFolder) -> None:
    (crawl.node("main").archive / "main-00009.warc.gz").write_bytes(b"x")


def remove_archive(crawl: CrawlFolder) -> None:
    warc(crawl).unlink()


def break_index(crawl: CrawlFolder) -> None:
    for path in crawl.node("main").index.iterdir():
        if path.suffix not in (".json", ".lock"):
            path.write_bytes(b"broken")


def remove_index(crawl: CrawlFolder) -> None:
    shutil.rmtree(crawl.node("main").index)


def flip_a_bit_in_index(crawl: CrawlFolder) -> None:
    """What the library would not notice: it opens such an index and answers from it."""
    (path,) = crawl.node("main").index.glob("*.store")
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def forget_in_index(crawl: CrawlFolder) -> None:
    """A page that the index has seen as not kept is kept after all."""
    change(crawl, "UPDATE page SET kept = 1 WHERE id = 11", "INSERT INTO page_text SELECT 11, text, mentions "
           "FROM page_text WHERE page_id = 1", "UPDATE page SET warc_file = NULL WHERE id = 11")  # fmt: skip


DAMAGE: dict[str, tuple[Callable[[CrawlFolder], None], str]] = {
    "text lost": (lambda c: change(c, "DELETE FROM page_text WHERE page_id = 2"), "database: kept pages have no text"),
    "text broken": (damage_text, "database: texts of kept pages cannot be unpacked"),
    "page lost": (
        lambda c: change(c, "DELETE FROM page_text WHERE page_id = 2", "DELETE FROM page WHERE id = 2"),
        "database: URLs are done and have no page",
    ),
    "state": (
        lambda c: change(c, "UPDATE progress SET state = 7 WHERE id = 5"),
        "database: URLs are in a state that does not exist",
    ),
    "fingerprint": (
        lambda c: change(c, "UPDATE url SET fingerprint = 7 WHERE id = 5"),
        "database: URLs have a wrong fingerprint",
    ),
    "turn lost": (
        lambda c: change(c, "UPDATE progress SET state = 0 WHERE id = 5", "DELETE FROM queue"),
        "database: URLs are queued and have no turn",
    ),
    "turn twice": (
        lambda c: change(c, "INSERT INTO queue SELECT host_id, priority + 1, id FROM url WHERE id = 5"),
        "database: URLs have a turn and are not queued",
    ),
    "turn under another priority": (
        lambda c: change(c, "UPDATE progress SET state = 0 WHERE id = 5", "UPDATE queue SET priority = 7 WHERE id = 5"),
        "database: URLs are queued and have no turn",
    ),
    "nobody's progress": (
        lambda c: change(c, "INSERT INTO progress (id, state, outcome) VALUES (999, 1, 'http_error')"),
        "database: something has happened to URLs that are not known",
    ),
    "nobody's retry": (
        lambda c: change(c, "INSERT INTO progress (id, priority, attempts) VALUES (999, 0.5, 1)"),
        "database: something has happened to URLs that are not known",
    ),
    "progress lost": (  # so that it is queued again
        lambda c: change(c, "DROP TRIGGER url_is_as_it_joined", "DELETE FROM progress WHERE id = 5"),
        "database: URLs are queued and have no turn",
    ),
    "another's sitemap entry": (
        lambda c: change(c, "UPDATE progress SET state = 2, fingerprint = 7 WHERE id = 5"),
        "database: URLs wait for a visit and have another's fingerprint",
    ),
    "turn of another's": (
        lambda c: change(c, "DELETE FROM spent"),
        "database: URLs have a turn and are not queued",
    ),
    "offset": (
        lambda c: change(c, "UPDATE page SET warc_offset = warc_offset + 1 WHERE id = 3"),
        "archive: pages name a record that is not there, not theirs or damaged",
    ),
    "another's record": (
        lambda c: change(c, "UPDATE page SET (warc_offset, warc_length) = "
                            "(SELECT warc_offset, warc_length FROM page WHERE id = 4) WHERE id = 3"),
        "archive: pages name a record that is not there, not theirs or damaged",
    ),
    "archive short": (cut_archive, "archive: the archive is shorter than what was committed"),
    "archive gone": (remove_archive, "archive: the archive is shorter than what was committed"),
    "torn tail": (extend_archive, "archive: bytes behind the last committed record"),
    "stray file": (stray_file, "archive: files begun after the last committed record"),
    "index broken": (break_index, "index: does not hold what was committed"),
    "index changed": (flip_a_bit_in_index, "index: does not hold what was committed"),
    "index gone": (remove_index, "index: does not hold what was committed"),
    "index behind the truth": (forget_in_index, "index: does not hold what was committed"),
    "inbox ahead": (
        lambda c: change(c, "UPDATE inbox SET sequence = 999"),
        "exchange: links were taken that their sender has not sent",
    ),
    "nobody's parcel": (
        lambda c: change(c, "UPDATE outbox SET receiver = 'nobody' WHERE sequence = 1"),
        "exchange: links wait for a node that does not exist",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_and_put_right(crawl: CrawlFolder, name: str) -> None:
    damage, expected = DAMAGE[name]
    damage(crawl)
    before = verify_crawl(crawl, repair=False)
    assert not before.ok
    assert expected in problems(before)
    assert problems(verify_crawl(crawl, repair=False)) == problems(before), "looking changes nothing"
    repaired = verify_crawl(crawl, repair=True)
    assert repaired.ok, repaired.problems
    assert expected in problems(repaired)
    after = verify_crawl(crawl, repair=False)
    assert (after.ok, after.problems) == (True, [])
    store = open_store(crawl.path / "nodes", nodes=NODES)  # and a crawl can go on
    store.commit(Batch(completions=[Completion(lease("http://main.test/x", url_id=1), Outcome.HTTP_ERROR)]))
    store.close()


def test_pages_that_wait_for_a_visit_or_are_gone_are_sound(crawl: CrawlFolder) -> None:
    change(
        crawl,
        "UPDATE progress SET state = 2 WHERE id = 1",
        "UPDATE page SET kept = 0, outcome = 'gone', revision = 100 WHERE id = 2",
        "DELETE FROM page_text WHERE page_id = 2",
    )
    assert verify_crawl(crawl, repair=True).problems == []


def test_pages_that_lost_a_part_are_fetched_again(crawl: CrawlFolder) -> None:
    damage_text(crawl)
    verify_crawl(crawl, repair=True)
    with closing(open_reader(crawl.node("main").database)) as db:
        assert db.execute("SELECT url FROM known_url WHERE state = 0").fetchall() == [("http://main.test/2",)]
        assert db.execute("SELECT count(*) FROM page").fetchone() == (PAGES - 1,)


def test_a_record_damaged_in_the_middle_costs_that_record_only(crawl: CrawlFolder) -> None:
    before = {(record.offset, record.kind) for record in scan_records(warc(crawl))}
    damage_record(crawl)
    assert not verify_crawl(crawl, repair=False).ok
    assert verify_crawl(crawl, repair=True).ok
    assert verify_crawl(crawl, repair=False).problems == [], "nothing is left to repair"
    after = {(record.offset, record.kind) for record in scan_records(warc(crawl))}
    assert {kind for _, kind in after - before} == {"warcinfo"}, "what lies behind stays where it is"
    assert len(after) == len(before)
    with warc(crawl).open("rb") as file:
        assert len(list(ArchiveIterator(file))) == len(before), "others read the file as well"
    with closing(open_reader(crawl.node("main").database)) as db:
        lost = db.execute("SELECT url FROM page WHERE kept = 1 AND warc_file IS NULL").fetchall()
    assert lost == [("http://main.test/4",)]


def test_a_damaged_database_is_named_and_nothing_is_written(crawl: CrawlFolder) -> None:
    path = crawl.node("main").database
    overwrite(path, 4096 * 3 + 8, b"\xff" * 3000)
    data = path.read_bytes()
    report = verify_crawl(crawl, repair=True)
    assert not report.ok
    assert any(problem.node == "main" and "restore it from a copy" in problem.what for problem in report.problems)
    assert path.read_bytes() == data
    assert "other" in report.nodes, "the other node is checked all the same"
    path.write_bytes(b"not a database at all" * 500)
    assert not verify_crawl(crawl, repair=False).ok


def test_the_command(crawl: CrawlFolder) -> None:
    good = periplus("verify", crawl.path, "--json")
    assert (good.code, json.loads(good.out)["ok"]) == (0, True)
    extend_archive(crawl)
    periplus("verify", crawl.path).assert_one_line_error(4, "--repair")
    mended = periplus("verify", crawl.path, "--repair")
    assert mended.code == 0
    assert "repaired: main, archive" in mended.out
    assert "All is well" in periplus("verify", crawl.path).out
    periplus("verify", crawl.path / "nodes").assert_one_line_error(2, "not a crawl")
    with crawl.locked(), pytest.raises(FolderInUse):
        verify_crawl(crawl, repair=True)


@pytest.mark.parametrize("where", ["first", "last", "two in a row"])
def test_holes_anywhere_in_an_archive_are_closed(crawl: CrawlFolder, where: str) -> None:
    """A disk that lost power may have zeros wherever nothing was synced."""
    records = list(scan_records(warc(crawl)))
    chosen = {"first": records[:1], "last": records[-1:], "two in a row": records[4:6]}[where]
    for record in chosen:
        overwrite(warc(crawl), record.offset, bytes(record.length))
    size = warc(crawl).stat().st_size
    assert verify_crawl(crawl, repair=True).ok
    report = verify_crawl(crawl, repair=False)
    assert (report.problems, warc(crawl).stat().st_size) == ([], size)
    assert report.nodes["main"].records == len(records) - len(chosen) + 1


def test_a_gap_too_short_for_a_record_stays_and_is_said(crawl: CrawlFolder) -> None:
    path = warc(crawl)
    gap = Gap(0, 100, "zeros")
    data = path.read_bytes()
    assert not close_gap(path, gap, "2026-01-01T00:00:00Z")
    assert path.read_bytes() == data


def test_a_short_gap_at_the_end_of_a_file_is_cut_off(crawl: CrawlFolder) -> None:
    path = warc(crawl)
    data = path.read_bytes()
    path.write_bytes(data + b"rubbish")
    assert close_gap(path, Gap(len(data), 7, "no record"), "2026-01-01T00:00:00Z")
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", ["zz-notes.warc.gz", "from-elsewhere.warc.gz", "main-old.warc.gz"])
def test_a_file_of_somebody_else_in_the_archive_is_left_alone(crawl: CrawlFolder, name: str) -> None:
    stranger = crawl.node("main").archive / name
    stranger.write_bytes(b"not of this crawl " * 100)
    for repair in (False, True):
        assert verify_crawl(crawl, repair=repair).problems == []
    assert stranger.read_bytes() == b"not of this crawl " * 100


@pytest.mark.parametrize("left", [None, b""], ids=["missing", "empty"])
def test_an_archive_that_has_lost_its_database_is_not_let_go(
    crawl: CrawlFolder, tmp_path: Path, left: bytes | None
) -> None:
    """A new database would know of no record, and a crawl removes what no record is known of."""
    archived = warc(crawl).read_bytes()
    crawl.node("main").database.unlink()
    if left is not None:
        crawl.node("main").database.write_bytes(left)
    for repair in (False, True):
        report = verify_crawl(crawl, repair=repair)
        assert not report.ok
        assert [problem.node for problem in report.problems if problem.part == "database"] == ["main"]
    crawl.job_file.unlink()
    job = tmp_path / "job.toml"
    job.write_text('seeds = ["http://127.0.0.1/"]\n[nodes.main]\n[nodes.other]\n', "utf-8")
    again = periplus("crawl", job, "--out", crawl.path)
    assert again.code == 4
    assert "restore it from a copy" in again.err
    assert warc(crawl).read_bytes() == archived
