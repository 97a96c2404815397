"""WHOIS (RFC 3912): one line asked on port 43, and text for people as the answer. Read for addresses of contacts."""

import re
from collections.abc import Awaitable, Callable

__all__ = ["Converse", "whois_answers", "whois_fields"]

PORT = 43
ANSWER_BYTES = 1 << 18
MAX_REFERRALS = 2
MAX_LINES = 5_000
REFERRAL = re.compile(
    r"^\s*(?:refer|whois|registrar whois server|whois server)\s*:\s*(?:r?whois://)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
LINE = re.compile(
    r"\s*(admin|registrant|tech)[a-z]*\s*[- ]?\s*(city|state/province|state|country)\s*:\s*(\S.*)", re.IGNORECASE
)
ROLES = {"admin": "administrative", "registrant": "registrant", "tech": "technical"}
PARTS = {"city": 0, "state/province": 1, "state": 1, "country": 2}

Converse = Callable[[str, int, bytes, int], Awaitable[bytes]]
"""Server, port, what is said, how much is listened to at most → the answer. Raises a FetchError."""


async def whois_answers(converse: Converse, server: str, domain: str) -> list[str]:
    """What the server says of a domain, and what those say that it refers to, the last one first."""
    answers: list[str] = []
    asked: set[str] = set()
    while server and server not in asked and len(asked) <= MAX_REFERRALS:
        asked.add(server)
        raw = await converse(server, PORT, domain.encode("ascii", "replace") + b"\r\n", ANSWER_BYTES)
        answers.insert(0, raw.decode("utf-8", "replace"))
        referred = REFERRAL.search(answers[0])
        server = referred[1].lower() if referred else ""
    return answers


def whois_fields(answer: str) -> dict[str, tuple[str, str, str]]:
    """Town, region and country of each role that an answer names an address of."""
    found: dict[str, list[str]] = {}
    for line in answer.splitlines()[:MAX_LINES]:
        match = LINE.match(line)
        if match:
            parts = found.setdefault(ROLES[match[1].lower()], ["", "", ""])
            parts[PARTS[match[2].lower()]] = parts[PARTS[match[2].lower()]] or match[3].strip()
    return {role: (parts[0], parts[1], parts[2]) for role, parts in found.items()}
