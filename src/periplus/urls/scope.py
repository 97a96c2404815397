"""Scope: which URLs belong to a crawl, as an ordered list of rules. The first rule that fits decides.

    scope = ["reject path */print/*", "reject query replytocom", "accept domain example.com", "reject all"]

| rule                       | fits                                                      |
|----------------------------|-----------------------------------------------------------|
| `host NAME`                | URLs of exactly this host                                 |
| `domain NAME`              | URLs of this host and of all below it                     |
| `prefix URL`               | URLs that begin like this                                 |
| `path PATTERN`             | URLs whose path is like this; `*` stands for anything     |
| `query NAME`               | URLs with this parameter                                  |
| `all`                      | every URL                                                 |

Each begins with `accept` or `reject`. What no rule fits is accepted.
"""

from collections.abc import Callable
from functools import lru_cache

from periplus.errors import ConfigError
from periplus.urls.canonical import CanonicalUrl, canonicalize

__all__ = ["in_scope"]

Fits = Callable[[CanonicalUrl], bool]


def in_scope(url: CanonicalUrl, rules: tuple[str, ...]) -> bool:
    """Whether the URL belongs to the crawl. Raises ConfigError if a rule cannot be understood."""
    for accept, fits in _compiled(rules):
        if fits(url):
            return accept
    return True


@lru_cache(maxsize=16)
def _compiled(rules: tuple[str, ...]) -> tuple[tuple[bool, Fits], ...]:
    return tuple(_rule(text) for text in rules)


def _rule(text: str) -> tuple[bool, Fits]:
    verdict, _, rest = text.strip().partition(" ")
    kind, _, value = rest.strip().partition(" ")
    make = KINDS.get(kind)
    value = value.strip()
    if verdict not in ("accept", "reject") or make is None or bool(value) is (kind == "all"):
        raise ConfigError(
            f"crawl.scope: {text!r} is not a rule; write accept or reject, then one of "
            "host NAME, domain NAME, prefix URL, path PATTERN, query NAME, all"
        )
    return verdict == "accept", make(value)


def _host(value: str) -> Fits:
    name = _name(value)
    return lambda url: url.host == name


def _domain(value: str) -> Fits:
    name = _name(value)
    return lambda url: url.host == name or url.host.endswith(f".{name}")


def _prefix(value: str) -> Fits:
    start = canonicalize(value)
    if start is None:
        raise ConfigError(f"crawl.scope: {value!r} is not an http(s) URL")
    return lambda url: url.href.startswith(start.href)


def _path(value: str) -> Fits:
    pieces = value.split("*")
    return lambda url: _is_like(url.path, pieces)


def _query(value: str) -> Fits:
    return lambda url: any(piece.partition("=")[0] == value for piece in url.query.split("&"))


def _all(_: str) -> Fits:
    return lambda _url: True


KINDS: dict[str, Callable[[str], Fits]] = {
    "host": _host,
    "domain": _domain,
    "prefix": _prefix,
    "path": _path,
    "query": _query,
    "all": _all,
}


def _name(value: str) -> str:
    """A host as URLs have it: small letters, punycode."""
    url = canonicalize(f"http://{value}/")
    if url is None or url.path != "/" or url.port != 80:
        raise ConfigError(f"crawl.scope: {value!r} is not the name of a host")
    return url.host


def _is_like(text: str, pieces: list[str]) -> bool:
    """Whether the text is the pieces with anything between them; takes the first place for each, so it is linear."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *between, last = pieces
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in between:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(text) - len(last) >= at and text.endswith(last)
