"""What `periplus verify` checks of a node's database and archive, and what it can put right.

Every check gives findings: one for each kind of damage, with a count and an example. With `repair` it also mends what
can be mended without guessing: what cannot be read again from here is queued, to be fetched again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from periplus.clock import SystemClock
from periplus.frontier import UrlState
from periplus.store.archive import warc_date
from periplus.store.commit import ARCHIVE_END, archive_end
from periplus.store.database import storage_errors, transaction
from periplus.store.folder import NodeFolder
from periplus.store.gaps import Gap, close_gap, scan_past_gaps
from periplus.store.queueing import rebuild_queue
from periplus.store.records import Record
from periplus.urls import fingerprint

__all__ = ["Finding", "check_archive", "check_database", "check_exchange", "check_pages"]

PAGE_OUTCOMES = ("kept", "not_relevant", "not_indexed", "empty", "duplicate")
MOST_TEXT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of damage: where, what, how often, for example, and whether it was mended."""

    node: str
    part: str  # database, archive, index, exchange
    what: str
    count: int
    example: str
    repaired: bool = False


class _Damage:
    """Collects damage by kind."""

    def __init__(self, node: str, part: str) -> None:
        self._node, self._part = node, part
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def note(self, what: str, example: object) -> None:
        self._counts[what] += 1
        self._examples.setdefault(what, " ".join(str(example).split())[:200])  # SQLite says things in several lines

    def findings(self, *, repaired: bool) -> list[Finding]:
        return [
            Finding(self._node, self._part, what, count, self._examples[what], repaired)
            for what, count in self._counts.items()
        ]


def check_database(node: NodeFolder, db: sqlite3.Connection) -> list[Finding]:
    """SQLite's own check of the file and of references between tables. What it finds cannot be mended here."""
    damage = _Damage(node.name, "database")
    try:
        for (line,) in db.execute("PRAGMA integrity_check(20)"):
            if line != "ok":
                damage.note("the file is damaged; restore it from a copy", line)
        for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
            damage.note(f"rows of {table} refer to rows of {parent} that are not there", row)
    except sqlite3.DatabaseError as error:
        damage.note("the file is damaged; restore it from a copy", error)
    return damage.findings(repaired=False)


def check_pages(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    """URLs, pages and texts against each other. What lost a part is queued again and fetched anew."""
    damage = _Damage(node.name, "database")
    again = set()
    for url_id, url in db.execute(
        f"SELECT id, url FROM known_url u WHERE state = 1 AND outcome IN ({','.join('?' * len(PAGE_OUTCOMES))}) "
        "AND NOT EXISTS (SELECT 1 FROM page p WHERE p.url_id = u.id)",
        PAGE_OUTCOMES,
    ):
        damage.note("URLs are done and have no page", url)
        again.add(url_id)
    states = ", ".join(str(int(state)) for state in UrlState)
    for url_id, url in db.execute(f"SELECT id, url FROM known_url WHERE state NOT IN ({states})"):
        damage.note("URLs are in a state that does not exist", url)
        again.add(url_id)
    unpack = zstandard.ZstdDecompressor()
    for url_id, url, text in db.execute(
        "SELECT p.url_id, p.url, t.text FROM page p LEFT JOIN page_text t ON t.page_id = p.id WHERE p.kept = 1"
    ):
        if text is None:
            damage.note("kept pages have no text", url)
            again.add(url_id)
        elif not _unpacks(unpack, text):
            damage.note("texts of kept pages cannot be unpacked", url)
            again.add(url_id)
    if repair and again:
        _queue_again(node, db, again)
    found = [*damage.findings(repaired=repair), *_check_fingerprints(node, db, repair=repair)]
    return [*found, *_check_progress(node, db, repair=repair), *_check_queue(node, db, repair=repair)]


def _check_progress(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    """What has happened to URLs against the URLs: it has happened to one that is known, and a sitemap finds it."""
    damage = _Damage(node.name, "database")
    for (url_id,) in db.execute("SELECT id FROM progress WHERE id NOT IN (SELECT id FROM url)"):
        damage.note("something has happened to URLs that are not known", url_id)
    for url in db.execute(
        "SELECT url FROM url JOIN progress p ON p.id = url.id "
        "WHERE p.state = 2 AND p.fingerprint IS NOT url.fingerprint"
    ):
        damage.note("URLs wait for a visit and have another's fingerprint", *url)
    findings = damage.findings(repaired=repair)
    if repair and findings:
        with transaction(db, node.database):
            db.execute("DELETE FROM progress WHERE id NOT IN (SELECT id FROM url)")
            db.execute(
                "UPDATE progress SET fingerprint = (SELECT fingerprint FROM url WHERE url.id = progress.id) "
                "WHERE state = 2"
            )
    return findings


def _check_queue(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    """The order of the queue against what the URLs say: it has all that are queued and no others."""
    damage = _Damage(node.name, "database")
    for url in db.execute(
        "SELECT u.url FROM known_url u "
        "LEFT JOIN queue q ON q.host_id = u.host_id AND q.priority = u.priority AND q.id = u.id "
        "WHERE u.state = 0 AND (q.id IS NULL OR u.id IN (SELECT id FROM spent))"
    ):
        damage.note("URLs are queued and have no turn", *url)
    for url in db.execute(
        "SELECT ifnull(u.url, q.id) FROM queue q "
        "LEFT JOIN url u ON u.id = q.id AND u.host_id = q.host_id LEFT JOIN progress p ON p.id = u.id "
        "WHERE (u.id IS NULL OR ifnull(p.state, 0) <> 0 OR q.priority <> ifnull(p.priority, u.priority)) "
        "AND (q.host_id, q.priority, q.id) NOT IN (SELECT host_id, priority, id FROM spent)"
    ):
        damage.note("URLs have a turn and are not queued", *url)
    findings = damage.findings(repaired=repair)
    if repair and findings:
        with transaction(db, node.database):
            rebuild_queue(db)
    return findings


def _check_fingerprints(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    damage = _Damage(node.name, "database")
    wrong = [
        (fingerprint(url), url_id, url)
        for url_id, url, stored in db.execute("SELECT id, url, fingerprint FROM url")
        if stored != fingerprint(url)
    ]
    for _, _, url in wrong:
        damage.note("URLs have a wrong fingerprint", url)
    if repair and wrong:
        with transaction(db, node.database):
            db.executemany("UPDATE url SET fingerprint = ? WHERE id = ?", [row[:2] for row in wrong])
            db.executemany("UPDATE page SET fingerprint = ? WHERE url_id = ?", [row[:2] for row in wrong])
    return damage.findings(repaired=repair)


def _unpacks(unpack: zstandard.ZstdDecompressor, text: bytes) -> bool:
    try:
        unpack.decompress(text, max_output_size=MOST_TEXT_BYTES)
    except zstandard.ZstdError:
        return False
    return True


def _queue_again(node: NodeFolder, db: sqlite3.Connection, url_ids: Iterable[int]) -> None:
    """Forget what is left of pages and have their URLs fetched again; the index learns it by their revision."""
    with transaction(db, node.database):
        for url_id in url_ids:
            for table in ("page_text", "page_place", "entity", "link"):
                db.execute(f"DELETE FROM {table} WHERE page_id IN (SELECT id FROM page WHERE url_id = ?)", (url_id,))
            db.execute("DELETE FROM page WHERE url_id = ?", (url_id,))
            db.execute(
                "UPDATE progress SET state = 0, outcome = NULL, attempts = 0, not_before = 0 WHERE id = ?", (url_id,)
            )


# -- Archive -----------------------------------------------------------------------------------------


def check_archive(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> tuple[int, list[Finding]]:
    """The WARC files against what the pages say of them; gives the number of sound records and what is wrong.

    A torn tail is cut off, a gap in the middle closed. A page whose record is lost keeps its text and names none.
    """
    file, end = archive_end(db)
    cut, findings = _check_tail(node, file, end, repair=repair)
    damage, gaps = _Damage(node.name, "archive"), _Damage(node.name, "archive")
    records: dict[tuple[str, int], str] = {}
    closed = True
    for path in node.warc_files if file is not None else ():
        stop = (end if cut is None else cut) if path.name == file else None
        for found in scan_past_gaps(path):
            if stop is not None and found.offset >= stop:
                break
            if isinstance(found, Gap):
                gaps.note("parts of files are damaged; a record that says so takes their place", found.why)
                closed = repair and close_gap(path, found, warc_date(SystemClock().now())) and closed
                continue
            wrong = found.wrong_digest()
            records[path.name, found.offset] = "" if wrong else f"{found.kind} {found.url}"
            if wrong:
                damage.note("records have not the digest that they state", f"{path.name}, byte {found.offset}")
    lost = _lost_records(db, records, damage)
    if repair:
        _forget_records(node, db, lost, cut)
    sound = sum(name != "" for name in records.values())
    return sound, [*findings, *gaps.findings(repaired=closed and repair), *damage.findings(repaired=repair)]


def _check_tail(node: NodeFolder, file: str | None, end: int, *, repair: bool) -> tuple[int | None, list[Finding]]:
    """The end of the archive against what was committed; gives where it has to end, if that changes."""
    damage = _Damage(node.name, "archive")
    cut: int | None = None
    if file is not None:
        path = node.archive / file
        size = path.stat().st_size if path.exists() else 0
        if size > end:
            damage.note("bytes behind the last committed record", f"{path}: {size - end} bytes")
            if repair:
                _truncate(path, end)
        elif size < end:
            damage.note("the archive is shorter than what was committed", f"{path}: {end - size} bytes are missing")
            cut = _last_whole(path)
            if repair and path.exists():
                _truncate(path, cut)
    behind = [path for path in node.warc_files if file is None or path.name > file]
    for path in behind:
        damage.note("files begun after the last committed record", path)
        if repair:
            path.unlink()
    return cut, damage.findings(repaired=repair)


def _truncate(path: Path, end: int) -> None:
    with storage_errors(path), path.open("r+b") as file:
        file.truncate(end)


def _last_whole(path: Path) -> int:
    """Where the last whole record of a file ends."""
    if not path.exists():
        return 0
    return max((found.offset + found.length for found in scan_past_gaps(path) if isinstance(found, Record)), default=0)


def _lost_records(db: sqlite3.Connection, records: dict[tuple[str, int], str], damage: _Damage) -> list[int]:
    """Pages whose record is not there, not theirs, or damaged."""
    lost = []
    for page_id, url, kept, file, offset in db.execute(
        "SELECT id, url, kept, warc_file, warc_offset FROM page WHERE warc_file IS NOT NULL"
    ):
        wanted = (f"response {url}",) if kept else (f"response {url}", f"revisit {url}")
        if records.get((file, offset)) not in wanted:
            damage.note("pages name a record that is not there, not theirs or damaged", url)
            lost.append(page_id)
    return lost


def _forget_records(node: NodeFolder, db: sqlite3.Connection, lost: list[int], cut: int | None) -> None:
    with transaction(db, node.database):
        db.executemany(
            "UPDATE page SET warc_file = NULL, warc_offset = NULL, warc_length = NULL WHERE id = ?",
            [(page_id,) for page_id in lost],
        )
        if cut is not None:
            file, _ = archive_end(db)
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (ARCHIVE_END, f"{cut} {file}"))


# -- Exchange ----------------------------------------------------------------------------------------


def check_exchange(nodes: dict[str, sqlite3.Connection], *, repair: bool) -> list[Finding]:
    """Outboxes against inboxes: what a node has taken must have been sent, and what is sent must have a receiver."""
    findings = []
    sent = {
        name: (db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").fetchone() or (0,))[0]
        for name, db in nodes.items()
    }
    for name, db in nodes.items():
        damage = _Damage(name, "exchange")
        clustered = db.execute("SELECT 1 FROM meta WHERE key = 'generation'").fetchone() is not None
        for sender, sequence in db.execute("SELECT sender, sequence FROM inbox").fetchall():
            if "." in sender:
                continue  # of a node in another process: its numbers are its own
            if sequence > sent.get(sender, 0):
                damage.note("links were taken that their sender has not sent", f"{sender}: {sequence}")
                if repair:
                    db.execute("UPDATE inbox SET sequence = ? WHERE sender = ?", (sent.get(sender, 0), sender))
        for (receiver,) in db.execute("SELECT DISTINCT receiver FROM outbox").fetchall():
            if receiver not in nodes and not clustered:
                damage.note("links wait for a node that does not exist", receiver)
                if repair:
                    db.execute("DELETE FROM outbox WHERE receiver = ?", (receiver,))
        findings += damage.findings(repaired=repair)
    return findings
