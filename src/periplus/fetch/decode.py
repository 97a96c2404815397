"""Content decoding with a bound: gzip, deflate, br and zstd never grow past the limit."""

import zlib
from collections.abc import Callable

import brotli
import zstandard
from isal import isal_zlib

from periplus.errors import BadContent, TooLarge

__all__ = ["ACCEPT_ENCODING", "decode_content", "decode_part"]

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
MAX_ENCODINGS = 2
NO_ENCODINGS = frozenset({"identity", "none", "utf-8", "binary", "8bit", "aws-chunked"})
"""Names that say nothing was done to a body; browsers pass over the wrong ones among them too."""


def decode_content(body: bytes, encoding: str, limit: int) -> bytes:
    """Undo the Content-Encoding. TooLarge past `limit` bytes, BadContent if it does not decode."""
    return decode_part(body, encoding, limit)[0]


def decode_part(body: bytes, encoding: str, limit: int, *, cut: bool = False) -> tuple[bytes, bool]:
    """`decode_content`, and whether that was all: compressed data that breaks off says so, whatever its length is.

    With `cut`, what lies past the limit is left out instead of refused.
    """
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    if len(names) > MAX_ENCODINGS:
        raise BadContent(f"{len(names)} content encodings")
    whole = True
    for name in reversed(names):
        if name in NO_ENCODINGS:
            continue
        decoder = DECODERS.get(name)
        if decoder is None:
            raise BadContent(f"unknown content encoding {name[:40]!r}")
        if not body:
            break
        body, ended = decoder(body, limit)
        whole = whole and ended
        if len(body) > limit:
            if not cut:
                raise TooLarge(f"more than {limit} bytes after decoding")
            body, whole = body[:limit], False
    return body, whole


def _gzip(body: bytes, limit: int) -> tuple[bytes, bool]:
    """All members, one after the other; what follows the last member is ignored, as browsers do."""
    out = bytearray()
    ended = False
    while body.startswith(b"\x1f\x8b") and len(out) <= limit:
        inflater = isal_zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        out += _inflate(inflater, body, limit + 1 - len(out))
        body, ended = inflater.unused_data, inflater.eof
    if not out and body:
        raise BadContent("not gzip data")
    return bytes(out), ended


def _deflate(body: bytes, limit: int) -> tuple[bytes, bool]:
    """zlib-wrapped as the standard says, or raw as some servers send it."""
    inflater = isal_zlib.decompressobj(wbits=zlib.MAX_WBITS)
    try:
        return _inflate(inflater, body, limit + 1), inflater.eof
    except BadContent:
        inflater = isal_zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        return _inflate(inflater, body, limit + 1), inflater.eof


def _inflate(inflater: isal_zlib.Decompress, body: bytes, max_length: int) -> bytes:
    try:
        return inflater.decompress(body, max_length)
    except isal_zlib.error as error:  # type: ignore[misc]  # its stub does not say that it is an exception
        raise BadContent(f"does not decompress: {error}") from error


def _brotli(body: bytes, limit: int) -> tuple[bytes, bool]:
    decompressor = brotli.Decompressor()
    out = bytearray()
    try:
        out += decompressor.process(body, output_buffer_limit=limit + 1)
        while len(out) <= limit and not decompressor.is_finished() and not decompressor.can_accept_more_data():
            out += decompressor.process(b"", output_buffer_limit=limit + 1)
    except brotli.error as error:
        raise BadContent(f"does not decompress: {error}") from error
    return bytes(out), decompressor.is_finished()


def _zstd(body: bytes, limit: int) -> tuple[bytes, bool]:
    try:
        # max_window_size bounds the memory that a frame's header may ask for (8 MiB, RFC 9659).
        with zstandard.ZstdDecompressor(max_window_size=2**23).stream_reader(body, read_across_frames=True) as reader:
            out = reader.read(limit + 1)
        return out, len(out) > limit or _zstd_ended(body)
    except zstandard.ZstdError as error:
        raise BadContent(f"does not decompress: {error}") from error


def _zstd_ended(body: bytes) -> bool:
    """Whether the last frame is whole, which a reader does not say. Only for what is known to be small unpacked."""
    while body:
        frame = zstandard.ZstdDecompressor(max_window_size=2**23).decompressobj()
        frame.decompress(body)
        if not frame.eof:
            return False
        body = frame.unused_data
    return True


DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
