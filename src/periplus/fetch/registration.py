"""Where domains are registered: asked of an RDAP or WHOIS service, once for each domain, and kept in a file.

Registration data say where the administrative contact or the registrant of a domain sits (paper B). They are often
absent or redacted; that is a normal answer and remembered like any other. Requests go through the one way out, one
after the other, in the turns of the service's host. What the service says is bounded and never trusted.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from periplus.errors import FetchError
from periplus.fetch.robots import REDIRECTS
from periplus.fetch.whois import Converse, whois_answers, whois_fields
from periplus.model import Fetched
from periplus.urls import canonicalize

__all__ = ["Registrant", "Registrations", "read_registrant", "read_whois"]

MAX_WAITING = 10_000
MAX_KNOWN = 500_000
MAX_REDIRECTS = 3
MAX_ENTITIES = 50
MAX_FIELD = 120
ANSWER_BYTES = 1 << 20
ROLES = ("administrative", "registrant", "technical")
"""Whose address counts, the first that has one; the paper takes the administrative contact."""

WITHHELD = ("redact", "privacy", "protect", "withheld", "not disclosed", "gdpr", "masked", "n/a", "statutory")


class Registrant(NamedTuple):
    """What is known of where a domain is registered; each part may be empty. `country` is a name or an ISO code."""

    locality: str = ""
    region: str = ""
    country: str = ""


NOBODY = Registrant()
Get = Callable[..., Awaitable[Fetched]]
Visit = Callable[[str, str], AbstractAsyncContextManager[None]]


def read_registrant(body: bytes) -> Registrant:
    """The address of a domain's contact in an RDAP answer (RFC 9083, jCard); empty if there is none or it is hidden."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return NOBODY
    by_role: dict[str, Registrant] = {}
    for entity in _entities(answer):
        found = _address(entity.get("vcardArray"))
        roles = entity.get("roles")
        if found != NOBODY and isinstance(roles, list):
            for role in roles:
                if isinstance(role, str):
                    by_role.setdefault(role, found)
    return next((by_role[role] for role in ROLES if role in by_role), NOBODY)


def read_whois(answers: Iterable[str]) -> Registrant:
    """The address of a domain's contact in WHOIS answers, of which the first that names one counts."""
    for answer in answers:
        by_role = {role: Registrant(*map(_field, parts)) for role, parts in whois_fields(answer).items()}
        found = next((by_role[role] for role in ROLES if by_role.get(role, NOBODY) != NOBODY), NOBODY)
        if found != NOBODY:
            return found
    return NOBODY


def _entities(answer: Any) -> Iterator[dict[str, Any]]:
    """Entities of the domain and of these: contacts may be listed under the registrar."""
    waiting, seen = [answer], 0
    while waiting and seen < MAX_ENTITIES:
        one = waiting.pop(0)
        listed = one.get("entities") if isinstance(one, dict) else None
        for entity in (listed if isinstance(listed, list) else [])[:MAX_ENTITIES]:
            if isinstance(entity, dict):
                seen += 1
                waiting.append(entity)
                yield entity


def _address(card: Any) -> Registrant:
    rows = card[1] if isinstance(card, list) and len(card) == 2 and isinstance(card[1], list) else []
    for row in rows[:MAX_ENTITIES]:
        if not (isinstance(row, list) and len(row) >= 4 and row[0] == "adr"):
            continue
        value = row[3] if isinstance(row[3], list) and len(row[3]) >= 7 else [""] * 7
        code = row[1].get("cc") if isinstance(row[1], dict) else ""
        return Registrant(_field(value[3]), _field(value[4]), _field(code) or _field(value[6]))
    return NOBODY


def _field(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    hidden = any(mark in text.lower() for mark in WITHHELD)
    return "" if hidden or len(text) > MAX_FIELD else text


class Registrations:
    """Registrants by domain. `want` asks for one in the background (`run`); `known` says what is known by now."""

    def __init__(self, get: Get, service: str, path: Path, visit: Visit, converse: Converse | None = None) -> None:
        """`service` is the URL of an RDAP service, or `whois://` and a server's name, which needs `converse`."""
        self._get = get
        self._converse = converse
        self._service = service.rstrip("/")
        self._path = path
        self._visit = visit
        self._known: dict[str, Registrant] = {}
        self._failed: set[str] = set()
        self._waiting: asyncio.Queue[str] = asyncio.Queue(MAX_WAITING)
        self._asked: set[str] = set()
        self._load()

    def known(self, domain: str) -> Registrant | None:
        """What is known of a domain; None before it was asked for, or if there was no answer."""
        return self._known.get(domain)

    def want(self, domain: str) -> None:
        """Ask for a domain when it is its turn; too many at once are let go."""
        if domain not in self._asked and not self._waiting.full():
            self._asked.add(domain)
            self._waiting.put_nowait(domain)

    async def run(self) -> None:
        """Ask, one domain after the other; ends when cancelled."""
        while True:
            await self.ask(await self._waiting.get())

    async def ask(self, domain: str) -> Registrant | None:
        """The registrant of a domain, from memory or asked now; None if the service did not answer."""
        self._asked.add(domain)
        if domain in self._known or domain in self._failed:
            return self._known.get(domain)
        try:
            found = await self._answer(domain)
        except FetchError:
            found = None
        if found is None:
            self._failed.add(domain)  # not now; asked again by the next run
        else:
            self._remember(domain, found)
        return found

    async def _answer(self, domain: str) -> Registrant | None:
        """What the service says now; None if it says nothing to be relied on."""
        service = urlsplit(self._service)
        if service.scheme == "whois" and self._converse is not None:
            server = service.hostname or ""
            async with self._visit("", server):
                return read_whois(await whois_answers(self._converse, server, domain))
        fetched = await self._fetched(f"{self._service}/domain/{quote(domain)}")
        if fetched.status not in (200, 404):
            return None
        return read_registrant(fetched.body) if fetched.status == 200 else NOBODY

    async def _fetched(self, url: str) -> Fetched:
        """Follow redirects: services that know of all registries lead to the one that is asked."""
        headers = {"Accept": "application/rdap+json"}
        for _ in range(MAX_REDIRECTS):
            async with self._visit("", urlsplit(url).hostname or ""):
                fetched = await self._get(url, wire_bytes=ANSWER_BYTES, headers=headers)
            target = canonicalize(fetched.location, url) if fetched.status in REDIRECTS else None
            if target is None:
                return fetched
            url = target.href
        return fetched

    def _load(self) -> None:
        """What earlier runs were told; torn or strange lines are passed over."""
        try:
            lines = self._path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return
        for line in lines[:MAX_KNOWN]:
            try:
                domain, *parts = json.loads(line)
                self._known[str(domain)] = Registrant(*(str(part) for part in parts[:3]))
            except (ValueError, TypeError):
                continue

    def _remember(self, domain: str, found: Registrant) -> None:
        if len(self._known) < MAX_KNOWN:
            self._known[domain] = found
            # Without room on the disk the next run asks again.
            with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([domain, *found], ensure_ascii=False) + "\n")
