"""The exchange between machines: one NATS JetStream stream a crawl, one subject and one durable consumer a node.

The promise is that of `local`: a link is a row of the sender's outbox until the receiver has committed it. In between,
the stream keeps it, whoever dies. Envelopes of one sender are put in order by what they say of themselves
(`Envelope.after`), so repeated and overtaking deliveries do no harm. A message is acknowledged after the receiver's
transaction; the sender hears of that by a message, and again by the receiver's heartbeat should that get lost.

A sender is known by its name and the generation of its database (`east.3f2a90c1`): a node that was rebuilt counts its
outbox from one again, and receivers must not take its links for repetitions.
"""

import asyncio
import contextlib
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from periplus.errors import ExchangeError
from periplus.exchange.connection import Temporary, give_way, jetstream, patiently, said_by, temporary_errors
from periplus.exchange.envelope import Envelope, PostedLink, open_envelope, pack, seal
from periplus.exchange.local import LocalExchange, Shipment
from periplus.exchange.pace import Pace, Waiting
from periplus.exchange.streams import make_stream
from periplus.model import NewUrl
from periplus.settings import ClusterSettings

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js.client import JetStreamContext

__all__ = ["DONE", "HUNGRY", "MAX_OUTGOING", "NatsExchange"]

MAX_OUTGOING = 50_000
"""Links that wait in memory for NATS; with more, the crawl takes no further turns."""

MAX_ARRIVED = 20_000
"""Links that wait in memory for the writer; with more, nothing is pulled."""

MAX_HELD = 512
"""Envelopes in memory that overtook others; further ones are left to be delivered again."""

HUNGRY, DONE = 1, 2
UNACKNOWLEDGED = 256
PULL_SECONDS = 5.0
ACK_WAIT_SECONDS = 30.0
PUBLISH_SECONDS = 2.0
DUPLICATE_IN_PROCESS = 10158


@dataclass(slots=True)
class _Channel:
    """Links from one hosted sender to one receiver."""

    last: int
    """The number of the last link that was sent."""
    line: Waiting
    waiting: deque[PostedLink] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class _Inbox:
    """What has come for one hosted receiver."""

    taken: dict[str, int]
    """By sender, the number up to which links were passed on."""
    committed: dict[str, int]
    held: dict[str, list[tuple[Envelope, "Msg"]]] = field(default_factory=dict)
    unacknowledged: dict[str, deque[tuple[int, "Msg"]]] = field(default_factory=lambda: defaultdict(deque))
    task: asyncio.Task[None] | None = None


class NatsExchange:
    """Carries the links of the nodes that this process hosts. Belongs to the event loop.

    `open` a node before its first link. `counts` has what was published, refused and repeated.
    """

    def __init__(
        self, client: "Client", crawl: str, settings: ClusterSettings, on_event: Callable[[str], None] = lambda _: None
    ) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._js: JetStreamContext = jetstream(client, settings.domain, PUBLISH_SECONDS)
        self._settings = settings
        self._on_event = on_event
        self.stream = f"periplus-{crawl}"
        self._prefix = f"periplus.{crawl}"
        self._channels: dict[tuple[str, str], _Channel] = {}
        self._inboxes: dict[str, _Inbox] = {}
        self._generations: dict[str, str] = {}
        self._tails: dict[str, dict[str, int]] = {}
        self._arrived = LocalExchange()
        self._confirmed: dict[str, dict[str, int]] = defaultdict(dict)
        self._subscriptions: dict[str, list[object]] = {}
        self._took: dict[str, dict[str, int]] = defaultdict(dict)
        self._pace = Pace(settings.linger_seconds)
        self.on_done: Callable[[], None] = lambda: None
        """Hears that a node, here or elsewhere, has nothing left to do: the crawl may be over."""
        self._said: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self.outgoing = 0
        self.trouble = ""
        """What NATS said when it did not take the last links; empty when it took them, or said nothing."""
        self.is_stuck = False
        """Whether the last links did not get into the stream, whatever the reason."""

    @property
    def waiting(self) -> int:
        """Links that were posted and not published, or have come and were not collected."""
        held = sum(len(e.links) for inbox in self._inboxes.values() for box in inbox.held.values() for e, _ in box)
        return self.outgoing + self._arrived.waiting + held

    @property
    def is_full(self) -> bool:
        """Whether more links wait for NATS than memory is meant for."""
        return self.outgoing >= MAX_OUTGOING

    def sender_of(self, node: str) -> str:
        """The name under which receivers know a hosted node."""
        return f"{node}.{self._generations[node]}"

    def committed(self, node: str) -> dict[str, int]:
        """By sender, the number up to which a hosted node has committed what it was sent; for its heartbeat."""
        return dict(self._inboxes[node].committed)

    def tail(self, sender: str, receiver: str) -> int:
        """The last number of a hosted sender that the receiver has committed, as far as we have heard."""
        return self._tails[sender].get(receiver, 0)

    def outstanding(self, node: str) -> int:
        """Receivers that a hosted node has sent links to which are not known to be committed."""
        return sum(
            (channel.waiting[-1].sequence if channel.waiting else channel.last) > self.tail(sender, receiver)
            for (sender, receiver), channel in self._channels.items()
            if sender == node
        )

    # -- Opening -----------------------------------------------------------------------------------

    async def open_stream(self) -> None:
        """Make the crawl's stream, or give it the limits that the job has now."""
        await make_stream(self._js, self.stream, f"{self._prefix}.to.*", self._settings)
        await self._client.subscribe(f"{self._prefix}.hunger", cb=self._on_hunger)

    async def open(
        self, node: str, generation: str, inbox: Mapping[str, int], tails: Mapping[str, int], *, fresh: bool = False
    ) -> None:
        """Begin to carry links of a node.

        `inbox` has what it has committed, by sender; `tails` the last number that each receiver has confirmed.
        `fresh`: its database is new, so everything that was ever sent to it is to come again.
        """
        from nats.js import api  # noqa: PLC0415

        self._generations[node] = generation
        self._tails[node] = dict(tails)
        durable = f"node-{node}"
        config = api.ConsumerConfig(
            durable_name=durable,
            filter_subject=f"{self._prefix}.to.{node}",
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=ACK_WAIT_SECONDS,
            max_ack_pending=UNACKNOWLEDGED,
        )
        if fresh:
            await patiently(lambda: self._forget(durable))
        subscription = await patiently(lambda: self._subscribe(durable, config))
        took = await self._client.subscribe(f"{self._prefix}.took.{node}", cb=self._on_took)
        self._subscriptions[node] = [subscription, took]
        state = self._inboxes[node] = _Inbox(dict(inbox), dict(inbox))
        state.task = asyncio.create_task(self._pull(node, state, subscription), name=f"pull {node}")

    async def _forget(self, durable: str) -> None:
        from nats.js.errors import NotFoundError  # noqa: PLC0415

        async with temporary_errors(durable):
            with contextlib.suppress(NotFoundError):
                await self._js.delete_consumer(self.stream, durable)

    async def _subscribe(self, durable: str, config: object) -> "JetStreamContext.PullSubscription":
        async with temporary_errors(durable):
            await self._js.add_consumer(self.stream, config=config)  # type: ignore[arg-type]  # typed where it is made
            return await self._js.pull_subscribe_bind(durable, stream=self.stream)

    async def close(self, nodes: Iterable[str] | None = None) -> None:
        """Let nodes go, or all of them; what they have not sent stays in their outboxes."""
        for node in list(self._inboxes) if nodes is None else list(nodes):
            inbox = self._inboxes.pop(node, None)
            tasks = [] if inbox is None else [inbox.task]
            for key in [key for key in self._channels if key[0] == node]:
                channel = self._channels.pop(key)
                self.outgoing -= len(channel.waiting)
                tasks.append(channel.task)
            for task in tasks:
                if task is not None:
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await task
            for subscription in self._subscriptions.pop(node, []):
                with contextlib.suppress(Temporary):
                    async with temporary_errors(node):
                        await subscription.unsubscribe()  # type: ignore[attr-defined]  # both kinds have it

    # -- Sending -----------------------------------------------------------------------------------

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl, target: str = "") -> None:
        """Offer a committed outbox row. Sequences of one sender grow."""
        channel = self._channels.get((sender, receiver))
        if channel is None:
            channel = self._channels[sender, receiver] = _Channel(
                self._tails[sender].get(receiver, 0), self._pace.line(receiver)
            )
        if channel.task is None:
            channel.task = self._loop.create_task(self._send(sender, receiver, channel))
        channel.waiting.append(PostedLink(sequence, url, target))
        self.outgoing += 1
        self._pace.posted(receiver, channel.line, len(channel.waiting))

    async def _send(self, sender: str, receiver: str, channel: _Channel) -> None:
        """Publish what waits, one envelope after the other, so that the stream has them in order."""
        while True:
            await self._pace.company(channel.line)
            waiting = list(channel.waiting)
            links = tuple(waiting[: pack(waiting)])
            envelope = Envelope(self.sender_of(sender), receiver, channel.last, links)
            await self._publish(envelope)
            for _ in links:
                channel.waiting.popleft()
            channel.last = envelope.last
            self.outgoing -= len(links)
            self.counts["links sent"] += len(links)
            self._pace.sent(receiver, channel.line, len(channel.waiting))

    async def _publish(self, envelope: Envelope) -> None:
        from nats.js.errors import APIError  # noqa: PLC0415

        data = seal(envelope)
        subject, mark = f"{self._prefix}.to.{envelope.receiver}", f"{envelope.sender}:{envelope.last}:{len(data)}"
        pause = 0.05
        while True:
            try:
                async with temporary_errors(subject):
                    await self._js.publish(
                        subject, data, timeout=PUBLISH_SECONDS, headers={"Nats-Msg-Id": mark}, stream=self.stream
                    )
            except Temporary as error:
                give_way()
                self.counts["publish tries"] += 1
                self.is_stuck, self.trouble = True, said_by(error)
            except APIError as error:
                if error.err_code != DUPLICATE_IN_PROCESS:
                    self.is_stuck, self.trouble = True, said_by(error)
            else:
                self.is_stuck, self.trouble = False, ""
                self.counts["messages sent"] += 1
                self.counts["bytes sent"] += len(data)
                return
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)

    def confirmations(self, sender: str) -> dict[str, int]:
        """What the sender may delete from its outbox, by receiver; told once."""
        return self._confirmed.pop(sender, {})

    def heard(self, receiver: str, committed: Mapping[str, int]) -> None:
        """A receiver says, by message or heartbeat, up to where it has committed what each sender sent."""
        for node in self._generations:
            sequence = committed.get(self.sender_of(node), 0)
            if sequence > self._tails[node].get(receiver, 0):
                self._tails[node][receiver] = sequence
                self._confirmed[node][receiver] = sequence

    async def _on_took(self, message: "Msg") -> None:
        try:
            receiver, committed = msgspec.msgpack.decode(message.data, type=tuple[str, dict[str, int]])
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.counts["refused"] += 1
            return
        self.heard(receiver, committed)

    def hurry(self) -> None:
        """Send what waits: the nodes of this process are idle, so no further links will come to travel with."""
        self._pace.hurry()

    async def say_hunger(self, node: str, hunger: int) -> None:
        """Tell all others how little a hosted node has left to do: HUNGRY or DONE; told when it changes for the worse.

        Also when links have come and were not enough. That a message gets lost costs time and nothing else.
        """
        said, self._said[node] = self._said.get(node, 0), hunger
        if hunger > said:
            self.counts["notes sent"] += 1
            with contextlib.suppress(Temporary):
                async with temporary_errors(node):
                    await self._client.publish(f"{self._prefix}.hunger", f"{hunger} {node}".encode())

    async def _on_hunger(self, message: "Msg") -> None:
        hunger, _, node = message.data[:80].decode("utf-8", "replace").partition(" ")
        self._pace.hungry(node)
        if hunger == str(DONE):
            self.on_done()

    # -- Receiving ---------------------------------------------------------------------------------

    async def _pull(self, node: str, inbox: _Inbox, subscription: "JetStreamContext.PullSubscription") -> None:
        pause = 0.1
        while True:
            if self._arrived.waiting >= MAX_ARRIVED:
                await asyncio.sleep(0.05)
                continue
            try:
                async with temporary_errors(node):
                    # One at a time: with more, nats-py waits for all of them although some have come.
                    messages = await subscription.fetch(1, timeout=PULL_SECONDS)
            except Temporary as error:
                give_way()
                if not isinstance(error.__cause__, TimeoutError):  # that only means that nothing has come
                    await asyncio.sleep(pause)
                    pause = min(2.0, pause * 1.5)
                continue
            pause = 0.1
            for message in messages:
                await self._take(node, inbox, message)

    async def _take(self, node: str, inbox: _Inbox, message: "Msg") -> None:
        try:
            envelope = open_envelope(message.data)
            if envelope.receiver != node:
                raise ExchangeError(f"an envelope for {envelope.receiver} came to {node}")
        except ExchangeError as error:
            self.counts["refused"] += 1
            self._on_event(f"refused: {error}")
            await _acknowledged(message)
            return
        self.counts["messages received"] += 1
        self.arrive(node, inbox, envelope, message)
        await self._acknowledge(inbox, envelope.sender)

    def arrive(self, node: str, inbox: _Inbox, envelope: Envelope, message: "Msg") -> None:
        """Put an envelope in its place: pass it on, hold it until those before have come, or know it already."""
        held = inbox.held.setdefault(envelope.sender, [])
        if len(held) >= MAX_HELD:
            held.sort(key=lambda pair: pair[0].after)
            held.pop()  # it is not acknowledged, so it comes again
        held.append((envelope, message))
        held.sort(key=lambda pair: pair[0].after)
        while held and held[0][0].after <= inbox.taken.get(envelope.sender, 0):
            first, its_message = held.pop(0)
            taken = inbox.taken.get(first.sender, 0)
            fresh = [link for link in first.links if link.sequence > taken]
            self.counts["repeated"] += not fresh
            for link in fresh:
                self._arrived.post(first.sender, node, link.sequence, link.url, link.target)
            self.counts["links received"] += len(fresh)
            self._said[node] = 0 if fresh else self._said.get(node, 0)
            inbox.taken[first.sender] = max(taken, first.last)
            inbox.unacknowledged[first.sender].append((first.last, its_message))

    def waiting_for(self, receiver: str) -> int:
        """Links that have come for a receiver and were not collected."""
        return self._arrived.waiting_for(receiver)

    def collect(self, receiver: str) -> list[Shipment]:
        """Take what waits for a receiver, a bounded batch from each sender."""
        return self._arrived.collect(receiver)

    def confirm(self, sender: str, receiver: str, sequence: int) -> None:
        """The receiver has committed everything up to `sequence`."""
        inbox = self._inboxes.get(receiver)
        if inbox is None:
            return
        inbox.committed[sender] = max(sequence, inbox.committed.get(sender, 0))
        self._took[receiver][sender] = inbox.committed[sender]

    async def tell(self) -> None:
        """Acknowledge what was committed, and tell its senders; to be called now and then."""
        took, self._took = self._took, defaultdict(dict)
        for receiver, senders in took.items():
            inbox = self._inboxes.get(receiver)
            for sender, sequence in senders.items():
                if inbox is not None:
                    await self._acknowledge(inbox, sender)
                told = msgspec.msgpack.encode((receiver, {sender: sequence}))
                self.counts["notes sent"] += 1
                with contextlib.suppress(Temporary):
                    async with temporary_errors(sender):
                        await self._client.publish(f"{self._prefix}.took.{sender.partition('.')[0]}", told)

    async def _acknowledge(self, inbox: _Inbox, sender: str) -> None:
        line, committed = inbox.unacknowledged[sender], inbox.committed.get(sender, 0)
        while line and line[0][0] <= committed:
            await _acknowledged(line.popleft()[1])

    async def read_again(self) -> AsyncIterator[Envelope]:
        """Everything that the stream holds, from the beginning to what is its end now; for who has lost a database."""
        from nats.js import api  # noqa: PLC0415

        async with temporary_errors(self.stream):
            last = (await self._js.stream_info(self.stream)).state.last_seq
            subscription = await self._js.pull_subscribe(
                f"{self._prefix}.to.*", stream=self.stream, config=api.ConsumerConfig(ack_policy=api.AckPolicy.NONE)
            )
        at = 0
        try:
            while at < last:
                async with temporary_errors(self.stream):
                    (message,) = await subscription.fetch(1, timeout=PULL_SECONDS)
                at = message.metadata.sequence.stream
                with contextlib.suppress(ExchangeError):
                    yield open_envelope(message.data)
        finally:
            with contextlib.suppress(Temporary):
                async with temporary_errors(self.stream):
                    await subscription.unsubscribe()

    async def pending(self, node: str) -> int:
        """Messages of the stream that a node has not acknowledged."""

        async def ask() -> int:
            async with temporary_errors(node):
                info = await self._js.consumer_info(self.stream, f"node-{node}")
                return (info.num_pending or 0) + (info.num_ack_pending or 0)

        return await patiently(ask, tries=3)


async def _acknowledged(message: "Msg") -> None:
    """Acknowledge; if that does not arrive, the message comes again and is known."""
    from nats.errors import MsgAlreadyAckdError  # noqa: PLC0415

    with contextlib.suppress(Temporary, MsgAlreadyAckdError):
        async with temporary_errors("ack"):
            await message.ack()
