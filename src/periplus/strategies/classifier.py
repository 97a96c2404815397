"""Strategy `classifier` of paper A: Naive Bayes over the page's words, one class a node, general ones included.

Words are hashed into a fixed number of columns, so a model has one size whatever it was trained on. A model is a
plain .npz file (no pickle) with its metadata; it belongs to the nodes and targets that it was trained for.
"""

import io
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from periplus.errors import ConfigError, UsageError
from periplus.files import write_whole
from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.general import general_claims
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy

__all__ = ["ClassifierStrategy", "Model", "load_model", "nodes_digest", "train"]

COLUMNS = 1 << 16
SMOOTHING = 0.1
MAX_CHARS = 20_000
MAX_MODEL_BYTES = 2**30
MEMO_WORDS = 50_000
WORD = re.compile(r"[^\W\d_]{2,}")
NOT_GEOGRAPHIC = ""
"""The class of pages without a target; its links go to general nodes."""


@dataclass(frozen=True, slots=True)
class Model:
    """Logarithms of the classes' shares and of each column's share in each class; and where they come from."""

    classes: tuple[str, ...]
    prior: npt.NDArray[np.float32]
    likelihood: npt.NDArray[np.float32]  # column by class
    metadata: dict[str, Any]

    def scores(self, text: str) -> list[tuple[float, str]]:
        """Log-probability of each class, best first; equal ones in the order of their names."""
        columns, counts = _columns(text)
        totals = self.prior + counts @ self.likelihood[columns] if len(columns) else self.prior
        return sorted(zip(totals.tolist(), self.classes, strict=True), key=lambda pair: (-pair[0], pair[1]))

    def save(self, path: Path) -> None:
        """Write the model; UsageError if that is not possible."""
        meta = np.frombuffer(json.dumps(self.metadata).encode(), dtype=np.uint8)
        packed = io.BytesIO()
        np.savez_compressed(packed, prior=self.prior, likelihood=self.likelihood, metadata=meta)
        try:
            write_whole(path, packed.getvalue())
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None


def _columns(text: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    words = Counter(WORD.findall(text[:MAX_CHARS].lower()))
    columns = np.array([_column(word) for word in words], dtype=np.int64)
    return columns, np.array(list(words.values()), dtype=np.float32)


@lru_cache(maxsize=MEMO_WORDS)
def _column(word: str) -> int:
    """Where a word is counted; most words of a page are those of the next."""
    return xxhash.xxh32_intdigest(word.encode("utf-8", "surrogatepass")) % COLUMNS


def nodes_digest(ownership: Ownership) -> str:
    """What a model was trained for: the nodes and everything they own, in any order."""
    return xxhash.xxh3_64_hexdigest("\n".join([*ownership.names, *ownership.described()]).encode())


def train(pages: Iterable[tuple[str, str]], ownership: Ownership) -> Model:
    """A model from (class, text) pairs; classes are nodes with places, or `NOT_GEOGRAPHIC`. UsageError for too few."""
    classes = (NOT_GEOGRAPHIC, *(name for name in ownership.names if name not in ownership.general))
    at = {name: i for i, name in enumerate(classes)}
    words = np.zeros((COLUMNS, len(classes)), dtype=np.float64)
    seen = np.zeros(len(classes), dtype=np.float64)
    for name, text in pages:
        columns, counts = _columns(text)
        np.add.at(words[:, at[name]], columns, counts)
        seen[at[name]] += 1
    if np.count_nonzero(seen) < 2:
        raise UsageError("a classifier needs labelled pages of at least two classes (nodes, or not geographic)")
    likelihood = np.log((words + SMOOTHING) / (words.sum(axis=0) + SMOOTHING * COLUMNS))
    # Words that no sample has say nothing: they are least improbable where there were the fewest samples.
    likelihood[words.sum(axis=1) == 0] = 0.0
    prior = np.log((seen + SMOOTHING) / (seen.sum() + SMOOTHING * len(classes)))
    prior[seen == 0] = -np.inf  # nor is a node chosen of which nothing is known
    metadata = {
        "format": 1,
        "classes": list(classes),
        "pages": {name or "not geographic": int(n) for name, n in zip(classes, seen.tolist(), strict=True)},
        "nodes": nodes_digest(ownership),
        "columns": COLUMNS,
    }
    return Model(classes, prior.astype(np.float32), likelihood.astype(np.float32), metadata)


def load_model(path: Path) -> Model:
    """Read a model. ConfigError in one line if it is not one."""
    try:
        if path.stat().st_size > MAX_MODEL_BYTES:
            raise ConfigError(f"crawl.classifier_model: {path} is too large for a model")
        with np.load(path, allow_pickle=False) as data:
            metadata = json.loads(data["metadata"].tobytes())
            classes = tuple(str(name) for name in metadata["classes"])
            model = Model(classes, data["prior"], data["likelihood"], metadata)
    except OSError as error:
        raise ConfigError(f"crawl.classifier_model: {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error, EOFError):
        raise ConfigError(f"crawl.classifier_model: {path} is not a model of `periplus classifier train`") from None
    if model.prior.shape != (len(classes),) or model.likelihood.shape != (COLUMNS, len(classes)):
        raise ConfigError(f"crawl.classifier_model: {path} does not agree with itself; train it again")
    return model


class ClassifierStrategy(Strategy):
    """Sends all links of a page to the node whose pages read like it."""

    def __init__(self, ownership: Ownership, _gazetteer: Gazetteer, model: Model) -> None:
        if model.metadata.get("nodes") != nodes_digest(ownership):
            raise ConfigError(
                "crawl.classifier_model: was trained for other nodes or targets; train it for these with: "
                "periplus classifier train"
            )
        self._ownership = ownership
        self._model = model

    def route(
        self, links: Sequence[Link], page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """The same node for all links: the most probable one; the others follow for policy b if nearly as probable.

        Without a word to go by they are general: how many samples a node had says nothing of where a link leads.
        """
        text = f"{page.title}\n{page.text}"
        if not WORD.search(text):  # a seed or a sitemap: no page says anything of it
            return general_claims(self._ownership, links)
        (best, first), *others = self._model.scores(text)
        names = [first, *(name for score, name in others if best - score < 1.0)]
        geographic = tuple(Assignment(name, None, "classifier") for name in names if name != NOT_GEOGRAPHIC)
        if first != NOT_GEOGRAPHIC:
            return [geographic] * len(links)
        return general_claims(self._ownership, links)
