"""Pages that were crawled or recorded as samples for the strategy `classifier`: labels are what pages are about."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import typer
import zstandard

from periplus.analysis import Lens, analyse
from periplus.errors import BadContent, UsageError
from periplus.model import Outcome
from periplus.places import Gazetteer
from periplus.settings import CrawlSettings, FetchSettings, TopicSettings
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.store.recorded import WARC_NAMES, RecordedWeb
from periplus.strategies import Ownership
from periplus.strategies.hash import HashStrategy
from periplus.strategies.samples import Labels, read_samples
from periplus.topics import make_topic
from periplus.world import is_page

__all__ = ["databases", "samples_in"]

MAX_TEXT_BYTES = 64 * 2**20


def samples_in(path: Path, labels: Labels, ownership: Ownership, gazetteer: Gazetteer) -> Iterator[tuple[str, str]]:
    """(class, text) of every labelled page in a crawl's folder, a recorded web or a file of labelled pages."""
    if (path / "crawl.toml").is_file():
        return _crawled(path, labels)
    if path.is_dir() or path.name.endswith((*WARC_NAMES, ".wacz")):
        return _recorded(path, labels, ownership, gazetteer)
    return read_samples(path, labels)


def databases(crawl: Path) -> Iterator[tuple[str, sqlite3.Connection]]:
    """The databases of a crawl's nodes, open for reading."""
    for node in CrawlFolder.existing(crawl).nodes():
        with contextlib.closing(open_reader(node.database)) as db, storage_errors(node.database):
            yield node.name, db


def _crawled(crawl: Path, labels: Labels) -> Iterator[tuple[str, str]]:
    """The kept pages of a crawl."""
    for _, db in databases(crawl):
        rows = db.execute("SELECT p.title, p.main_place, t.text FROM page p JOIN page_text t ON t.page_id = p.id")
        for title, place_id, packed in rows:
            yield labels.of_id(place_id), f"{title}\n{_unpacked(packed)}"


def _recorded(path: Path, labels: Labels, ownership: Ownership, gazetteer: Gazetteer) -> Iterator[tuple[str, str]]:
    """The pages of a recorded web, read as a crawl that keeps all of them would."""
    web = RecordedWeb(path)
    crawl = msgspec.structs.replace(CrawlSettings(), keep="all")
    topic, strategy = make_topic(TopicSettings(), "samples", gazetteer), HashStrategy(ownership, gazetteer)
    lens = Lens(gazetteer, (topic,), strategy, ownership, crawl, FetchSettings(), warc=False)
    read = 0
    for fetched in filter(is_page, web.responses()):
        with contextlib.suppress(BadContent):
            found = analyse(fetched, lens)
            if found.outcome is Outcome.KEPT:
                read += 1
                yield labels.of_id(found.main_place), f"{found.title}\n{_unpacked(found.text)}"
    if not read:
        raise UsageError("; ".join([f"{path}: no HTML page in it", *web.notes]))
    for note in web.notes:
        typer.echo(note, err=True)


def _unpacked(packed: bytes) -> str:
    return zstandard.decompress(packed, max_output_size=MAX_TEXT_BYTES).decode("utf-8", "replace")
