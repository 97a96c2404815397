"""Numbers that may begin an address are found as patterns would find them; fast rounding is `round`."""

import random
import re

from periplus.places.digits import digit_groups
from periplus.places.folding import codes_of
from periplus.places.support import rounded

HOUSE = re.compile(
    r"(?<![0-9])[0-9]{1,6}(?![0-9])(?=[ \t](?:[A-Z0-9\x80-\xff \t-]|\Z)|[A-Za-z,-]|\Z)",
)
ZIP = re.compile(r"(?<![0-9])(?:[0-9]{9}|[0-9]{5})(?![0-9])")


def test_digit_groups_are_those_of_the_patterns() -> None:
    chance = random.Random(3)
    for _ in range(300):
        text = "".join(chance.choice("0123456789 \t-,.aZé東\n") * chance.choice((1, 1, 2)) for _ in range(60))
        zips, houses = digit_groups(text)
        assert zips == [found.start() for found in ZIP.finditer(text)]
        assert houses == [found.start() for found in HOUSE.finditer(text)]


def test_an_address_may_end_the_text() -> None:
    assert digit_groups("") == ([], [])
    assert digit_groups("Austin, TX 78701") == ([11], [11])
    assert digit_groups("78701") == ([0], [0])


def test_rounded_is_round() -> None:
    chance = random.Random(5)
    values = (
        [chance.random() for _ in range(3000)] + [n / 20000 for n in range(20001)] + [n / 2000 for n in range(2001)]
    )
    for value in values:
        assert rounded(value, 4) == round(value, 4)
        assert rounded(rounded(value, 4), 3) == round(round(value, 4), 3)


def test_codes_are_one_a_character() -> None:
    for text in ("", "Oslo", "Côte d’Ivoire", "a🙂b", "\ud800\udc00", "🙂\ud800"):
        assert codes_of(text).tolist() == [min(ord(char), 0xFFFF) for char in text]
