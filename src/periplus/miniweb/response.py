"""The answer of the miniature web to one request: a value between `web`, `odd`, `truth` and `server`."""

from dataclasses import dataclass

__all__ = ["Response"]


@dataclass(frozen=True, slots=True)
class Response:
    """Status, bytes and what a correct crawler makes of it.

    `outcome` is a value of `model.Outcome` as a crawl with `keep = "all"` should report it, or "trap" for pages
    that a crawler should leave after a while. `duplicate_of` is the URL with the same content, `location` where
    a redirect leads.
    """

    status: int
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    delay_seconds: float = 0.0
    outcome: str = "kept"
    duplicate_of: str = ""
    location: str = ""
    etag: str = ""
    x_robots_tag: str = ""
    retry_after: str = ""
