"""WARC and WACZ: the archived responses of a crawl's nodes in one file, as they were written."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from periplus import __version__
from periplus.errors import Corrupt, UsageError
from periplus.export.files import whole_file
from periplus.model import Fetched
from periplus.store.archive import warc_info
from periplus.store.commit import archive_end
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.store.recorded import RecordedWeb
from periplus.store.records import scan_records
from periplus.store.wacz import write_wacz

__all__ = ["export_wacz", "export_warc"]

Wanted = Callable[[str], bool]
"""Whether the response of this URL is wanted."""


def export_warc(crawl: CrawlFolder, path: Path, wanted: Wanted | None = None) -> int:
    """Copy every committed record, byte by byte, into one WARC file; how many there are."""
    count = 0
    with whole_file(path) as draft, draft.open("wb") as out:
        out.write(warc_info(path.name, f"Periplus/{__version__}", "1970-01-01T00:00:00Z"))
        for file, end in _archive_files(crawl):
            with file.open("rb") as source:
                for record in scan_records(file):
                    if record.kind != "warcinfo" and (wanted is None or wanted(record.url)):
                        source.seek(record.offset)
                        out.write(source.read(record.length))
                        count += 1
                    if record.offset + record.length >= end:  # what lies behind the last commit does not count
                        break
    return count


def export_wacz(crawl: CrawlFolder, path: Path, wanted: Wanted | None = None) -> int:
    """The responses as a WACZ file; how many there are."""
    return write_wacz(_responses(crawl, wanted), path)


def _responses(crawl: CrawlFolder, wanted: Wanted | None) -> Iterator[Fetched]:
    seen: set[str] = set()
    if not any(True for _ in _archive_files(crawl)):
        raise UsageError(f"{crawl.path}: this crawl has no archive; it was made with archive.warc = false or is empty")
    for node in crawl.nodes():
        if not any(node.archive.glob("*.warc.gz")):
            continue
        for fetched in RecordedWeb(node.archive).responses():
            if fetched.url not in seen and (wanted is None or wanted(fetched.url)):
                seen.add(fetched.url)
                yield fetched


def _archive_files(crawl: CrawlFolder) -> Iterator[tuple[Path, int]]:
    """Each WARC file of each node, and where its committed part ends."""
    for node in crawl.nodes():
        last, end = _committed(node)
        for file in node.warc_files:
            if last is None or file.name > last:
                continue
            size = file.stat().st_size
            if file.name == last and size < end:
                raise Corrupt(f"{file}: {size} bytes, {end} were committed; `periplus verify` says more")
            yield file, end if file.name == last else size


def _committed(node: NodeFolder) -> tuple[str | None, int]:
    with closing(open_reader(node.database)) as db:
        return archive_end(db)
