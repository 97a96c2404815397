"""What a crawl keeps in NATS' key-value store: its job and state, who runs each node, hosts, robots.txt.

Every write names the revision that it replaces, so of two who change a record one is told to look again.
"""

import contextlib
import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from periplus import __version__
from periplus.errors import ConfigError, EnvironmentFailure
from periplus.exchange.connection import Temporary, jetstream, patiently, temporary_errors
from periplus.exchange.streams import NAME_IN_USE, check_streams

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.kv import KeyValue

__all__ = ["PROTOCOL", "Board", "CrawlRecord", "NodeRecord", "key_of"]

PROTOCOL = 2
"""Grows when nodes of two versions would misunderstand each other; such nodes do not join."""

ANSWER_SECONDS = 2.0
READER_SECONDS = 30.0
"""After which the server forgets a reader that asks for nothing more."""

MOST_FETCHED = 256
MAX_JOB_BYTES = 512 * 1024
NO_REPLICAS = 10074
WRONG_LAST_SEQUENCE = (10071, 10164)  # the second while several servers are still agreeing on another write

T = TypeVar("T")
S = TypeVar("S", bound=Struct)


class CrawlRecord(Struct, frozen=True):
    """The job that all nodes run, and what they are to do: run, pause, stop; or that it has ended, and why."""

    protocol: int
    version: str
    job: str
    """The job as TOML, with seeds and targets settled."""
    nodes: tuple[str, ...]
    state: str = "running"  # running, paused, stopping, ended
    reason: str = ""


class NodeRecord(Struct, frozen=True):
    """Who runs a node, under which epoch, and how it is going. Every heartbeat writes it anew."""

    node: str
    member: str  # the process, by a random name
    epoch: int
    beat: int
    version: str
    machine: str
    folder: str
    pid: int
    generation: str = ""  # of its database
    state: str = "running"  # running; left: failed; stopped: by its operator, alone; ended: together with all others
    pages: int = 0
    kept: int = 0
    queued: int = 0
    outbox: int = 0
    rate: float = 0.0
    sent: int = 0
    refused: int = 0
    inbox: dict[str, int] = {}
    summary: dict[str, Any] = {}  # of its run, once that has ended: `store.summary.Summary`


def key_of(text: str) -> str:
    """A host or an origin as a key."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _version_in(record: bytes) -> str:
    """The version that a record names which cannot be read otherwise; empty if it names none."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = msgspec.msgpack.decode(record)
        if isinstance(found, dict) and isinstance(version := found.get("version"), str):
            return f" ({version[:40]})"
    return ""


class Board:
    """The crawl's bucket. Calls that fail for a moment are tried again for a while, then raise `Temporary`."""

    def __init__(self, client: "Client", crawl: str, domain: str = "") -> None:
        self._client = client
        self._js = jetstream(client, domain, ANSWER_SECONDS)
        self.domain = domain
        self.bucket = f"periplus-{crawl}"
        # A leaf node passes writes on only under the name of the domain, which nats-py does not know of.
        self._subject = (f"$JS.{domain}.API." if domain else "") + f"$KV.{self.bucket}."
        self._kv: KeyValue | None = None
        self._decoders: dict[type[Struct], msgspec.msgpack.Decoder[Struct]] = {}

    async def open(self, replicas: int) -> None:
        """Make the bucket if it is not there."""
        from nats.js.errors import APIError, NotFoundError  # noqa: PLC0415

        js = self._js

        async def bound() -> "KeyValue":
            async with temporary_errors(self.bucket):
                try:
                    return await js.key_value(self.bucket)
                except NotFoundError:
                    try:
                        return await js.create_key_value(bucket=self.bucket, history=1, replicas=replicas)
                    except APIError as error:
                        if error.err_code == NAME_IN_USE:  # somebody else has made it just now
                            return await js.key_value(self.bucket)
                        if error.err_code == NO_REPLICAS:
                            raise ConfigError(
                                f"cluster.replicas = {replicas}: this NATS server is alone and keeps one copy; set 1, "
                                "or start a cluster of servers (deploy/nats/cluster.conf)"
                            ) from None
                        raise

        try:
            self._kv = await patiently(bound)
        except APIError as error:
            raise EnvironmentFailure(f"{self.bucket}: NATS does not make the bucket ({error.description})") from None

    async def check_there(self, *streams: str) -> None:
        """EnvironmentFailure if NATS answers, but has lost the bucket or one of these streams."""
        await check_streams(self._js, f"KV_{self.bucket}", *streams)

    @property
    def _store(self) -> "KeyValue":
        if self._kv is None:
            raise EnvironmentFailure(f"{self.bucket}: not open")
        return self._kv

    async def _try(self, key: str, call: Callable[[], Awaitable[T]], tries: int) -> T:
        async def once() -> T:
            async with temporary_errors(key):
                return await call()

        return await patiently(once, tries=tries)

    async def _write(self, key: str, data: bytes, last: int | None = None) -> int:
        """Write a value, if asked to in place of that revision only; the new revision."""
        from nats.js.errors import APIError, KeyWrongLastSequenceError  # noqa: PLC0415

        headers = None if last is None else {"Nats-Expected-Last-Subject-Sequence": str(last)}
        try:
            return (await self._js.publish(self._subject + key, data, headers=headers)).seq
        except APIError as error:
            if error.err_code in WRONG_LAST_SEQUENCE:
                raise KeyWrongLastSequenceError(description=error.description) from None
            raise Temporary(f"{key}: NATS does not take it now ({error.description})") from error

    async def get(self, key: str, kind: type[S], *, tries: int = 3) -> tuple[S, int] | None:
        """A record and its revision, or None; EnvironmentFailure if it is not one that we can read."""
        from nats.js.errors import KeyNotFoundError  # noqa: PLC0415

        try:
            entry = await self._try(key, lambda: self._store.get(key), tries)
        except KeyNotFoundError:
            return None
        try:
            return msgspec.msgpack.decode(entry.value or b"", type=kind), entry.revision or 0
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise EnvironmentFailure(
                f"{self.bucket}: the record {key} is of another Periplus{_version_in(entry.value or b'')} than this, "
                f"{__version__} ({error}); use the same version on all machines"
            ) from None

    async def entries(self, prefix: str, kind: type[S]) -> list[S]:
        """All records whose keys begin with `prefix.`, those that can be read.

        They are fetched, so that it is known how many are to come: nats-py's `watch` takes a bucket for empty if all
        were on their way when it asked.
        """
        return await patiently(lambda: self._fetched(prefix, kind), tries=3)

    async def _fetched(self, prefix: str, kind: type[S]) -> list[S]:
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy  # noqa: PLC0415

        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.LAST_PER_SUBJECT, ack_policy=AckPolicy.NONE, inactive_threshold=READER_SECONDS
        )
        found: list[S] = []
        async with temporary_errors(prefix):
            subject, stream = f"$KV.{self.bucket}.{prefix}.*", f"KV_{self.bucket}"
            reader = await self._js.pull_subscribe(subject, stream=stream, config=config)
            try:
                left = (await reader.consumer_info()).num_pending or 0
                while left:
                    for message in await reader.fetch(min(left, MOST_FETCHED), timeout=ANSWER_SECONDS):
                        left = message.metadata.num_pending
                        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                            found.append(msgspec.msgpack.decode(message.data, type=kind))
            finally:
                await reader.unsubscribe()
        return found

    async def create(self, key: str, record: Struct, *, tries: int = 3) -> int | None:
        """Write a record that is not there; its revision, or None if somebody else was first."""
        from nats.js.errors import KeyWrongLastSequenceError  # noqa: PLC0415

        data = msgspec.msgpack.encode(record)
        try:
            return await self._try(key, lambda: self._write(key, data, 0), tries)
        except KeyWrongLastSequenceError:
            return await self._was_it_us(key, data)

    async def replace(self, key: str, record: Struct, revision: int, *, tries: int = 3) -> int | None:
        """Write a record in place of that revision; the new one, or None if somebody else has written it meanwhile."""
        from nats.js.errors import KeyWrongLastSequenceError  # noqa: PLC0415

        data = msgspec.msgpack.encode(record)
        try:
            return await self._try(key, lambda: self._write(key, data, revision), tries)
        except KeyWrongLastSequenceError:
            return await self._was_it_us(key, data)

    async def _was_it_us(self, key: str, data: bytes) -> int | None:
        """A first try may have been written although its answer got lost; then the record is ours after all."""
        from nats.js.errors import KeyNotFoundError  # noqa: PLC0415

        try:
            entry = await self._try(key, lambda: self._store.get(key), 3)
        except KeyNotFoundError:
            return None
        return entry.revision if entry.value == data else None

    async def put(self, key: str, record: Struct) -> None:
        """Write a record, whatever was there."""
        data = msgspec.msgpack.encode(record)
        await self._try(key, lambda: self._write(key, data), 2)

    async def change(self, key: str, kind: type[S], how: Callable[[S], S]) -> S | None:
        """Change a record that others may change as well; None if there is none."""
        while (found := await self.get(key, kind)) is not None:
            record, revision = found
            changed = how(record)
            if changed == record or await self.replace(key, changed, revision) is not None:
                return changed
        return None
