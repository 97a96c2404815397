"""Documents beyond reason are bounded before they are parsed, so that they are read in part instead of lost whole.

The parser's time grows with the square of the depth and of a tag's attributes, and everybody's with the number of tags.
Browsers stop at 512 levels; so do we: text and links stay, tags that open a level beyond that become line breaks.
"""

import itertools
import re
from collections import Counter

from periplus.pages.signs import CROWD_TAGS

__all__ = ["bounded"]

MOST_TAGS = 100_000
"""Tags, ends included, after which a document is cut off; 5 MiB of ordinary markup have about as many."""

MOST_DEPTH = 512
"""Levels that are kept: what browsers keep."""

LONG_TAG = 16_384
"""Bytes without a `>`, from which on the attributes of a tag are counted; shorter ones cannot have enough of them."""

MOST_ATTRIBUTES = 2_000
"""Attributes of a tag that are kept: in these, nobody has written more by hand or by program."""

ATTRIBUTE = re.compile(rb"""\s*+[^\s>][^\s=>]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+""")
TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)\b[^<>]*>?")
LINK = re.compile(rb"<a\s[^<>]*\bhref\b", re.IGNORECASE)
NOT_NESTING = frozenset(
    b"a area base body br col colgroup dd dt embed frame head hr html iframe img input li link meta noscript optgroup "
    b"option p param plaintext rp rt script source style tbody td textarea tfoot th thead title tr track wbr "
    b"xmp".split()
)
"""Void elements, those that the next of their kind closes, and those whose tags mean more than a level."""


def bounded(source: bytes, *, crowd: bool = True) -> tuple[bytes, dict[str, int]]:
    """As much of the document as can be read in reasonable time, and what was left out, by reason. Linear.

    Without a `crowd` of tags (`signs.CROWD_TAGS`) they cannot nest deep enough to cost noticeable time.
    """
    tags, dropped = source.count(b"<") if crowd else 0, dict[str, int]()
    if tags > MOST_TAGS:
        cut = next(itertools.islice(re.finditer(b"<", source), MOST_TAGS, None)).start()
        dropped = {"document": 1, "page_links": len(LINK.findall(source, cut))}
        source = source[:cut]
    if _has_long_tag(source):
        whole, source = len(source), _without_most_attributes(source)
        dropped |= {"document": 1} if len(source) < whole else {}
    return (source if tags <= CROWD_TAGS else _flattened(source)), dropped


def _has_long_tag(source: bytes) -> bool:
    """Whether any tag is long enough to be looked at; long stretches of text are none."""
    half, at = LONG_TAG // 2, 0
    while at < len(source):
        if source.find(b">", at, at + half) >= 0:
            at += half
            continue
        start = source.find(b"<", source.rfind(b">", max(0, at - half), at) + 1)
        end = source.find(b">", at)
        end = end if end >= 0 else len(source)
        if 0 <= start < end - LONG_TAG + 1:
            return True
        at = end + 1
    return False


def _without_most_attributes(source: bytes) -> bytes:
    """The document with the attributes of very long tags cut off behind the first so many."""
    pieces: list[bytes] = []
    position = at = 0
    while (start := source.find(b"<", at)) >= 0:
        end = source.find(b">", start)
        at = (end if end >= 0 else len(source)) + 1
        if at - start <= LONG_TAG or not source[start + 1 : start + 2].isalpha():
            continue
        kept = beyond = _behind_attributes(source, start, MOST_ATTRIBUTES)
        if ATTRIBUTE.match(source, kept):
            beyond = _behind_attributes(source, kept, len(source))
            pieces.append(source[position:kept])
            position = beyond
        at = max(kept, beyond)
    return b"".join((*pieces, source[position:])) if pieces else source


def _behind_attributes(source: bytes, at: int, most: int) -> int:
    """Where so many attributes end; the name of a tag counts as one."""
    for _ in range(most):
        attribute = ATTRIBUTE.match(source, at)
        if attribute is None:
            break
        at = attribute.end()
    return at


def _flattened(source: bytes) -> bytes:
    """The document with tags that open a level beyond the bound replaced by line breaks."""
    if source.count(b"<") - source.count(b"</") <= CROWD_TAGS:
        return source
    pieces: list[bytes] = []
    opened: Counter[bytes] = Counter()
    depth = position = 0
    for tag in TAG.finditer(source):
        name = tag[2].lower()
        if name in NOT_NESTING:
            continue
        if not tag[1]:
            opened[name] += 1
            depth += 1
            replacement = b"<br>"
        elif opened[name]:  # one that closes nothing would make the depth look smaller than it is
            opened[name] -= 1
            depth -= 1
            replacement = b""
        else:
            continue
        if depth + bool(tag[1]) > MOST_DEPTH:
            pieces += (source[position : tag.start()], replacement)
            position = tag.end()
    return b"".join((*pieces, source[position:])) if pieces else source
