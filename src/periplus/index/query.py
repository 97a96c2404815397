"""What can be asked of an index, as a value, and its translation for tantivy.

tantivy's own query parser is not used: nested parentheses kill the process, and `field:value` would reach every
field. Text comes as words and phrases that are analysed here; everything else is a filter that adds nothing
to the score.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tantivy import FieldType, Occur, Query, Schema

from periplus.index.analysis import forms, is_unspaced
from periplus.index.ranges import EVER, DayRange, day_number

__all__ = ["FIELD_WEIGHTS", "IndexQuery", "TextUnit", "compile_query"]

FIELD_WEIGHTS = {"title": 2.5, "url_words": 1.2, "anchor": 1.0, "description": 0.8, "text": 1.0}
"""How much a word counts where it stands; each field's BM25 is multiplied by it and the sum is the text score."""


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A word, or several that must stand together."""

    text: str


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
        return _unit(unit, query.fields, schema, languages)

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
        clauses.append((Occur.MustNot, Query.term_set_query(schema, "site", query.excluded_sites)))
    if query.excluded_paths:
        clauses.append((Occur.MustNot, Query.term_set_query(schema, "main_path", query.excluded_paths)))
    return Query.boolean_query(clauses)


def _filter(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def _filters(query: IndexQuery, schema: Schema) -> Iterable[Query]:
    terms = (
        ("topic", query.topics),
        ("site", query.sites),
        ("language", query.languages),
        ("place_path", query.paths),
    )
    for field, values in terms:
        if values:
            yield Query.term_set_query(schema, field, values)
    if query.place_ids is not None:
        yield Query.term_set_query(schema, "place", query.place_ids) if query.place_ids else Query.empty_query()
    if query.days:
        since = None if query.days.since is None else day_number(query.days.since)
        until = None if query.days.until is None else day_number(query.days.until)
        yield Query.range_query(schema, "day", FieldType.Integer, since, until)


def _any_of(queries: Iterable[Query]) -> Query:
    alternatives = list(queries)
    if len(alternatives) == 1:
        return alternatives[0]
    return Query.boolean_query([(Occur.Should, query) for query in alternatives])


def _unit(unit: TextUnit, fields: tuple[tuple[str, float], ...], schema: Schema, languages: frozenset[str]) -> Query:
    """The unit in any field and in the form it has in any of the languages."""
    if is_unspaced(unit.text):
        pattern = f"{re.escape(unit.text)}.?"
        return _any_of(Query.boost_query(Query.regex_query(schema, field, pattern), weight) for field, weight in fields)
    sequences = forms(unit.text, languages)
    if not sequences:
        return Query.empty_query()
    return _any_of(
        Query.boost_query(_sequence(sequence, field, schema), weight)
        for field, weight in fields
        for sequence in sequences
    )


def _sequence(terms: tuple[str, ...], field: str, schema: Schema) -> Query:
    if len(terms) == 1:
        return Query.term_query(schema, field, terms[0], index_option="freq")
    return Query.phrase_query(schema, field, list(terms))
