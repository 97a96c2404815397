"""The crawls behind the server and how far they are, read from their databases."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from periplus.errors import ConfigError
from periplus.settings import load_job
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.store.queueing import queued_count

__all__ = ["job_states"]

LOCKS = Path("/proc/locks")


def job_states(folders: Sequence[CrawlFolder]) -> dict[str, Any]:
    """Each crawl with its counts and whether it runs now."""
    return {"jobs": [_job(folder) for folder in folders]}


def _job(folder: CrawlFolder) -> dict[str, Any]:
    nodes = []
    outcomes: Counter[str] = Counter()
    for node in folder.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
            queued = queued_count(db)
            outcomes.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
        nodes.append({"node": node.name, "pages": pages, "kept": kept, "queued": queued})
    return {
        "name": _name(folder),
        "folder": folder.path.resolve().name,
        "running": is_running(folder),
        "pages": sum(node["pages"] for node in nodes),
        "kept": sum(node["kept"] for node in nodes),
        "queued": sum(node["queued"] for node in nodes),
        "outcomes": dict(sorted(outcomes.items())),
        "nodes": nodes,
    }


def _name(folder: CrawlFolder) -> str:
    try:
        return load_job(folder.job_file).name
    except ConfigError:  # the crawl is there although its file is of another version
        return folder.path.resolve().name


def is_running(folder: CrawlFolder) -> bool:
    """Whether a process holds the crawl's folder. Only looked at: to try the lock could keep a crawl from starting."""
    try:
        inode = (folder.path / "lock").stat().st_ino
        held = LOCKS.read_text("ascii", "replace")
    except OSError:
        return False
    return any(
        "FLOCK" in line and "WRITE" in line and line.split()[5].endswith(f":{inode}") for line in held.splitlines()
    )
