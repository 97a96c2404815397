"""The stage between `pages` and `topics`: a text in, its mentions, addresses and footprint out.

Pure: no clock, no network, no disk beyond the mapped gazetteer. Texts longer than one piece are worked on piece by
piece, so cost and memory grow with the text and no faster.
"""

from typing import Final
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from periplus.model import Located, Mention, PageHints, Place
from periplus.places.addresses import find_addresses
from periplus.places.context import KIND
from periplus.places.footprint import footprint_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.memory import HostPrior
from periplus.places.model_weights import Weights, default_weights
from periplus.places.rank import FEATURES, Evidence, Ranked, Units, rank
from periplus.places.recognise import Recognised, recognise
from periplus.places.scan import pieces
from periplus.places.sources import ABBREVIATION, DEMONYM

__all__ = ["locate"]

I64 = npt.NDArray[np.int64]

MAX_CANDIDATES_SHOWN: Final = 8
_DEMONYM: Final = KIND.index("demonym")
_ABBREVIATION: Final = KIND.index("abbreviation")
_COUNTRY_TLDS: Final = {"uk": "GB"}
_GENERIC_TLDS: Final = frozenset({"io", "co", "tv", "me", "ai", "fm", "ly", "cc", "to", "gg", "ws", "nu", "la"})


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
        mentions += _mentions(piece, offset, gazetteer, model, evidence, demonyms=demonyms, candidates=candidates)
    addresses = find_addresses(text, gazetteer)
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
    text: str,
    offset: int,
    gazetteer: Gazetteer,
    model: Weights,
    evidence: Evidence,
    *,
    demonyms: bool,
    candidates: bool,
) -> list[Mention]:
    found = recognise(text, gazetteer, model)
    chosen = found.chosen
    if not demonyms:
        chosen = chosen[found.context.codes["kind"][chosen] != _DEMONYM]
    if not len(chosen):
        return []
    units, unit_of = units_of(found, chosen, gazetteer)
    ranker = np.array([model.ranker.get(name, 0.0) for name in FEATURES])
    ranked = rank(units, gazetteer, ranker, evidence)
    return _assemble(
        text, offset, gazetteer, found, chosen=chosen, unit_of=unit_of, ranked=ranked, candidates=candidates
    )


def units_of(found: Recognised, chosen: I64, gazetteer: Gazetteer) -> tuple[Units, I64]:
    """One unit per distinct name, and per distinct name within a pair."""
    name = found.hits.name[chosen]
    pair = found.context.pair[chosen]
    outer = np.where(pair >= 0, gazetteer.arrays["name_outer"][found.hits.name[np.maximum(pair, 0)]], -1).astype(
        np.int64
    )
    both, unit_of, count = np.unique(np.stack([name, outer], axis=1), axis=0, return_inverse=True, return_counts=True)
    return Units(both[:, 0], count, both[:, 1]), unit_of.reshape(-1)


def _assemble(
    text: str,
    offset: int,
    gazetteer: Gazetteer,
    found: Recognised,
    *,
    chosen: I64,
    unit_of: I64,
    ranked: Ranked,
    candidates: bool,
) -> list[Mention]:
    """Mentions out of the chosen hits and the best candidate of each unit."""
    tokens, hits = found.hits.tokens, found.hits
    order = np.lexsort((-ranked.probability, ranked.unit))
    starts = np.flatnonzero(np.concatenate([[True], ranked.unit[order][1:] != ranked.unit[order][:-1]]))
    best = order[starts]
    bounds = np.append(starts, len(order))
    shown: dict[int, tuple[Place, ...]] = {}
    mentions: list[Mention] = []
    for hit, unit in zip(chosen.tolist(), unit_of.tolist(), strict=True):
        start, end = int(tokens.start[hits.first[hit]]), int(tokens.end[hits.last[hit]])
        top = best[unit]
        flag = ranked.flag[top]
        if (
            flag == ABBREVIATION
            and text[end : end + 1] == "."
            and (not text[start:end].isupper() or "." in text[start:end])
        ):
            end += 1
        if candidates and unit not in shown:
            rows = ranked.row[order[bounds[unit] : bounds[unit + 1]][:MAX_CANDIDATES_SHOWN]]
            shown[unit] = tuple(gazetteer.place_at(int(r)) for r in rows)
        mentions.append(
            Mention(
                start=offset + start,
                end=offset + end,
                text=text[start:end],
                place=gazetteer.place_at(int(ranked.row[top])),
                confidence=round(float(found.probability[hit] * ranked.probability[top]), 4),
                candidates=shown.get(unit, ()),
                adjectival=bool(flag == DEMONYM),
            )
        )
    return mentions
