"""One resource, one URL: what the frontier calls the same, and what it never takes for a URL."""

import json
import os
import random
from pathlib import Path

import can_ada
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.urls import canonical_links, canonicalize, fingerprint, registrable_domain
from periplus.urls.canonical import _canonical

SAME = [
    ("http://Example.COM", "http://example.com/"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com./a", "http://example.com/a"),
    ("http://example.com../a", "http://example.com/a"),
    ("http://example.com.:8080/a", "http://example.com:8080/a"),
    ("http://example.com/a#top", "http://example.com/a"),
    ("http://example.com/a#", "http://example.com/a"),
    ("http://example.com/a?", "http://example.com/a"),
    ("http://example.com/a?&&", "http://example.com/a"),
    ("http://example.com/./b/../c", "http://example.com/c"),
    ("http://example.com/%2e%2e/c", "http://example.com/c"),
    ("http:\\\\example.com\\a", "http://example.com/a"),
    ("  \thttp://example.com/a\n", "http://example.com/a"),
    ("http://exam\nple.com/a\tb", "http://example.com/ab"),
    ("http://user:secret@example.com/a", "http://example.com/a"),
    ("http://good.example@evil.example/", "http://evil.example/"),
    ("http://münchen.de/straße", "http://xn--mnchen-3ya.de/stra%C3%9Fe"),
    ("http://MÜNCHEN.de/", "http://xn--mnchen-3ya.de/"),
    ("http://xn--mnchen-3ya.de/", "http://xn--mnchen-3ya.de/"),
    ("http://ä:b@münchen.de:8080/", "http://xn--mnchen-3ya.de:8080/"),
    ("http://😀.example/", "http://xn--e28h.example/"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("http://example.com/%7euser/%41", "http://example.com/~user/A"),
    ("http://example.com/%c3%bc", "http://example.com/%C3%BC"),
    ("http://example.com/ü", "http://example.com/%C3%BC"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/%2541", "http://example.com/%2541"),
    ("http://example.com/?q=%e4", "http://example.com/?q=%E4"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
    # session ids
    ("http://example.com/a;jsessionid=0A1B", "http://example.com/a"),
    ("http://example.com/a;JSESSIONID=0A1B?x=1", "http://example.com/a?x=1"),
    ("http://example.com/a;jsessionid=1;v=2/b", "http://example.com/a;v=2/b"),
    ("http://example.com/(S(4n3lk2vv1x5yzu45bg1vgzmc))/page.aspx", "http://example.com/page.aspx"),
    ("http://example.com/a?PHPSESSID=abc&b=1", "http://example.com/a?b=1"),
    ("http://example.com/a?sid=1f0c99d2&b=2&jsessionid=3", "http://example.com/a?b=2"),
    ("http://example.com/a?b=2&sid=", "http://example.com/a?b=2"),
    ("http://example.com/a?sessionid=6fa459ea-ee8a-3ca4-894e-db77e160355e", "http://example.com/a"),
    ("http://example.com/a?CFID=1&CFTOKEN=2", "http://example.com/a"),
    ("http://example.com/a?b=1&session_id=qv3s7h0bn1k8t5m2l4c9r6d0ge", "http://example.com/a?b=1"),
    # tracking parameters
    ("http://example.com/a?utm_source=x&utm_medium=y&b=1", "http://example.com/a?b=1"),
    ("http://example.com/a?_ga=2.1.3&_gl=1*abc&srsltid=Afm&gad_source=1&gclsrc=aw.ds&b=1", "http://example.com/a?b=1"),
    ("http://example.com/a?__hstc=1&__hssc=2&__hsfp=3&hsCtaTracking=d&hsa_acc=1&b=1", "http://example.com/a?b=1"),
    ("http://example.com/a?mtm_campaign=a&pk_kwd=b&piwik_campaign=c&at_medium=RSS&b=1", "http://example.com/a?b=1"),
    (
        "http://example.com/a?pk_id=1&at_place=2&ef=3&gad=4&_g=5",
        "http://example.com/a?pk_id=1&at_place=2&ef=3&gad=4&_g=5",
    ),
    ("http://example.com/a?fbclid=x", "http://example.com/a"),
    ("http://example.com/a?b=1&gclid=x&c=2", "http://example.com/a?b=1&c=2"),
    # these only look like it
    ("http://example.com/a?side=1", "http://example.com/a?side=1"),
    ("http://example.com/a?id=1&resid=2", "http://example.com/a?id=1&resid=2"),
    ("http://example.com/story?sid=1", "http://example.com/story?sid=1"),
    ("http://example.com/station?sid=KAUS", "http://example.com/station?sid=KAUS"),
    ("http://example.com/story?sid=flood-in-sylhet-2026", "http://example.com/story?sid=flood-in-sylhet-2026"),
    ("http://example.com/talk?session_id=219&b=1", "http://example.com/talk?session_id=219&b=1"),
    ("http://example.com/a;sides=1", "http://example.com/a;sides=1"),
    ("http://example.com/f(x)/y", "http://example.com/f(x)/y"),
    # the order of parameters and an empty value are the server's business
    ("http://example.com/a?b=1&a=2", "http://example.com/a?b=1&a=2"),
    ("http://example.com/a?b=&a", "http://example.com/a?b=&a"),
]


@pytest.mark.parametrize(("raw", "canonical"), SAME)
def test_one_resource_has_one_url(raw: str, canonical: str) -> None:
    url = canonicalize(raw)
    assert url is not None
    assert url.href == canonical
    assert canonicalize(canonical) == url


NOT_HTTP = [
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "\x00javascript:alert(1)", "vbscript:x"),
    *("data:text/html,<b>", "DATA:text/html;base64,AA", "mailto:a@example.com", "tel:+15551234", "sms:+1555", "fax:1"),
    *("file:///etc/passwd", "ftp://example.com/a", "blob:http://example.com/1", "about:blank", "about:srcdoc"),
    *("ws://example.com/", "wss://example.com/", "gopher://example.com/", "ldap://example.com/", "dict://example.com/"),
    *("view-source:http://example.com/", "feed:http://example.com/", "chrome://settings", "ssh://example.com"),
    *("magnet:?xt=urn", "urn:isbn:1", "news:a", "nntp://a/", "irc://a/", "skype:a", "whatsapp://send", "intent://a"),
    *("geo:1,2", "cid:a", "mid:a", "jar:file:///a", "res://a", "resource://a", "itms://a", "market://a", "callto:a"),
    *("http://", "https://", "http:", "http:///", "http://./", "http://../", "http://?x", "http://#x", "//", ""),
    *(
        "http://example.com:99999/",
        "http://example.com:-1/",
        "http://exa mple.com/",
        "http://exa<mple.com/",
        "http://[",
    ),
    *("http://[::1", "http://[fe80::1%25eth0]/", "http://256.256.256.256/", "http://1.2.3.4.5/", "http://a%00b/"),
    *("http://\ud800/", "relative/path", "/path", "?query", "#fragment", "http://a^b/", "::::"),
]


@pytest.mark.parametrize("raw", NOT_HTTP)
def test_what_is_not_an_http_url_is_none(raw: str) -> None:
    assert canonicalize(raw) is None


@pytest.mark.parametrize(
    ("raw", "href"),
    [
        ("http://xn--a.example/x", "http://xn--a.example/x"),
        ("HTTP://A.XN--Pokxncvks:8080/?a=1#f", "http://a.xn--pokxncvks:8080/?a=1"),
        ("http://xn0-.xn--a/", None),
        ("http://xn--a b/", None),
    ],
)
def test_labels_that_look_like_punycode_are_taken_as_they_are(raw: str, href: str | None) -> None:
    url = canonicalize(raw)
    assert (url.href if url else None) == href
    if url:
        assert canonicalize(url.href) == url
        assert url.href.startswith(url.origin)


def test_relative_links_are_joined_with_their_base() -> None:
    base = "http://example.com/a/b?c=1"
    joined = [
        ("d", "http://example.com/a/d"),
        ("/d", "http://example.com/d"),
        ("//other.example/d", "http://other.example/d"),
        ("?d=2", "http://example.com/a/b?d=2"),
        ("#x", "http://example.com/a/b?c=1"),
        ("", "http://example.com/a/b?c=1"),
        ("../../../d", "http://example.com/d"),
        ("https:d", "https://d/"),
        ("http:d", "http://example.com/a/d"),
        ("http://example.com", "http://example.com/"),
    ]
    for raw, expected in joined:
        url = canonicalize(raw, base)
        assert url is not None
        assert url.href == expected
    assert canonicalize("javascript:void(0)", base) is None
    assert canonicalize("d", "mailto:x") is None


def test_very_long_input_is_not_parsed() -> None:
    assert canonicalize("http://example.com/" + "a" * 10_000) is None
    assert canonicalize("http://example.com/" + "a" * 5_000) is not None


def test_parts_and_origin() -> None:
    url = canonicalize("https://example.com:8443/a/b?c=d&e")
    assert url is not None
    assert (url.scheme, url.host, url.port, url.path, url.query) == ("https", "example.com", 8443, "/a/b", "c=d&e")
    assert url.origin == "https://example.com:8443"
    plain = canonicalize("https://example.com/a")
    assert plain is not None
    assert plain.origin == "https://example.com"
    cross = canonicalize("http://example.com:443/")
    assert cross is not None
    assert cross.origin == "http://example.com:443"


def test_a_broken_escape_is_not_completed_by_what_follows() -> None:
    url = canonicalize("http://example.com/%a%41")
    assert url is not None
    assert url.path == "/%a%41"
    assert canonicalize(url.href) == url


PIECES = st.sampled_from(
    ["a", "%41", "%2e", ".", "..", "/", "//", ";sid=1", ";jsessionid=2", "(S(aaaaaaaaaaaaaaaaaaaaaaaa))", "?", "&", "=",
     "sid", "utm_x", "#", "%", "%2", "%zz", "ü", "\\", " ", "@", ":", ":80", ".com", "[", "😀", "\t", "ß", "xn--", "。"]
)  # fmt: skip


@settings(max_examples=examples(2_000, 100_000), deadline=None)
@given(st.sampled_from(["http://", "https://", "http:", ""]), st.lists(PIECES, max_size=12), st.text(max_size=8))
def test_canonical_form_is_idempotent(scheme: str, pieces: list[str], tail: str) -> None:
    url = canonicalize(f"{scheme}example.com/{''.join(pieces)}{tail}" if scheme else "".join(pieces) + tail)
    if url is None:
        return
    assert canonicalize(url.href) == url
    assert url.host
    assert not url.host.endswith(".")
    assert "#" not in url.href
    assert "@" not in url.href.partition("://")[2].partition("/")[0]


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("/x/.c/../d", "/x/d"), ("a/.com/.", "/b/a/.com/"), ("/x/.well-known/./a", "/x/.well-known/a"),
        ("/x/.c/%2e%2E/..", "/"), ("/x/.c/..d/...", "/x/.c/..d/..."), ("/.c/../../..", "/"),
    ],
)  # fmt: skip
def test_dots_behind_a_folder_whose_name_begins_with_one_are_resolved(link: str, path: str) -> None:
    for base in ("https://a.com/b/c.html", "https://a.com/b/?q"):
        url = canonicalize(link, base)
        assert url is not None
        assert (url.path, url.href) == (path, f"https://a.com{path}")
        assert canonicalize(url.href) == url


@settings(max_examples=examples(2_000), deadline=None)
@given(
    st.sampled_from(
        ["http://a.com/", "https://a.com/b/c.html", "http://a.com:8080/b/?x=/y/", "http://a.com/b/#/d", "ftp://a"]
    ),
    st.sampled_from(["", "a", "/", "?", "0.html", "_x", "a:"]),
    st.lists(PIECES, max_size=8),
)
def test_links_that_need_no_parser_come_out_as_the_parser_reads_them(base: str, start: str, pieces: list[str]) -> None:
    link = start + "".join(pieces)
    assert canonicalize(link, base) == _canonical(link, base)


@settings(max_examples=examples(500), deadline=None)
@given(st.text(max_size=60))
def test_any_host_gives_a_canonical_url_or_none(host: str) -> None:
    url = canonicalize(f"http://{host}/")
    assert url is None or canonicalize(url.href) == url


def test_fingerprints_fit_sqlite_and_do_not_collide() -> None:
    marks = {fingerprint(f"http://example.com/{number}") for number in range(100_000)}
    assert len(marks) == 100_000
    assert all(-(2**63) <= mark < 2**63 for mark in marks)
    assert fingerprint("http://example.com/") == fingerprint("http://example.com/")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("user.github.io", "user.github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("www.portland.mini.test", "portland.mini.test"),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


# -- The web platform's own cases, where they are at hand ------------------------------------------


def conformance_folder() -> Path:
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder or not (Path(folder) / "conformance").is_dir():
        pytest.skip("PERIPLUS_DATA names no folder with conformance/: the web platform's URL cases are not run")
    return Path(folder) / "conformance"


def test_web_platform_url_cases() -> None:
    cases = json.loads((conformance_folder() / "wpt/url/resources/urltestdata.json").read_text("utf-8"))
    wrong = []
    for case in (case for case in cases if isinstance(case, dict)):
        url = canonicalize(case["input"], case["base"] or None)
        if case.get("failure") or case["protocol"] not in ("http:", "https:"):
            if url is not None:
                wrong.append(case["input"])
            continue
        host = case["hostname"].rstrip(".")
        if url is None:
            if host and case["input"] != "http://foo.09..":  # which name nothing
                wrong.append(case["input"])
        elif url != canonicalize(case["href"]) or url.host != host or f"{url.scheme}:" != case["protocol"]:
            wrong.append(case["input"])
    assert wrong == []


def test_web_platform_idna_cases() -> None:
    folder = conformance_folder() / "wpt/url/resources"
    cases = json.loads((folder / "toascii.json").read_text("utf-8"))
    cases += json.loads((folder / "IdnaTestV2.json").read_text("utf-8"))
    wrong = []
    for case in (case for case in cases if isinstance(case, dict)):
        url = canonicalize(f"https://{case['input']}/x")
        expected = case["output"]
        if url is None:
            if expected and expected.strip("."):
                wrong.append(case["input"])
        elif case["input"] and (expected is None or url.host != expected.rstrip(".")):
            wrong.append(case["input"])
    # The parser follows a slightly older edition of the IDNA tables: letters that are new since are not in it.
    assert not [name for name in wrong if name.isascii()]
    assert len(wrong) <= 0.03 * len(cases), wrong[:20]


def test_public_suffix_vectors() -> None:
    lines = (conformance_folder() / "publicsuffix/tests/tests.txt").read_text("utf-8").splitlines()
    checked = 0
    for line in random.Random(7).sample(lines, len(lines)):
        if not line or line.startswith("//"):
            continue
        host, _, expected = line.partition(" ")
        url = canonicalize(f"http://{host}/")
        if url is None or host.startswith(".") or expected == "null":
            continue
        wanted = canonicalize(f"http://{expected}/")
        assert wanted is not None
        assert registrable_domain(url.host) == wanted.host
        checked += 1
    assert checked > 50


def test_links_of_a_page_are_what_each_is_by_itself() -> None:
    raws = [
        "",
        "/",
        "//x.org/a",
        "/a?b",
        "a.html",
        "a:b",
        "?q=1",
        "#f",
        "../up",
        "https://x.org",
        "\t/a",
        "/\\x",
        "x" * 9_000,
    ]
    for base in (
        "http://x.org/a/b.html",
        "http://x.org",
        "https://x.org/a?b/c",
        "http:/x.org/a",
        "http://x\\y/z",
        "ftp://x/",
    ):
        assert list(canonical_links(raws, base)) == [canonicalize(raw, base) for raw in raws]
        assert [url and url.href for url in canonical_links(raws, base)] == [by_parser(raw, base) for raw in raws]


def by_parser(raw: str, base: str) -> str | None:
    """The link as the URL parser alone resolves it."""
    try:
        absolute = (can_ada.parse(base) + raw).href if len(raw) <= 8_192 else ""
    except ValueError:
        return None
    url = canonicalize(absolute)
    return url.href if url else None
