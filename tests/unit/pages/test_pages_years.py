"""Years of whole dates are found where patterns would find them; pages name a day where one is said to be one."""

import random
import re

import pytest

from periplus.pages.dates import names_a_day
from periplus.pages.years import MOST_YEARS, years_of_days

YEARS = (re.compile(r"199\d(?!\d)"), re.compile(r"20\d\d(?!\d)"))
BEFORE = re.compile(r"\d{1,2}[^\d<>{}\[\]]{1,22}$")
AFTER = re.compile(r"[-/.\s年]{1,2}\d{1,2}(?!\d)")
PIECES = [
    "1",
    "9",
    "199",
    "20",
    "2021",
    "1999",
    "7",
    "٣",
    "²",
    " ",
    "\n",
    "-",
    "/",
    "年",
    "<",
    "]",
    "May",
    "x" * 19,
    "é",
]


def by_patterns(text: str, limit: int) -> list[int]:
    found = [match for year in YEARS for match in year.finditer(text, 0, limit)][:MOST_YEARS]
    return [
        match.start()
        for match in found
        if not (match.start() and text[match.start() - 1].isdigit())
        and (BEFORE.search(text, max(0, match.start() - 26), match.start()) or AFTER.match(text, match.end()))
    ]


def test_years_are_found_as_patterns_find_them() -> None:
    chance = random.Random(5)
    for _ in range(5_000):
        text = "".join(chance.choices(PIECES, k=chance.randrange(30)))
        limit = chance.choice([len(text) + 5, len(text), len(text) // 2])
        assert years_of_days(text, limit) == by_patterns(text, limit), repr(text)


def test_no_more_than_so_many_years_are_looked_at() -> None:
    text = "5 May 2021, " * 150 + "4/1999 " * 150
    assert years_of_days(text, len(text)) == by_patterns(text, len(text))
    assert len(years_of_days(text, len(text))) == MOST_YEARS


@pytest.mark.parametrize(
    ("text", "html", "named"),
    [
        ("Posted 4 May 2021", "<p>Posted 4 May 2021</p>", True),
        ("In 2021 it rained", "<p>posted In 2021 it rained</p>", False),
        ("On 4 May 2021 it rained", "<p>On 4 May 2021 it rained</p>", False),
        ("", "", False),
    ],
)
def test_a_day_is_named_where_it_is_said_to_be_one(text: str, html: str, named: bool) -> None:
    assert names_a_day(text, html) is named
