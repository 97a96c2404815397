"""Recorded webs: what is written is read again, by us and by others; what is broken is said."""

import gzip
import io
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from crawl_values import fetched
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from periplus.errors import UsageError
from periplus.store.folders import caret_url, is_caret_folder, pages_of_folder
from periplus.store.recorded import RecordedWeb
from periplus.store.wacz import write_wacz

PAGES = [fetched(f"http://host{n % 3}.test/page/{n}", f"<title>{n}</title><p>Ünï {n}".encode()) for n in range(12)]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "web.wacz"
    assert write_wacz(PAGES, path) == 12
    web = RecordedWeb(path)
    assert [(page.url, page.status, page.body) for page in web.responses()] == [(p.url, 200, p.body) for p in PAGES]
    found = web.get("http://host1.test/page/7")
    assert found is not None
    assert found.body == PAGES[7].body
    assert (found.content_type, found.fetched_at, found.address) == (
        PAGES[7].content_type,
        PAGES[7].fetched_at,
        "127.0.0.1",
    )
    assert web.get("http://host1.test/nowhere") is None
    assert web.notes == []
    first = path.read_bytes()
    write_wacz(PAGES, path)
    assert path.read_bytes() == first, "the same pages are the same bytes"


def test_a_link_is_followed_and_a_pipe_is_left_alone(tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "web.wacz")
    write_wacz(PAGES, link)
    assert link.is_symlink()
    assert len(list(RecordedWeb(tmp_path / "web.wacz").responses())) == 12
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="a pipe or a device, not a file"):
        write_wacz(PAGES, pipe)
    assert pipe.is_fifo()


def test_a_web_that_is_not_there(tmp_path: Path) -> None:
    for name in ("web.wacz", "web.warc.gz", "folder"):
        with pytest.raises(UsageError, match=f"{name}: no such file or folder"):
            RecordedWeb(tmp_path / name)


def test_others_read_it(tmp_path: Path) -> None:
    path = tmp_path / "web.wacz"
    write_wacz(PAGES, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        kinds = Counter(one.rec_type for one in ArchiveIterator(io.BytesIO(archive.read("archive/data.warc.gz"))))
        index = archive.read("indexes/index.cdxj").decode().splitlines()
    assert kinds == {"warcinfo": 1, "response": 12, "metadata": 12}  # how long it took is in the metadata
    assert index == sorted(index)
    assert index[0].startswith("test,host0)/page/0 ")


def test_archives_of_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "other.warc.gz"
    body = b"<title>Zipped</title>"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        head = StatusAndHeaders(
            "200 OK", [("Content-Type", "text/html"), ("Content-Encoding", "gzip")], protocol="HTTP/1.1"
        )
        payload = io.BytesIO(gzip.compress(body))
        record = writer.create_warc_record("http://Other.test:80/a", "response", payload=payload, http_headers=head)
        writer.write_record(record)
        record.raw_stream.close()
    (found,) = RecordedWeb(tmp_path).responses()
    assert (found.url, found.body) == ("http://other.test/a", body)


def test_a_torn_file_is_read_to_the_last_whole_record(tmp_path: Path) -> None:
    path = tmp_path / "web.wacz"
    write_wacz(PAGES, path)
    with zipfile.ZipFile(path) as archive:
        whole = archive.read("archive/data.warc.gz")
    torn = tmp_path / "torn.warc.gz"
    metadata = whole.rfind(b"\x1f\x8b")  # the last record; the response is before it
    torn.write_bytes(whole[: metadata - 60])
    web = RecordedWeb(torn)
    assert [page.url for page in web.responses()] == [page.url for page in PAGES[:-1]]
    assert len(web.notes) == 1
    assert "ends in the middle of a record" in web.notes[0]


def test_what_is_no_archive_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no WARC or WACZ file"):
        RecordedWeb(tmp_path)
    (tmp_path / "bad.wacz").write_bytes(b"PK but not really")
    with pytest.raises(UsageError, match="not a WACZ file"):
        RecordedWeb(tmp_path / "bad.wacz")
    with zipfile.ZipFile(tmp_path / "twice.wacz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.warc.gz", b"x" * 100)
    with pytest.raises(UsageError, match="compressed once more"):
        RecordedWeb(tmp_path / "twice.wacz")


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("http_^^www.cs.example.edu^~jo^index.html", "http://www.cs.example.edu/~jo/index.html"),
        ("http_^^example.edu_8080^a^", "http://example.edu:8080/a/"),
        ("https:^^example.edu^", "https://example.edu/"),
        ("readme.txt", None),
        ("http_^^", None),
    ],
)
def test_files_named_by_their_url(name: str, url: str | None) -> None:
    assert caret_url(name) == url


def test_a_folder_of_pages_with_their_headers(tmp_path: Path) -> None:
    folder = tmp_path / "staff" / "somewhere"
    folder.mkdir(parents=True)
    (folder / "http_^^a.edu^x.html").write_bytes(b"Server: NCSA\r\nContent-type: text/html\r\n\r\n<title>A: b</title>")
    (folder / "http_^^a.edu^y.html").write_bytes(b"<title>No headers</title>")
    (folder / "notes").write_text("not a page")
    assert is_caret_folder(tmp_path)
    first, second = pages_of_folder(tmp_path)
    assert (first.url, first.content_type, first.body) == ("http://a.edu/x.html", "text/html", b"<title>A: b</title>")
    assert (second.url, second.headers, second.body) == ("http://a.edu/y.html", (), b"<title>No headers</title>")
