"""Documents from files, for learning and scoring: text, HTML, JSONL, folders. The only reader of disk in this room."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from periplus.errors import UsageError
from periplus.model import Fetched, Page
from periplus.pages import HTML_SUFFIXES, is_html, read_page

__all__ = ["Document", "document_from_row", "read_documents", "read_lines"]

MAX_FILE_BYTES = 64 * 2**20
TEXT_SUFFIXES = frozenset({".txt", ".text", ".md", ""})
JSON_SUFFIXES = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class Document:
    """A document with the id it is reported under; `relevant` is somebody's judgement, if the file has one."""

    id: Any
    page: Page
    relevant: bool | None = None


def read_documents(paths: Iterable[Path]) -> Iterator[Document]:
    """The documents of files and folders, in the order of their names. UsageError where one cannot be read."""
    for path in paths:
        if path.is_dir():
            inner = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
            known = TEXT_SUFFIXES | JSON_SUFFIXES | set(HTML_SUFFIXES)
            found = [p for p in inner if p.suffix.lower() in known]
            if not found:
                raise UsageError(f"{path}: no documents in this folder; give .txt, .html or .jsonl files")
            for file in found:
                yield from _read_file(file)
        else:
            yield from _read_file(path)


def read_lines(text: str, source: str) -> Iterator[Document]:
    """Documents from JSONL: one {"id", "text", "url"?, "title"?, "language"?, "relevant"?} a line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield document_from_row(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise UsageError(f'{source} line {number}: not a JSON object with "id" and "text"') from error


def document_from_row(row: dict[str, Any]) -> Document:
    """One row of JSONL; KeyError or TypeError if it has no text."""
    if not isinstance(row["text"], str):
        raise TypeError("text")
    page = Page(
        url=str(row.get("url") or ""),
        title=str(row.get("title") or ""),
        text=row["text"],
        links=(),
        language=str(row.get("language") or ""),
    )
    judged = row.get("relevant")
    return Document(row["id"], page, judged if isinstance(judged, bool) else None)


def _read_file(path: Path) -> Iterator[Document]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path}: larger than {MAX_FILE_BYTES // 2**20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if path.suffix.lower() in JSON_SUFFIXES:
        yield from read_lines(data.decode("utf-8", "replace"), str(path))
    else:
        yield Document(str(path), page_of(data, str(path)))


def page_of(data: bytes, source: str, *, html: bool = False) -> Page:
    """A page from the bytes of a text or HTML file."""
    if html or is_html(data, source):
        return read_page(Fetched("http://localhost/", 200, (), data, "text/html", datetime.now(UTC), 0.0, ""))
    if b"\0" in data[:1024] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{source} is not text (it holds NUL bytes); give text, HTML or JSONL")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return Page("", "", data.decode(encoding, "replace").lstrip("\ufeff"), ())
