"""Every change that a crawl makes to its files: what a death there leaves, what the loss of power leaves, what follows.

    python kill_points.py deaths --pages 500 --state FOLDER --minutes 60 --docs docs/operations.md
    python kill_points.py power --pages 40 --losses 200 --durability full

One crawl is recorded: every write, truncation, renaming and removal under its folder, in order, with its bytes
(`faultfs.c`). A process that is killed before the n-th of them leaves what the first n - 1 have made, so the folder can
be made again as it was then, without a crawl for each n. `deaths` does so for every n, and for writes of more than one
page also half-way. Each folder is opened as the next process would; what that gives is looked at, and each state of
databases and archives that was not met before is brought to its end by a crawl, from the folder as the death left it.

`power` drops what was not synced: of each file any part of the writes since its last sync, torn or not, and of
renamings and removals since the last sync any end. With "full" every URL that was asked for must still be known, since
nothing is asked for before it is committed, and the crawl comes to the same end; with "normal" it comes to an end, and
databases, archives and indexes agree, but links that were on their way between nodes may be lost.

Starts itself again under `faultfs.so`, like `fault_runs.py`. Prints JSON lines; the last is the sum.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fault_runs import COUNT, Bench, done_urls, faulty_bench, judge, look_into_index, write_table

from periplus import verify
from periplus.clock import SystemClock
from periplus.errors import Corrupt, PeriplusError
from periplus.index import NodeIndex
from periplus.settings import ArchiveSettings
from periplus.store.commit import NodeStore
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder, NodeFolder

WRITTEN, TRUNCATED, RENAMED, REMOVED, SYNCED, MADE = range(1, 7)
HEAD = struct.Struct("=iiqqd")
NODES = ("a", "b")
PAGE = 4096
SECTOR = 512
BESIDE = ("/log.jsonl", "/log.1.jsonl", "/lock")
"""Files from which nothing is taken up."""


class Change(NamedTuple):
    """One change of a file."""

    kind: int
    path: str  # below the crawl's folder
    at: int
    data: bytes
    time: float


def read_record(file: Path) -> list[Change]:
    """The changes in order; what is in memory only (SQLite's index of its log) is left out.

    The full-text index renames its drafts past the C library, so that is not in the record: it does so when it has
    synced one, and what is in the draft says what it becomes.
    """
    data, at, changes = file.read_bytes(), 0, list[Change]()
    drafts: dict[str, bytes] = {}
    while at < len(data):
        kind, length, position, size, moment = HEAD.unpack_from(data, at)
        at += HEAD.size
        path = data[at : at + length].decode()
        at += length
        change = Change(kind, path, position, data[at : at + size], moment)
        at += size
        if path.endswith("-shm"):
            continue
        changes.append(change)
        if "/index/.tmp" in path:
            drafts[path] = drafts.get(path, b"") + change.data
            if kind == SYNCED:
                name = ".managed.json" if drafts[path].startswith(b"[") else "meta.json"
                whole = f"{path.rpartition('/')[0]}/{name}".encode()
                changes.append(Change(RENAMED, path, 0, whole, moment))
    return changes


def make(folder: Path, change: Change) -> None:
    """Do a change again, to the files below a folder."""
    path = folder / change.path.lstrip("/")
    if change.kind == SYNCED:
        return
    if change.kind == REMOVED:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if change.kind == RENAMED:
        path.replace(folder / change.data.decode().lstrip("/"))
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if change.kind == WRITTEN:
            os.pwrite(descriptor, change.data, change.at)
        elif change.kind == TRUNCATED or change.at:
            os.ftruncate(descriptor, change.at if change.kind == TRUNCATED else 0)
    finally:
        os.close(descriptor)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file that has something in it, but for locks and what is in memory only."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "lock")))
    return {str(path.relative_to(folder)): data for path in paths if (data := path.read_bytes())}


# -- What was recorded -------------------------------------------------------------------------------


@dataclass
class Recording:
    """A crawl that nobody disturbed: its changes, what it came to, and when the server was asked for what."""

    changes: list[Change]
    whole: dict[str, str]
    asked: list[tuple[str, float]]

    def asked_before(self, number: int) -> set[str]:
        """The URLs that were asked for before a change."""
        moment = self.changes[number].time if number < len(self.changes) else float("inf")
        return {url for url, at in self.asked if at < moment and not url.endswith("/robots.txt")}


def recorded(bench: Bench, kept: Path) -> Recording:
    """Crawl once and write down everything; or take up what was recorded before."""
    record, facts = kept / "record", kept / "facts.json"
    if not facts.exists():
        kept.mkdir(parents=True, exist_ok=True)
        record.unlink(missing_ok=True)
        out = bench.folder / "recorded"
        status, _ = bench.run(out, COUNT, 0, record=record)
        whole = done_urls(out)
        wrong = judge(out, whole)
        again = bench.folder / "again"
        for change in read_record(record):
            make(again, change)
        there, made = files_of(out), files_of(again)
        other = [path for path in sorted(there.keys() | made.keys()) if there.get(path) != made.get(path)]
        if status or wrong or other:
            raise SystemExit(f"the recorded crawl ended with {status}, {wrong}; the record lacks changes of {other}")
        facts.write_text(json.dumps({"whole": whole, "asked": bench.timed_requests()}))
    known = json.loads(facts.read_text())
    return Recording(read_record(record), known["whole"], [(url, at) for url, at in known["asked"]])


def start_anew(bench: Bench, folder: Path, recording: Recording) -> list[str]:
    """Crawl on from a folder to the end: what is wrong with that."""
    finished = set(done_urls(folder))
    os.truncate(bench.log, 0)
    status, _ = bench.run(folder, COUNT, 0)
    wrong = [f"finished and asked for again: {url}" for url in bench.requests() if url in finished]
    return wrong + ([] if status == 0 else [f"ended with {status}"]) + judge(folder, recording.whole)


# -- Deaths --------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """How far an enumeration has come."""

    next: int = 0
    same: int = 0
    """Points at which only the log or the lock differs from the point before, or nothing does (a sync)."""
    opened: int = 0
    torn: int = 0
    brought_to_an_end: int = 0
    repeated_at_most: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)


class Deaths:
    """Goes through the changes of a recording, one by one."""

    def __init__(self, bench: Bench, recording: Recording, tally: Tally) -> None:
        self._bench = bench
        self._recording = recording
        self._tally = tally
        self._states = set(tally.states)
        self._verified: tuple[str, int] = ("", -1)
        self._index_changes = 0
        self._trials = 0
        self._trial = bench.folder / "trial-0"
        self._disk = bench.folder / "disk"
        self._disk.mkdir()
        for change in recording.changes[: tally.next]:
            make(self._disk, change)

    def step(self) -> None:
        """A death before the next change: what it leaves; then the change, and a death in the middle of it."""
        change = self._recording.changes[self._tally.next]
        if self._tally.next == 0:
            self._look(0, "")
        if change.kind == WRITTEN and len(change.data) > PAGE:
            half = max(PAGE, len(change.data) // 2 // PAGE * PAGE)
            make(self._disk, change._replace(data=change.data[:half]))
            self._tally.torn += 1
            self._look(self._tally.next, f" after {half} of {len(change.data)} bytes")
        make(self._disk, change)
        self._tally.next += 1
        if change.kind == SYNCED or change.path in BESIDE:
            self._tally.same += 1
            return
        self._index_changes += "/index/" in change.path
        self._look(self._tally.next, "")

    def _look(self, number: int, part: str) -> None:
        """Open the folder as the next process would."""
        trial = self._copy()
        self._tally.opened += 1
        try:
            state = opened(trial)
            if (state, self._index_changes) != self._verified:
                self._check(trial)
                self._verified = (state, self._index_changes)
        except PeriplusError as error:
            self._blame(number, part, [f"cannot be opened: {error}"])
            return
        if state not in self._states:
            self._states.add(state)
            self._tally.states.append(state)
            self._finish(number, part)

    def _check(self, trial: Path) -> None:
        for name in NODES:
            node = CrawlFolder(trial).node(name)
            if node.database.exists():
                index_again(node)
        problems = verify.verify_crawl(CrawlFolder(trial), repair=False).problems
        if problems:
            raise Corrupt("; ".join(f"{problem.part}: {problem.what}" for problem in problems[:3]))

    def _finish(self, number: int, part: str) -> None:
        trial = self._copy()
        repeated = self._recording.asked_before(number) - set(done_urls(trial))
        self._tally.repeated_at_most = max(self._tally.repeated_at_most, len(repeated))
        self._tally.brought_to_an_end += 1
        self._blame(number, part, start_anew(self._bench, trial, self._recording))

    def _blame(self, number: int, part: str, wrong: list[str]) -> None:
        self._tally.wrong += [f"change {number}{part}: {text}" for text in wrong]
        if wrong:
            print(json.dumps({"change": number, "part": part, "wrong": wrong}), flush=True)

    def _copy(self) -> Path:
        """The folder as the death left it. A new one each time: threads of an index may still write to the last."""
        shutil.rmtree(self._trial, ignore_errors=True)
        self._trials += 1
        self._trial = self._bench.folder / f"trial-{self._trials}"
        shutil.copytree(self._disk, self._trial)
        return self._trial


def opened(folder: Path) -> str:
    """Open the databases and archives of a folder as a crawl does, and close them: the state that this gives."""
    digest = hashlib.sha256()
    for name in NODES:
        node = CrawlFolder(folder).node(name)
        if not node.database.exists():
            continue
        settings = ArchiveSettings(warc_bytes=2**20)
        NodeStore(node, NODES, settings, agent="test", clock=SystemClock()).close()  # which writes the log back
        for path in (node.database, *sorted(node.archive.glob("*"))):
            digest.update(f"{path.name} ".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def index_again(node: NodeFolder) -> None:
    """Bring a node's index up to date as a crawl does: anew, if it cannot be read."""
    for _ in range(2):
        try:
            index = NodeIndex.open(node.index, create=True)
            with contextlib.closing(open_reader(node.database)) as db:
                index.update(db)
        except Corrupt:
            shutil.rmtree(node.index)
        else:
            return
    raise Corrupt(f"{node.index}: an index built anew cannot be read")


def deaths(bench: Bench, options: argparse.Namespace) -> int:
    """All changes, in pieces that go on from each other."""
    recording = recorded(bench, options.state)
    file = options.state / "tally.json"
    tally = Tally(**json.loads(file.read_text())) if file.exists() else Tally()
    walk, began = Deaths(bench, recording, tally), time.monotonic()
    before = tally.seconds
    while tally.next < len(recording.changes) and time.monotonic() - began < 60 * options.minutes:
        walk.step()
        tally.seconds = round(before + time.monotonic() - began, 1)
        if tally.next % 100 == 0 or tally.next == len(recording.changes):
            draft = file.with_suffix(".new")
            draft.write_text(json.dumps(vars(tally)))
            draft.replace(file)
    file.write_text(json.dumps(vars(tally)))
    shown = shown_deaths(options.pages, recording, tally)
    print(json.dumps(shown | {"wrong": tally.wrong}))
    if options.docs:
        write_table(options.docs, f"kill-all-{options.pages}", f"`make kill-all KILL_PAGES={options.pages}`", shown)
    return 1 if tally.wrong else 0


def shown_deaths(pages: int, recording: Recording, tally: Tally) -> dict[str, Any]:
    """The figures for the docs."""
    return {
        "last run": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load {os.getloadavg()[0]:.0f}",
        "pages of the crawl, nodes": f"{pages}, {len(NODES)}",
        "changes of its files": len(recording.changes),
        "deaths looked at": f"before each of the first {tally.next}, and in the middle of {tally.torn} large writes",
        "folders opened as the next process would": tally.opened,
        "not opened, since only the log or nothing at all had changed": tally.same,
        "different states, each brought to its end by a crawl": tally.brought_to_an_end,
        "requests that such a crawl repeated, at most": tally.repeated_at_most,
        "found wrong": len(tally.wrong),
        "minutes": round(tally.seconds / 60, 1),
    }


# -- Loss of power -------------------------------------------------------------------------------------


@dataclass
class Inode:
    """A file as it is on the disk for certain, and what was written to it since."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[Change] = field(default_factory=list)

    def write(self, change: Change) -> None:
        """Let a change reach the disk."""
        if change.kind == WRITTEN:
            self.content.extend(bytes(max(0, change.at - len(self.content))))
            self.content[change.at : change.at + len(change.data)] = change.data
        else:
            size = change.at if change.kind == TRUNCATED else 0
            del self.content[size:]
            self.content.extend(bytes(size - len(self.content)))

    def sync(self) -> None:
        """Everything reaches the disk."""
        for change in self.pending:
            self.write(change)
        self.pending.clear()


class Disk:
    """A disk that promises no more than POSIX does, on a file system that keeps the order of names (as ext4 does)."""

    def __init__(self) -> None:
        self._names: dict[str, Inode] = {}
        self._certain: dict[str, Inode] = {}
        self._moves: list[tuple[Change, Inode]] = []

    def make(self, change: Change) -> None:
        """A change that the operating system has taken."""
        if change.kind == SYNCED:
            if change.path in self._names:
                self._names[change.path].sync()
            self._certain, self._moves = dict(self._names), []
            return
        if change.path not in self._names:
            self._names[change.path] = Inode()
            self._moves.append((change._replace(kind=MADE), self._names[change.path]))
        if change.kind in (RENAMED, REMOVED):
            self._moves.append((change, self._names[change.path]))
            _move(self._names, *self._moves[-1])
        elif change.kind != MADE or change.at:
            self._names[change.path].pending.append(change)

    def lose_power(self, dice: random.Random) -> dict[str, bytes]:
        """The files that are there when the power is back."""
        kept = len(self._moves) if dice.random() < 0.5 else dice.randint(0, len(self._moves))
        names = dict(self._certain)
        for change, inode in self._moves[:kept]:
            _move(names, change, inode)
        share = dice.choice((0.0, 1.0, 0.5, 0.9))
        return {path: _left_of(inode, dice, share) for path, inode in names.items()}


def _move(names: dict[str, Inode], change: Change, inode: Inode) -> None:
    if change.kind == MADE:
        names[change.path] = inode
        return
    names.pop(change.path, None)
    if change.kind == RENAMED:
        names[change.data.decode()] = inode


def _left_of(inode: Inode, dice: random.Random, share: float) -> bytes:
    """A file of which such a share of the writes since its last sync has reached the disk, the last perhaps torn."""
    file = Inode(bytearray(inode.content))
    for change in inode.pending:
        if dice.random() < share:
            torn = change.kind == WRITTEN and len(change.data) > SECTOR and dice.random() < 0.1
            size = dice.randrange(0, len(change.data), SECTOR) if torn else len(change.data)
            file.write(change._replace(data=change.data[:size]))
    return bytes(file.content)


def known_urls(folder: Path) -> set[str]:
    """Every URL that the databases of a folder know."""
    known: set[str] = set()
    for name in NODES:
        path = CrawlFolder(folder).node(name).database
        with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(path)) as db:
            known.update(url for (url,) in db.execute("SELECT url FROM url"))
    return known


def power(bench: Bench, options: argparse.Namespace) -> int:
    """The power fails at chosen changes of a recorded crawl."""
    bench.durability = options.durability
    recording = recorded(bench, bench.folder / "kept")
    dice = random.Random(options.seed)
    points = sorted(dice.randrange(1, len(recording.changes) + 1) for _ in range(options.losses))
    wrong: list[str] = []
    repaired = forgotten = lost = 0
    for number, files in lost_at(recording, points, dice):
        trial = bench.folder / "trial"
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir()
        for path, data in files.items():
            place = trial / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        copy = bench.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(trial, copy)
        missing = recording.asked_before(number) - known_urls(copy)
        forgotten = max(forgotten, len(missing))
        found = [f"asked for and unknown: {sorted(missing)[:3]}"] if missing and options.durability == "full" else []
        if needs_repair(trial, options.durability):
            repaired += 1
            found += ["needed a repair"] if options.durability == "full" else []
        after = start_anew(bench, trial, recording)
        unknown = set(recording.whole) - set(done_urls(trial))
        lost = max(lost, len(unknown))
        found += [text for text in after if options.durability == "full" or not text.startswith("other ")]
        wrong += [f"change {number}: {text}" for text in found]
    shown = {"losses": len(points), "changes": len(recording.changes), "forgotten_at_most": forgotten}
    print(json.dumps(shown | {"lost_at_most": lost, "repaired": repaired, "wrong": wrong}))
    if options.docs:
        table = {
            "last run": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load {os.getloadavg()[0]:.0f}",
            "pages of the crawl, changes of its files": f"{options.pages}, {len(recording.changes)}",
            "losses of power, each at a change drawn at random": len(points),
            "asked for and forgotten, at most": forgotten,
            "pages that the crawl then had less, at most": lost,
            "folders that wanted `verify --repair`": repaired,
            "found wrong": len(wrong),
        }
        mark = f"power-{options.durability}"
        write_table(options.docs, mark, f'`durability = "{options.durability}"`, by `make kill-all`', table)
    return 1 if wrong else 0


def lost_at(recording: Recording, points: list[int], dice: random.Random) -> Iterator[tuple[int, dict[str, bytes]]]:
    """For each point: how many changes were made, and the files that are left of them."""
    disk, wanted = Disk(), list(points)
    for number, change in enumerate(recording.changes, 1):
        disk.make(change)
        while wanted and wanted[0] == number:
            wanted.pop(0)
            yield number, disk.lose_power(dice)


def needs_repair(folder: Path, durability: str) -> bool:
    """Whether `verify --repair` has to be at a folder, which is done then.

    With "full" only a crawl that refuses the folder asks for it; with "normal" also holes in the archive, which nobody
    but `verify` looks for.
    """
    try:
        opened(folder)
    except Corrupt:
        damaged = True
    else:
        damaged = durability == "normal" and not verify.verify_crawl(CrawlFolder(folder), repair=False).ok
    if damaged:
        verify.verify_crawl(CrawlFolder(folder), repair=True)
    return damaged


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["deaths", "power"])
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument(
        "--state", type=Path, help="folder in which an enumeration is written down, to go on from there"
    )
    parser.add_argument("--minutes", type=float, default=1e9, help="time after which an enumeration pauses")
    parser.add_argument("--docs", type=Path, help="page between whose marks an enumeration writes its figures")
    parser.add_argument("--losses", type=int, default=50)
    parser.add_argument("--durability", choices=["full", "normal"], default="full")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    setattr(verify, "probe", look_into_index)  # noqa: B010 - in this process, as in `judge`
    with faulty_bench(options.pages) as bench:
        options.state = options.state or bench.folder / "kept"
        raise SystemExit(deaths(bench, options) if options.what == "deaths" else power(bench, options))


if __name__ == "__main__":
    main()
