"""The API as a table of operations, and the OpenAPI 3.1 document that follows from it."""

from dataclasses import dataclass
from typing import Any

from periplus import __version__
from periplus.search.request import LARGEST_PAGE, LONGEST_QUESTION, MOST_RESULTS
from periplus.web.schemas import SCHEMAS

__all__ = ["OPERATIONS", "Operation", "Parameter", "document"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the address."""

    name: str
    text: str
    schema: dict[str, Any]
    in_path: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One address of the API. `answer` names its schema; empty: it is text of type `media`."""

    path: str
    name: str
    text: str
    parameters: tuple[Parameter, ...] = ()
    answer: str = ""
    media: str = "application/json"
    cached: bool = True

    @property
    def query_names(self) -> frozenset[str]:
        """Parameters that may stand behind the question mark."""
        return frozenset(parameter.name for parameter in self.parameters if not parameter.in_path)


_TEXT = {"type": "string", "maxLength": LONGEST_QUESTION}
_DATE = {"type": "string", "pattern": r"^([0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?)?$"}
_Q = Parameter("q", 'What, where and when: words, "a phrase", -word, OR, site: place: near: before: after:.', _TEXT)
_WHERE = (
    Parameter("place", "A place's name or id; wins over places in q.", {"type": "string", "maxLength": 200}),
    Parameter("near", "LAT,LON,KM.", {"type": "string", "maxLength": 100}),
    Parameter("bbox", "W,S,E,N; W > E crosses the date line.", {"type": "string", "maxLength": 100}),
    Parameter("since", "Published on or after.", _DATE),
    Parameter("until", "Published on or before.", _DATE),
)
_PAGING = (
    Parameter("sort", "Best or newest first.", {"enum": ["relevance", "time"]}),
    Parameter("limit", "Results.", {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE}),
    Parameter("offset", "Results to skip.", {"type": "integer", "minimum": 0, "maximum": MOST_RESULTS}),
    Parameter("explain", "With the parts of each score.", {"enum": ["0", "1", "true", "false"]}),
    Parameter("as_of", "What an earlier answer said: the same results for paging.", {"type": "string"}),
    Parameter(
        "freshness",
        "Days after which a page counts half as much; 0: age does not count.",
        {"type": "integer", "minimum": 0, "maximum": 36_500},
    ),
)
_PAGE = (
    Parameter("node", "The node that holds the page.", {"type": "string", "minLength": 1}, in_path=True),
    Parameter("page", "The page's number.", {"type": "integer", "minimum": 0}, in_path=True),
)
_EVERY = Parameter("every", "How long a bucket is.", {"enum": ["day", "week", "month", "year"]})

OPERATIONS: tuple[Operation, ...] = (
    Operation("/api/search", "search", "Results with facets.", (_Q, *_WHERE, *_PAGING), "Search"),
    Operation("/api/trend", "trend", "Counts over time.", (_Q, *_WHERE, _EVERY), "Trend"),
    Operation(
        "/api/facets", "facets", "Counts by place, topic, date, site and language.", (_Q, *_WHERE), "FacetsAnswer"
    ),
    Operation("/api/points", "points", "Main places of all pages that answer.", (_Q, *_WHERE), "Points"),
    Operation("/api/suggest", "suggest", "What a question may go on with.", (_Q,), "Suggestions"),
    Operation("/api/page/{node}/{page}", "page", "A page with its text and places.", (*_PAGE, _Q), "Page"),
    Operation("/api/nearby/{node}/{page}", "nearby", "Pages near a page, and like it.", _PAGE, "Nearby"),
    Operation("/api/info", "info", "What the collection holds.", (), "Info"),
    Operation("/api/jobs", "jobs", "The crawls and how far they are.", (), "Jobs", cached=False),
    Operation(
        "/api/metrics", "metrics", "For Prometheus.", (), media="text/plain; version=0.0.4; charset=utf-8", cached=False
    ),
)


def document(*, token: bool) -> dict[str, Any]:
    """The OpenAPI document. `token`: whether one must be sent."""
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Periplus", "version": __version__, "summary": "Search by what, where and when."},
        "paths": {operation.path: {"get": _operation(operation)} for operation in OPERATIONS},
        "components": {"schemas": SCHEMAS},
    }
    if token:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


_ERRORS = {
    "400": "The question is wrong; the text says how.",
    "401": "A token is needed.",
    "404": "Not there.",
    "405": "Only GET and HEAD.",
    "421": "Another host name.",
    "429": "Too many requests; Retry-After says when.",
    "500": "A bug.",
    "503": "The machine cannot answer now.",
}


def _operation(operation: Operation) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{operation.answer}"} if operation.answer else {"type": "string"}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.text,
        "parameters": [
            {
                "name": parameter.name,
                "in": "path" if parameter.in_path else "query",
                "required": parameter.in_path,
                "description": parameter.text,
                "schema": parameter.schema,
            }
            for parameter in operation.parameters
        ],
        "responses": {
            "200": {"description": "The answer.", "content": {operation.media: {"schema": schema}}},
            **{status: {"description": text, "content": error} for status, text in _ERRORS.items()},
        },
    }
    if operation.cached:
        found["responses"]["304"] = {"description": "What If-None-Match names is still right."}
        found["responses"]["200"]["headers"] = {"ETag": {"schema": {"type": "string"}}}
    return found
