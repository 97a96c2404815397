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

CITY, CITYSTATE, NEAR, BRAND = range(4)
_NAME_SLOTS = {"city": CITY, "citystate": CITYSTATE, "near": NEAR, "brand": BRAND}
_SLOT = re.compile(r"\{(\w+)\}")

Random = Callable[[], float]


def pick(random: Random, options: Sequence[str]) -> str:
    """One of the options. Several times faster than `random.choice`, and just as reproducible."""
    return options[int(random() * len(options))]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with holes: `form % values`; an int slot is a name of the page, a tuple the words to choose from."""

    form: str
    slots: tuple[int | tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """What pages of one subject are made of."""

    name: str
    geographic: bool
    titles: tuple[Sentence, ...]
    own: tuple[Sentence, ...]
    shared: tuple[Sentence, ...]
    things: tuple[str, ...]
    brand: tuple[Sentence, ...]


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
        place = _NAME_SLOTS.get(name)
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
    shared_frames = [*frames["place"], *frames["neutral"]] if table["geographic"] else frames["plain"]
    return Topic(
        name=name,
        geographic=table["geographic"],
        titles=_compile_all(table["titles"], words),
        own=_compile_all(table["sentences"], words),
        shared=_compile_all(shared_frames, words),
        things=things,
        brand=_compile_all(frames["brand"], words),
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
    """Writes the sentences of one page and counts every town it names (`named`: town index → times).

    `spread` lets all the page's towns have their say, the first most often; otherwise the page is about the first
    alone. `local` uses the towns' own names; `brand` fills the brand's slot.
    """

    __slots__ = ("_brand", "_local", "_near", "_subjects", "_table", "named", "random")

    def __init__(
        self,
        random: Random,
        page_towns: tuple[int, ...],
        *,
        local: bool = False,
        spread: bool = False,
        brand: str = "",
    ) -> None:
        self.random = random
        self.named: dict[int, int] = {}
        self._table = towns()
        self._subjects = page_towns[:1] * 4 + page_towns if spread else page_towns[:1]
        self._near = (page_towns[1:] or neighbors()[page_towns[0]]) if page_towns else ()
        self._local = local
        self._brand = brand

    def write(self, sentence: Sentence) -> str:
        """The sentence with every slot filled."""
        random = self.random
        return sentence.form % tuple(
            [
                slot[int(random() * len(slot))] if isinstance(slot, tuple) else self._name(slot)
                for slot in sentence.slots
            ]
        )

    def sentence(self, options: tuple[Sentence, ...]) -> str:
        """One of the sentences, filled."""
        return self.write(options[int(self.random() * len(options))])

    def paragraph(self, own: tuple[Sentence, ...], shared: tuple[Sentence, ...], length: int) -> str:
        """`length` sentences, about half of them from `own`; each list is walked, so forms rarely repeat."""
        random = self.random
        at_own, at_shared = int(random() * len(own)), int(random() * len(shared))
        texts = []
        for _ in range(length):
            if random() < 0.5:
                at_own = (at_own + 1) % len(own)
                texts.append(self.write(own[at_own]))
            else:
                at_shared = (at_shared + 5) % len(shared)
                texts.append(self.write(shared[at_shared]))
        return " ".join(texts)

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

    def _name(self, slot: int) -> str:
        if slot == BRAND:
            return self._brand
        choices = self._near if slot == NEAR else self._subjects
        town = choices[int(self.random() * len(choices))] if len(choices) > 1 else choices[0]
        return self.name_in_full(town) if slot == CITYSTATE else self.name(town)
