"""Results that say the same are shown once: the same URL or content in two nodes, and near-duplicates.

Near-duplicates are pages about the same main place whose texts differ in a date, a number or a few words
(`frontier/likeness.py`). Pages made from one template for different places stay apart: they answer different questions.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from periplus.frontier.likeness import NEAR_BITS, differing_bits
from periplus.search.shard import PageRecord

__all__ = ["Shown"]


@dataclass(slots=True)
class Shown:
    """What is among the results already, in the order in which it came."""

    _same: set[str | int] = field(default_factory=set)
    _alike: dict[int | None, list[tuple[int, int]]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    """How many near-duplicates each result stands for."""

    def take(self, record: PageRecord) -> bool:
        """Whether the page is something new; if it is a near-duplicate of a result, that one counts it."""
        if record.url in self._same or record.content_digest in self._same:
            return False
        self._same |= {record.url, record.content_digest}
        marks = self._alike.setdefault(record.main_place, [])
        if record.likeness:
            at = _near(record.likeness, marks)
            if at is not None:
                self.counts[at] += 1
                return False
            marks.append((record.likeness, len(self.counts)))
        self.counts.append(0)
        return True


def _near(mark: int, marks: Iterable[tuple[int, int]]) -> int | None:
    return next((at for other, at in marks if differing_bits(mark, other) <= NEAR_BITS), None)
