"""Coordinates in the words of a question, as maps give them: `52.52, 13.40`, `52.52°N 13.40°E`."""

import re
from collections.abc import Sequence

from periplus.model import LonLat
from periplus.search.words import Word

__all__ = ["point_at"]

MOST_WORDS = 4
"""Words of a point: `52.52 N, 13.40 E`."""

_POINT = re.compile(
    r"(-?\d{1,2}(?:\.\d{1,15})?)°? ?([NS])?(,? ?)(-?\d{1,3}(?:\.\d{1,15})?)°? ?([EW])?", re.IGNORECASE | re.ASCII
)


def point_at(words: Sequence[Word], start: int) -> tuple[LonLat, int] | None:
    """The point that the words from `start` on name, latitude first, and where the words go on.

    Two numbers alone are one only with a comma between them and decimals in both: "2.5, 3" may be anything.
    """
    for length in range(min(MOST_WORDS, len(words) - start), 0, -1):
        part = words[start : start + length]
        if any(word.quoted or word.alternative for word in part):
            continue
        text = " ".join("-" * word.excluded + word.text + "," * word.comma for word in part).rstrip(",")
        match = _POINT.fullmatch(text)
        if match is None:
            continue
        is_plain_pair = "," in match[3] and "." in match[1] and "." in match[4]
        if not is_plain_pair and not (match[2] and match[5]):
            continue
        lat = float(match[1]) * (-1 if (match[2] or "").upper() == "S" else 1)
        lon = float(match[4]) * (-1 if (match[5] or "").upper() == "W" else 1)
        if abs(lat) <= 90 and abs(lon) <= 180:
            return LonLat(lon, lat), start + length
    return None
