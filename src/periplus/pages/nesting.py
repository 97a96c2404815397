"""Elements nested beyond reason are flattened before parsing: the parser's time grows with the square of the depth.

Browsers stop at 512 levels; so do we. Text and links stay; tags that open a level beyond that become line breaks.
"""

import re
from collections import Counter

__all__ = ["flattened"]

MOST_DEPTH = 512
"""Levels that are kept: what browsers keep."""

TAGS_WITHOUT_DOUBT = 4_000
"""Fewer opening tags cannot nest deep enough to cost noticeable time, so nobody looks."""

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)\b[^<>]*>?")
NOT_NESTING = frozenset(
    b"a area base body br col colgroup dd dt embed frame head hr html iframe img input li link meta noscript optgroup "
    b"option p param plaintext rp rt script source style tbody td textarea tfoot th thead title tr track wbr "
    b"xmp".split()
)
"""Void elements, those that the next of their kind closes, and those whose tags mean more than a level."""


def flattened(source: bytes) -> bytes:
    """The document with tags that open a level beyond the bound replaced by line breaks. Linear in its length."""
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
