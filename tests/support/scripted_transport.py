"""A transport that answers from a script instead of the network."""

from collections.abc import Mapping
from datetime import datetime

from fake_clock import FakeClock

from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings

__all__ = ["ScriptedTransport"]


class ScriptedTransport(Transport):
    """`answers` maps URLs to (status, body, headers) or to an error to raise."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.answers: dict[str, object] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.seconds = 0.1
        self.truncated = False
        guard = AddressGuard([])
        super().__init__(FetchSettings(), Resolver({}, guard, self.clock), guard, self.clock, agent="Periplus/test")

    async def get(
        self, url: str, *, wire_bytes: int | None = None, cut: bool = False, headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """The scripted answer for the URL; 404 where the script says nothing."""
        self.asked.append(url)
        self.headers.append(dict(headers or {}))
        answer = self.answers.get(url, (404, b"", {}))
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, tuple)
        status, body, own = answer
        body = body[: wire_bytes or len(body)] if cut else body
        return Fetched(
            url=url,
            status=status,
            headers=tuple(own.items()),
            body=body,
            content_type=own.get("Content-Type", ""),
            fetched_at=self._now(),
            seconds=self.seconds,
            address="192.0.2.1",
            truncated=self.truncated,
        )

    def _now(self) -> datetime:
        return self.clock.now()
