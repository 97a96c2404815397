"""Writing a recorded web: a WACZ file (1.1.1) with one WARC file, its CDXJ index, and the list of its pages.

WACZ is a ZIP file whose WARC members are stored as they are, so that a record can be read from where the index says.
The same responses give the same bytes.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from periplus import __version__
from periplus.files import target_file
from periplus.model import Fetched
from periplus.store.archive import timing_record, warc_info, warc_record
from periplus.store.database import storage_errors

__all__ = ["write_wacz"]

WARC = "archive/data.warc.gz"
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def write_wacz(responses: Iterable[Fetched], path: Path) -> int:
    """Write the responses to a new WACZ file; how many there were. The file appears when it is whole."""
    with storage_errors(path):
        path = target_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
    with storage_errors(path), TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as name:
        folder = Path(name)
        index, pages = _write_warc(responses, folder / "data.warc.gz")
        files = {
            WARC: folder / "data.warc.gz",
            "indexes/index.cdxj": _lines(folder / "index.cdxj", sorted(index)),
            "pages/pages.jsonl": _lines(folder / "pages.jsonl", [PAGES_HEADER, *pages]),
        }
        package = folder / "datapackage.json"
        package.write_text(json.dumps(_package(files), indent=1), "utf-8")
        whole = folder / "whole.wacz"
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
            for inside, file in {**files, "datapackage.json": package}.items():
                _store(archive, inside, file)
        whole.replace(path)
    return len(pages)


PAGES_HEADER = json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All pages"})


def _write_warc(responses: Iterable[Fetched], path: Path) -> tuple[list[str], list[str]]:
    index, pages = [], []
    with path.open("wb") as file:
        file.write(warc_info(Path(WARC).name, f"Periplus/{__version__}", "1970-01-01T00:00:00Z"))
        for fetched in responses:
            offset, record = file.tell(), warc_record(fetched)
            file.write(record)
            if fetched.seconds:
                file.write(timing_record(fetched))
            where = {
                "url": fetched.url,
                "status": str(fetched.status),
                "mime": fetched.content_type.partition(";")[0].strip() or "-",
                "filename": Path(WARC).name,
                "offset": str(offset),
                "length": str(len(record)),
            }
            stamp = fetched.fetched_at.strftime("%Y%m%d%H%M%S")
            index.append(f"{_sort_key(fetched.url)} {stamp} {json.dumps(where)}")
            pages.append(json.dumps({"url": fetched.url, "ts": fetched.fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")}))
    return index, pages


def _sort_key(url: str) -> str:
    """SURT: the host backwards, so that a domain's pages stand together."""
    parts = urlsplit(url)
    host = ",".join(reversed((parts.hostname or "").split(".")))
    port = f":{parts.port}" if parts.port else ""
    return f"{host}{port}){parts.path}{f'?{parts.query}' if parts.query else ''}".replace(" ", "%20")


def _lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def _package(files: dict[str, Path]) -> dict[str, object]:
    resources = []
    for inside, file in files.items():
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size = file.stat().st_size
        resources.append({"name": Path(inside).name, "path": inside, "hash": f"sha256:{digest}", "bytes": size})
    return {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "software": f"Periplus/{__version__}",
        "resources": resources,
    }


def _store(archive: zipfile.ZipFile, inside: str, file: Path) -> None:
    info = zipfile.ZipInfo(inside, ZIP_DATE)
    with file.open("rb") as stream, archive.open(info, "w", force_zip64=file.stat().st_size > 2**31) as member:
        while block := stream.read(2**20):
            member.write(block)
