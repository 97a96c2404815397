"""What travels between machines: a batch of links as msgpack, with a version and bounds on everything.

An envelope says which of its sender's links come before it (`after`), so that a receiver can put late and repeated
envelopes in order without asking. Nothing in it is trusted: URLs must be in canonical form, numbers in range.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from periplus.errors import ExchangeError
from periplus.model import NewUrl
from periplus.urls import canonicalize, fingerprint

__all__ = ["MAX_ENVELOPE_BYTES", "VERSION", "Envelope", "PostedLink", "open_envelope", "pack", "seal"]

VERSION = 1
MAX_ENVELOPE_BYTES = 768 * 1024
"""Below the 1 MiB that a NATS server takes unless told otherwise."""

MAX_LINKS = 1_000
MAX_PACKED_BYTES = 512 * 1024
MAX_SEQUENCE = 2**62

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Maybe = Annotated[str, Meta(max_length=64)]
Sequence64 = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]


class PostedLink(Struct, frozen=True, gc=False):
    """A link with its number in the sender's outbox and, if it goes to its home first, the node it is meant for."""

    sequence: int
    url: NewUrl
    target: str = ""


class _WireLink(Struct, frozen=True, array_like=True, gc=False):
    step: Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)]
    """How much further in the outbox than the link before."""
    url: Annotated[str, Meta(min_length=8, max_length=8_192)]
    priority: float
    depth: Annotated[int, Meta(ge=0, le=100_000)]
    redirects: Annotated[int, Meta(ge=0, le=1_000)]
    sitemap: bool
    target: Maybe


class _Wire(Struct, frozen=True, array_like=True):
    version: int
    sender: Name
    receiver: Name
    after: Sequence64
    links: Annotated[tuple[_WireLink, ...], Meta(min_length=1, max_length=MAX_LINKS)]


class Envelope(Struct, frozen=True):
    """Links of one sender for one receiver. Everything it sent there before has a number up to `after`."""

    sender: str
    receiver: str
    after: int
    links: tuple[PostedLink, ...]

    @property
    def last(self) -> int:
        """The number of its last link."""
        return self.links[-1].sequence


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Wire)


def pack(links: Sequence[PostedLink]) -> int:
    """How many of the links, from the first on, one envelope takes: at least one."""
    size = 0
    for number, link in enumerate(links[:MAX_LINKS]):
        size += len(link.url.url) * 4 + 64
        if size > MAX_PACKED_BYTES and number:
            return number
    return min(len(links), MAX_LINKS)


def seal(envelope: Envelope) -> bytes:
    """The envelope as bytes."""
    before, wired = envelope.after, []
    for link in envelope.links:
        url = link.url
        wired.append(
            _WireLink(link.sequence - before, url.url, url.priority, url.depth, url.redirects, url.sitemap, link.target)
        )
        before = link.sequence
    return _encoder.encode(_Wire(VERSION, envelope.sender, envelope.receiver, envelope.after, tuple(wired)))


def open_envelope(data: bytes) -> Envelope:
    """Read an envelope; ExchangeError if it is malformed, too large or of another version."""
    if len(data) > MAX_ENVELOPE_BYTES:
        raise ExchangeError(f"an envelope of {len(data):,} bytes: more than {MAX_ENVELOPE_BYTES:,}")
    try:
        wire = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ExchangeError(f"not an envelope: {error}") from None
    if wire.version != VERSION:
        raise ExchangeError(f"an envelope of version {wire.version}; this Periplus reads version {VERSION}")
    sequence, links = wire.after, []
    for link in wire.links:
        sequence += link.step
        parts = canonicalize(link.url)
        if parts is None or parts.href != link.url or not -1e9 < link.priority < 1e9 or sequence > MAX_SEQUENCE:
            raise ExchangeError(f"an envelope of {wire.sender} with a link that is none: {link.url[:100]!r}")
        url = NewUrl(
            link.url, parts.host, fingerprint(link.url), link.priority, link.depth, link.redirects, link.sitemap
        )
        links.append(PostedLink(sequence, url, link.target))
    return Envelope(wire.sender, wire.receiver, wire.after, tuple(links))
