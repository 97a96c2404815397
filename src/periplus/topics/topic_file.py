"""Topic files: TOML that a person can read and edit, usable as a job's [topic] and by `periplus score`.

Beside a learnt topic lies its memory (`TOPIC.memory.json`): the samples and other pages it was learnt from, as counts
of stems and places, so that more samples and judgements can be added later.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from periplus.errors import UsageError
from periplus.places import Gazetteer
from periplus.settings import TopicSettings
from periplus.topics.learning import Learnt
from periplus.topics.reading import Reading
from periplus.topics.words import WORD, stem_phrase

__all__ = ["Memory", "load_memory", "memory_path", "save_memory", "surface_forms", "topic_settings", "write_topic"]

MAX_REMEMBERED = 1_000


@dataclass(slots=True)
class Memory:
    """What a topic was learnt from."""

    samples: list[Reading] = field(default_factory=list)
    background: list[Reading] = field(default_factory=list)
    rejected: list[Reading] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)  # stem → a word that occurs
    language: str = "en"


def memory_path(topic_file: Path) -> Path:
    """Where the memory of a topic lies."""
    return topic_file.with_suffix(".memory.json")


def surface_forms(texts: Sequence[str], language: str) -> dict[str, str]:
    """For each stem the word that most often stands for it, so that keywords read well."""
    words = Counter(word for text in texts for word in WORD.findall(text.casefold()))
    forms: dict[str, str] = {}
    for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0])):
        forms.setdefault(stem_phrase(word, language), word)
    return forms


def topic_settings(learnt: Learnt, forms: dict[str, str], name: str, *, paper: bool = False) -> TopicSettings:
    """What was learnt as settings, with words instead of stems and names instead of ids where names are plain."""
    return TopicSettings(
        name=name,
        judge="paper" if paper else "default",
        keywords={_readable(term, forms): _weight(weight) for term, weight in learnt.keywords.items()},
        against={_readable(term, forms): _weight(weight) for term, weight in learnt.against.items()},
        places={str(place.id): _weight(weight) for place, weight in learnt.places.items()},
        learnt=msgspec.structs.replace(
            learnt.settings,
            scale=round(learnt.settings.scale, 4),
            bias=round(learnt.settings.bias, 4),
            keyword_half=float(f"{learnt.settings.keyword_half:.4g}"),
        ),
    )


def write_topic(path: Path, settings: TopicSettings, gazetteer: Gazetteer) -> None:
    """Write a topic file; places are named where the name alone means the same place."""
    data: dict[str, Any] = {"name": settings.name, "judge": settings.judge}
    data["places"] = {_place_name(key, gazetteer): weight for key, weight in settings.places.items()}
    data["keywords"] = settings.keywords
    if settings.against:
        data["against"] = settings.against
    if settings.learnt.form != "none":
        data["learnt"] = msgspec.to_builtins(settings.learnt)
    text = (
        "# A topic of Periplus: use the table [topic] in a job file, or this file with `periplus score`.\n"
        '# Weights are above 0 and at most 1. point = "wide", "balanced" or "strict" says how picky it is.\n'
        + tomli_w.dumps({"topic": data})
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def save_memory(path: Path, memory: Memory) -> None:
    """Write the memory beside the topic."""
    data = {
        "language": memory.language,
        "forms": memory.forms,
        **{
            kind: [_packed(reading) for reading in getattr(memory, kind)[:MAX_REMEMBERED]]
            for kind in ("samples", "background", "rejected")
        },
    }
    try:
        path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def load_memory(path: Path, gazetteer: Gazetteer) -> Memory:
    """Read a topic's memory; UsageError if it is not there or not one."""
    try:
        data = json.loads(path.read_text("utf-8"))
        kinds = {
            kind: [_unpacked(row, gazetteer) for row in data[kind]] for kind in ("samples", "background", "rejected")
        }
        return Memory(**kinds, forms=dict(data["forms"]), language=str(data["language"]))
    except FileNotFoundError:
        raise UsageError(f"{path}: not there; learn the topic first: periplus topic learn DIR -o TOPIC.toml") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not the memory of a topic ({type(error).__name__}); learn the topic anew") from None


def _packed(reading: Reading) -> dict[str, Any]:
    return {
        "stems": reading.stems,
        "pairs": reading.pairs,
        "words": reading.words,
        "places": {str(place.id): mass for place, mass in reading.places.items()},
        "country": reading.country,
    }


def _unpacked(row: dict[str, Any], gazetteer: Gazetteer) -> Reading:
    return Reading(
        stems={str(stem): max(1, int(n)) for stem, n in row["stems"].items()},
        pairs={str(pair): max(1, int(n)) for pair, n in row["pairs"].items()},
        words=int(row["words"]),
        places={gazetteer.place(int(i)): float(mass) for i, mass in row["places"].items()},
        country=str(row["country"]),
    )


def _place_name(place_id: str, gazetteer: Gazetteer) -> str:
    place = gazetteer.place(int(place_id))
    found = gazetteer.find(place.name, limit=2)
    return place.name if place.kind == "country" and found and found[0].id == place.id else place_id


def _readable(term: str, forms: dict[str, str]) -> str:
    return " ".join(forms.get(stem, stem) for stem in term.split(" "))


def _weight(weight: float) -> float:
    return min(1.0, max(0.001, round(weight, 3)))
