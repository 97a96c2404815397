"""The exchange between nodes of one process: no server, memory for speed, the senders' databases for safety.

A link for another node is a row of the sender's outbox, written in the page's own transaction. It is delivered
in batches; the receiver's transaction stores the links together with the sender's sequence number; only then is
the row deleted. Whatever dies in between, the row is offered again, and the sequence number makes that harmless.
"""

from collections import defaultdict, deque
from dataclasses import dataclass

from periplus.model import NewUrl
from periplus.urls import fingerprint

__all__ = ["LocalExchange", "Shipment", "sent_mark"]

BATCH_LINKS = 1_000


def sent_mark(receiver: str, mark: int) -> int:
    """A link to a receiver, as the sender remembers it: signed 64 bits, like a URL's fingerprint."""
    return fingerprint(f"{receiver} {mark}")


@dataclass(frozen=True, slots=True)
class Shipment:
    """Links from one sender, up to and including `sequence`."""

    sender: str
    sequence: int
    urls: tuple[NewUrl, ...]


class LocalExchange:
    """Mailboxes by receiver and sender. Not thread-safe: it belongs to the event loop."""

    def __init__(self) -> None:
        self._boxes: dict[str, dict[str, deque[tuple[int, NewUrl]]]] = defaultdict(lambda: defaultdict(deque))
        self._confirmed: dict[str, dict[str, int]] = defaultdict(dict)
        self.waiting = 0

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl) -> None:
        """Offer a committed outbox row. Sequences of one sender grow."""
        self._boxes[receiver][sender].append((sequence, url))
        self.waiting += 1

    def collect(self, receiver: str) -> list[Shipment]:
        """Take what waits for a receiver, a bounded batch from each sender."""
        shipments = []
        for sender, box in self._boxes[receiver].items():
            taken = [box.popleft() for _ in range(min(len(box), BATCH_LINKS))]
            if taken:
                self.waiting -= len(taken)
                shipments.append(Shipment(sender, taken[-1][0], tuple(url for _, url in taken)))
        return shipments

    def confirm(self, sender: str, receiver: str, sequence: int) -> None:
        """The receiver has committed everything up to `sequence`."""
        self._confirmed[sender][receiver] = sequence

    def confirmations(self, sender: str) -> dict[str, int]:
        """What the sender may delete from its outbox, by receiver; told once."""
        return self._confirmed.pop(sender, {})
