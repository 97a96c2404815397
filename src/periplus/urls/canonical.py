"""One resource, one URL: the WHATWG form without what does not change the page.

Dropped: the fragment, user and password, session ids, tracking parameters, a trailing dot of the host. Escapes are
written one way (RFC 3986, 6.2.2): `%7e` is `~`, `%c3` is `%C3`.
`canonicalize` is idempotent: the canonical form of a canonical URL is itself.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import can_ada
import xxhash

__all__ = ["CanonicalUrl", "canonical_links", "canonicalize", "fingerprint"]

MAX_RAW_LENGTH = 8_192
"""Longer strings are not parsed at all."""

MAX_REMEMBERED = 50_000
MAX_REMEMBERED_LENGTH = 400
"""Bounds of the memory of URLs: at most about 45 MB a process, in practice a third of it."""

TRACKING = (
    r"(?:utm_\w+|fbclid|gcl(?:id|src)|gad_(?:source|campaignid)|dclid|[gw]braid|_g[al]|srsltid|msclkid|ys?clid|igsh(?:id)?|"
    r"mc_[ce]id|_hs(?:enc|mi)|__hs(?:tc|sc|fp)|hs(?:a_\w+|ctatracking)|mkt_tok|twclid|ttclid|li_fat_id|rdt_cid|epik|"
    r"(?:mtm|matomo)_\w+|(?:pk|piwik)_(?:campaign|keyword|kwd|source|medium|content|cid)|at_(?:medium|campaign)|xtor|"
    r"s_kwcid|ef_id|dicbo|wickedid|ml_subscriber(?:_hash)?|oly_(?:anon|enc)_id|vero_(?:conv|id)|_openstat|"
    r"ref_src|spm|wt_mc)(?:=.*)?"
)
"""Query parameters that only tell where the visitor came from."""

SESSION = (
    r"(?:(?:j|php|asp)sess(?:ion)?_?id|aspsessionid\w*|cfid|cftoken|zenid|oscsid)(?:=.*)?|"
    r"(?:s_?id|sess(?:ion)?_?id)(?:=(?:[0-9a-f]{8,}|(?=[a-z]*\d)[0-9a-z]{16,}|[0-9a-f-]{32,})?)?"
)
"""Query parameters that only tell who the visitor is; some by their names, others if their values could be drawn at
random: stories, stations and the sessions of a conference have such names and short numbers."""

NOISE = re.compile(rf"(?:{TRACKING}|{SESSION})", re.IGNORECASE)
AUTHORITY = re.compile(r"[\0- ]*(?:https?:)?[/\\]{2}[^/\\?#]*", re.IGNORECASE)
PUNYCODE = re.compile(r"xn--", re.IGNORECASE)
STAND_IN = "xn0-"

PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")  # behind a broken escape it could complete it
WEB = ("http://", "https://")
PLAIN_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
NOT_A_PATH = frozenset("/\\\t\n\r")
"""Behind a first slash these name a host, or are passed over."""

UNRESERVED = PLAIN_STARTS | frozenset("-.~")
ASP_PATH_SESSION = re.compile(r"/\((?:[A-Z]\([0-9A-Za-z]{20,}\))+\)(?=/)")


@dataclass(frozen=True, slots=True)
class CanonicalUrl:
    """A URL in canonical form, with the parts that rules and queues ask for."""

    href: str
    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a robots.txt is valid for."""
        default = self.port == (443 if self.scheme == "https" else 80)
        return f"{self.scheme}://{self.host}" if default else f"{self.scheme}://{self.host}:{self.port}"


def canonicalize(raw: str, base: str | None = None) -> CanonicalUrl | None:
    """The canonical form of `raw`, resolved against `base`; None if it is not an http(s) URL with a host."""
    absolute = _absolute(raw, *_starts(base)) if base else _absolute(raw, "", "")
    return _remembered.get(absolute) or _learn(raw, base, absolute)


def canonical_links(raws: Iterable[str], base: str) -> Iterator[CanonicalUrl | None]:
    """`canonicalize` for all links of a page."""
    host, folder = _starts(base)
    for raw in raws:
        absolute = _absolute(raw, host, folder)
        yield _remembered.get(absolute) or _learn(raw, base, absolute)


_remembered: dict[str | None, CanonicalUrl | None] = {}
"""The links of one page are mostly those of the next, and each is asked for several times on its way."""


def _learn(raw: str, base: str | None, absolute: str | None) -> CanonicalUrl | None:
    """The canonical form of a URL that is not remembered, or remembered as none."""
    if absolute in _remembered:
        return _remembered[absolute]
    if len(raw) > MAX_RAW_LENGTH:
        return None
    if absolute is None or len(absolute) > MAX_REMEMBERED_LENGTH:
        return _canonical(raw, base)
    url = _canonical(absolute, None)
    if len(_remembered) >= MAX_REMEMBERED:
        _remembered.clear()
    _remembered[absolute] = url
    if url is not None:
        _remembered[url.href] = url
    return url


def _starts(base: str) -> tuple[str, str]:
    """What links within the host, and links beside the page, begin with; empty where that needs a parser."""
    root = base.find("/", 8)
    if root < 0 or not base.startswith(WEB) or "\\" in base or "?" in base[:root] or "#" in base[:root]:
        return "", ""
    return base[:root], "" if "?" in base or "#" in base else base[: base.rfind("/") + 1]


def _absolute(raw: str, host: str, folder: str) -> str | None:
    """The link as an absolute URL where that needs no parser: it is one, or names a path of its host."""
    if raw.startswith(WEB):
        return raw
    first = raw[:1]
    if first in PLAIN_STARTS:
        return folder + raw if folder and ":" not in raw else None
    return host + raw if host and first == "/" and raw[1:2] not in NOT_A_PATH else None


def _canonical(raw: str, base: str | None) -> CanonicalUrl | None:
    try:
        parsed = can_ada.parse(base) + raw if base else can_ada.parse(raw)
    except (ValueError, TypeError):  # TypeError: lone surrogates
        return _with_odd_punycode(raw, base)
    scheme = parsed.protocol[:-1]
    if scheme not in ("http", "https") or not parsed.hostname or not _drop_trailing_dot(parsed):
        return None
    if parsed.has_credentials():
        parsed.username = parsed.password = ""
    if parsed.has_hash():
        parsed.hash = ""
    path: str = parsed.pathname
    if "%" in path or ";" in path or "(" in path:
        path = ASP_PATH_SESSION.sub("", PATH_SESSION.sub("", ESCAPE.sub(_tidy_escape, path)))
    if "/." in path:
        path = _without_dots(path)
    if path != parsed.pathname:
        parsed.pathname = path
    if parsed.has_search():
        query = _clean_query(ESCAPE.sub(_tidy_escape, parsed.search[1:]))
        parsed.search = f"?{query}" if query else ""  # the setter takes one question mark away
    port = int(parsed.port) if parsed.port else (443 if scheme == "https" else 80)
    return CanonicalUrl(parsed.href, scheme, parsed.hostname, port, parsed.pathname, parsed.search[1:])


def _without_dots(path: str) -> str:
    """The path without "." and "..": the parser overlooks them behind a folder whose name begins with a dot."""
    *folders, last = path[1:].split("/")
    kept: list[str] = []
    for name in folders:
        if name == "..":
            del kept[-1:]
        elif name != ".":
            kept.append(name)
    if last == "..":
        del kept[-1:]
    return "/".join(["", *kept, "" if last in (".", "..") else last])


def _with_odd_punycode(raw: str, base: str | None) -> CanonicalUrl | None:
    """A URL whose ASCII host has labels that begin like punycode and are none: the standard takes them as they are.

    The parser follows an older edition that refuses them, so it is shown other letters in their place.
    """
    found = AUTHORITY.match(raw)
    if found is None or not raw.isascii() or PUNYCODE.search(found[0]) is None or STAND_IN in found[0].lower():
        return None
    url = _canonical(PUNYCODE.sub(STAND_IN, found[0]) + raw[found.end() :], base)
    if url is None:
        return None
    host = url.host.replace(STAND_IN, "xn--")
    return replace(url, host=host, href=url.href.replace(url.host, host, 1))


def _drop_trailing_dot(parsed: can_ada.URL) -> bool:
    """A trailing dot names the same host; politeness must not count it twice. False: no host is left."""
    host: str = parsed.hostname
    if host.endswith("."):
        host = host.rstrip(".")
        parsed.host = f"{host}:{parsed.port}" if parsed.port else host
    return bool(host) and parsed.hostname == host


def _tidy_escape(match: re.Match[str]) -> str:
    """An escape as everybody writes it; characters that need none stand for themselves."""
    character = chr(int(match[0][1:], 16))
    return character if character in UNRESERVED else match[0].upper()


def _clean_query(query: str) -> str:
    """The query without empty pieces, tracking and session parameters; order kept, since servers may care."""
    return "&".join([piece for piece in query.split("&") if piece and not NOISE.fullmatch(piece)])


def fingerprint(url: str) -> int:
    """64 bits of a canonical URL, signed as SQLite stores integers."""
    value = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return value - (1 << 64) if value >= 1 << 63 else value
