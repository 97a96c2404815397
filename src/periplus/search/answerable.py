"""A question that no page answers as it was first read, read otherwise: another town of the name, some of its words."""

from collections.abc import Callable
from dataclasses import replace

from periplus.index import IndexQuery
from periplus.search.question import Question
from periplus.search.request import SearchRequest

__all__ = ["answerable"]

MOST_NAMESAKES = 8
"""Places of one name that are tried."""


def answerable(
    request: SearchRequest, understand: Callable[[SearchRequest], Question], count: Callable[[IndexQuery], int]
) -> tuple[Question, bool]:
    """The question as pages answer it, and whether it is any of its words, since no page has all of them."""
    question = understand(request)
    if count(question.query):
        return question, False
    if namesake := _namesake(request, question, count):
        question = understand(replace(request, place=namesake))
        if count(question.query):
            return question, False
    loose = question.query.relaxed()
    is_relaxed = len(loose.required) > 1 and count(loose) > 0
    return (replace(question, query=loose), True) if is_relaxed else (question, False)


def _namesake(request: SearchRequest, question: Question, count: Callable[[IndexQuery], int]) -> str | None:
    """Another place of the name, by its id, that has pages in the language, of the site or topic that is asked for.

    None where there is none, or where the place was chosen on purpose.
    """
    where, query = question.where, question.query
    if request.place or where.place is None or where.others or not (query.languages or query.sites or query.topics):
        return None
    filters = replace(query, required=(), optional=(), excluded=())
    if count(filters):
        return None
    others = where.candidates[1 : MOST_NAMESAKES + 1]
    return next((str(place.id) for place in others if count(replace(filters, paths=(place.id_path,)))), None)
