"""Interim responses (1xx) are let pass and forgotten, and only a few: a server may send them without end.

aiohttp reads them one by one until the deadline, which is half a minute of a whole core for whoever floods us.
"""

import functools
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

__all__ = ["Connector"]

MOST_INTERIM = 16
SWITCHING = 101


class _Handler(ResponseHandler):
    """Reads responses from one connection."""

    _interim = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        """A response has come: (head, body)."""
        code = data[0].code
        if code > 199 or code < 100 or code == SWITCHING:
            self._interim = 0
            super().feed_data(data, size)
            return
        self._interim += 1
        if self._interim > MOST_INTERIM:
            if self.transport is not None:
                self.transport.close()
            self.set_exception(HttpProcessingError(message=f"more than {MOST_INTERIM} interim responses"))


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, with connections that bound interim responses. Takes the same arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        handler: type[ResponseHandler] = _Handler
        self._factory = functools.partial(handler, loop=self._loop)
