"""The stage between `pages` and `topics`: a text in, its mentions, addresses and footprint out.

Pure: no clock, no network, no disk beyond the mapped gazetteer. Texts longer than one piece are worked on piece by
piece, so cost and memory grow with the text and no faster.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from periplus.model import Located, LonLat, Mention, PageHints, Place
from periplus.pages.language import detect_language
from periplus.places.addresses import find_addresses
from periplus.places.casing import HASHTAG_CONFIDENCE, capitalised, hashtags
from periplus.places.declared import declared_addresses, hinted_places, with_declared
from periplus.places.finnish import is_finnish
from periplus.places.footprint import footprint_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.memory import HostPrior, host_of
from periplus.places.model_weights import Weights, default_weights
from periplus.places.recognise import ENGLISH, Evidence, borrowed_sheet, outside_of, recognise
from periplus.places.scan import pieces
from periplus.places.sources import ABBREVIATION, DEMONYM, STOPPED
from periplus.places.support import is_demonym, likeliest, outcome
from periplus.places.units import WITHIN

__all__ = ["end_without_council", "locate", "outside"]

MAX_CANDIDATES_SHOWN: Final = 8
_LOCAL: Final = frozenset({"city", "admin2"})
_SHORT: Final = frozenset({ABBREVIATION, STOPPED})
_MAX_COUNTRIES: Final = 4
_PLAIN_HOST: Final = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]*)?(?:[/?#]|\Z)")
"""URLs whose host needs no parser to be found: nearly all."""
_COUNCIL: Final = re.compile(r"(?:\s(?:City|County|Borough))?\sCouncil\Z")
_COUNTRY_TLDS: Final = {"uk": "GB"}
_GENERIC_TLDS: Final = frozenset({"io", "co", "tv", "me", "ai", "fm", "ly", "cc", "to", "gg", "ws", "nu", "la"})


@dataclass(frozen=True, slots=True)
class _Options:
    demonyms: bool
    candidates: bool
    language: str


def locate(
    text: str,
    gazetteer: Gazetteer,
    *,
    url: str | None = None,
    hints: PageHints | None = None,
    prior: HostPrior | None = None,
    demonyms: bool = True,
    candidates: bool = True,
    outlined: bool = True,
    weights: Weights | None = None,
    about: Sequence[str] = (),
    furniture: Sequence[tuple[int, int, bool]] = (),
    language: str = "",
) -> Located:
    """Find the places of a text.

    `url` and `hints` are the page's own, `prior` what its host's other pages were about, `about` the codes of the
    countries that one looks for pages about: they count where neither domain nor markup names one.
    `demonyms=False` leaves adjectival forms out; `candidates=False` leaves the candidate lists empty and
    `outlined=False` the footprint without tree and extent, which is faster. `furniture` are spans in which names are
    found but do not count for the footprint. `language` is the text's (ISO 639-1); if it is not given, the text tells.
    """
    if not isinstance(text, str):
        raise TypeError(f"locate: the text is {type(text).__name__}, not str; decode bytes first")
    model = weights or default_weights()
    hints = hints or PageHints()
    countries = _countries(url, hints, about, gazetteer)
    hinted = hinted_places(hints, countries, gazetteer)
    language = language or detect_language(text) or ("fi" if is_finnish(text) else "")
    spoken = gazetteer.spoken_in(language) if language not in ENGLISH else ((), ())
    evidence = Evidence(prior, (*hints.points, *_points(hints, hinted, gazetteer)), countries, spoken)
    options = _Options(demonyms, candidates, language)
    mentions: list[Mention] = []
    for offset, piece in pieces(text):
        mentions += _mentions(piece, offset, gazetteer, model, evidence, options=options)
    addresses = with_declared(text, find_addresses(text, gazetteer), hints, gazetteer)
    counted = outside(mentions, furniture) if furniture else mentions
    return Located(tuple(mentions), addresses, footprint_of(counted, addresses, hinted, gazetteer, outlined=outlined))


def end_without_council(text: str, start: int, end: int) -> int:
    """Where the name of a place ends that a council governs: of "Leeds City Council" Leeds is found."""
    return start + len(_COUNCIL.sub("", text[start:end])) if text.endswith("Council", start, end) else end


def outside(mentions: Iterable[Mention], spans: Sequence[tuple[int, int, bool]]) -> Iterator[Mention]:
    """The mentions outside of spans such as a page's furniture; both in order."""
    number = 0
    for mention in mentions:
        while number < len(spans) and spans[number][1] <= mention.start:
            number += 1
        if number == len(spans) or mention.end <= spans[number][0]:
            yield mention


def _countries(url: str | None, hints: PageHints, about: Sequence[str], gazetteer: Gazetteer) -> tuple[int, ...]:
    """The rows of the countries that the page belongs to: by its top-level domain, its own word, or the asker's."""
    codes = (*_domain_country(url), *hints.countries) or tuple(about)
    rows = (gazetteer.country_row(code) for code in dict.fromkeys(codes[:_MAX_COUNTRIES]))
    return tuple(row for row in rows if row >= 0)


def _domain_country(url: str | None) -> tuple[str, ...]:
    """The country whose top-level domain the page is under; none for generic ones."""
    plain = _PLAIN_HOST.match(url or "")
    tld = (plain[1] if plain else host_of(url or "")).rpartition(".")[2]
    return () if len(tld) != 2 or tld in _GENERIC_TLDS else (_COUNTRY_TLDS.get(tld, tld.upper()),)


def _points(hints: PageHints, hinted: list[Place], gazetteer: Gazetteer) -> list[LonLat]:
    """Where the towns are that the markup names, as places or in addresses."""
    named = [place for place in hinted if place.kind in _LOCAL]
    if hints.addresses or hints.postal_addresses:
        named += [gazetteer.place(address.place_id) for address in declared_addresses(hints, gazetteer)]
    return [place.point for place in named]


def _mentions(
    text: str, offset: int, gazetteer: Gazetteer, weights: Weights, evidence: Evidence, *, options: "_Options"
) -> list[Mention]:
    has_host = evidence.prior is not None and bool(evidence.prior.weights)
    outside = outside_of(evidence, gazetteer)
    with borrowed_sheet(gazetteer, options.language) as (sheet, tables):
        chosen = recognise(sheet, tables, capitalised(text, gazetteer), outside, weights, has_host=has_host)
        if not options.demonyms:
            chosen = [hit for hit in chosen if not is_demonym(sheet, tables, hit)]
        found = outcome(sheet, chosen)
        shown: dict[int, tuple[Place, ...]] = {}
        if options.candidates:
            for unit in {item[3] for item in found}:
                shown[unit] = tuple(gazetteer.place_at(row) for row in likeliest(sheet, unit, MAX_CANDIDATES_SHOWN))
    mentions: list[Mention] = []
    for i, (start, end, _, unit, row, flag, confidence) in enumerate(found):
        if flag in _SHORT and text[end : end + 1] == "." and not _bare_capitals(text[start:end]):
            limit = found[i + 1][0] if i + 1 < len(found) else len(text)
            end += end < limit  # noqa: PLW2901  the stop belongs to the abbreviation
        if text[end : end + 1] == ")" and "(" in text[start:end]:
            end += 1  # noqa: PLW2901  "Frankfurt (Oder)"
        else:
            end = end_without_council(text, start, end)  # noqa: PLW2901
        place = gazetteer.place_at(row) if row >= 0 else None
        kind = (shown.get(unit, ()), flag == DEMONYM, row >= 0 and flag == WITHIN)
        mentions.append(Mention(offset + start, offset + end, text[start:end], place, confidence, *kind))
    return _with_hashtags(mentions, text, offset, gazetteer) if "#" in text else mentions


def _with_hashtags(mentions: list[Mention], text: str, offset: int, gazetteer: Gazetteer) -> list[Mention]:
    """The mentions and those hashtags beside them that are names: #NewYork."""
    taken = {at for mention in mentions for at in range(mention.start, mention.end)}
    for start, end, row in hashtags(text, gazetteer):
        if taken.isdisjoint(range(offset + start, offset + end)):
            place = gazetteer.place_at(row)
            mentions.append(Mention(offset + start, offset + end, text[start:end], place, HASHTAG_CONFIDENCE, (place,)))
    return sorted(mentions, key=lambda mention: mention.start)


def _bare_capitals(text: str) -> bool:
    """Whether an abbreviation is written without stops: the stop after it then ends the sentence."""
    return text.isupper() and "." not in text
