"""The stage between `pages` and `topics`: a text in, its mentions, addresses and footprint out.

Pure: no clock, no network, no disk beyond the mapped gazetteer. Texts longer than one piece are worked on piece by
piece, so cost and memory grow with the text and no faster.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from periplus.model import Located, Mention, PageHints, Place
from periplus.places.addresses import find_addresses
from periplus.places.context import KIND
from periplus.places.declared import with_declared
from periplus.places.footprint import footprint_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.memory import HostPrior
from periplus.places.model_weights import Weights, default_weights
from periplus.places.rank import WITHIN, Evidence
from periplus.places.recognise import Recognised, recognise
from periplus.places.scan import pieces
from periplus.places.sources import ABBREVIATION, DEMONYM, STOPPED

__all__ = ["locate"]

MAX_CANDIDATES_SHOWN: Final = 8
_DEMONYM: Final = KIND.index("demonym")
_SHORT: Final = frozenset({ABBREVIATION, STOPPED})
_COUNTRY_TLDS: Final = {"uk": "GB"}
_GENERIC_TLDS: Final = frozenset({"io", "co", "tv", "me", "ai", "fm", "ly", "cc", "to", "gg", "ws", "nu", "la"})


@dataclass(frozen=True, slots=True)
class _Options:
    demonyms: bool
    candidates: bool


def locate(
    text: str,
    gazetteer: Gazetteer,
    *,
    url: str | None = None,
    hints: PageHints | None = None,
    prior: HostPrior | None = None,
    demonyms: bool = True,
    candidates: bool = True,
    weights: Weights | None = None,
) -> Located:
    """Find the places of a text.

    `url` and `hints` are the page's own, `prior` what its host's other pages were about. `demonyms=False` leaves
    adjectival forms out; `candidates=False` leaves the candidate lists empty, which is faster.
    """
    model = weights or default_weights()
    hints = hints or PageHints()
    evidence = Evidence(prior, hints.points, _tld_country(url, gazetteer))
    mentions: list[Mention] = []
    for offset, piece in pieces(text):
        mentions += _mentions(piece, offset, gazetteer, model, evidence, options=_Options(demonyms, candidates))
    addresses = with_declared(text, find_addresses(text, gazetteer), hints, gazetteer)
    hinted = _hinted(hints, gazetteer)
    return Located(tuple(mentions), addresses, footprint_of(mentions, addresses, hinted, gazetteer))


def _tld_country(url: str | None, gazetteer: Gazetteer) -> int:
    """The row of the country whose top-level domain the page is under, -1 for generic ones."""
    if not url:
        return -1
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return -1
    tld = host.rpartition(".")[2]
    if len(tld) != 2 or tld in _GENERIC_TLDS:
        return -1
    return gazetteer.country_row(_COUNTRY_TLDS.get(tld, tld.upper()))


def _hinted(hints: PageHints, gazetteer: Gazetteer) -> list[Place]:
    """Places that the page names outside its text."""
    found: list[Place] = []
    for name in hints.place_names[:16]:
        places = gazetteer.find(name, limit=1)
        found += places
    return found


def _mentions(
    text: str, offset: int, gazetteer: Gazetteer, weights: Weights, evidence: Evidence, *, options: "_Options"
) -> list[Mention]:
    found = recognise(text, gazetteer, weights, evidence)
    if found is None:
        return []
    chosen = found.chosen
    if not options.demonyms:
        chosen = chosen[found.screened.codes["kind"][chosen] != _DEMONYM]
    hits, ranked = found.screened.hits, found.ranked
    starts = hits.tokens.start[hits.first[chosen]].tolist()
    ends = hits.tokens.end[hits.last[chosen]].tolist()
    unit = found.unit_of[chosen]
    top = found.best[unit]
    at = np.maximum(top, 0)
    placed = top >= 0
    rows = np.where(placed, ranked.row[at], -1) if len(ranked.row) else np.full(len(top), -1)
    flags = np.where(placed, ranked.flag[at], WITHIN) if len(ranked.row) else np.full(len(top), WITHIN)
    sure = found.probability[chosen]
    sure = sure * np.where(placed, ranked.probability[at], 1.0) if len(ranked.row) else sure
    shown: dict[int, tuple[Place, ...]] = {}
    mentions: list[Mention] = []
    limits = [*starts[1:], len(text)][: len(starts)]
    columns = zip(starts, ends, limits, unit.tolist(), rows.tolist(), flags.tolist(), sure.tolist(), strict=True)
    for start, end, limit, which, row, flag, confidence in columns:
        if flag in _SHORT and end < limit and text[end : end + 1] == "." and not _bare_capitals(text[start:end]):
            end += 1  # noqa: PLW2901  the stop belongs to the abbreviation
        if options.candidates and which not in shown:
            shown[which] = _shown(found, which, gazetteer)
        mentions.append(
            Mention(
                start=offset + start,
                end=offset + end,
                text=text[start:end],
                place=gazetteer.place_at(row) if row >= 0 else None,
                confidence=round(confidence, 4),
                candidates=shown.get(which, ()),
                adjectival=flag == DEMONYM,
                within=row >= 0 and flag == WITHIN,
            )
        )
    return mentions


def _bare_capitals(text: str) -> bool:
    """Whether an abbreviation is written without stops: the stop after it then ends the sentence."""
    return text.isupper() and "." not in text


def _shown(found: Recognised, unit: int, gazetteer: Gazetteer) -> tuple[Place, ...]:
    """The likeliest candidates of a unit, best first."""
    low, high = np.searchsorted(found.ranked.unit, [unit, unit + 1])
    order = low + np.argsort(-found.ranked.probability[low:high], kind="stable")[:MAX_CANDIDATES_SHOWN]
    return tuple(gazetteer.place_at(int(r)) for r in found.ranked.row[order])
