"""Query understanding: a request becomes what + where + when, and then a question for the indexes."""

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from periplus.errors import NotHere, QueryError
from periplus.index import DayRange, IndexQuery, TextUnit, is_stop_word
from periplus.search.asking import asking_words, names_pages
from periplus.search.atlas import Atlas
from periplus.search.naming import is_plain
from periplus.search.openings import AROUND_KM, Reach
from periplus.search.request import FARTHEST_KM, SearchRequest, parse_near
from periplus.search.several import find_excluded
from periplus.search.taking_back import WHOLE, Without, text_without, without_places
from periplus.search.when import begins_date, days_of_operators, find_date_words, intersect
from periplus.search.where import PlaceWords, Where, absent_namesake, absent_place, find_place_words, named_place
from periplus.search.words import Operator, Word, take_apart

__all__ = ["Question", "understand"]

MOST_PLACE_IDS = 20_000
"""Places of a circle or box that are asked for one by one."""

MOST_TOPICS = 20
"""Topics or languages that are named to who asked for another one."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request, understood. `what` are the words that are neither place nor date nor operator."""

    what: tuple[Word, ...]
    where: Where
    days: DayRange
    query: IndexQuery
    absent: str = ""  # a place in the words that no page is about
    without: Without = WHOLE

    @property
    def words_looked_for(self) -> list[str]:
        """Words and phrases that an answer is found by; "the" and "in" only where there are no others."""
        return [unit.text for group in self.query.required for unit in group]

    @property
    def what_text(self) -> str:
        """The words as they would be typed."""
        parts = []
        for word in self.what:
            text = "title:" * word.in_title + (f'"{word.text}"' if word.quoted else word.text)
            parts.append(("OR " if word.alternative else "") + ("-" if word.excluded else "") + text)
        return " ".join(parts)


def understand(
    request: SearchRequest,
    atlas: Atlas,
    languages: frozenset[str],
    topics: Collection[str],
    pages_with: Callable[[str], int],
    *,
    today: date,
) -> Question:
    """Take a request apart. `pages_with` counts pages that hold a word or phrase; `topics` are those of the collection.

    Raises QueryError.
    """
    parsed = take_apart(request.text)
    _check_operators(parsed.operators)
    _check_known(parsed.operators, "inclass", topics, ("topic of this collection is called", "topics"))
    written = {language for language in languages if language}
    _check_known(parsed.operators, "lang", written, ("page of this collection is in the language", "languages"))
    words = list(parsed.words)
    days = intersect(request.days, days_of_operators(parsed.operators))
    explicit = _explicit_where(request, parsed.operators, atlas)
    # Places first: "in Texas in 2024" must not lose "in Texas" to the date, nor "Paris, Texas 2024" to a word.
    left_out = find_excluded(words, atlas)
    not_in = words[left_out[1] : left_out[2]] if left_out else []
    if left_out:
        del words[left_out[1] : left_out[2]]
    namesake = absent_namesake(words, atlas)
    found = find_place_words(words, atlas, pages_with, lambda at: begins_date(words, at, today))
    is_asked = found is not None and (explicit is None or found.may_mean(explicit.place))
    places = _without_places(request, parsed.operators, words, found if is_asked else None)
    if found:
        del words[found.start : found.end]
    where = _choose(explicit, found, atlas)
    where = replace(where, excluded=left_out[0] if left_out else None)
    _drop_near_me(words, known=bool(where))
    when: list[Word | Operator] = [one for one in parsed.operators if one.name in ("before", "after")]
    dated = find_date_words(words, today, south=where.is_south)
    if dated:
        days = intersect(days, dated.days)
        when += words[dated.start : dated.end]
        del words[dated.start : dated.end]
    is_bounded = bool(where or days)
    del words[: asking_words(words, all_of_them=is_bounded)]
    query = _filtered(_text_query(words, languages, is_bounded=is_bounded), parsed.operators, where, atlas)
    absent = "" if explicit else namesake or absent_place(words, atlas)
    without = Without(*places, excluded=text_without(request.text, not_in), when=text_without(request.text, when))
    return Question(tuple(words), where, days, replace(query, days=days), absent, without)


def _without_places(
    request: SearchRequest, operators: Sequence[Operator], words: Sequence[Word], found: PlaceWords | None
) -> tuple[str | None, tuple[str, ...]]:
    """The text without its place, and without each further one; the place may be an operator's instead of words'."""
    given = [one for one in operators if one.name in ("place", "near")]
    if found:
        first, *others = without_places(request.text, words, found, given)
        return first, tuple(others)
    if request.place or request.near or request.bbox or request.polygon:
        return None, ()
    return text_without(request.text, given), ()


def _drop_near_me(words: list[Word], *, known: bool) -> None:
    """Where a person is nobody knows here: said, unless the question names a place as well."""
    for start in range(len(words) - 1):
        pair = [word.text.lower() if is_plain(word) else "" for word in words[start : start + 2]]
        if pair in (["near", "me"], ["around", "me"], ["around", "here"], ["near", "here"]):
            if not known:
                raise QueryError(
                    f"{' '.join(pair)}: where you are is not known here; name a place, or give near:LAT,LON,KM"
                )
            del words[start : start + 2]
            return


def _check_operators(operators: Sequence[Operator]) -> None:
    """What an operator cannot do is said, and not done otherwise."""
    denied = next((one.name for one in operators if one.excluded and one.name != "site"), None)
    if denied:
        raise QueryError(f"-{denied}: is not possible; only words, phrases and sites can be excluded")
    if sum(one.name in ("place", "near") for one in operators) > 1:
        raise QueryError("place: and near: are possible once in a question; give one of them")


def _check_known(operators: Sequence[Operator], name: str, known: Collection[str], said: tuple[str, str]) -> None:
    """A topic or language that the collection does not have finds nothing, and nobody would know why: it is `said`."""
    for operator in operators:
        asked = _language(operator.value.casefold()) if name == "lang" else operator.value.casefold()
        if operator.name != name or not known or asked in known:
            continue
        near = difflib.get_close_matches(asked, known, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        others = ", ".join(sorted(known)[:MOST_TOPICS]) + (", …" if len(known) > MOST_TOPICS else "")
        raise NotHere(f"no {said[0]} {operator.value[:80]!r}; {meant}its {said[1]} are: {others}")


def _explicit_where(request: SearchRequest, operators: Sequence[Operator], atlas: Atlas) -> Where | None:
    if request.place:
        return named_place(request.place, atlas)
    if request.near:
        return Where(circle=request.near)
    if request.bbox:
        return Where(box=request.bbox)
    if request.polygon:
        return Where(box=request.polygon)
    for operator in operators:
        if operator.name == "place":
            return named_place(operator.value, atlas)
        if operator.name == "near":
            return _near(operator.value, atlas)
    return None


_NEAR_NAME = re.compile(r"(.*?[^\W\d_]{2}.*?)(?:,\s*(\d{1,5}(?:\.\d{1,6})?)\s*(?:km)?)?", re.IGNORECASE)


def _near(text: str, atlas: Atlas) -> Where:
    """`LAT,LON,KM`, or a place's name with or without kilometres: `near:Berlin`, `near:"Lisbon, NH",20`."""
    try:
        return Where(circle=parse_near(text))
    except QueryError:
        named = _NEAR_NAME.fullmatch(text)
        if named is None:
            raise
    candidates = named_place(named[1], atlas).candidates
    return PlaceWords(0, 0, candidates, Reach(km=min(float(named[2] or AROUND_KM) or AROUND_KM, FARTHEST_KM))).where()


def _choose(explicit: Where | None, found: PlaceWords | None, atlas: Atlas) -> Where:
    """What was given wins over what was found in the words; the other meanings of the name stay listed."""
    if explicit is None or found is None:
        return explicit or (found.where() if found else Where())
    if explicit.place is None:
        return replace(explicit, instead=next(iter(found.candidates), None))
    if found.may_mean(explicit.place):
        return found.meaning(explicit.place, atlas).where()
    candidates = dict.fromkeys((explicit.place, *found.candidates, *explicit.candidates))
    return replace(explicit, candidates=tuple(candidates), instead=next(iter(found.candidates), None))


def _filtered(query: IndexQuery, operators: Sequence[Operator], where: Where, atlas: Atlas) -> IndexQuery:
    """The question with everything that is not text."""
    areas = where.circles or ((where.box,) if where.box else ())
    place_ids = None
    if areas:
        beside = where.beside
        within = {place.id: place for area in areas for place in atlas.within(area)}
        there = (place for place in within.values() if beside is None or not place.is_inside(beside))
        inside = sorted(there, key=lambda place: -place.pages)
        place_ids = tuple(place.id for place in inside[:MOST_PLACE_IDS])

    def values(name: str, *, excluded: bool = False) -> tuple[str, ...]:
        return tuple(o.value.casefold() for o in operators if o.name == name and o.excluded == excluded)

    if where.side is not None and where.place:
        inside = [
            place for place in atlas.all() if place.pages and place.is_inside(where.place) and where.has_side(place)
        ]
        place_ids = tuple(place.id for place in sorted(inside, key=lambda place: -place.pages)[:MOST_PLACE_IDS])
    # A question that is only a place is best answered by pages that carry its name in the title.
    names = tuple(TextUnit(place.name) for place in where.places) if not query.required else ()
    return replace(
        query,
        optional=(*query.optional, *names),
        topics=values("inclass"),
        sites=tuple(map(_site, values("site"))),
        excluded_sites=tuple(map(_site, values("site", excluded=True))),
        languages=tuple(map(_language, values("lang"))),
        paths=tuple(place.id_path for place in where.places),
        excluded_paths=(where.excluded.id_path,) if where.excluded else (),
        place_ids=place_ids,
        focus=where.place.id_path if where.place and not where.others else None,
    )


def _language(value: str) -> str:
    """`pt-br` → `pt`."""
    return re.split("[-_]", value)[0]


def _site(value: str) -> str:
    """`https://www.example.org/x` → `www.example.org`."""
    return value.removeprefix("http://").removeprefix("https://").split("/")[0].split(":")[0].strip(".")


def _text_query(words: Sequence[Word], languages: frozenset[str], *, is_bounded: bool) -> IndexQuery:
    """Required groups of alternatives, optional words (those that say nothing), excluded ones.

    `is_bounded`: a place or a time is asked for, and words that say nothing need not be there.
    """
    groups: list[list[Word]] = []
    excluded = []
    for word in words:
        if word.excluded:
            excluded.append(_unit(word))
        elif word.alternative and groups:
            groups[-1].append(word)
        else:
            groups.append([word])
    weighty = [group for group in groups if not all(_says_nothing(word, languages) for word in group)]
    light = [group for group in groups if group not in weighty]
    if not weighty and not is_bounded:  # "to be or not to be": then these words are the question
        weighty, light = light, []
    required = tuple(tuple(map(_unit, group)) for group in weighty)
    optional = tuple(_unit(word) for group in light for word in group)
    return IndexQuery(required=required, optional=optional, excluded=tuple(excluded))


_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)


def _unit(word: Word) -> TextUnit:
    """What is looked for: a bare year on pages that have it and on those of that year."""
    is_year = not (word.quoted or word.in_title or word.excluded) and _YEAR.fullmatch(word.text)
    return TextUnit(word.text, word.in_title, int(word.text) if is_year else 0)


def _says_nothing(word: Word, languages: frozenset[str]) -> bool:
    return not (word.quoted or word.in_title) and (is_stop_word(word.text, languages) or names_pages(word))
