"""The things that a page describes in JSON-LD, and whether each is the page's, stands beside it or published it."""

import json
import re
from collections import deque
from collections.abc import Iterator
from enum import Enum, auto
from html import unescape
from typing import Any, Final

__all__ = ["PUBLISHERS", "Whose", "json_ld_things", "types_of"]

MAX_JSON_LD_CHARS = 200_000
MAX_JSON_LD_NODES = 2_000


class Whose(Enum):
    """What a thing of JSON-LD belongs to; `BESIDE` the page stands what is described for itself and has an address."""

    NOBODY = auto()
    PAGE = auto()
    ARTICLE = auto()
    BESIDE = auto()
    PUBLISHER = auto()


def json_ld_things(text: str) -> Iterator[tuple[dict[str, Any], Whose]]:
    """Every object of a JSON-LD block, breadth-first, bounded, and whose it is."""
    if len(text) > MAX_JSON_LD_CHARS:
        return
    waiting: deque[tuple[Any, Whose]] = deque([(_json_of(text), Whose.NOBODY)])
    for _ in range(MAX_JSON_LD_NODES):
        if not waiting:
            return
        thing, above = waiting.popleft()
        if isinstance(thing, list):
            waiting.extend((one, above) for one in thing)
        elif isinstance(thing, dict):
            whose = _whose(thing) if above is Whose.NOBODY else above
            yield thing, whose
            for key, value in thing.items():
                if isinstance(value, dict | list):
                    alone = key == "@graph" or (key == "mainEntity" and whose is Whose.PAGE)
                    below = Whose.PUBLISHER if key in PUBLISHERS else Whose.NOBODY if alone else whose
                    waiting.append((value, below))


_WORKS: Final = ("Article", "BlogPosting", "SocialMediaPosting", "ForumPosting", "Report")
"""How the types of schema.org end that are something to read, published by somebody."""

PUBLISHERS: Final = frozenset(
    {"publisher", "author", "creator", "editor", "copyrightHolder", "sourceOrganization", "provider", "contactPoint"}
)
"""Properties that say who made a thing, not what it is about; a telephone's area is not either."""

_BODIES: Final = ("Organization", "Corporation", "NGO", "OnlineBusiness", "OnlineStore")
"""How the types end that have a seat and no counter: other organisations are places one goes to."""


def types_of(thing: dict[str, Any]) -> list[str]:
    kinds = thing.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _whose(thing: dict[str, Any]) -> Whose:
    """Whose a thing is that nothing else has: articles and events are the page's, others with an address are not."""
    kinds = types_of(thing)
    settled = "PostalAddress" in kinds or not thing.keys().isdisjoint(("address", "geo", "location", "latitude"))
    if any(kind.endswith(_WORKS) for kind in kinds):
        return Whose.ARTICLE
    if "startDate" in thing or not settled:
        return Whose.PAGE
    return Whose.PUBLISHER if kinds and all(kind.endswith(_BODIES) for kind in kinds) else Whose.BESIDE


def _json_of(text: str) -> Any:
    """What a JSON-LD block says, also if it has comments, commas too many or quotes as HTML; of a worse one its day."""
    text = _unwrapped(text)
    for repair in (str, _repaired, lambda broken: _repaired(unescape(broken))):
        try:
            return json.loads(repair(text), strict=False)  # line breaks in strings are common
        except (ValueError, RecursionError):
            continue
    day = _STATED_DAY.search(text)
    return {"datePublished": day[1]} if day else None


_STATED_DAY: Final = re.compile(r'"datePublished"\s*:\s*"([^"]{8,64})"')
_TOO_MUCH: Final = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|/\*.*?(?:\*/|\Z)|//[^\n]*|,(?=\s*[}\]])', re.DOTALL)
"""Strings, which stay; and comments and commas before an end, which JSON does not have."""


def _repaired(text: str) -> str:
    return _TOO_MUCH.sub(lambda match: match[1] or "", text)


def _unwrapped(text: str) -> str:
    """JSON-LD without what some write around it, as they did around scripts."""
    text = text.strip().strip("\ufeff")
    for opening in ("//", "<!--", "<![CDATA["):
        text = text.removeprefix(opening).lstrip()
    for ending in ("]]>", "-->", "//", ";"):
        text = text.removesuffix(ending).rstrip()
    return text
