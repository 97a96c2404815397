"""A question's text taken apart: words, phrases, exclusions, alternatives and operators.

There is no nesting, so nothing a person types can be deeper than one level. What cannot be an operator is text.
"""

import re
from dataclasses import dataclass, field, replace

from periplus.errors import QueryError
from periplus.search.request import LONGEST_QUESTION

__all__ = ["OPERATORS", "Operator", "Parsed", "Word", "take_apart"]

OPERATORS = ("inclass", "site", "place", "near", "before", "after", "lang")
"""Words that, followed by a colon and a value, are no text."""

MOST_WORDS = 64
"""Words of a question. More would only make the question slower, not better."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word or, if `quoted`, a phrase. `alternative`: OR stands between it and the one before.

    `comma` marks a comma after the word: "Lisbon, NH". `in_title`: only there it counts. `span`: where it begins and
    ends in the text, its OR included.
    """

    text: str
    quoted: bool = False
    excluded: bool = False
    alternative: bool = False
    comma: bool = False
    in_title: bool = False
    span: tuple[int, int] = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Operator:
    """`name:value`, or `-name:value` if `excluded`; `span` as of a word."""

    name: str
    value: str
    excluded: bool = False
    span: tuple[int, int] = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The parts of a question, in order."""

    words: tuple[Word, ...]
    operators: tuple[Operator, ...]


_PART = re.compile(
    rf"""
    (?P<minus>-)?
    (?:
        (?P<operator>{"|".join(OPERATORS)}):(?:["“](?P<quoted_value>[^"”]*)["”]?|(?P<value>\S*))
      | (?P<title>(?:in)?title:(?=["“]?\w))?
        (?:["“](?P<phrase>[^"”]*)["”]?
      | (?P<word>[^\s"“”]+))
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_NOT = re.compile(r"NOT\s+(?!in\b|from\b)[\w\"“]")
"""A word or phrase left out, as other search engines have it; "NOT in Texas" is about a place."""

_EDGES = re.compile(r"^[^\w]+|[^\w]+$")


def take_apart(text: str) -> Parsed:
    """The parts of what was typed. Unbalanced quotes reach to the end; parentheses are separators."""
    if len(text) > LONGEST_QUESTION:
        raise QueryError(f"the question is {len(text):,} characters long; at most {LONGEST_QUESTION:,} are possible")
    cleaned = _UNSEEN.sub(" ", text).replace("(", " ").replace(")", " ")  # as long as before: spans count in it
    words: list[Word] = []
    operators: list[Operator] = []
    alternative = excluded = False
    begins = 0
    for match in _PART.finditer(cleaned):
        if name := match["operator"]:
            operators.append(_operator(name.lower(), match))
            continue
        if match["word"] == "NOT" and _NOT.match(cleaned, match.start()) and not cleaned.isupper():
            excluded, begins = True, match.start()
            continue
        if match["word"] in ("OR", "|") and not (words and words[-1].comma):  # "Portland, OR" is in Oregon
            alternative, begins = bool(words), match.start()
            continue
        if word := _word(match, alternative=alternative and not excluded):
            first = begins if alternative or excluded else match.start()
            words.append(replace(word, excluded=word.excluded or excluded, span=(first, match.end())))
            alternative = excluded = False
    if alternative:  # nothing follows: "hotels in Portland OR"
        words.append(Word("OR", span=(begins, len(cleaned))))
    if len(words) > MOST_WORDS:
        raise QueryError(f"the question has {len(words)} words; at most {MOST_WORDS} are possible")
    return Parsed(tuple(words), tuple(operators))


def _operator(name: str, match: re.Match[str]) -> Operator:
    value = (match["quoted_value"] if match["quoted_value"] is not None else match["value"]).strip()
    if not value:
        raise QueryError(f"{name}: needs a value, for example {_EXAMPLES[name]}")
    return Operator(name, value, excluded=bool(match["minus"]), span=match.span())


_EXAMPLES = {
    "inclass": "inclass:floods",
    "site": "site:example.org",
    "place": 'place:"Lisbon, Portugal"',
    "near": "near:38.72,-9.14,25",
    "before": "before:2026-05",
    "after": "after:2025",
    "lang": "lang:pt",
}


def _word(match: re.Match[str], *, alternative: bool) -> Word | None:
    """The word of a match; None for what holds no letter or digit, and for AND."""
    excluded, in_title = bool(match["minus"]), match["title"] is not None
    if match["phrase"] is not None:
        phrase = " ".join(match["phrase"].split())
        return Word(phrase, True, excluded, alternative, in_title=in_title) if re.search(r"\w", phrase) else None
    raw = "and" if match["word"] == "&" else match["word"]
    text = _EDGES.sub("", raw)
    if not text or raw == "AND":
        return None
    return Word(text, False, excluded, alternative, comma=raw.endswith(","), in_title=in_title)
