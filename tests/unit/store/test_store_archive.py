"""The archive: WARC that others can read, digests that are right, and a tail that a crash cannot spoil."""

import base64
import gzip
import hashlib
import io
import uuid
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from crawl_values import analysis, fetched, new_url, open_store
from fake_clock import FakeClock
from warcio.archiveiterator import ArchiveIterator

from periplus.errors import Corrupt
from periplus.model import Outcome
from periplus.store.archive import (
    WAITING_BYTES,
    Archive,
    Seen,
    page_records,
    payload_digest,
    revisit_record,
    warc_date,
    warc_record,
)
from periplus.store.commit import Batch, Completion
from periplus.store.records import scan_records

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the package loads its own old interface
    from fastwarc.warc import ArchiveIterator as FastIterator
    from fastwarc.warc import WarcRecordType


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def archive(folder: Path, *, max_bytes: int = 2**30, file: str | None = None, end: int = 0) -> Archive:
    made = Archive(folder, "main", max_bytes, agent="Periplus/test", clock=FakeClock())
    made.resume(file, end)
    return made


def records(path: Path) -> list[tuple[str, str | None, bytes]]:
    """Type, URL and body of every record, read by warcio."""
    with path.open("rb") as stream:
        return [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(stream, check_digests="raise")
        ]


def test_a_record_says_what_came_from_where_and_when() -> None:
    response = fetched(
        "http://example.com/ü",
        "<p>Zürich".encode(),
        headers=(("Content-Encoding", "gzip"), ("Content-Length", "3"), ("X-A", "caf\xe9"), ("X-B", "a\r\nb")),
    )
    raw = gzip.decompress(warc_record(response))
    head, _, block = raw.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    body = "<p>Zürich".encode()
    assert head.startswith(b"WARC/1.1\r\n")
    assert fields["WARC-Type"] == "response"
    assert fields["WARC-Target-URI"] == "http://example.com/ü"
    assert fields["WARC-Date"] == "2026-03-01T12:00:00Z"
    assert fields["WARC-IP-Address"] == "127.0.0.1"
    assert fields["Content-Type"] == "application/http; msgtype=response"
    assert fields["WARC-Payload-Digest"] == sha1(body)
    block = block.removesuffix(b"\r\n\r\n")
    assert fields["WARC-Block-Digest"] == sha1(block)
    assert int(fields["Content-Length"]) == len(block)
    http_head, _, payload = block.partition(b"\r\n\r\n")
    assert payload == body
    assert http_head.split(b"\r\n")[0] == b"HTTP/1.1 200 OK"
    assert b"Content-Encoding" not in http_head  # the body is stored decoded
    assert b"Content-Length: %d" % len(body) in http_head
    assert b"X-A: caf\xe9\r\n" in http_head  # the bytes that came
    assert b"X-B: a  b" in http_head


def test_the_same_response_is_the_same_record() -> None:
    assert warc_record(fetched()) == warc_record(fetched())
    assert warc_record(fetched()) != warc_record(fetched("http://example.com/other"))


def test_odd_statuses_and_truncation() -> None:
    assert b"HTTP/1.1 299 Unknown" in gzip.decompress(warc_record(fetched(status=299)))
    assert b"WARC-Truncated: length" in gzip.decompress(warc_record(fetched(truncated=True)))


def test_files_are_read_by_warcio_and_fastwarc(tmp_path: Path) -> None:
    made = archive(tmp_path)
    responses = [fetched(f"http://example.com/{number}", b"<p>%d" % number * 100) for number in range(20)]
    places = [made.append(warc_record(response)) for response in responses]
    made.flush()
    made.close()
    path = tmp_path / places[0][0]
    found = records(path)
    assert [kind for kind, _, _ in found] == ["warcinfo"] + ["response"] * 20
    assert [(url, body) for _, url, body in found[1:]] == [(response.url, response.body) for response in responses]
    fast = FastIterator(str(path), record_types=WarcRecordType.response, verify_digests=True, fsspec_args=False)
    assert [record.headers["WARC-Target-URI"] for record in fast] == [response.url for response in responses]
    for response, (_, offset, length) in zip(responses, places, strict=True):
        member = path.read_bytes()[offset : offset + length]
        assert gzip.decompress(member) == gzip.decompress(warc_record(response))  # one member each, by offset


def test_a_full_file_is_followed_by_the_next(tmp_path: Path) -> None:
    made = archive(tmp_path, max_bytes=2_000)
    files = [made.append(warc_record(fetched(f"http://example.com/{number}")))[0] for number in range(20)]
    made.flush()
    made.close()
    assert sorted(set(files)) == sorted(path.name for path in tmp_path.iterdir())
    assert len(set(files)) > 2
    for file in set(files):
        kinds = [kind for kind, _, _ in records(tmp_path / file)]
        assert kinds[0] == "warcinfo"
        assert set(kinds[1:]) == {"response"}


def test_what_was_not_committed_is_cut_off(tmp_path: Path) -> None:
    made = archive(tmp_path)
    file, offset, length = made.append(warc_record(fetched("http://example.com/committed")))
    made.append(warc_record(fetched("http://example.com/lost")))
    made.flush()
    made.close()
    path = tmp_path / file
    path.write_bytes(path.read_bytes()[:-20])  # torn in the middle of the last record
    again = archive(tmp_path, file=file, end=offset + length)
    again.append(warc_record(fetched("http://example.com/next")))
    again.flush()
    again.close()
    assert [url for _, url, _ in records(path)[1:]] == ["http://example.com/committed", "http://example.com/next"]


def test_files_begun_and_not_committed_vanish(tmp_path: Path) -> None:
    made = archive(tmp_path, max_bytes=2_000)
    file, offset, length = made.append(warc_record(fetched()))
    for number in range(10):
        made.append(warc_record(fetched(f"http://example.com/{number}")))
    made.flush()
    made.close()
    assert len(list(tmp_path.iterdir())) > 1
    archive(tmp_path, max_bytes=2_000, file=file, end=offset + length).close()
    assert [path.name for path in tmp_path.iterdir()] == [file]
    archive(tmp_path, max_bytes=2_000).close()  # nothing was ever committed
    assert list(tmp_path.iterdir()) == []


def test_a_strange_name_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(Corrupt):
        archive(tmp_path, file="strange.warc.gz", end=1)


def test_records_stand_alone() -> None:
    member = warc_record(fetched())
    (record,) = list(ArchiveIterator(io.BytesIO(member)))
    assert record.rec_headers.get_header("WARC-Record-ID").startswith("<urn:uuid:")


SENT = (("Host", "example.com"), ("User-Agent", "Periplus/test (+http://a.test/)"), ("If-None-Match", '"x"'))


def whole_page(number: int = 0) -> tuple[bytes, ...]:
    response = replace(fetched(f"http://example.com/p/{number}?q=1", b"<p>%d" % number * 50), request_headers=SENT)
    return page_records(response, {"title": "A\r\nB", "language": "de", "canonical": ""})


def test_ids_and_digests_are_those_of_the_standard_library() -> None:
    for number in range(50):
        page = fetched(f"http://example.com/{number}", str(number).encode() * number)
        head = gzip.decompress(page_records(page, {})[1]).decode()
        named = uuid.uuid5(uuid.NAMESPACE_URL, f"request {warc_date(page.fetched_at)} {page.url}")
        assert f"WARC-Record-ID: <urn:uuid:{named}>" in head
        digest = base64.b32encode(hashlib.sha1(page.body, usedforsecurity=False).digest()).decode()
        assert payload_digest(page.body) == f"sha1:{digest}"


def test_a_page_is_response_request_and_metadata_a_member_each(tmp_path: Path) -> None:
    made = archive(tmp_path)
    places = [made.append(*whole_page(number)) for number in range(3)]
    made.flush()
    made.close()
    path = tmp_path / places[0][0]
    with path.open("rb") as stream:  # warcio: the reference
        read = []
        for record in ArchiveIterator(stream, check_digests="raise"):
            head = record.http_headers.statusline if record.http_headers else ""
            read.append((record.rec_type, head, record.content_stream().read(), record.rec_headers))
    assert [kind for kind, *_ in read] == ["warcinfo"] + ["response", "request", "metadata"] * 3
    response, request, metadata = read[4:7]
    assert request[1] == "/p/1?q=1 HTTP/1.1"
    assert metadata[2] == b"fetchTimeMs: 100\r\ntitle: A  B\r\nlanguage: de\r\n"
    for about in (request, metadata):
        assert about[3].get_header("WARC-Concurrent-To") == response[3].get_header("WARC-Record-ID")
        assert about[3].get_header("WARC-Target-URI") == "http://example.com/p/1?q=1"
    ids = [headers.get_header("WARC-Record-ID") for *_, headers in read]
    assert len(set(ids)) == len(ids)
    fast = [  # fastwarc: the fast one
        (record.headers["WARC-Type"], record.stream_pos)
        for record in FastIterator(str(path), verify_digests=True, fsspec_args=False)
    ]
    assert [kind for kind, _ in fast] == [kind for kind, *_ in read]
    assert [position for kind, position in fast if kind == "response"] == [offset for _, offset, _ in places]
    members = [(record.offset, record.length) for record in scan_records(path)]
    assert [offset for offset, _ in members] == [position for _, position in fast]
    for offset, length in members:
        gzip.decompress(path.read_bytes()[offset : offset + length])  # whole members, one a record
    assert b"If-None-Match" in gzip.decompress(path.read_bytes())


@pytest.mark.parametrize(("status", "profile"), [(304, "server-not-modified"), (200, "identical-payload-digest")])
def test_revisits_refer_to_what_is_archived(tmp_path: Path, status: int, profile: str) -> None:
    made = archive(tmp_path)
    file, _, _ = made.append(warc_record(fetched("http://example.com/", b"body")))
    seen = Seen("http://example.com/", "2026-03-01T12:00:00Z", payload_digest(b"body"))
    again = fetched("http://example.com/again", b"body" if status == 200 else b"", status=status)
    made.append(revisit_record(again, seen))
    made.flush()
    made.close()
    with (tmp_path / file).open("rb") as stream:
        *_, record = ArchiveIterator(stream, check_digests="raise")
        headers = record.rec_headers
        assert record.rec_type == "revisit"
        assert headers.get_header("WARC-Profile") == f"http://netpreserve.org/warc/1.1/revisit/{profile}"
        assert headers.get_header("WARC-Refers-To-Target-URI") == "http://example.com/"
        assert headers.get_header("WARC-Refers-To-Date") == "2026-03-01T12:00:00Z"
        assert headers.get_header("WARC-Payload-Digest") == payload_digest(b"body")
        assert record.http_headers.get_statuscode() == str(status)
    fast = [record.headers["WARC-Type"] for record in FastIterator(str(tmp_path / file), fsspec_args=False)]
    assert fast == ["warcinfo", "response", "revisit"]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [(304, b"", "revisit"), (200, b"<p>text", "revisit"), (200, b"<p >text", "response")],
)
def test_an_unchanged_page_is_a_revisit_unless_its_body_is_another(
    tmp_path: Path, status: int, body: bytes, kind: str
) -> None:
    store = open_store(tmp_path)
    ((leased, _),) = store.commit(Batch(seeds=[new_url("http://x.com/")])).queued
    first = fetched(leased.url, b"<p>text")
    store.commit(
        Batch(completions=[Completion(leased, Outcome.KEPT, fetched=first, analysis=analysis(response=first))])
    )
    again = fetched(leased.url, body, status=status)
    store.commit(Batch(completions=[Completion(leased, Outcome.NOT_MODIFIED, fetched=again)]))
    store.close()
    (path,) = (tmp_path / "main" / "archive").iterdir()
    kinds = [name for name, _, _ in records(path)]
    assert kinds == ["warcinfo", "response", "request", "metadata", kind, "request", "metadata"]


def test_a_duplicate_of_a_page_of_the_same_batch_refers_to_what_is_not_written_yet(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    queued = store.commit(Batch(seeds=[new_url("http://x.com/"), new_url("http://x.com/copy")])).queued
    ended = []
    for (leased, _), outcome in zip(queued, (Outcome.KEPT, Outcome.DUPLICATE), strict=True):
        answer = fetched(leased.url, b"<p>text")
        ended.append(Completion(leased, outcome, fetched=answer, analysis=analysis(response=answer)))
    store.commit(Batch(completions=ended))
    store.close()
    (path,) = (tmp_path / "main" / "archive").iterdir()
    kinds = [name for name, _, _ in records(path)]
    assert kinds == ["warcinfo", "response", "request", "metadata", "revisit", "request", "metadata"]


def test_a_torn_tail_is_cut_off_as_soon_as_the_archive_is_taken_up(tmp_path: Path) -> None:
    made = archive(tmp_path)
    file, *_ = made.append(*whole_page(0))
    end = made.end
    made.append(*whole_page(1))
    made.flush()
    made.close()
    path = tmp_path / file
    torn = path.read_bytes()
    for cut in range(end[1], len(torn), 37):
        path.write_bytes(torn[:cut])
        archive(tmp_path, file=file, end=end[1]).close()
        assert path.stat().st_size == end[1]
    assert len(records(path)) == 4
    path.write_bytes(torn[: end[1] - 1])
    with pytest.raises(Corrupt, match="verify --repair"):
        archive(tmp_path, file=file, end=end[1])


def test_what_waits_is_written_when_it_is_much_and_dropped_when_it_was_not_committed(tmp_path: Path) -> None:
    made = archive(tmp_path)
    file, *_ = made.append(b"x" * 1_000)
    assert not (tmp_path / file).exists()
    made.append(b"y" * WAITING_BYTES)
    written = (tmp_path / file).stat().st_size
    assert made.end == (file, written)
    made.append(b"z")
    assert made.end == (file, written + 1)
    made.resume(file, written)
    made.flush()
    assert (tmp_path / file).stat().st_size == written
