"""Bytes to text in the order of the WHATWG: byte order mark, HTTP header, meta tag or XML declaration, a last guess.

And back again where the web wants it so: the queries of a page's links are in the page's encoding.
"""

import codecs
import itertools
import re
from functools import lru_cache

import webencodings

__all__ = ["decode_html", "html_in_utf8", "with_query_in"]

META_BYTES = 1024 * 4
"""How far a meta tag is looked for. The standard says 1,024; pages with long heads exist."""

META_CHARSET = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([a-z0-9_:.+-]{1,40})""",
    re.IGNORECASE,
)
XML_CHARSET = re.compile(rb"""^<\?xml[^>]{0,400}?encoding\s*=\s*["']\s*([a-z0-9_:.+-]{1,40})""", re.IGNORECASE)
COMMENT = re.compile(rb"<!--(?:-?>|.*?(?:-->|\Z))", re.DOTALL)
HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([a-z0-9_:.+-]{1,40})""", re.IGNORECASE)

ESCAPED = [chr(byte) if 0x20 < byte < 0x7F and byte not in b"\"#'<>" else f"%{byte:02X}" for byte in range(256)]
"""How the bytes of a query are written."""

BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))


USUAL = {
    "windows-1251": "ru su by ua bg rs mk kz kg tj xn--p1ai xn--90ae xn--j1amh",
    "windows-1250": "cz sk hr ba",
    "iso-8859-2": "pl hu si",
    "iso-8859-7": "gr cy",
    "windows-1254": "tr az",
    "windows-1255": "il",
    "windows-1256": "ir eg sa sy iq jo ly dz kw ae",
    "windows-1257": "ee lv lt",
    "windows-1258": "vn",
    "windows-874": "th",
    "gb18030": "cn sg",
    "big5": "tw hk mo",
    "euc-kr": "kr",
    "shift_jis euc-jp": "jp",
}
"""Encodings by the domains of countries whose pages have them where they do not say (HTML Standard, 13.2.3.2)."""

BY_COUNTRY = {country: names.split() for names, countries in USUAL.items() for country in countries.split()}


def decode_html(body: bytes, content_type: str, url: str = "") -> str:
    """The text of an HTML document. Never raises: bytes that do not fit become U+FFFD."""
    mark, codec = _encoding(body, content_type, url)
    return body[mark:].decode(codec, "replace")


def html_in_utf8(body: bytes, content_type: str, url: str = "") -> tuple[bytes, str]:
    """The document in UTF-8, as it is where it is that already, as most are; and the encoding that it came in."""
    mark, codec = _encoding(body, content_type, url)
    if not mark and codec == "utf-8" and _is_utf8(body):
        return body, codec
    return body[mark:].decode(codec, "replace").encode("utf-8", "replace"), codec


def with_query_in(codec: str, href: str) -> str:
    """A link of a page in that encoding as browsers ask for it: the query is in it, the path in UTF-8 (WHATWG URL)."""
    if href.isascii() or codec.startswith("utf"):
        return href
    address, mark, rest = href.partition("?")
    query, hash_mark, fragment = rest.partition("#")
    if query.isascii() or "#" in address:
        return href
    escaped = "".join(map(ESCAPED.__getitem__, query.encode(codec, "periplus-query")))
    return f"{address}{mark}{escaped}{hash_mark}{fragment}"


def _reference(error: UnicodeError) -> tuple[bytes, int]:
    """Characters that an encoding lacks are asked for by their numbers, as browsers do."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return b"".join(b"%%26%%23%d%%3B" % ord(character) for character in lacking), error.end


codecs.register_error("periplus-query", _reference)


def _encoding(body: bytes, content_type: str, url: str) -> tuple[int, str]:
    """The bytes of the byte order mark, and Python's name of the encoding."""
    for mark, codec in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return len(mark), codec
    header = HEADER_CHARSET.search(content_type)
    codec_name = _codec(header[1]) if header else None
    if codec_name is None:
        start = body[:META_BYTES]
        tags = META_CHARSET.finditer(COMMENT.sub(b"", start) if b"<!--" in start else start)
        named = (_codec(found[1].decode("ascii")) for found in itertools.chain(tags, XML_CHARSET.finditer(start)))
        codec_name = next(filter(None, named), None)
        if codec_name is not None and codec_name.startswith("utf-16"):
            codec_name = "utf-8"  # the tag could not have been read otherwise
    if codec_name is None:
        try:
            body.decode("utf-8")
        except UnicodeDecodeError as error:
            # Cut off in the middle of a character it is still UTF-8; else what pages of the country are in.
            codec_name = "utf-8" if error.start >= max(1, len(body) - 3) else _usual(body, url)
        else:
            codec_name = "utf-8"
    return 0, codec_name


def _usual(body: bytes, url: str) -> str:
    """The first of the country's encodings that the bytes could be in; else what browsers assume of Western pages."""
    host = url.partition("://")[2].partition("/")[0].partition(":")[0]
    for name in BY_COUNTRY.get(host.rpartition(".")[2], ()):
        codec = _codec(name)
        try:
            codecs.getincrementaldecoder(codec or "cp1252")().decode(body)  # it may be cut off in a character
        except UnicodeDecodeError:
            continue
        return codec or "cp1252"
    return "cp1252"


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@lru_cache(256)
def _codec(label: str) -> str | None:
    """Python's codec for a WHATWG label ("latin1" means windows-1252 on the web); None if there is none."""
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in ("x-user-defined", "replacement"):
        return None
    return str(encoding.codec_info.name)
