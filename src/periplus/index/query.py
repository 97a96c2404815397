"""What can be asked of an index, as a value, and its translation for tantivy.

tantivy's own query parser is not used: nested parentheses kill the process, and `field:value` would reach every
field. Text comes as words and phrases that are analysed here; everything else is a filter that adds nothing
to the score.
"""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from datetime import date

from tantivy import FieldType, Occur, Query, Schema

from periplus.index.analysis import STEMMERS, fold, forms, is_unspaced
from periplus.index.ranges import EVER, DayRange, day_number

__all__ = ["FIELD_WEIGHTS", "IndexQuery", "TextUnit", "compile_query"]

FIELD_WEIGHTS = {"title": 2.5, "url_words": 1.2, "anchor": 1.0, "description": 0.8, "text": 1.0}
"""How much a word counts where it stands; each field's BM25 is multiplied by it and the sum is the text score."""

SPELT_WEIGHT = 5.0
"""How much more it counts that a word with accents stands in title or description just as it was typed: "Küche".

They are stripped, since far more often both are forms of one word (Haus, Häuser), and many leave them out.
"""

YEAR_WEIGHT = 3.0
"""How much it counts that a page is of the year which a question names."""


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A word, or several that must stand together; `in_title`: only where they are in the title it counts.

    `year`: pages of that year will do as well, and come first.
    """

    text: str
    in_title: bool = False
    year: int = 0


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A question to one index. Everything given must hold.

    `required`: groups of alternatives, one of each group must occur; with `any_group` one group is enough.
    `optional` raises the score only. `paths`: the page has a place inside one of these place paths.
    `excluded_paths`: its main place is not inside these. `place_ids`: the page has one of these places. `focus`: a
    place path; pages whose main place lies in it come first where words do not order them. `fields`: where words are
    looked for, and how much they count there.
    """

    required: tuple[tuple[TextUnit, ...], ...] = ()
    optional: tuple[TextUnit, ...] = ()
    excluded: tuple[TextUnit, ...] = ()
    any_group: bool = False
    topics: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    excluded_paths: tuple[str, ...] = ()
    place_ids: tuple[int, ...] | None = None
    focus: str | None = None
    days: DayRange = EVER
    fields: tuple[tuple[str, float], ...] = tuple(FIELD_WEIGHTS.items())

    def relaxed(self) -> "IndexQuery":
        """The same with any of the words instead of all."""
        return replace(self, any_group=True)


def compile_query(query: IndexQuery, schema: Schema, languages: frozenset[str]) -> Query:
    """The tantivy query. `languages` are those of the index's pages."""
    clauses: list[tuple[Occur, Query]] = []

    def unit_query(unit: TextUnit) -> Query:
        found = _unit(unit, query.fields, schema, languages)
        if not unit.year:
            return found
        dated = _days(date(unit.year, 1, 1), date(unit.year, 12, 31), schema)
        return _any_of((found, Query.const_score_query(dated, YEAR_WEIGHT)))

    groups = [_any_of(map(unit_query, group)) for group in query.required]
    if groups and query.any_group:
        clauses.append((Occur.Must, _any_of(groups)))
    elif groups:
        clauses.extend((Occur.Must, group) for group in groups)
    else:
        clauses.append((Occur.Must, _filter(Query.exists_query("page"))))
        if query.focus:
            main = Query.term_query(schema, "main_path", query.focus)
            clauses.append((Occur.Should, Query.const_score_query(main, 1.0)))
    clauses.extend((Occur.Should, unit_query(unit)) for unit in query.optional)
    clauses.extend((Occur.MustNot, unit_query(unit)) for unit in query.excluded)
    clauses.extend((Occur.Must, _filter(wanted)) for wanted in _filters(query, schema))
    if query.excluded_sites:
        clauses.append((Occur.MustNot, _sites(query.excluded_sites, schema)))
    if query.days.apart:
        clauses.append((Occur.MustNot, _days(*query.days.apart, schema)))
    if query.excluded_paths:
        clauses.append((Occur.MustNot, Query.term_set_query(schema, "main_path", query.excluded_paths)))
    return Query.boolean_query(clauses)


def _filter(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def _filters(query: IndexQuery, schema: Schema) -> Iterable[Query]:
    terms = (
        ("topic", query.topics),
        ("language", query.languages),
        ("place_path", query.paths),
    )
    for field, values in terms:
        if values:
            yield Query.term_set_query(schema, field, values)
    if query.sites:
        yield _sites(query.sites, schema)
    if query.place_ids is not None:
        yield Query.term_set_query(schema, "place", query.place_ids) if query.place_ids else Query.empty_query()
    if query.days:
        yield _days(query.days.since, query.days.until, schema)


def _days(first: date | None, last: date | None, schema: Schema) -> Query:
    """Pages of these days; None is open."""
    since, until = (None if day is None else day_number(day) for day in (first, last))
    return Query.range_query(schema, "day", FieldType.Integer, since, until)


def _sites(sites: Iterable[str], schema: Schema) -> Query:
    """Pages of hosts or domains; what has no dot is what domains end with: `de`, `gov`."""
    named = [site for site in sites if "." in site]
    endings = [site for site in sites if "." not in site]
    wanted = [Query.regex_query(schema, "domain", rf".*\.{re.escape(ending)}") for ending in endings]
    return _any_of([*wanted, *([Query.term_set_query(schema, "site", named)] if named else [])])


def _any_of(queries: Iterable[Query]) -> Query:
    alternatives = list(queries)
    if len(alternatives) == 1:
        return alternatives[0]
    return Query.boolean_query([(Occur.Should, query) for query in alternatives])


def _unit(unit: TextUnit, fields: tuple[tuple[str, float], ...], schema: Schema, languages: frozenset[str]) -> Query:
    """The unit in any field and in the form it has in any of the languages."""
    if unit.in_title:
        fields = tuple((field, weight) for field, weight in fields if field == "title")
    if is_unspaced(unit.text):
        pattern = f"{re.escape(unit.text)}.?"
        return _any_of(Query.boost_query(Query.regex_query(schema, field, pattern), weight) for field, weight in fields)
    found = forms(unit.text, languages)
    if not found:
        return Query.empty_query()
    wanted = [
        _in_languages(_any_of(_in_fields(sequence, fields, schema, those)), those, languages, schema)
        for sequence, those in found.items()
    ]
    if "description" in dict(fields) and unit.text.isalpha() and fold(unit.text) != unit.text.lower():
        spelt = Query.term_query(schema, "word", unit.text.lower(), index_option="basic")
        wanted.append(Query.boost_query(spelt, SPELT_WEIGHT))
    return _any_of(wanted)


def _in_fields(
    sequence: tuple[str, ...], fields: tuple[tuple[str, float], ...], schema: Schema, languages: Set[str]
) -> Iterable[Query]:
    """The form in each field; the words of addresses are stemmed as English whatever the page's language is."""
    for field, weight in fields:
        if field != "url_words" or not languages or "en" in languages:
            yield Query.boost_query(_sequence(sequence, field, schema), weight)


def _in_languages(form: Query, languages: Set[str], all_languages: Set[str], schema: Schema) -> Query:
    """A form only in pages of these languages; `en` are all that have no stemmer."""
    if not languages:
        return form
    if "en" in languages:
        others = sorted((all_languages & STEMMERS.keys()) - languages)
        return Query.boolean_query(
            [(Occur.Must, form), (Occur.MustNot, Query.term_set_query(schema, "language", others))]
        )
    those = Query.term_set_query(schema, "language", sorted(languages))
    return Query.boolean_query([(Occur.Must, form), (Occur.Must, _filter(those))])


def _sequence(terms: tuple[str, ...], field: str, schema: Schema) -> Query:
    if len(terms) == 1:
        return Query.term_query(schema, field, terms[0], index_option="freq")
    return Query.phrase_query(schema, field, list(terms))
