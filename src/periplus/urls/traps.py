"""Budgets against endless sites: how many URLs a host, and one pattern of a host, may bring.

A pattern is what is left of a URL when everything that can be counted through is taken out: numbers in the path,
values in the query. A calendar, an endless list or a shop's filters are one pattern with one, two or more free
dimensions. The more of them, the likelier it is that pages are only combined anew, so the budget is divided by four
for each dimension beyond the first. Counting patterns stops what depth limits cannot: the shallow, wide trap.
"""

import re
from collections import Counter

import xxhash

__all__ = ["TrapBudget", "url_pattern"]

NUMBERS = re.compile(r"\d+")
SHRINK = 4


def url_pattern(url: str) -> tuple[str, int]:
    """The pattern of a URL and the number of its free dimensions; order and values of parameters do not count."""
    address, _, query = url.partition("?")
    path, numbers = NUMBERS.subn("0", address.partition("://")[2].partition("/")[2])
    names = sorted(piece.partition("=")[0] for piece in query.split("&")) if query else []
    host = address.partition("://")[2].partition("/")[0]
    return f"{host}/{path}?{'&'.join(names)}", numbers + len(names)


class TrapBudget:
    """Counts accepted URLs by host and by pattern. Rebuilt from the frontier when a crawl resumes."""

    def __init__(self, host_limit: int, pattern_limit: int) -> None:
        self._host_limit = host_limit
        self._pattern_limit = pattern_limit
        self._hosts: Counter[str] = Counter()
        self._patterns: Counter[int] = Counter()

    def refusal(self, host: str, url: str) -> str | None:
        """The reason why the budget refuses the canonical URL; None, and one unit spent, if it does not."""
        if self._hosts[host] >= self._host_limit:
            return "host_quota"
        pattern, dimensions = url_pattern(url)
        if dimensions:
            key = xxhash.xxh3_64_intdigest(pattern.encode())
            if self._patterns[key] >= max(1, self._pattern_limit // SHRINK ** (dimensions - 1)):
                return "trap"
            self._patterns[key] += 1
        self._hosts[host] += 1
        return None

    def spend(self, host: str, url: str) -> None:
        """Count a URL that is in the frontier already."""
        self._hosts[host] += 1
        pattern, dimensions = url_pattern(url)
        if dimensions:
            self._patterns[xxhash.xxh3_64_intdigest(pattern.encode())] += 1
