"""Documents beyond reason are bounded before they are parsed, so that they are read in part instead of lost whole.

The parser's time grows with the square of the depth, and everybody's with the number of tags. Browsers stop at 512
levels; so do we: text and links stay, tags that open a level beyond that become line breaks.
"""

import itertools
import re
from collections import Counter

__all__ = ["bounded"]

MOST_TAGS = 100_000
"""Tags, ends included, after which a document is cut off; 5 MiB of ordinary markup have about as many."""

MOST_DEPTH = 512
"""Levels that are kept: what browsers keep."""

TAGS_WITHOUT_DOUBT = 4_000
"""Fewer opening tags cannot nest deep enough to cost noticeable time, so nobody looks."""

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)\b[^<>]*>?")
LINK = re.compile(rb"<a\s[^<>]*\bhref\b", re.IGNORECASE)
NOT_NESTING = frozenset(
    b"a area base body br col colgroup dd dt embed frame head hr html iframe img input li link meta noscript optgroup "
    b"option p param plaintext rp rt script source style tbody td textarea tfoot th thead title tr track wbr "
    b"xmp".split()
)
"""Void elements, those that the next of their kind closes, and those whose tags mean more than a level."""


def bounded(source: bytes) -> tuple[bytes, int]:
    """As much of the document as can be read in reasonable time, and how many links were cut off. Linear."""
    tags, links = source.count(b"<"), 0
    if tags <= TAGS_WITHOUT_DOUBT:
        return source, links
    if tags > MOST_TAGS:
        cut = next(itertools.islice(re.finditer(b"<", source), MOST_TAGS, None)).start()
        links = len(LINK.findall(source, cut))
        source = source[:cut]
    return _flattened(source), links


def _flattened(source: bytes) -> bytes:
    """The document with tags that open a level beyond the bound replaced by line breaks."""
    if source.count(b"<") - source.count(b"</") <= TAGS_WITHOUT_DOUBT:
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
