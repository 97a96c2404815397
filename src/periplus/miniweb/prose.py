"""Sentences: vocabularies compiled once, and the scribe that fills them for a page and counts what it named.

Between `places` (the names) and `rendering` (the HTML). Nothing here knows about URLs.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from periplus.miniweb.places import Town, neighbors, towns

__all__ = ["LANGUAGES", "Language", "Scribe", "Sentence", "Topic", "Vocabulary", "fill_title", "pick", "vocabulary"]

LANGUAGES = ("es", "fr", "de", "pt", "zh", "ja", "ru", "ar")

CITY, CITYSTATE, NEAR, REGION = range(4)
_PLACE_SLOTS = {"city": CITY, "citystate": CITYSTATE, "near": NEAR, "region": REGION}
_SLOT = re.compile(r"\{(\w+)\}")

Random = Callable[[], float]


def pick(random: Random, options: Sequence[str]) -> str:
    """One of the options. Several times faster than `random.choice`, and just as reproducible."""
    return options[int(random() * len(options))]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with holes: `form % values`; an int slot is a place, a tuple the words to choose from."""

    form: str
    slots: tuple[int | tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """What pages of one subject are made of."""

    name: str
    geographic: bool
    titles: tuple[Sentence, ...]
    sentences: tuple[Sentence, ...]
    things: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """A language other than English: sentences about a town, sentences about nothing geographic, labels."""

    code: str
    home: str
    more: str
    titles: tuple[Sentence, ...]
    plain_titles: tuple[Sentence, ...]
    sentences: tuple[Sentence, ...]
    plain: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Everything the scribe can say."""

    words: dict[str, tuple[str, ...]]
    topics: dict[str, Topic]
    languages: dict[str, Language]
    confusers: tuple[str, ...]
    closings: tuple[str, ...]

    @property
    def geographic(self) -> tuple[Topic, ...]:
        """The topics that speak of towns, in the order of the file."""
        return tuple(topic for topic in self.topics.values() if topic.geographic)

    @property
    def plain(self) -> tuple[Topic, ...]:
        """The topics that do not."""
        return tuple(topic for topic in self.topics.values() if not topic.geographic)


def _compile(text: str, words: dict[str, tuple[str, ...]]) -> Sentence:
    slots: list[int | tuple[str, ...]] = []
    for name in _SLOT.findall(text):
        place = _PLACE_SLOTS.get(name)
        slots.append(words[name] if place is None else place)
    return Sentence(_SLOT.sub("%s", text.replace("%", "%%")), tuple(slots))


def _compile_all(texts: Sequence[str], words: dict[str, tuple[str, ...]]) -> tuple[Sentence, ...]:
    return tuple(_compile(text, words) for text in texts)


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The bundled vocabulary, read once."""
    folder = resources.files(__package__)
    data = tomllib.loads(folder.joinpath("vocabulary.toml").read_text("utf-8"))
    languages = tomllib.loads(folder.joinpath("languages.toml").read_text("utf-8"))
    shared = {key: tuple(value) for key, value in data["words"].items()}
    return Vocabulary(
        words=shared,
        topics={name: _topic(name, table, data["frames"], shared) for name, table in data["topics"].items()},
        languages={code: _language(code, table) for code, table in languages.items()},
        confusers=tuple(data["frames"]["confusers"]),
        closings=tuple(data["frames"]["closing"]),
    )


def _topic(name: str, table: dict[str, Any], frames: dict[str, list[str]], shared: dict[str, tuple[str, ...]]) -> Topic:
    things = tuple(table["things"])
    words = shared | {key: tuple(value) for key, value in table.get("words", {}).items()} | {"thing": things}
    frame = frames["place"] if table["geographic"] else frames["plain"]
    # Own sentences stand twice, so that the topic's words outweigh the frames that all topics share.
    own = _compile_all(table["sentences"], words)
    return Topic(
        name=name,
        geographic=table["geographic"],
        titles=_compile_all(table["titles"], words),
        sentences=own + own + _compile_all(frame, words),
        things=things,
    )


def _language(code: str, table: dict[str, Any]) -> Language:
    return Language(
        code=code,
        home=table["home"],
        more=table["more"],
        titles=_compile_all(table["titles"], {}),
        plain_titles=_compile_all(table["plain_titles"], {}),
        sentences=_compile_all(table["sentences"], {}),
        plain=_compile_all(table["plain"], {}),
    )


def fill_title(random: Random, options: tuple[Sentence, ...], town: Town | None, *, local: bool = False) -> str:
    """A title; titles name the page's main town and never a second one but its neighbor."""
    sentence = options[int(random() * len(options))]
    values = []
    for slot in sentence.slots:
        if isinstance(slot, tuple):
            values.append(pick(random, slot))
            continue
        if town is None:
            raise ValueError(f"the title {sentence.form!r} needs a town")
        if slot == NEAR:
            values.append(towns()[neighbors()[town.index][0]].name)
        elif slot == CITYSTATE:
            values.append(f"{town.name}, {town.short_region}")
        else:
            values.append(town.local_name if local else town.name)
    return sentence.form % tuple(values)


class Scribe:
    """Writes the sentences of one page and counts every town it names (`named`: town index → times)."""

    __slots__ = ("_local", "_main", "_near", "_table", "_towns", "named", "random")

    def __init__(self, random: Random, page_towns: tuple[int, ...], *, local: bool = False) -> None:
        self.random = random
        self.named: dict[int, int] = {}
        self._table = towns()
        self._towns = page_towns
        self._main = page_towns[0] if page_towns else -1
        self._near = (page_towns[1:] or neighbors()[self._main]) if page_towns else ()
        self._local = local

    def write(self, sentence: Sentence) -> str:
        """The sentence with every slot filled."""
        random = self.random
        return sentence.form % tuple(
            [
                slot[int(random() * len(slot))] if isinstance(slot, tuple) else self._place(slot)
                for slot in sentence.slots
            ]
        )

    def sentence(self, options: tuple[Sentence, ...]) -> str:
        """One of the sentences, filled."""
        return self.write(options[int(self.random() * len(options))])

    def paragraph(self, options: tuple[Sentence, ...], length: int) -> str:
        """`length` sentences in a row, no two the same in form one after the other."""
        count = len(options)
        at = int(self.random() * count)
        step = 1 + int(self.random() * (count - 1))
        return " ".join([self.write(options[(at + i * step) % count]) for i in range(length)])

    def name(self, town: int) -> str:
        """The town's name, counted."""
        self.named[town] = self.named.get(town, 0) + 1
        found = self._table[town]
        return found.local_name if self._local else found.name

    def name_in_full(self, town: int) -> str:
        """ "Houston, TX" or "Houston, Texas", counted."""
        self.named[town] = self.named.get(town, 0) + 1
        found = self._table[town]
        region = found.short_region if self.random() < 0.6 else found.region
        return f"{found.name}, {region}"

    def _place(self, slot: int) -> str:
        if slot == NEAR:
            return self.name(self._near[int(self.random() * len(self._near))])
        if slot == CITYSTATE:
            return self.name_in_full(self._main)
        if slot == REGION:
            return self._table[self._main].region
        return self.name(self._main)
