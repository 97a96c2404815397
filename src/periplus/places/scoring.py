"""How good the geoparser is on labelled texts: precision, recall, F, and distances over matched mentions.

A mention matches a gold toponym that starts at most two characters away and has the same text; each gold toponym
is matched once. Distances are over matched mentions that both have a place; 161 km is the field's custom.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from periplus.errors import UsageError
from periplus.model import Located, LonLat, Mention

__all__ = ["Document", "Gold", "Scores", "read_corpus", "score_documents"]

NEAR_KM: Final = 161.0


@dataclass(frozen=True, slots=True)
class Gold:
    """A toponym that people marked; `point` is None where the corpus gives none."""

    start: int
    end: int
    phrase: str
    point: LonLat | None


@dataclass(frozen=True, slots=True)
class Document:
    """A labelled text, with its site where the corpus knows it."""

    id: str
    text: str
    gold: tuple[Gold, ...]
    site: str = ""
    url: str = ""


@dataclass(slots=True)
class Scores:
    """Counts over a corpus and the measures made of them."""

    gold: int = 0
    found: int = 0
    matched: int = 0
    kilometres: list[float] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Matched of found."""
        return self.matched / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Matched of gold."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.found + self.gold
        return 2 * self.matched / total if total else 0.0

    @property
    def accuracy(self) -> float:
        """Share of placed matches within 161 km."""
        near = sum(km <= NEAR_KM for km in self.kilometres)
        return near / len(self.kilometres) if self.kilometres else 0.0

    @property
    def auc(self) -> float:
        """Area under the curve of log distance errors, 0 best, 1 worst (half the earth's girth everywhere)."""
        top = math.log(20039.0)
        values = [min(1.0, math.log(max(1.0, km)) / top) for km in self.kilometres]
        return sum(values) / len(values) if values else 0.0

    def as_dict(self) -> dict[str, float]:
        """The measures, rounded for reports."""
        km = sorted(self.kilometres)
        return {
            "precision": round(self.precision, 4), "recall": round(self.recall, 4), "f1": round(self.f1, 4),
            "accuracy_161km": round(self.accuracy, 4), "auc": round(self.auc, 4),
            "mean_km": round(sum(km) / len(km), 1) if km else 0.0,
            "median_km": round(km[len(km) // 2], 1) if km else 0.0,
            "gold": self.gold, "found": self.found, "matched": self.matched,
        }  # fmt: skip


def read_corpus(path: Path) -> list[Document]:
    """Read one document a line: id, text, toponyms (phrase, lat, lon, start, end), perhaps site and url."""
    if not path.is_file():
        raise UsageError(f"no corpus at {path}; unpack geoparsing.tar.xz and name its parent folder in PERIPLUS_DATA")
    documents: list[Document] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            gold = tuple(
                Gold(
                    t["start"], t["end"], t["phrase"], LonLat(t["lon"], t["lat"]) if t.get("lat") is not None else None
                )
                for t in row["toponyms"]
                if t["start"] is not None
            )
            documents.append(Document(str(row["id"]), row["text"], gold, row.get("site", ""), row.get("url", "")))
    return documents


def match(mentions: Sequence[Mention], gold: Sequence[Gold]) -> list[tuple[Mention, Gold]]:
    """Pair mentions with gold toponyms, each at most once."""
    free = {(g.start, g.phrase): g for g in gold}
    pairs: list[tuple[Mention, Gold]] = []
    for mention in mentions:
        for shift in (0, -1, 1, -2, 2):
            hit = free.pop((mention.start + shift, mention.text), None)
            if hit is not None:
                pairs.append((mention, hit))
                break
    return pairs


def score_documents(documents: Iterable[Document], parse: Callable[[Document], Located]) -> Scores:
    """Run `parse` over the documents and count."""
    scores = Scores()
    for document in documents:
        mentions = parse(document).mentions
        scores.gold += len(document.gold)
        scores.found += len(mentions)
        pairs = match(mentions, document.gold)
        scores.matched += len(pairs)
        for mention, hit in pairs:
            if mention.place is not None and hit.point is not None:
                scores.kilometres.append(mention.place.point.distance_km(hit.point))
    return scores
