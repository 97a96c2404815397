"""Parameters of an address as values: each given once, each checked; QueryError in one line otherwise."""

from starlette.requests import Request

from periplus.errors import QueryError
from periplus.search import SearchRequest
from periplus.web.openapi import Operation

__all__ = ["check_names", "flag", "given", "number_in_path", "one", "page_named", "search_request", "whole"]


def one(request: Request, name: str) -> str | None:
    """A parameter, or None if it is not given."""
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise QueryError(f"{name} is given {len(values)} times; once is enough")
    return values[0] if values else None


def given(request: Request, name: str, default: str) -> str:
    """A parameter, or its default."""
    text = one(request, name)
    return default if text is None else text


def whole(request: Request, name: str, default: int) -> int:
    """A parameter that is a whole number."""
    text = one(request, name)
    return default if text is None else _number(name, text, 9)


def number_in_path(request: Request, name: str) -> int:
    """A part of the path that is a whole number."""
    return _number(name, request.path_params[name], 12)


def _number(name: str, text: str, most: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > most:
        raise QueryError(f"{name} {text[:40]!r} is no whole number")
    return int(text)


def flag(request: Request, name: str) -> bool:
    """A parameter that is 1 or 0."""
    text = given(request, name, "0")
    if text not in ("0", "1", "true", "false"):
        raise QueryError(f"{name} {text[:40]!r} is not possible; write 1 or 0")
    return text in ("1", "true")


def check_names(operation: Operation, request: Request) -> None:
    """No parameter is overlooked in silence."""
    unknown = sorted(set(request.query_params.keys()) - operation.query_names)
    if unknown:
        possible = ", ".join(sorted(operation.query_names)) or "none"
        raise QueryError(f"unknown parameter {unknown[0][:40]!r}; possible are: {possible}")


def page_named(request: Request) -> tuple[str, int]:
    """The node and the number of a page; one that no database can have is 0, which no page is."""
    page = _number("page", request.path_params["page"], 30)
    return request.path_params["node"], page if page < 2**63 else 0


def search_request(request: Request) -> SearchRequest:
    """The question that an address asks."""
    return SearchRequest.of(
        one(request, "q") or "",
        place=one(request, "place"),
        near=one(request, "near"),
        bbox=one(request, "bbox"),
        polygon=one(request, "polygon"),
        since=one(request, "since"),
        until=one(request, "until"),
        sort=given(request, "sort", "relevance"),
        limit=whole(request, "limit", 10),
        offset=whole(request, "offset", 0),
        explain=flag(request, "explain"),
        freshness=whole(request, "freshness", 0),
        as_of=one(request, "as_of"),
    )
