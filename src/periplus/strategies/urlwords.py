"""Names in URLs: one pass of an automaton over all links of a page, then a closer look at what it found."""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

import ahocorasick_rs
from msgspec import Struct

from periplus.places import words_of
from periplus.strategies.conventions import (
    AMBIGUOUS_CODES,
    AMERICAN,
    BEFORE,
    COUNTY,
    ENDINGS,
    FORM_STATES,
    GENERIC_COUNTRIES,
    MUNICIPAL,
    OPEN_ENDINGS,
    SMALL_TOWNS,
    STATE_WORDS,
    STATES,
)
from periplus.strategies.names import MIN_LETTERS, NameTable
from periplus.strategies.naming import in_region

__all__ = ["Sighting", "UrlWords"]

LETTERS = bytes(
    code + 32 if 65 <= code <= 90 else code if 97 <= code <= 122 or code == 10 else 45 for code in range(256)
)
"""Bytes to words: capitals small, everything that is not a letter a hyphen, line breaks kept (one line a link)."""

REST = re.compile(rb"[a-z]*")
HYPHENS = re.compile(rb"--+")
ESCAPED_LETTERS = re.compile(r"%[C-F][0-9A-F]", re.IGNORECASE)
PREFIXED = re.compile(f"-(?:{BEFORE})([a-z]{{4,}})".encode())
TWICE_PREFIXED = re.compile(f"(?:{BEFORE})([a-z]{{4,}})".encode())

LINE_BREAK = re.compile(rb"\n")

MEMO_HOSTS = MEMO_TAILS = 8_192
MAX_NAMES = 32
"""So many names of a part of a URL are looked at: whoever writes more wants to be found by all of them."""

_Hit = tuple[int, int, int, bytes]  # start, end, pattern, the rest of a glued word


class Sighting(Struct, frozen=True, gc=False):
    """A name in a URL and what stands around it."""

    link: int
    key: str
    in_host: bool
    many_words: bool
    region_next: str  # the region written directly after the name, glued or not; ""
    region_unknown: bool  # there is one, but no place of the name lies in it
    of_county: bool  # the name is a county's: `bakercountynews`
    words: frozenset[str]  # all words of the URL, and neighbours glued together
    codes: frozenset[str]  # words that may be codes of divisions
    countries: frozenset[str]  # countries that the domain points to
    town_states: frozenset[str] = frozenset()  # where the law knows what the host calls itself: town, village, borough


class UrlWords:
    """The automaton over all spellings of all names of a table."""

    def __init__(self, table: NameTable) -> None:
        self._table = table
        patterns: dict[bytes, str] = {}
        for key in table.candidates:
            if key.isascii() and len(key) >= MIN_LETTERS:
                for spelling in (key, *table.spellings[key]):
                    patterns[b"-" + spelling.replace(" ", "-").encode()] = key
        self._short = frozenset(key for key in table.candidates if 2 <= len(key) < MIN_LETTERS)
        self._keys = list(patterns.values())
        self._sizes = [pattern.count(b"-") for pattern in patterns]
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(patterns) or [b"\x00"])

    def sightings(self, texts: Sequence[str], urls: Sequence[str], *, in_host: bool) -> Iterator[Sighting]:
        """Every name in parts of URLs (hosts, or all that follows them), none inside a longer one."""
        text, owners = _lines(texts)
        hits = self._automaton.find_matches_as_indexes(text, overlapping=True)
        by_link: dict[int, list[_Hit]] = {}
        breaks = _line_breaks(text) if hits else []
        for pattern, start, end in hits:
            match = REST.match(text, end)
            rest = match[0] if match else b""
            if not rest or _tail(rest.decode()) is not None:
                line = bisect_left(breaks, start)
                by_link.setdefault(owners[line], []).append((start, end, pattern, rest))
        for link, found in by_link.items():
            around = _around(urls[link])
            for _, end, pattern, rest in self._without_states(_outermost(found[: 2 * MAX_NAMES]))[:MAX_NAMES]:
                after = text[end + len(rest) : end + len(rest) + 40].partition(b"\n")[0]
                yield self._look(link, pattern, rest, after, around, in_host=in_host)
        if in_host:
            yield from self._short_names(urls)

    def _without_states(self, found: list[_Hit]) -> list[_Hit]:
        """A state's name beside other names says where they are, not what is meant."""
        others = [hit for hit in found if self._keys[hit[2]] not in STATE_WORDS]
        return others or found

    def _look(self, link: int, pattern: int, rest: bytes, after: bytes, around: "Around", *, in_host: bool) -> Sighting:
        key = self._keys[pattern]
        region = _tail(rest.decode()) or "" if rest else _next_region(after.decode())
        candidates = self._table.candidates[key]
        known = in_region(candidates, region) is not None
        return Sighting(
            link=link,
            key=key,
            in_host=in_host,
            many_words=self._sizes[pattern] > 1,
            region_next=region if known else "",
            region_unknown=bool(region) and not known,
            of_county=(rest or after.lstrip(b"-")).startswith(COUNTY),
            words=around.words,
            codes=around.codes,
            countries=around.countries,
            town_states=around.town_states,
        )

    def _short_names(self, urls: Sequence[str]) -> Iterator[Sighting]:
        """Names of two or three letters: only as a whole label of a host that is not its ending."""
        for link, url in enumerate(urls):
            labels = url.partition("://")[2].partition("/")[0].lower().split(".")
            for label in labels[:-1]:
                if len(label) < MIN_LETTERS and label in self._short and label not in STATES:
                    around = _around(url)
                    yield Sighting(
                        link, label, True, False, "", False, False, around.words, around.codes, around.countries
                    )


def _lines(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """The texts as words, one line each, and extra lines for what follows a usual beginning (`cityof…`)."""
    joined = "\n".join(texts)
    if "%" in joined and ESCAPED_LETTERS.search(joined):
        plain = (" ".join(unquote(text).split()) if ESCAPED_LETTERS.search(text) else text for text in texts)
        joined = "\n".join(plain)
    if joined.count("\n") != max(0, len(texts) - 1):  # not a URL at all, but every text is one line
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    raw = joined.encode("ascii", "replace").translate(LETTERS)
    text = HYPHENS.sub(b"-", b"-" + raw.replace(b"\n", b"-\n-") + b"-")
    owners = list(range(len(texts)))
    extra = []
    breaks = _line_breaks(text)
    for match in PREFIXED.finditer(text):
        line = bisect_left(breaks, match.start())
        again = TWICE_PREFIXED.fullmatch(match[1])
        for rest in (match[1], again[1]) if again else (match[1],):
            owners.append(line)
            extra.append(b"\n-" + rest + b"-")
    return text + b"".join(extra), owners


def _line_breaks(text: bytes) -> list[int]:
    """Where the lines end; counting breaks before each name would take time by the square of the links."""
    return [match.start() for match in LINE_BREAK.finditer(text)]


def _outermost(found: list[_Hit]) -> list[_Hit]:
    """Names that do not lie inside another one."""
    return [
        hit
        for hit in found
        if not any(o[0] <= hit[0] and hit[1] <= o[1] and (o[1] - o[0]) > (hit[1] - hit[0]) for o in found)
    ]


@lru_cache(maxsize=MEMO_TAILS)
def _tail(rest: str) -> str | None:
    """What a glued word says after the name: a region, "" for usual endings, None for something else."""
    if rest in STATE_WORDS:
        return rest
    for ending in ENDINGS:
        if rest.startswith(ending):
            left = rest[len(ending) :]
            if not left or left in STATE_WORDS or left in ENDINGS:
                return left if left in STATE_WORDS else ""
        if rest.endswith(ending) and rest[: -len(ending)] in STATE_WORDS:
            return rest[: -len(ending)]
    return None


def _next_region(after: str) -> str:
    """The region in the words directly after a name: `-tx-…`, `-new-mexico-…`; "" if there is none."""
    words = after.split("-")[1:4]
    for size in (3, 2, 1):
        joined = "".join(words[:size])
        if joined in STATE_WORDS:
            return joined
    return ""


class Around(Struct, frozen=True, gc=False):
    """The words of one URL; made only where a name was found."""

    words: frozenset[str]
    codes: frozenset[str]
    countries: frozenset[str]
    town_states: frozenset[str]


class HostWords(Struct, frozen=True, gc=False):
    """What the name of a host says, beside its own words in order."""

    words: tuple[str, ...]
    codes: frozenset[str]
    countries: frozenset[str]
    town_states: frozenset[str]


def _around(url: str) -> Around:
    name, _, path = url.partition("://")[2].partition("/")
    host = _host_words(name)
    words = [*host.words, *words_of(unquote(path))] if path else host.words
    two = {word for word in words if len(word) == 2} - AMBIGUOUS_CODES
    glued = {first + second for first, second in itertools.pairwise(words)}
    return Around(frozenset(glued.union(words)), host.codes.union(two), host.countries, host.town_states)


@lru_cache(maxsize=MEMO_HOSTS)
def _host_words(host: str) -> HostWords:
    """The links of a page have few hosts."""
    labels = host.partition(":")[0].lower().split(".")
    ending = labels[-1]
    countries = {ending} if len(ending) == 2 and ending not in GENERIC_COUNTRIES else set()
    if ending == "uk":
        countries = {"gb"}
    if ending in AMERICAN or (ending in OPEN_ENDINGS and any(MUNICIPAL.search(label) for label in labels[:-1])):
        countries = {"us"}
    forms = [form[0] for label in labels[:-1] if (form := SMALL_TOWNS.search(label))]
    return HostWords(
        tuple(words_of(" ".join(labels[:-1]))),
        frozenset(label for label in labels[:-1] if len(label) == 2),
        frozenset(countries),
        FORM_STATES[forms[0][0]] if forms else frozenset(),
    )
