"""A crawl's folder: what lies where, and the lock that keeps a second process out.

my-crawl/
  crawl.toml                     the job as it was started
  log.jsonl                      what happened, one JSON object a line
  registrations.jsonl            where domains are registered, if an RDAP service is asked
  nodes/<name>/node.db           frontier, pages, places, links, outbox  (SQLite, WAL)
  nodes/<name>/archive/*.warc.gz one gzip member per record
  nodes/<name>/index/            tantivy; can be deleted and rebuilt
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from periplus.errors import Corrupt, DiskFull, FolderInUse, NotACrawl
from periplus.files import write_whole
from periplus.store.database import storage_errors

__all__ = ["CrawlFolder", "NodeFolder"]


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """Where one node keeps its things."""

    name: str
    path: Path

    @property
    def database(self) -> Path:
        """The node's SQLite file."""
        return self.path / "node.db"

    @property
    def archive(self) -> Path:
        """The folder of the node's WARC files."""
        return self.path / "archive"

    @property
    def warc_files(self) -> list[Path]:
        """The node's WARC files, the oldest first; what else lies beside them is not its own."""
        own = re.compile(rf"{re.escape(self.name)}-\d+\.warc\.gz")
        return sorted(path for path in self.archive.glob("*.warc.gz") if own.fullmatch(path.name))

    def check_whole(self) -> None:
        """Corrupt if the archive has lost its database: a new one knows of no record, and all would be removed."""
        if self.warc_files and not (self.database.is_file() and self.database.stat().st_size):
            raise Corrupt(
                f"{self.database}: missing or empty, and {self.archive} is not; restore it from a copy, or move the "
                "archive elsewhere to begin anew"
            )

    def locked(self) -> AbstractContextManager[None]:
        """Hold the node for this process, where several work in one crawl's folder; FolderInUse if it is taken."""
        return _locked(self.path)

    @property
    def index(self) -> Path:
        """The folder of the node's full-text index."""
        return self.path / "index"


@dataclass(frozen=True, slots=True)
class CrawlFolder:
    """The folder of one crawl."""

    path: Path

    @classmethod
    def existing(cls, path: Path) -> "CrawlFolder":
        """The crawl in `path`; NotACrawl if there is none."""
        if path.exists() and not path.is_dir():
            raise NotACrawl(f"{path} is a file, not a folder; name the folder of a crawl")
        if not path.is_dir():
            raise NotACrawl(f"{path}: no such folder")
        if not (path / "crawl.toml").is_file() or not (path / "nodes").is_dir():
            raise NotACrawl(f"{path}: not a crawl: it has no crawl.toml and nodes/; `periplus crawl` makes them")
        return cls(path)

    @property
    def job_file(self) -> Path:
        """The job as it was started."""
        return self.path / "crawl.toml"

    @property
    def log_file(self) -> Path:
        """The structured log."""
        return self.path / "log.jsonl"

    def node(self, name: str) -> NodeFolder:
        """The folder of the node `name`."""
        return NodeFolder(name, self.path / "nodes" / name)

    def nodes(self) -> list[NodeFolder]:
        """The nodes that have a database, by name."""
        return [self.node(p.parent.name) for p in sorted((self.path / "nodes").glob("*/node.db"))]

    def lost_nodes(self) -> list[NodeFolder]:
        """The nodes that have an archive and no database any more, by name."""
        found = (self.node(path.parent.name) for path in sorted((self.path / "nodes").glob("*/archive")))
        return [node for node in found if node.warc_files and not node.database.exists()]

    def write_job(self, toml: str) -> None:
        """Keep the job beside its results; nodes of a cluster that share the folder all do so."""
        with storage_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.job_file, toml.encode())

    def check_room(self, reserve_bytes: int) -> None:
        """DiskFull if less than the reserve is free; the folder need not be there yet."""
        there = next(folder for folder in (self.path.absolute(), *self.path.absolute().parents) if folder.exists())
        with storage_errors(self.path):
            free = shutil.disk_usage(there).free
        if free < reserve_bytes:
            raise DiskFull(
                f"{self.path}: {free // 2**20} MiB free, {reserve_bytes // 2**20} MiB wanted as a reserve "
                "(archive.disk_reserve_bytes); free some and run the same command again"
            )

    def locked(self, *, together: bool = False) -> AbstractContextManager[None]:
        """Hold the folder for this process; FolderInUse with the other's pid if it is taken.

        `together`: other nodes of a cluster may work in the folder as well, each in its own node's.
        """
        return _locked(self.path, together=together)


@contextmanager
def _locked(path: Path, *, together: bool = False) -> Iterator[None]:
    """Hold a folder. The operating system drops the lock when the process dies, however it dies."""
    with storage_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if together else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise FolderInUse(f"{path}: process {pid} is crawling here; wait for it or stop it") from None
        with storage_errors(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
