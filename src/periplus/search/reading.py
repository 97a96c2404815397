"""How a question was read, in one line: what, where, when, and everything that narrows it."""

from collections.abc import Sequence
from datetime import timedelta

from periplus.index import DayRange
from periplus.search.request import Polygon
from periplus.search.where import Where
from periplus.wording import counted

__all__ = ["RELAXED", "said_where", "summary"]

RELAXED = "no page has all the words; these have some"
"""What is said of an answer to a question that no page answers as it is."""


def summary(text: str, what: str, where: Where, days: DayRange, filters: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The whole question as `part: meaning · part: meaning`; `filters` are names with values, any of which will do."""
    parts = [
        ("what", what),
        ("where", said_where(where)),
        ("when", _said_when(days)),
        *((name, " or ".join(values)) for name, values in filters),
    ]
    said = " · ".join(f"{name}: {meaning}" for name, meaning in parts if meaning)
    return said or ("all pages, since the question holds no word" if text.strip() else "all pages")


def said_where(where: Where) -> str:
    """`in Lisbon, Portugal, one of 2 places so named`, `up to 100 km north of Denver`; empty if it is anywhere."""
    left_out = f"not in {where.excluded.label}" if where.excluded else ""
    return ", ".join(filter(None, (_said_inside(where), left_out)))


def _said_inside(where: Where) -> str:
    if not where:
        return ""
    if where.others:
        return _said_several(where)
    said = f"{where.relation} {_middle(where)}".rstrip() if where.relation else _said_box(where)
    if where.instead is not None:
        return f"{said}, instead of {where.instead.label}"
    others = len(where.candidates)
    return f"{said}, one of {counted(others, 'place')} so named" if others > 1 else said


def _said_several(where: Where) -> str:
    """`in Lisbon or Porto`, `between Houston and Dallas (pages about both first, then about either)`."""
    if where.circle is not None:
        return f"{where.relation} {'; or of '.join(place.label for place in (where.candidates[0], *where.others))}"
    labels = [place.label for place in where.places]
    if not where.ends:
        return f"in {'; or in '.join(labels)}"
    joint = {"between": "and", "from": "to"}[where.ends]
    return f"{where.ends} {f' {joint} '.join(labels)} (pages about both first, then about either)"


def _middle(where: Where) -> str:
    """What the relation of a question is to: a place by its name, else a point."""
    if where.candidates:
        return where.candidates[0].label
    point = where.circle.center if where.circle else None
    return f"{point.lat:.6g}, {point.lon:.6g}" if point and not where.zip_code else ""


def _said_box(where: Where) -> str:
    box = where.box
    if isinstance(box, Polygon):
        return f"in a shape of {counted(len(box.corners), 'corner')}"
    return f"in the box from {box.south:g}, {box.west:g} to {box.north:g}, {box.east:g}" if box else ""


def _said_when(days: DayRange) -> str:
    if days.since and days.since == days.until:
        return f"on {days.since}"
    if days.since and days.until and days.apart:
        ends, again = days.apart[0] - timedelta(days=1), days.apart[1] + timedelta(days=1)
        return f"{days.since} to {ends}, or {again} to {days.until}"
    if days.since and days.until:
        return f"{days.since} to {days.until}"
    return f"since {days.since}" if days.since else f"until {days.until}" if days.until else ""
