"""Budgets against endless sites: how many URLs a host, and one pattern of a host, may bring.

A pattern is the URL with every run of digits replaced by one mark, so all days of a calendar and all pages
of an endless list share one. Counting patterns stops what depth limits cannot: the shallow, wide trap.
"""

import re
from collections import Counter

import xxhash

__all__ = ["TrapBudget", "url_pattern"]

DIGITS = re.compile(r"\d+")


def url_pattern(url: str) -> str:
    """The URL with every run of digits folded to one 0."""
    return DIGITS.sub("0", url)


class TrapBudget:
    """Counts accepted URLs by host and by pattern. Rebuilt from the frontier when a crawl resumes."""

    def __init__(self, host_limit: int, pattern_limit: int) -> None:
        self.host_limit = host_limit
        self.pattern_limit = pattern_limit
        self._hosts: Counter[str] = Counter()
        self._patterns: Counter[int] = Counter()

    def refusal(self, host: str, url: str) -> str | None:
        """The reason why the budget refuses the canonical URL; None, and one unit spent, if it does not."""
        if self._hosts[host] >= self.host_limit:
            return "host_quota"
        key = _pattern_key(url)
        if key is not None:
            if self._patterns[key] >= self.pattern_limit:
                return "trap"
            self._patterns[key] += 1
        self._hosts[host] += 1
        return None

    def spend(self, host: str, url: str) -> None:
        """Count a URL that is in the frontier already."""
        self._hosts[host] += 1
        key = _pattern_key(url)
        if key is not None:
            self._patterns[key] += 1


def _pattern_key(url: str) -> int | None:
    """A small key for the pattern; None for URLs without digits, which are all their own pattern."""
    pattern = url_pattern(url)
    return xxhash.xxh3_64_intdigest(pattern.encode()) if "0" in pattern else None
