"""What a task's crawl has to show: counts, what a run changed, how it goes now, its nodes and the end of its log."""

import json
import os
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from periplus.errors import PeriplusError
from periplus.model import LonLat
from periplus.running import errors_among
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.store.queueing import queued_count
from periplus.tasks.records import Run

__all__ = [
    "counts_of",
    "errors_of",
    "last_words",
    "live_progress",
    "log_tail",
    "node_rows",
    "run_changes",
    "whereabouts",
]

LOG_BYTES = 64 * 1024
OUT_BYTES = 16 * 1024
MOST_PROGRESS_BYTES = 2**20
FIRST_PAGES = 20
CHANGES = ("new", "changed", "gone")


def counts_of(folder: Path) -> dict[str, int]:
    """Pages, kept pages and queued URLs of a crawl; zeros if it has not begun."""
    found: Counter[str] = Counter(pages=0, kept=0, queued=0)
    for node in _nodes(folder):
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
            queued = queued_count(db)
            found.update(pages=pages, kept=kept, queued=queued)
    return dict(found)


def run_changes(folder: Path, since: float, until: float | None) -> dict[str, int]:
    """How many pages were new, changed or gone in a span of time."""
    found: Counter[str] = Counter(dict.fromkeys(CHANGES, 0))
    for node in _nodes(folder):
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            rows = db.execute(
                "SELECT what, count(*) FROM page_change WHERE at >= ? AND at <= ifnull(?, 1e12) GROUP BY what",
                (since, until),
            )
            found.update({what: count for what, count in rows if what in CHANGES})
    return dict(found)


def errors_of(folder: Path) -> dict[str, int]:
    """Leases of a crawl that did not end well, by kind, the most frequent first."""
    found: Counter[str] = Counter()
    for node in _nodes(folder):
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            found.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
    return errors_among(found)


def node_rows(folder: Path) -> list[dict[str, Any]]:
    """Each node with its counts and the links it exchanged with each of the others."""
    rows = []
    for node in _nodes(folder):
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
            queued = queued_count(db)
            traffic = db.execute("SELECT peer, sent, received FROM traffic ORDER BY peer").fetchall()
        rows.append(
            {
                "node": node.name,
                "pages": pages,
                "kept": kept,
                "queued": queued,
                "traffic": [{"peer": peer, "sent": sent, "received": got} for peer, sent, got in traffic],
            }
        )
    return rows


def whereabouts(folder: Path, name: str) -> LonLat | None:
    """The middle of the places that the first pages of a node are about; None while it has few."""
    for node in _nodes(folder):
        if node.name != name:
            continue
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            count, lon, lat = db.execute(
                "SELECT count(*), avg(lon), avg(lat) FROM"
                " (SELECT lon, lat FROM page JOIN place ON place.id = main_place ORDER BY page.id LIMIT ?)",
                (FIRST_PAGES,),
            ).fetchone()
        return LonLat(lon, lat) if count >= FIRST_PAGES else None
    return None


def _nodes(folder: Path) -> list[NodeFolder]:
    return CrawlFolder(folder).nodes() if (folder / "nodes").is_dir() else []


def live_progress(path: Path, run: Run | None) -> dict[str, Any] | None:
    """What the crawl's process said last; None if no run is open or it has said nothing yet."""
    if run is None or run.state not in ("running", "pausing", "stopping"):
        return None
    try:
        if path.stat().st_size > MOST_PROGRESS_BYTES:
            return None
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found


def log_tail(folder: Path, most: int = 50) -> list[dict[str, Any]]:
    """The last lines of the crawl's log, oldest first."""
    lines = []
    for line in _end_of(CrawlFolder(folder).log_file, LOG_BYTES)[-most:]:
        try:
            found = json.loads(line)
        except ValueError:  # the first line of the part that was read, or one torn by a crash
            continue
        if isinstance(found, dict):
            lines.append(found)
    return lines


def last_words(out: Path) -> tuple[dict[str, Any] | None, str]:
    """The summary at the end of a crawl's output if there is one, and its last line."""
    lines = [line for line in _end_of(out, OUT_BYTES) if line.strip()]
    last = lines[-1].strip() if lines else ""
    try:
        found = json.loads(last)
    except ValueError:
        return None, last
    return (found, last) if isinstance(found, dict) and "stop_reason" in found else (None, last)


def _end_of(path: Path, most: int) -> list[str]:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - most))
            return file.read(most).decode("utf-8", "replace").splitlines()
    except (OSError, PeriplusError):
        return []
