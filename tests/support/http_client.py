"""One request to a server of a test, and its answer."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Reply", "get", "send"]


class Reply:
    """A response, read."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(address: str, path: str, body: Any, *, method: str = "POST", headers: dict[str, str] | None = None) -> Reply:
    """Send JSON."""
    sent = {"Content-Type": "application/json"} | (headers or {})
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return get(address, path, method=method, headers=sent, body=data)


def get(
    address: str,
    path: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Reply:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()
