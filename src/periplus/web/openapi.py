"""The API as a table of operations, and the OpenAPI 3.1 document that follows from it."""

import re
from dataclasses import dataclass
from typing import Any

from periplus import __version__
from periplus.search.request import LARGEST_PAGE, LONGEST_QUESTION, MOST_RESULTS
from periplus.web.bodies import BODY_SCHEMAS, Body, Judgement, NewQuestion, NewTask, Samples, WishBody
from periplus.web.downloads import EXPORT_FORMS
from periplus.web.schemas import SCHEMAS

__all__ = ["OPERATIONS", "TASK_OPERATIONS", "Operation", "Parameter", "allowed_methods", "document"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the address."""

    name: str
    text: str
    schema: dict[str, Any]
    in_path: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One address of the API. `answer` names its schema; empty: it is something else of type `media` (or several)."""

    path: str
    name: str
    text: str
    parameters: tuple[Parameter, ...] = ()
    answer: str = ""
    media: str = "application/json"
    cached: bool = True
    method: str = "GET"
    body: type[Body] | None = None
    body_bytes: int = 2 * 2**20

    @property
    def query_names(self) -> frozenset[str]:
        """Parameters that may stand behind the question mark."""
        return frozenset(parameter.name for parameter in self.parameters if not parameter.in_path)


_TEXT = {"type": "string", "maxLength": LONGEST_QUESTION}
_DATE = {"type": "string", "pattern": r"^([0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?)?$"}
_Q = Parameter(
    "q", 'What, where and when: words, "a phrase", -word, OR, inclass: site: place: near: before: after: lang:.', _TEXT
)
_WHERE = (
    Parameter("place", "A place's name or id; wins over places in q.", {"type": "string", "maxLength": 200}),
    Parameter("near", "LAT,LON,KM.", {"type": "string", "maxLength": 100}),
    Parameter("bbox", "W,S,E,N; W > E crosses the date line.", {"type": "string", "maxLength": 100}),
    Parameter(
        "polygon",
        "LON,LAT;LON,LAT;…: 3 to 100 corners; across the date line 179 then 181 or -179.",
        {"type": "string", "maxLength": 6_000},
    ),
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
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31}
_TASK = Parameter("task", "The task's number.", _NUMBER, in_path=True)
_OF_TASK = Parameter("task", "With the details of this task.", _NUMBER)
_QUESTION = Parameter("question", "The question's number.", _NUMBER, in_path=True)
_ERASE = Parameter("erase", "Also what it crawled.", {"enum": ["0", "1", "true", "false"]})
_FORM = Parameter("form", "Which feed.", {"enum": ["atom", "rss"]})
_NAME = Parameter("q", "A place's name.", {"type": "string", "maxLength": 200})
_POINT = Parameter("near", "LAT,LON: the place there.", {"type": "string", "maxLength": 100})
_TO = Parameter("to", "The form of the file; csv if left out.", {"enum": list(EXPORT_FORMS)})
_FILES = ", ".join(form.media for form in EXPORT_FORMS.values())
_RESULT = Parameter("result", "The comparison's name.", {"type": "string", "minLength": 1}, in_path=True)
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
    Operation(
        "/api/page/{node}/{page}/details", "details", "Why a page was kept, and where its links went.", _PAGE, "Details"
    ),
    Operation("/api/page/{node}/{page}/record", "record", "The page's WARC record.", _PAGE, media="application/warc"),
    Operation("/api/export", "export", "Results as a file.", (_TO, _Q, *_WHERE), media=_FILES, cached=False),
    Operation("/api/compare", "comparisons", "Comparisons of strategies.", (), "Comparisons", cached=False),
    Operation("/api/compare/{result}", "comparison", "One of them.", (_RESULT,), "Comparison", cached=False),
)
"""Reading."""

TASK_OPERATIONS: tuple[Operation, ...] = (
    Operation("/api/tasks", "tasks", "All saved crawls.", (), "Tasks", cached=False),
    Operation("/api/tasks", "add_task", "Save a crawl.", (), "Task", cached=False, method="POST", body=NewTask),
    Operation(
        "/api/tasks/check", "check_task", "What is wrong.", (), "Checked", cached=False, method="POST", body=NewTask
    ),
    Operation(
        "/api/tasks/events", "events", "How tasks stand, as server-sent events.", (_OF_TASK,),
        media="text/event-stream", cached=False,
    ),
    Operation("/api/tasks/{task}", "task", "A saved crawl and its runs.", (_TASK,), "TaskDetail", cached=False),
    Operation(
        "/api/tasks/{task}", "remove_task", "Remove it; `erase`: what it crawled, too.", (_TASK, _ERASE), "Done",
        cached=False, method="DELETE",
    ),
    Operation(
        "/api/tasks/{task}/wish", "wish", "Start, pause, resume or stop it.", (_TASK,), "Task", cached=False,
        method="POST", body=WishBody,
    ),
    Operation(
        "/api/tasks/{task}/questions", "add_question", "Save a question that alerts.", (_TASK,), "Question",
        cached=False, method="POST", body=NewQuestion,
    ),
    Operation(
        "/api/questions/{question}", "remove_question", "Ask it no longer.", (_QUESTION,), "Done", cached=False,
        method="DELETE",
    ),
    Operation(
        "/api/questions/{question}/feed", "feed", "Its feed.", (_QUESTION, _FORM), media="application/xml", cached=False
    ),
    Operation("/api/places", "places", "Places by name or point.", (_NAME, _POINT), "GazetteerPlaces", cached=False),
    Operation(
        "/api/learn", "learn", "A topic from samples, for preview.", (), "Learnt", cached=False, method="POST",
        body=Samples, body_bytes=24 * 2**20,
    ),
    Operation(
        "/api/judge", "judge", "Teach a topic by judging a page.", (), "Judged", cached=False, method="POST",
        body=Judgement,
    ),
)  # fmt: skip
"""Saved crawls: these also write."""


def document(*, token: bool, tasks: bool = False) -> dict[str, Any]:
    """The OpenAPI document. `token`: whether one must be sent; `tasks`: whether there are saved crawls."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in (*OPERATIONS, *(TASK_OPERATIONS if tasks else ())):
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Periplus", "version": __version__, "summary": "Search by what, where and when."},
        "paths": paths,
        "components": {"schemas": SCHEMAS | (BODY_SCHEMAS if tasks else {})},
    }
    if token:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


_ERRORS = {
    "400": "The question is wrong; the text says how.",
    "401": "A token is needed.",
    "403": "Asked by a page of another site.",
    "404": "Not there.",
    "405": "Another method.",
    "413": "Too much was sent.",
    "415": "Something else than JSON was sent.",
    "421": "Another host name.",
    "429": "Too many requests; Retry-After says when.",
    "500": "A bug.",
    "503": "The machine cannot answer now.",
}


def _operation(operation: Operation) -> dict[str, Any]:
    schema: dict[str, Any] = {"$ref": f"#/components/schemas/{operation.answer}"} if operation.answer else {}
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
            "200": {
                "description": "The answer.",
                "content": {media: {"schema": schema} for media in operation.media.split(", ")},
            },
            **{status: {"description": text, "content": error} for status, text in _ERRORS.items()},
        },
    }
    if operation.body is not None:
        body = {"$ref": f"#/components/schemas/{operation.body.__name__}"}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    if operation.cached:
        found["responses"]["304"] = {"description": "What If-None-Match names is still right."}
        found["responses"]["200"]["headers"] = {"ETag": {"schema": {"type": "string"}}}
    return found


def allowed_methods(path: str, *, tasks: bool) -> frozenset[str]:
    """The methods that an address knows; reading only for addresses that there are not."""
    found = {"GET", "HEAD"}
    writing = [operation for operation in TASK_OPERATIONS if operation.method != "GET"] if tasks else []
    named = [operation for operation in writing if operation.path == path]  # before those with a parameter
    for operation in named or writing:
        if re.fullmatch(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(operation.path)), path):
            found.add(operation.method)
    return frozenset(found)
