"""Learn which names of places are words of other languages, from real pages: see `train_places.py --words-of`.

A word that is written small is one, as in English. German writes nouns with capitals: there a capital says nothing, but
towns have no article, so what follows articles and adjectives is a noun. Large towns get some benefit of the doubt.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.model import Fetched
from periplus.pages import read_page
from periplus.pages.maintext import without
from periplus.places import Gazetteer
from periplus.places.context import KIND
from periplus.places.folding import name_keys

__all__ = ["learn_words_of"]

LEAST_PAGES = 20
"""Of a language with fewer pages nothing is learnt."""

LEAST, COMMON = 3, 100
"""How often a word must be met, and from when on it is a very common one."""

SHARE, SHARE_SMALL = 0.85, 0.5
"""How much of it must be the word, not the name: for towns of 30,000 people and more, and for smaller ones."""

TOWN = 5
"""From here on the sizes of `context.POPULATION` are those of more than 30,000 people."""

DOUBT = (0, 0, 0, 0, 0, 10, 30, 100, 100, 100)
"""As often as this the name is taken to have been met, by size: the texts do not mention every town."""

LITTLE_DOUBT = 3
"""The same for names that a place has in some other language only, and for divisions."""

WITHOUT_ARTICLE = [KIND.index(kind) for kind in ("city", "alternate", "bare_admin2")]
SELDOM = [KIND.index(kind) for kind in ("alternate", "admin2", "bare_admin2")]

WORD = re.compile(r"(?<![\w@/.'’&-])[^\W\d_]{2,}(?![\w@/-])")
PAIR = re.compile(r"(?<![\w@/.'’-])([^\W\d_]+)(,?) (?=([^\W\d_]+)(?![\w@/-]))")
ADJECTIVE = re.compile(r"[^\W\d_]{3,}(?:e|en|er|es|em)")
ARTICLES = """der die das dem den des ein eine einen einem einer eines kein keine keinen keinem keiner keines mein dein
sein ihr unser euer alle viele einige mehrere wenige zwei drei vier im am zum zur vom beim ins ans aufs"""
NO_ADJECTIVES = "aber außer gegen hinter immer neben oder ohne sondern statt über unter wegen weder wieder zwischen"


def learn_words_of(folder: Path, gazetteer: Gazetteer) -> dict[str, dict[str, str]]:
    """Words by level by language; see `lexicon.words_of`."""
    texts: dict[str, list[str]] = {}
    for language, text in _pages(folder):
        texts.setdefault(language, []).append(text)
    return {
        language: words_among(found, gazetteer, capital_nouns=language == "de")
        for language, found in sorted(texts.items())
        if len(found) >= LEAST_PAGES and language not in ("", "en")
    }


def _pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Language and text of each page, without its furniture."""
    for path in sorted((folder / "html" / "trafilatura" / "tests").glob("*/*.html")):
        fetched = Fetched("http://localhost/", 200, (), path.read_bytes(), "text/html", datetime.now(UTC), 0.0, "")
        try:
            page = read_page(fetched)
        except PeriplusError:
            continue
        yield page.language, without(page.text, page.furniture)


def words_among(texts: Iterable[str], gazetteer: Gazetteer, *, capital_nouns: bool) -> dict[str, str]:
    """The names that are words in these texts, by level."""
    small, nouns, names = _counts(texts, capital_nouns=capital_nouns)
    words = sorted(word for word in small | nouns if small[word] + nouns[word] >= LEAST)
    levels: dict[str, list[str]] = {}
    for word, index in zip(words, gazetteer.name_index(name_keys(words)).tolist(), strict=True):
        if index < 0:
            continue
        facts = int(gazetteer.arrays["name_facts"].reshape(-1, 4)[index, 2])
        kind, size = facts & 255, (facts >> 8) & 255
        noun = nouns[word] if kind in WITHOUT_ARTICLE else 0
        # A verb that is written small says nothing about a noun: Erlangen, Siegen.
        count = noun if noun + names[word] >= LEAST and capital_nouns else small[word]
        doubt = min(DOUBT[size], LITTLE_DOUBT) if kind in SELDOM else DOUBT[size]
        if count >= LEAST and count > (SHARE if size >= TOWN else SHARE_SMALL) * (count + names[word] + doubt):
            levels.setdefault("6" if count >= COMMON else "5", []).append(word)
    return {level: " ".join(found) for level, found in sorted(levels.items())}


def _counts(texts: Iterable[str], *, capital_nouns: bool) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """How often each word is written small, is a noun with a capital, and has a capital inside a sentence otherwise."""
    articles = frozenset(ARTICLES.split())
    small: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for text in texts:
        small.update(word for word in WORD.findall(text) if word.islower())
        for before, comma, word in PAIR.findall(text):
            if before[0].isupper() or not word.istitle():
                continue
            noun = capital_nouns and not comma and (before in articles or _is_adjective(before))
            (nouns if noun else names)[word.lower()] += 1
    return small, nouns, names


def _is_adjective(word: str) -> bool:
    return word not in NO_ADJECTIVES.split() and ADJECTIVE.fullmatch(word) is not None
