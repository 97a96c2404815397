"""Reading gives the same pages compiled and as plain Python, also of markup that nobody would write."""

import random
from pathlib import Path

import pytest
from plain_python import SOURCE, run, uncompiled

from periplus.pages.blanks import blanks, byte_each
from periplus.pages.signs import signs_of

PROGRAM = """
import json, sys
from datetime import UTC, datetime
from periplus.model import Fetched
from periplus.pages import read_page, signs
when = datetime(2026, 7, 1, tzinfo=UTC)
bodies = [bytes.fromhex(body) for body in json.load(sys.stdin)]
pages = [read_page(Fetched("http://x.org/a/", 200, (), body, "text/html", when, 0.1, "")) for body in bodies]
print(signs.__file__)
print(json.dumps([*map(repr, pages), *(sorted(map(repr, signs.signs_of(body))) for body in bodies)]))
"""
PIECES = [
    "<p>", "</p>", "<div class=Breadcrumbs>", "</div>", "<nav>", "</nav>", "<a href=/b?c=1&amp;d title='A b'>", "</a>",
    "<a rel=nofollow href='c.html'>", "<area href=d alt=Map>", "<img alt='A &lt; picture'>", "<!-- c -->", "<!-- open",
    "<script>x='<p>'</script>", "<blockquotes>", "<blockquote>", "</h1><h1>", "<base href=/q/>", "<frameset>", "<td>",
    "<p class = 'x vcard'><b class=locality>Bonn</b>", "<link rel=Canonical href=/c>", "<time datetime=2020-01-02>",
    "<a href=e aria-label='L > m' title=n>", "Words of a text ",
    "&nbsp;", "&amp;", "& ", "&#8238;", "\u202e", "\x01", "\u00e9", "\u00a0", "\u3000", "\u2028",
    "<div class='x Menu'>", "<ul id=related title=\"a > b\">", "</ul>", "<div role='navigation x'>", "<footer>",
    "\u0416 ", "\U0001d11e", "4 May 2021 ", "<", ">", "=", '"', "'", "\n",
    "A line that is long enough to be content by itself, since nothing but words stands in it from end to end. ",
]  # fmt: skip


@pytest.mark.needs("gcc")
@pytest.mark.needs("python headers")
def test_compiled_and_plain_python_read_the_same(tmp_path: Path) -> None:
    chance = random.Random(3)
    given = ["".join(chance.choices(PIECES, k=chance.randrange(60))).encode().hex() for _ in range(300)]
    where, plain = run(PROGRAM, uncompiled(tmp_path), given)
    assert where.endswith(".py")
    where, compiled = run(PROGRAM, SOURCE.parent, given)
    assert not where.endswith(".py")
    assert compiled == plain


@pytest.mark.parametrize(
    ("source", "signs"),
    [
        (b"Cards of geography in quadrats; <p>canonical</p>", set()),
        (b"<p class=vcard>", {b"card"}),
        (b"<P CLASS = 'h-ADR'>", {b"adr"}),
        (b'<i title="a > b" class="x geo">', {b"geo"}),
        (b'<a href="x?y=1" hreflang=de>', {b"hreflang"}),
        (b"<BASE href=/><Time><frameset>", {b"base", b"time", b"frameset"}),
        (b"<meta http-equiv=\n'Content-Language'", {b"content-language"}),
        (b"a&#1;\x01\xe2\x80\xae", {b"&#", b"\0", b"\xe2"}),
        (b"<link rel='Prev Next' href=/2><p>next", {b"next"}),
        (b"next <p>next=", set()),
        (b"<" * 4_000, set()),
        (b"<" * 4_001, {b"<"}),
        (b"class=", set()),
        (b"<", set()),
        (b"", set()),
    ],
)
def test_signs_are_words_where_markup_can_mean_them(source: bytes, signs: set[bytes]) -> None:
    assert signs_of(source) == signs


@pytest.mark.parametrize("text", ["", " ", "a b\nc\td", "\u00e9 \u2003\u4e2d \U0001d11e\n\n ", "no blank" * 50 + " "])
def test_blanks_are_counted_between_places_of_the_text_whatever_its_script(text: str) -> None:
    codes = byte_each(text)
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            said = text[start:end]
            assert blanks(codes, start, end) == said.count(" ") + said.count("\n"), said
