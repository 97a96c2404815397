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

    _same: dict[str | int, int] = field(default_factory=dict)
    _alike: dict[int | None, list[tuple[int, int]]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    """How many further pages each result stands for."""

    def take(self, record: PageRecord) -> bool:
        """Whether the page is something new; if a result says the same, that one counts it."""
        marks = self._alike.setdefault(record.main_place, [])
        at = self._same.get(record.url, self._same.get(record.content_digest))
        if at is None and record.likeness:
            at = _near(record.likeness, marks)
        is_new = at is None
        if at is None:
            at = len(self.counts)
            self.counts.append(0)
            if record.likeness:
                marks.append((record.likeness, at))
        else:
            self.counts[at] += 1
        self._same |= {record.url: at, record.content_digest: at}
        return is_new


def _near(mark: int, marks: Iterable[tuple[int, int]]) -> int | None:
    return next((at for other, at in marks if differing_bits(mark, other) <= NEAR_BITS), None)
