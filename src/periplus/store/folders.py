"""Pages in folders: files that are named by their URL with carets for slashes, as the WebKB collection has them.

`http_^^www.cs.example.edu^~jo^index.html` is http://www.cs.example.edu/~jo/index.html. A file may begin with the
header lines of the response, a blank line after them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from periplus.model import Fetched
from periplus.urls import canonicalize

__all__ = ["caret_url", "is_caret_folder", "pages_of_folder"]

NAME = re.compile(r"(https?)[_:]\^\^(.+)", re.DOTALL)
PORT = re.compile(r"_(\d{1,5})$")
HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,60}:[^\r\n]*\r?\n")
MAX_HEADER_BYTES = 16_384
MAX_FILE_BYTES = 10 * 2**20
RECORDED = datetime(1997, 1, 1, tzinfo=UTC)


def caret_url(name: str) -> str | None:
    """The canonical URL that a file name stands for, or None if it is not such a name."""
    match = NAME.fullmatch(name)
    if match is None:
        return None
    host, _, path = match[2].partition("^")
    url = canonicalize(f"{match[1]}://{PORT.sub(lambda port: ':' + port[1], host)}/{path.replace('^', '/')}")
    return url.href if url else None


def is_caret_folder(folder: Path) -> bool:
    """Whether there is at least one such file in the folder or below."""
    return any(caret_url(path.name) for path in folder.rglob("http*") if path.is_file())


def pages_of_folder(folder: Path) -> Iterator[Fetched]:
    """The pages below a folder as responses, sorted by path; other files are passed over."""
    for path in sorted(folder.rglob("http*")):
        url = caret_url(path.name) if path.is_file() else None
        if url is None:
            continue
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        headers, body = _split(data[:MAX_FILE_BYTES])
        kind = next((value for name, value in headers if name.lower() == "content-type"), "text/html")
        yield Fetched(url, 200, headers, body, kind, RECORDED, 0.0, "", truncated=len(data) > MAX_FILE_BYTES)


def _split(data: bytes) -> tuple[tuple[tuple[str, str], ...], bytes]:
    """Header lines and body; a file without headers is all body."""
    position = 0
    headers = []
    while (line := HEADER.match(data, position, position + MAX_HEADER_BYTES)) is not None:
        name, _, value = line[0].decode("latin-1").partition(":")
        headers.append((name, value.strip()))
        position = line.end()
    if not headers:
        return (), data
    blank = re.compile(rb"\r?\n").match(data, position)
    return tuple(headers), data[blank.end() if blank else position :]
