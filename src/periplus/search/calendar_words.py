"""The words for dates in the languages in which questions are asked, in small letters and without accents.

English, German, French, Spanish, Portuguese and Italian.
"""

from typing import TypeVar

__all__ = [
    "AND", "BEFORE_AGES", "FILLERS", "LAST_WORDS", "MONTHS", "NUMBERS", "ORDINALS", "PARTS", "PAST_WORDS", "RANGES",
    "RELATIONS", "SEASONS", "TIMES_OF_DAY", "TODAYS", "UNITS", "WEEKDAYS",
]  # fmt: skip

Value = TypeVar("Value", int, str)


def _table(lines: dict[Value, str]) -> dict[str, Value]:
    """Words with what they mean."""
    return {word: value for value, words in lines.items() for word in words.split()}


MONTHS = _table(
    {
        1: "january jan januar janvier enero janeiro gennaio",
        2: "february feb februar fevrier febrero fevereiro febbraio",
        3: "march mar marz maerz mars marzo marco",
        4: "april apr avril abril aprile",
        5: "may mai mayo maio maggio",
        6: "june jun juni juin junio junho giugno",
        7: "july jul juli juillet julio julho luglio",
        8: "august aug aout agosto",
        9: "september sep sept septembre septiembre setembro settembre",
        10: "october oct oktober octobre octubre outubro ottobre",
        11: "november nov novembre noviembre novembro",
        12: "december dec dezember decembre diciembre dezembro dicembre",
    }
)
SEASONS = _table(
    {
        3: "spring fruhling fruhjahr printemps primavera",
        6: "summer sommer ete verano verao",
        9: "autumn fall herbst automne otono outono autunno",
        12: "winter hiver invierno inverno",
    }
)
"""The month that a season begins with, north of the equator; it is called by the year that it ends in."""

RELATIONS = _table(
    {
        "in": "in during on from throughout im am wahrend en em nel durante pendant au",
        "since": "since seit depuis desde dal",
        "after": "after nach apres despues depois dopo",
        "before": "before vor avant antes prima",
        "until": "until till bis hasta ate",
    }
)
"""What stands before a date."""

FILLERS = frozenset({"the", "of", "de", "del", "do", "da", "dem", "den", "der", "des", "du", "le", "la", "el", "il"})
"""What may stand between these and the date, and between a month or season and its year."""

RANGES = {
    "from": ("to", "until", "till", "through"),
    "between": ("and",),
    "von": ("bis",), "vom": ("bis",), "zwischen": ("und",),
    "de": ("a", "al"), "du": ("au",), "del": ("al",), "dal": ("al",),
    "entre": ("et", "y", "e"), "tra": ("e",),
}  # fmt: skip
"""What stands before the first of two dates, and between them."""

UNITS = _table(
    {
        "day": "day days tage tagen jours dias giorni",
        "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane",
        "month": "month months monat monate monaten mois mes meses mese mesi",
        "year": "year years jahr jahre jahren annee annees ans ano anos anno anni",
    }
)
LAST_WORDS = frozenset(
    {"last", "letzte", "letzten", "letztes", "letzter"}
    | {"dernier", "derniere", "pasado", "pasada", "passado", "passada", "scorso", "scorsa"}
)
"""Before what they belong to in English and German, behind it in the others."""

PAST_WORDS = frozenset({"past", "last", "letzten", "derniers", "dernieres", "ultimos", "ultimas", "ultimi", "ultime"})
"""Before a number of days, weeks, months or years."""

BEFORE_AGES = frozenset({"vor", "hace"})
"""What stands before "3 days" where English has "ago" behind them."""

TODAYS = {
    "today": 0,
    "tonight": 0,
    "heute": 0,
    "aujourd'hui": 0,
    "hoy": 0,
    "hoje": 0,
    "oggi": 0,
    "yesterday": 1,
    "gestern": 1,
    "ayer": 1,
    "ontem": 1,
    "ieri": 1,
}
"""Days by their distance from this one."""

TIMES_OF_DAY = frozenset({"morning", "afternoon", "evening"})
AND = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "o", "e"})  # codespell:ignore
"""What stands between two dates either of which will do."""

WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
}  # fmt: skip
NUMBERS = _table({1: "one a", 2: "two zwei deux dos", 3: "three drei trois tres", 4: "four vier", 5: "five", 6: "six"})
ORDINALS = _table({1: "first 1st", 2: "second 2nd", 3: "third 3rd", 4: "fourth 4th"})

PARTS = {
    "early": (1, 4), "mid": (5, 8), "late": (9, 12), "beginning": (1, 3), "start": (1, 3), "end": (10, 12),
    "anfang": (1, 3), "mitte": (5, 8), "ende": (10, 12),
}  # fmt: skip
"""The first and the last month of a part of a year."""
