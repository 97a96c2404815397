"""Content decoding never grows past its limit, whatever the encoding (reliability H1)."""

import contextlib
import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import BadContent, FetchError, TooLarge
from periplus.fetch.decode import decode_content, decode_part

LIMIT = 1_000_000
TEXT = ("Portland, Oregon — " * 500).encode()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=4)),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", ENCODERS)
def test_encodings_are_undone(name: str) -> None:
    assert decode_content(ENCODERS[name](TEXT), name, LIMIT) == TEXT
    assert decode_content(ENCODERS[name](TEXT), f" {name.upper()} ", LIMIT) == TEXT
    assert decode_content(ENCODERS[name](TEXT), f"identity, {name}", LIMIT) == TEXT
    assert decode_content(ENCODERS[name](b""), name, LIMIT) == b""


@pytest.mark.parametrize("name", ["identity", "none", "UTF-8", "binary", "aws-chunked"])
def test_names_that_are_no_encodings_change_nothing(name: str) -> None:
    assert decode_part(TEXT, name, LIMIT) == (TEXT, True)
    assert decode_part(gzip.compress(TEXT), f"gzip, {name}", LIMIT) == (TEXT, True)


def test_deflate_without_its_wrapper_is_understood() -> None:
    assert decode_content(raw_deflate(TEXT), "deflate", LIMIT) == TEXT


def test_two_encodings_are_undone_in_order_and_three_are_refused() -> None:
    assert decode_content(gzip.compress(brotli.compress(TEXT)), "br, gzip", LIMIT) == TEXT
    with pytest.raises(BadContent):
        decode_content(TEXT, "gzip, gzip, gzip", LIMIT)


def test_gzip_members_follow_each_other_and_what_follows_them_is_ignored() -> None:
    assert decode_content(gzip.compress(b"one ") + gzip.compress(b"two") + b"rubbish", "gzip", LIMIT) == b"one two"


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("junk", [b"<html>not compressed</html>", b"\x1f\x8b", b"\x00" * 40, b"\xff" * 40])
def test_what_does_not_decode_is_bad_content(name: str, junk: bytes) -> None:
    with contextlib.suppress(BadContent):
        assert len(decode_content(junk, name, LIMIT)) <= LIMIT


def test_unknown_encodings_are_refused_without_repeating_them_at_length() -> None:
    with pytest.raises(BadContent) as caught:
        decode_content(TEXT, "x" * 10_000, LIMIT)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", ENCODERS)
def test_a_truncated_body_gives_what_came(name: str) -> None:
    body = ENCODERS[name](bytes(random.Random(1).choices(b"abcdefgh ", k=900_000)))
    part = decode_content(body[: len(body) // 2], name, LIMIT)
    assert 0 < len(part) < 900_000


@pytest.mark.parametrize("name", [*ENCODERS, "raw"])
def test_what_breaks_off_is_known_to_be_a_part(name: str) -> None:
    body = raw_deflate(TEXT) if name == "raw" else ENCODERS[name](TEXT)
    encoding = "deflate" if name == "raw" else name
    assert decode_part(body, encoding, LIMIT) == (TEXT, True)
    assert decode_part(gzip.compress(body), f"{encoding}, gzip", LIMIT) == (TEXT, True)
    for cut in (len(body) // 2, len(body) - 1):
        part, whole = decode_part(body[:cut], encoding, LIMIT)
        assert not whole, cut
        assert TEXT.startswith(part)
        assert not decode_part(gzip.compress(body[:cut]), f"{encoding}, gzip", LIMIT)[1]
    assert decode_part(b"", encoding, LIMIT) == (b"", True), "nothing is not compressed"


def bomb(name: str, size: int) -> bytes:
    """`size` zero bytes, made without holding them in memory."""
    piece, pieces = b"\0" * 2**20, size // 2**20
    if name == "br":
        packer = brotli.Compressor(quality=3)
        return b"".join([*(packer.process(piece) for _ in range(pieces)), packer.finish()])
    if name == "zstd":
        zipper = zstandard.ZstdCompressor().compressobj()
        return b"".join([*(zipper.compress(piece) for _ in range(pieces)), zipper.flush()])
    deflater = zlib.compressobj(9, wbits=31 if "gzip" in name else 15)
    return b"".join([*(deflater.compress(piece) for _ in range(pieces)), deflater.flush()])


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_stops_at_the_limit(name: str) -> None:
    body = bomb(name, 64 * 2**20)
    assert len(body) < 2**20
    tracemalloc.start()
    with pytest.raises(TooLarge):
        decode_content(body, name, 2 * 2**20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 * 2**20


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_what_may_be_cut_is_cut_at_the_limit(name: str) -> None:
    body = ENCODERS[name](TEXT)
    assert decode_part(body, name, 1_000, cut=True) == (TEXT[:1_000], False)
    assert decode_part(body, name, len(TEXT), cut=True) == (TEXT, True)
    assert decode_part(bomb(name, 64 * 2**20), name, 1_000, cut=True) == (bytes(1_000), False)


def test_a_bomb_in_a_bomb_and_one_of_many_members_stop_too() -> None:
    with pytest.raises(TooLarge):
        decode_content(gzip.compress(bomb("gzip", 32 * 2**20)), "gzip, gzip", 2**20)
    with pytest.raises(TooLarge):
        decode_content(gzip.compress(b"\0" * 10_000) * 1_000, "gzip", 2**20)


def test_a_zstd_frame_that_asks_for_a_huge_window_is_refused() -> None:
    window = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=window).compressobj()
    body = packer.compress(random.Random(2).randbytes(3 * 2**20)) + packer.flush()
    with pytest.raises(FetchError):
        decode_content(body, "zstd", 10 * 2**20)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(sorted(ENCODERS)), st.binary(max_size=200), st.integers(0, 50), st.integers(0, 255))
def test_damaged_bodies_give_bytes_or_our_error(name: str, data: bytes, at: int, byte: int) -> None:
    body = bytearray(ENCODERS[name](data))
    body[at % len(body)] = byte
    with contextlib.suppress(FetchError):
        assert len(decode_content(bytes(body), name, LIMIT)) <= LIMIT
