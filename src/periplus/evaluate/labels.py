"""Truth that somebody gives: pages with what they are about, or whether they are relevant, as a CSV file.

Used by `periplus evaluate --labels` for precision, recall and F of a crawl, and by `periplus compare --labels` in the
place of addresses.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from periplus.errors import PlaceError, UsageError
from periplus.evaluate.measures import NO_TARGET, retrieval
from periplus.evaluate.nodes import NodeData
from periplus.places import Gazetteer
from periplus.strategies import Ownership
from periplus.urls import canonicalize, fingerprint

__all__ = ["Label", "judged", "labelled", "read_labels"]

TRUE, FALSE = frozenset({"1", "yes", "true"}), frozenset({"0", "no", "false"})
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Label:
    """What is true of a page: whether it is relevant, and the place that it is about; None: not said."""

    url: str
    relevant: bool | None
    place: int | None


def read_labels(path: Path, gazetteer: Gazetteer, needed: Iterable[str] = ()) -> list[Label]:
    """The labels of a file, each URL once: the columns `url` and `place` (a name or an id) or `relevant` (1 or 0).

    UsageError in one line for a file, column, place or value that cannot be read. URLs that are none are left out by
    whoever looks for them: they are in no crawl.
    """
    places: dict[str, int] = {}
    found: dict[str, Label] = {}
    for line, row in _rows(path, needed):
        name, said = (row.get("place") or "").strip(), (row.get("relevant") or "").strip().lower()
        if said and said not in TRUE | FALSE:
            raise UsageError(f"{path}: line {line}: relevant is {said!r}; write 1 or 0")
        if name and name not in places:
            try:
                places[name] = gazetteer.resolve(name).id
            except PlaceError as error:
                raise UsageError(f"{path}: line {line}: {error}") from error
        url = canonicalize(row.get("url") or "")
        href = url.href if url else (row.get("url") or "")
        found[href] = Label(href, said in TRUE if said else None, places[name] if name else None)
    return list(found.values())


def _rows(path: Path, needed: Iterable[str]) -> Iterator[tuple[int, dict[str, str | None]]]:
    """The rows with the numbers of their lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            columns = set(rows.fieldnames or ())
            if not {"url", *needed} <= columns or not columns & {"place", "relevant"}:
                what = " and ".join(("url", *needed)) if needed else "url, and place or relevant"
                raise UsageError(f"{path}: the first line must name the columns {what}")
            for row in rows:
                yield rows.line_num, row
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: not a CSV file in UTF-8: {error}") from error


def labelled(labels: Iterable[Label], ownership: Ownership, gazetteer: Gazetteer) -> dict[int, tuple[bool | None, int]]:
    """By fingerprint of the URL: whether it is relevant, and the target that its place is or lies in.

    NO_TARGET where the place is not said. A place that nobody owns is its own target.
    """
    found = {}
    for label in labels:
        target = NO_TARGET
        if label.place is not None:
            owned = ownership.owner(gazetteer.place(label.place))
            target = owned[1] if owned else label.place
        found[fingerprint(label.url)] = (label.relevant, target)
    return found


def judged(nodes: list[NodeData], truth: dict[int, tuple[bool | None, int]]) -> dict[str, Any]:
    """Precision, recall and F of a crawl against labels, as the JSON of `periplus evaluate --labels`.

    `relevance`: a page is said to be relevant if it was kept. `places`: a page is said to be about its most probable
    target. Pages that were never read are said to be nothing, so they cost recall; pages without a label do not count.
    """
    kept: dict[int, bool] = {}
    target: dict[int, int] = {}
    for node in nodes:
        wanted = np.isin(node.fingerprints, np.fromiter(truth, dtype=np.int64, count=len(truth)))
        columns = (node.fingerprints[wanted], node.kept[wanted], node.targets[wanted])
        for mark, keeps, about in zip(*(column.tolist() for column in columns), strict=True):
            kept[mark] = kept.get(mark, False) or keeps
            target.setdefault(mark, about)
    relevance = {mark: said for mark, (said, _) in truth.items() if said is not None}
    places = {mark: about for mark, (_, about) in truth.items() if about != NO_TARGET}
    told = {mark: target.get(mark, NO_TARGET) for mark in places}
    return {
        "labels": len(truth),
        "not_read": len(truth) - len(kept),
        "relevance": _shares(
            sum(kept.get(mark, False) for mark, said in relevance.items() if said),
            sum(kept.get(mark, False) for mark in relevance),
            sum(relevance.values()),
        )
        if relevance
        else None,
        "places": _shares(
            sum(told[mark] == about for mark, about in places.items()),
            sum(about != NO_TARGET for about in told.values()),
            len(places),
        )
        if places
        else None,
    }


def _shares(right: int, said: int, true: int) -> dict[str, float | None]:
    found = retrieval(right, said, true)
    return {
        name: None if value is None else round(value, DIGITS)
        for name, value in (("precision", found.precision), ("recall", found.recall), ("f", found.f))
    }
