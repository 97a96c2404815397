"""Labelled pages for the classifier: TSV and JSONL files, RDF dumps of DMOZ and Curlie."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from periplus.errors import PlaceError, UsageError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.strategies.classifier import MAX_CHARS, NOT_GEOGRAPHIC
from periplus.strategies.ownership import Ownership

__all__ = ["Labels", "read_samples"]

MAX_LINE_CHARS = 1 << 20
ABOUT = re.compile(r"<(d:Title|d:Description|topic)>(.*?)</\1>", re.DOTALL)
MAX_RDF_ENTRY_LINES = 200
OUTER_PARTS = 3
"""How far before a place the one around it may stand in a topic: Texas/Localities/A/Austin."""


def read_samples(path: Path, labels: "Labels") -> Iterator[tuple[str, str]]:
    """(class, text) of every labelled page in a file; what cannot be read is skipped line by line, and counted.

    A row of JSONL has `text` and its label in `node`, `place` or `label`; a line of TSV is label, tab, text.
    A label is a node's name or a place; a place that nobody owns, and no label at all, mean not geographic.
    """
    if path.suffix in (".rdf", ".u8", ".xml"):
        yield from _rdf(path, labels)
    elif path.suffix in (".jsonl", ".json"):
        yield from _jsonl(path, labels)
    elif path.suffix in (".tsv", ".txt"):
        yield from _tsv(path, labels)
    else:
        pages = "labelled pages: .tsv, .jsonl or .rdf"
        raise UsageError(f"{path}: give a crawl's folder, a recorded web (.wacz, .warc or .warc.gz), or {pages}")


class Labels:
    """Turns labels into classes, each label once.

    `unknown` counts pages by labels that name no node and no place, `skipped` lines that hold no labelled page.
    """

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer) -> None:
        self._ownership = ownership
        self._gazetteer = gazetteer
        self._known: dict[str, str] = {name: name for name in ownership.names if name not in ownership.general}
        self._nameless: set[str] = set()
        self.unknown: Counter[str] = Counter()
        self.skipped = 0

    def of(self, label: str) -> str:
        """The class of a label: a node's name, a place, or a DMOZ topic such as Top/Regional/…/Texas/Austin."""
        if label not in self._known:
            self._known[label] = self._place_class(label)
        if label in self._nameless:
            self.unknown[label[:80]] += 1
        return self._known[label]

    def of_place(self, place: Place) -> str:
        """The class of a place."""
        owned = self._ownership.owner(place)
        return owned[0] if owned else NOT_GEOGRAPHIC

    def of_id(self, place_id: int | None) -> str:
        """The class of a place by its id; None is no place."""
        if place_id is None:
            return NOT_GEOGRAPHIC
        try:
            return self.of_place(self._gazetteer.place(place_id))
        except PlaceError:
            return NOT_GEOGRAPHIC

    def _place_class(self, label: str) -> str:
        parts = [part.replace("_", " ") for part in label.split("/")]
        if len(parts) > 1:
            return self._topic_class(parts)
        try:
            return self.of_place(self._gazetteer.resolve(label)) if label else NOT_GEOGRAPHIC
        except PlaceError:
            if label not in self._ownership.names:  # a general node's name is no mistake
                self._nameless.add(label)
            return NOT_GEOGRAPHIC

    def _topic_class(self, parts: list[str]) -> str:
        """The innermost part of a topic that is a place inside one of the parts before it."""
        if "Regional" not in parts:
            return NOT_GEOGRAPHIC
        for i in range(len(parts) - 1, 1, -1):
            for outer in reversed(parts[max(0, i - OUTER_PARTS) : i]):
                found = self._gazetteer.find(f"{parts[i]}, {outer}", limit=1) if len(outer) > 1 else []
                if found:
                    return self.of_place(found[0])
        return NOT_GEOGRAPHIC


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(MAX_LINE_CHARS):
                yield line.rstrip("\n")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _tsv(path: Path, labels: Labels) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        label, tab, text = line.partition("\t")
        if tab:
            yield labels.of(label.strip()), text[:MAX_CHARS]
        elif line.strip():
            labels.skipped += 1


def _jsonl(path: Path, labels: Labels) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and isinstance(row.get("text"), str):
            label = row.get("node") or row.get("place") or row.get("label") or ""
            yield labels.of(str(label)), row["text"][:MAX_CHARS]
        elif line.strip():
            labels.skipped += 1


def _rdf(path: Path, labels: Labels) -> Iterator[tuple[str, str]]:
    """<ExternalPage> entries: title and description as text, the topic as label. Read by lines, never as XML."""
    entry: list[str] = []
    for line in _lines(path):
        if "<ExternalPage" in line:
            entry = [line]
        elif entry and len(entry) < MAX_RDF_ENTRY_LINES:
            entry.append(line)
        if entry and "</ExternalPage>" in line:
            found = {name: html.unescape(text) for name, text in ABOUT.findall("\n".join(entry))}
            entry = []
            if found.get("topic"):
                yield labels.of(found["topic"]), f"{found.get('d:Title', '')}\n{found.get('d:Description', '')}"
