"""What a page asks of robots, in its meta tags and X-Robots-Tag headers, addressed to everybody or to us."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from periplus.model import Fetched

__all__ = ["read_directives"]

VALUED = ("max-snippet", "max-image-preview", "max-video-preview")
MOST_DIRECTIVES = 100
LAST_DAY = re.compile(r"unavailable_after\s*:\s*((?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,)?[^,]*)")
"""A date may have the separators of directives in it: `unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT, nofollow`."""


def read_directives(meta: str, fetched: Fetched) -> set[str]:
    """The directives of the robots meta tags (`meta`, with commas between them) and of the response's headers."""
    dated = _dated(meta, fetched.fetched_at)
    words = {word for part in dated.split(",") for word in _words(part)}
    for name, value in fetched.headers:
        if name.lower() == "x-robots-tag":
            words |= _header_directives(_dated(value, fetched.fetched_at))
    return words


def _header_directives(value: str) -> set[str]:
    """The directives of one X-Robots-Tag that are for us: an agent's name counts until the next one."""
    words = set()
    ours = True
    for part in value.split(",")[:MOST_DIRECTIVES]:
        agent, colon, word = part.partition(":")
        if not colon or agent.strip() in VALUED:
            word = agent
        else:
            ours = agent.strip() == "periplus"
        if ours:
            words.update(_words(word))
    return words


def _words(part: str) -> list[str]:
    """The directives of a part, which some separate by blanks or semicolons; a value ("preview: none") is none."""
    return part.replace(": ", ":").replace(";", " ").split()


def _dated(text: str, now: datetime) -> str:
    """The text in small letters, with dates after which the page is not to be found replaced by what they mean now."""
    lower = text.lower()
    if "unavailable_after" not in lower:
        return lower
    return LAST_DAY.sub(lambda found: "noindex" if _is_past(found[1].strip(), now) else "", lower)


def _is_past(text: str, now: datetime) -> bool:
    """Whether a date, as mail or as ISO 8601 writes it, is over; what is no date is not."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            day = read(text.upper())
            return (day if day.tzinfo else day.replace(tzinfo=UTC)) <= now
        except (ValueError, TypeError, OverflowError):
            continue
    return False
