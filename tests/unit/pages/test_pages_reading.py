"""HTML to a page: encodings, text, links with their surroundings, metadata, and hostile input."""

import contextlib
import random
from datetime import date
from urllib.parse import urljoin

import pytest
from crawl_values import fetched
from effort import bounded_effort, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from own_process import in_own_process

from periplus.errors import PeriplusError
from periplus.model import LonLat, Page
from periplus.pages import read_page, searched_date
from periplus.pages.maintext import without

URL = "http://example.com/a/b.html"


def read(
    html: str | bytes,
    *,
    header: str = "text/html",
    max_links: int = 500,
    window: int = 50,
    robots: tuple[str, ...] = (),
    refresh: str = "",
    url: str = URL,
) -> Page:
    body = html.encode() if isinstance(html, str) else html
    headers = (*(("X-Robots-Tag", value) for value in robots), *([("Refresh", refresh)] if refresh else []))
    response = fetched(url, body, content_type=header, headers=headers)
    return read_page(response, max_links=max_links, window_tokens=window)


# -- Encodings (reliability C2) ----------------------------------------------------------------------

NAMES = "Москва Санкт-Петербург"
ENCODINGS = [
    ("utf-8", "utf-8", "Zürich São Paulo Москва 東京"),
    ("windows-1251", "cp1251", NAMES),
    ("koi8-r", "koi8-r", NAMES),
    ("shift_jis", "shift_jis", "東京都 大阪市"),
    ("euc-jp", "euc_jp", "東京都 大阪市"),
    ("iso-2022-jp", "iso2022_jp", "東京都 大阪市"),
    ("gbk", "gbk", "北京 上海 广州"),
    ("gb2312", "gbk", "北京 上海"),
    ("gb18030", "gb18030", "北京 上海 广州"),
    ("big5", "big5", "臺北 高雄"),
    ("euc-kr", "euc_kr", "서울 부산"),
    ("iso-8859-1", "cp1252", "Zürich “São Paulo”"),  # what the label means on the web
    ("iso-8859-2", "iso8859_2", "Łódź Kraków"),
    ("windows-1252", "cp1252", "München"),
    ("windows-1255", "cp1255", "ירושלים"),
    ("windows-1256", "cp1256", "القاهرة"),
    ("tis-620", "cp874", "กรุงเทพ"),
]


QUERIES = [
    ("utf-8", "/поиск?q=Москва", "/%D0%BF%D0%BE%D0%B8%D1%81%D0%BA?q=%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0"),
    ("utf-16", "/?q=Москва", "/?q=%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0"),
    ("windows-1251", "/поиск?q=Москва#я", "/%D0%BF%D0%BE%D0%B8%D1%81%D0%BA?q=%CC%EE%F1%EA%E2%E0"),
    ("koi8-r", "?q=Москва", "/a/b.html?q=%ED%CF%D3%CB%D7%C1"),
    ("shift_jis", "/?q=東京", "/?q=%93%8C%8B%9E"),
    ("shift_jis", "/?q=表", "/?q=%95\\"),  # its second byte is a letter of ASCII, which stands for itself
    ("euc-jp", "/?q=東京", "/?q=%C5%EC%B5%FE"),
    ("iso-2022-jp", "/?q=東京", "/?q=%1B$BEl5~%1B(B"),
    ("gbk", "/?q=北京", "/?q=%B1%B1%BE%A9"),
    ("big5", "/?q=臺北", "/?q=%BBO%A5_"),
    ("euc-kr", "/?q=서울", "/?q=%BC%AD%BF%EF"),
    ("windows-1252", "/?a=1&q=Łódź", "/?a=1&q=%26%23321%3B%F3d%26%23378%3B"),  # as browsers do
    ("windows-1251", "/#?q=Москва", "/"),
]


@pytest.mark.parametrize(("encoding", "href", "url"), QUERIES)
def test_the_query_of_a_link_is_in_the_encoding_of_its_page(encoding: str, href: str, url: str) -> None:
    body = f'<meta http-equiv=refresh content="9;{href}"><a href="{href}">x</a>'
    page = read(body.encode(encoding, "xmlcharrefreplace"), header=f"text/html; charset={encoding}")
    assert [link.url for link in page.links] == [f"http://example.com{url}"] * 2


@pytest.mark.parametrize(
    ("host", "codec", "name"),
    [
        ("gazeta.ru", "cp1251", "Москва"),
        ("gazeta.xn--p1ai", "cp1251", "Москва"),
        ("mesto.cz", "cp1250", "Plzeň"),
        ("miasto.pl", "iso8859-2", "Łódź"),
        ("poli.gr", "iso8859-7", "Αθήνα"),
        ("kent.com.tr", "cp1254", "İstanbul ve Eskişehir"),
        ("mura.jp:8080", "shift_jis", "東京都 大阪市"),
        ("mura.co.jp", "euc_jp", "東京都 大阪市"),
        ("shi.com.cn", "gbk", "北京 上海 广州"),
        ("shi.tw", "big5", "臺北 高雄"),
        ("si.kr", "euc_kr", "서울 부산"),
        ("stadt.de", "cp1252", "Zürich"),
        ("stadt.jp", "cp1252", "Zürich – “Genève”"),
        ("gazeta.ru", "utf-8", "Москва"),
    ],
)
def test_a_page_that_does_not_say_its_encoding_is_read_as_pages_of_its_country_are(
    host: str, codec: str, name: str
) -> None:
    page = read(f"<title>{name}</title><p>{name}".encode(codec), url=f"http://{host}/")
    assert (page.title, page.text) == (name, name)


@pytest.mark.parametrize(("label", "codec", "text"), ENCODINGS)
def test_the_header_names_the_encoding(label: str, codec: str, text: str) -> None:
    page = read(f"<title>{text}</title><p>{text}".encode(codec), header=f'text/html; charset="{label}"')
    assert (page.title, page.text) == (text, text)


@pytest.mark.parametrize(("label", "codec", "text"), ENCODINGS)
def test_else_a_meta_tag_does(label: str, codec: str, text: str) -> None:
    for tag in (f'<meta charset="{label}">', f'<META http-equiv=Content-Type content="text/html; charset={label}">'):
        assert read(f"<html><head>{tag}<title>x</title><p>{text}".encode(codec)).text == text
        assert read(f"<html><head><meta charset=bogus>{tag}<p>{text}".encode(codec)).text == text


LANGUAGES = [
    *("Zürich und Köln", "São Paulo, Brasília", "Łódź i Kraków", "Αθήνα Θεσσαλονίκη", "Київ Харків", "İstanbul, Şişli"),
    *(
        "दिल्ली मुंबई",
        "東京都 大阪市",
        "서울 부산",
        "القاهرة الإسكندرية",
        "ירושלים חיפה",
        "กรุงเทพ",
        "Thành phố Hồ Chí Minh",
    ),
]


def test_C2_names_of_places_come_out_as_they_were_written_in_sixty_pages_and_more() -> None:
    """By header, by either tag, by a mark at the beginning, by a tag behind a long head, or as UTF-8 without a word."""
    pages: list[tuple[str, bytes, str]] = []
    for label, codec, text in ENCODINGS:
        body = f"<p>{text}</p>"
        late = f'<!--{"-" * 2_000}--><meta charset="{label}">'
        pages.append((text, body.encode(codec), f"text/html; charset={label}"))
        heads = (f"<meta charset={label}>", f'<meta content="text/html; charset={label}" name=x>', late)
        pages += [(text, (head + body).encode(codec), "text/html") for head in heads]
    for text in LANGUAGES:
        pages.append((text, f"<p>{text}</p>".encode(), "text/html"))
        for mark, codec in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
            pages.append((text, mark + f"<p>{text}</p>".encode(codec), "text/html; charset=windows-1252"))
    wrong = [(text, header) for text, body, header in pages if read(body, header=header).text != text]
    assert len(pages) >= 60
    assert wrong == []


def test_a_tag_in_a_comment_names_no_encoding_and_an_xml_declaration_does() -> None:
    commented = f"<!-- <meta charset=koi8-r> --><!--><meta charset=windows-1251><p>{NAMES}"
    assert read(commented.encode("cp1251")).text == NAMES
    declared = f'<?xml version="1.0" encoding="windows-1251"?><html><p>{NAMES}'
    assert read(declared.encode("cp1251"), header="application/xhtml+xml").text == NAMES
    assert (
        read(declared.replace("1251", "1252").replace("<p>", "<meta charset=koi8-r><p>").encode("koi8-r")).text == NAMES
    )


def test_a_byte_order_mark_comes_first_then_the_header_then_the_tag() -> None:
    russian = f'<meta charset="koi8-r"><p>{NAMES}'
    assert read(b"\xef\xbb\xbf" + russian.encode(), header="text/html; charset=cp1251").text == NAMES
    assert read(b"\xff\xfe" + russian.encode("utf-16-le"), header="text/html; charset=cp1251").text == NAMES
    assert read(b"\xfe\xff" + russian.encode("utf-16-be")).text == NAMES
    assert read(russian.encode("cp1251"), header="text/html; charset=windows-1251").text == NAMES
    assert read(f"<p>{NAMES}".encode("utf-16-le"), header="text/html; charset=utf-16le").text == NAMES


def test_without_any_word_it_is_utf8_or_western() -> None:
    assert read("<p>Zürich Москва".encode()).text == "Zürich Москва"
    assert read("<p>Zürich".encode("cp1252")).text == "Zürich"
    assert read(("<p>" + "Москва" * 50).encode()[:-1]).text.startswith("Москва")  # cut in the middle of a letter


@pytest.mark.parametrize("label", ["", "nonsense", "iso-8859&#8211;1", "utf-7", "x-user-defined", "none", "utf-16"])
def test_a_wrong_label_is_not_believed(label: str) -> None:
    assert "Zürich" in read(f'<meta charset="{label}"><p>Zürich'.encode()).text


def test_bytes_that_do_not_fit_are_replaced_and_the_rest_stays() -> None:
    page = read(b"<p>Lis\xffbon</p><p>Porto</p>", header="text/html; charset=utf-8")
    assert page.text == "Lis\ufffdbon\nPorto"


# -- Text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\ntwo\nthree"),
        ("one<br>two", "one\ntwo"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("<table><tr><td>one<td>two<tr><td>three</table>", "one\ntwo\nthree"),
        ("<p>a <b>bold</b> word</p>", "a bold word"),
        ("<p>glu<i>ed</i></p>", "glued"),
        ("<p>  many \n\t blanks  </p>", "many blanks"),
        ("<p>no&nbsp;break</p>", "no break"),
        ("<p>a &amp; b &lt;c&gt; &eacute;&#8364;</p>", "a & b <c> é€"),
        ("<p>see <a href=/x> Lisbon </a> now</p>", "see Lisbon now"),
        ("<p>see<a href=/x>Lisbon</a>now</p>", "seeLisbonnow"),
        ("<a href=/x><div>block</div></a>after", "block\nafter"),
        ("<p>one <a href=/x></a></p><p>two", "one\ntwo"),
        ("<a href=/1><img></a><p>two", "two"),
        ("<script>var x</script><style>p{}</style><p>text<noscript>no</noscript>", "text"),
        ("<svg><text>no</text></svg><iframe>no</iframe><template>no</template>text", "text"),
        ("<select><option>no</select><textarea>no</textarea>text", "text"),
        ("<!-- comment -->text", "text"),
        ("<address>1 Main St<br>Portland, OR 97201</address>", "1 Main St\nPortland, OR 97201"),
        ("", ""),
        ("<title>only a title</title>", ""),
        ("plain text", "plain text"),
    ],
)
def test_text_has_one_line_a_block(html: str, text: str) -> None:
    assert read(html).text == text


def test_control_characters_vanish_written_or_referred_to() -> None:
    page = read("<p>a\x00b\x01c\x02d &#1;&#2;5&#3;&#x4;&#0;&#00031;&#x1f e&#&#2;2;7&#3; <a href=/x>link</a>")
    assert not any(ord(character) < 32 and character != "\n" for character in page.text + page.title)
    assert [link.anchor for link in page.links] == ["link"]
    assert "&#65;" not in read("<p>&#65;&#x41;&#10;B").text
    assert read("<p>&#65;&#x41;&#20013;").text == "AA中"


@pytest.mark.parametrize("turning", [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_C4_no_text_turns_the_direction_of_what_stands_behind_it(turning: int) -> None:
    """Neither written nor referred to, nor put together from what was dropped; marks and joiners stay."""
    written = chr(turning)
    forms = (
        written,
        f"&#{turning};",
        f"&#x{turning:X};",
        f"&#0{turning} ",
        f"&#x{turning:x}",
        f"&#{written}{turning};",
    )
    page = read("".join(f"<title>a{form}b</title><a href=/x>c{form}d</a><p>e{form}f</p>" for form in forms))
    anchors = "".join(link.anchor for link in page.links)
    assert written not in page.title + page.text + page.description + anchors
    assert [len(page.links), page.title] == [len(forms), "ab"]
    assert read("<title>نمی\u200cخواهم\u200f</title><p>x").title == "نمی\u200cخواهم\u200f"


def test_C4_what_is_half_a_character_is_none() -> None:
    page = read(b"<title>a&#xD800;b\xed\xa0\x80c</title><p>d&#55357;&#56832;e\xf0\x9f" + b"x" * 1000)
    assert (page.title + page.text).encode("utf-8")  # as databases and files want it


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n title </title><p>x", "A title"),
        ("<svg><title>Drawing</title></svg><p>x", "Drawing"),
        ("<head><title>Page</title></head><body><svg><title>Drawing</title></svg>", "Page"),
        ("<p>First line</p><p>x", "First line"),
        ("<title></title><p>First line", "First line"),
        ("<meta property='og:title' content=' Its \n title '><p>First line", "Its title"),
        ("", ""),
        ("<title>" + "x" * 10_000 + "</title>", "x" * 500),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert read(html).title == title


# -- Links ---------------------------------------------------------------------------------------------


def around_first(page: Page) -> tuple[str, str]:
    return page.around(page.links[0])


def test_links_have_anchor_and_neighbourhood() -> None:
    page = read("<p>Visit <a href=/lisbon>old <b>Lisbon</b></a> by train</p><p>or <a href=/porto>Porto</a></p>")
    lisbon, porto = page.links
    assert (lisbon.url, lisbon.anchor) == ("http://example.com/lisbon", "old Lisbon")
    assert page.around(lisbon) == ("Visit", "by train or Porto")
    assert (porto.anchor, page.around(porto)) == ("Porto", ("Visit old Lisbon by train or", ""))


def test_the_window_is_as_wide_as_asked() -> None:
    words = " ".join(f"w{number}" for number in range(200))
    html = f"<p>{words} <a href=/x>here</a> {words}"
    assert around_first(read(html, window=3)) == ("w197 w198 w199", "w0 w1 w2")
    assert len(around_first(read(html, window=50))[0].split()) == 50
    none = read(html, window=0)
    assert (none.links[0].anchor, around_first(none)) == ("here", ("", ""))


def test_text_without_blanks_has_a_bounded_window() -> None:
    page = read("<p>" + "東" * 5_000 + "<a href=/x>京</a>" + "都" * 5_000)
    assert page.links[0].anchor == "京"
    assert all(0 < len(words) <= 600 for words in around_first(page))


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=/x><img alt='A picture'></a>", "A picture"),
        ("<a href=/x title='A title'></a>", "A title"),
        ("<a href=/x aria-label='A &amp; label' title='A title'><i class=icon></i></a>", "A & label"),
        ("<a href=/x aria-label='A label'><img alt='A picture'></a>", "A label"),
        ("<a href=/x aria-label=''><img alt='A picture'></a>", "A picture"),
        ("<a href=/x aria-labelledby='a' aria-hidden='b' label='c'></a>", ""),
        ("<a href=/x aria-label='A label'>A text</a>", "A text"),
        ("<a href=/x><img aria-label='A label'></a>", "A label"),
        ("<a href=/x><img title='A picture'><img alt='Another'></a>", "A picture"),
        ("<map><area href=/x aria-label='An area'></map>", "An area"),
        ("<a href=/x><img></a>", ""),
        ("<map><area href=/x alt='An area'></map>", "An area"),
        ("<a href=/x>" + "long " * 1_000 + "</a>", ("long " * 100).strip()),
    ],
)
def test_links_without_a_text_of_their_own(html: str, anchor: str) -> None:
    assert [link.anchor for link in read(html).links] == [anchor]


def test_links_are_absolute_canonical_and_in_order() -> None:
    html = "<a href=c>1</a><a href='../d?utm_source=x#y'>2</a><a href='HTTP://OTHER.example'>3</a><a href=''>4</a>"
    assert [link.url for link in read(html).links] == [
        "http://example.com/a/c",
        "http://example.com/d",
        "http://other.example/",
        "http://example.com/a/b.html",
    ]


def test_what_is_not_taken_is_counted() -> None:
    html = (
        "<a href='javascript:x()'>1</a><a href='mailto:a@b.c'>2</a><a href='tel:1'>3</a><a name=x>4</a>"
        "<a href=/n rel='external NoFollow'>5</a><a href=/1>6</a><a href=/2>7</a><a href=/3>8</a>"
    )
    page = read(html, max_links=2)
    assert [link.anchor for link in page.links] == ["6", "7"]
    assert page.dropped == {"not_http": 3, "nofollow": 1, "page_links": 1}


def test_the_country_that_a_page_says_it_is_for() -> None:
    html = (
        "<link rel=alternate hreflang=en-GB href=http://example.com/a/b.html>"
        "<link rel=alternate hreflang=en-AU href=http://example.com/au/b.html>"
        "<link rel=alternate hreflang=en href=http://example.com/a/b.html><p>x"
    )
    assert read(html).hints.countries == ("GB",)
    assert read(html.replace("/a/b.html", "/other.html")).hints.countries == ()


def test_base_href() -> None:
    assert read("<base href='http://other.example/x/'><a href=y>z").links[0].url == "http://other.example/x/y"
    assert read("<base href='/x/'><a href=y>z").links[0].url == "http://example.com/x/y"
    assert read("<base href='javascript:1'><a href=y>z").links[0].url == "http://example.com/a/y"
    assert read("<base target=_top><a href=y>z").links[0].url == "http://example.com/a/y"


def test_the_regions_of_a_map_that_is_drawn_are_links() -> None:
    page = read(
        "<p>Where?</p><svg viewBox='0 0 9 9'><a xlink:href='bavaria'><title>Bavaria</title><path d='M1 1'/></a>"
        "<a href=/hesse><text>Hesse</text></a><a rel=nofollow href=/x><text>X</text></a><a><text>Y</text></a></svg>"
        "<a href=/near>Near <svg><use xlink:href='#sign'/></svg></a>"
    )
    assert [(link.url.removeprefix("http://example.com"), link.anchor) for link in page.links] == [
        ("/near", "Near"),
        ("/a/bavaria", "Bavaria"),
        ("/hesse", "Hesse"),
    ]
    assert page.dropped == {"nofollow": 1}
    assert "Bavaria" not in page.text
    assert [link.url for link in read("<svg><a href=/open><text>o").links] == ["http://example.com/open"]


def test_frames_and_meta_refresh_are_links() -> None:
    frames = read("<frameset><frame src=one.html><frame src=/two.html></frameset>")
    assert [link.url for link in frames.links] == ["http://example.com/a/one.html", "http://example.com/two.html"]
    for content in ("0; url=/next", "5;URL='/next'", "0,/next", "0; /next", '0; url="/next"'):
        links = read(f"<meta http-equiv=Refresh content='{content}'>".replace("''", "'")).links
        assert [link.url for link in links if content.count("'") == 0] in ([], ["http://example.com/next"])
    assert read("<meta http-equiv=refresh content='0; url=/next'>").links[0].url == "http://example.com/next"
    assert read("<meta http-equiv=refresh content='0; url=javascript:1'>").links == ()
    assert read("<meta http-equiv=refresh content='30'>").links == ()


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("0;URL=/a", "/a"),
        ("0.5, url = '/a b'", "/a%20b"),
        ("5 url=/a", "/a"),
        (" 5;/a", "/a"),
        ("0; url=/it's", "/it's"),
        ("0; url='/a' and more", "/a"),
        ("0; url=&quot;/a", "/a"),
    ],
)
def test_a_meta_refresh_is_read_as_browsers_do(written: str, leads_to: str) -> None:
    page = read(f'<meta http-equiv=refresh content="{written}">')
    assert [link.url for link in page.links] == [f"http://example.com{leads_to}"]
    assert read("<p>x", refresh="0; url=/a").links[0].url == "http://example.com/a", "the header says the same"


# -- What a page says about itself ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "robots", "noindex", "nofollow"),
    [
        ("", (), False, False),
        ("<meta name=robots content=noindex>", (), True, False),
        ("<META NAME=ROBOTS CONTENT='NOINDEX, NOFOLLOW'>", (), True, True),
        ("<meta name=robots content=none>", (), True, True),
        ("<meta name=robots content='index,follow'>", (), False, False),
        ("<meta name=robots content=index><meta name=robots content=nofollow>", (), False, True),
        ("<meta name=robots content='noindex nofollow'>", (), True, True),
        ("<meta name=robots content='NoIndex; nofollow'>", (), True, True),
        ("<meta name=robots content='max-image-preview: none, index'>", (), False, False),
        ("", ("noindex; nofollow",), True, True),
        ("<meta name=periplus content=noindex>", (), True, False),
        ("<meta name=otherbot content=noindex>", (), False, False),
        ("", ("noindex",), True, False),
        ("", ("noarchive, nofollow",), False, True),
        ("", ("none",), True, True),
        ("", ("NoIndex",), True, False),
        ("", ("periplus: noindex, nofollow",), True, True),
        ("", ("otherbot: noindex, nofollow",), False, False),
        ("", ("unavailable_after: 25 Jun 2010 15:00:00 PST",), True, False),
        ("", ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow",), True, True),
        ("", ("unavailable_after: 2010-06-25T15:00:00Z",), True, False),
        ("", ("unavailable_after: 25 Jun 2099 15:00:00 PST",), False, False),
        ("", ("unavailable_after: Thu, 25 Jun 2099 15:00:00 GMT, noindex",), True, False),
        ("", ("unavailable_after: soon, noindex",), True, False),
        ("", ("unavailable_after: 2099-06-25, nofollow",), False, True),
        ("", ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST",), False, False),
        ("", ("otherbot: noindex, periplus: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT",), True, False),
        ("<meta name=robots content='unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT'>", (), True, False),
        ("<meta name=robots content='unavailable_after: 2099-06-25'>", (), False, False),
        ("", ("noindex, unavailable_after: 25 Jun 2099 15:00:00 PST",), True, False),
        ("", ("otherbot: noindex, periplus: nofollow",), False, True),
        ("", ("otherbot: noindex",), False, False),
    ],
)
def test_robots_directives(html: str, robots: tuple[str, ...], noindex: bool, nofollow: bool) -> None:
    page = read(html + "<p>x", robots=robots)
    assert (page.noindex, page.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("html", "urls"),
    [
        ("<script>window.location.href = '/en/';</script>", ["http://example.com/en/"]),
        ('<title>Loading</title><script>if (x) { location.replace("de/start.php") }</script>', ["de/start.php"]),
        ("<script>document.location='http://other.com/'</script><p>One moment", ["http://other.com/"]),
        ("<script>var allocation = '/x'; a.location = '/y'; location.hash = '#z'</script>", []),
        ("<script>location.href = '/menu'</script><p><a href=/a>a</a>", ["http://example.com/a"]),
        (f"<script>location.href = '/away'</script><p>{'word ' * 100}", []),
    ],
)
def test_a_page_with_nothing_but_a_script_leads_where_the_script_does(html: str, urls: list[str]) -> None:
    expected = [urljoin(URL, url) for url in urls]
    assert [link.url for link in read(html).links] == expected


def test_the_next_part_of_a_list_is_followed_also_where_only_the_head_names_it() -> None:
    page = read("<link rel='prev' href='?page=1'><link rel=\"next\" href='?page=3'><p><a href=/a>a</a> next")
    assert [link.url for link in page.links] == ["http://example.com/a", urljoin(URL, "?page=3")]
    assert [link.url for link in read("<link rel=nextcloud href=/c><p>rel=next").links] == []


STORY = "<p>The river rose by two metres overnight, and the old bridge was closed, the council said on Monday.</p>" * 4
LIST = "".join(f"<li><a href=/story/{number}>Story {number}</a></li>" for number in range(6))


@pytest.mark.parametrize(
    ("html", "text", "links"),
    [
        (f"<p>News</p><noscript>{STORY}</noscript>", True, 0),
        (f"<p>News <a href=/>Front</a></p><noscript><ul>{LIST}</ul></noscript>", False, 7),
        ("<div id=app></div><noscript><a href=/archive>Archive</a></noscript>", False, 1),
        ("<p><a href=/>Front</a></p><noscript>Please turn <a href=/help>scripts</a> on.</noscript>", False, 1),
        (f"<noscript><style>{'p { color: red } ' * 40}</style><img src=/count.gif></noscript>", False, 0),
        (f"<noscript>{STORY}", True, 0),
    ],
    ids=["article", "list of links", "the only link", "notice", "pictures and styles", "never closed"],
)
def test_what_is_there_for_readers_without_scripts_is_read_where_it_is_more_than_a_notice(
    html: str, text: bool, links: int
) -> None:
    page = read(html)
    assert ("the old bridge" in page.text, len(page.links)) == (text, links)
    assert "turn scripts on" not in page.text
    assert "color" not in page.text


def test_versions_in_other_languages_are_links_also_where_only_the_head_names_them() -> None:
    versions = {"bn": "/bn/b.html", "de-AT": "http://example.at/b.html", "x-default": URL, "fr": "/bn/b.html"}
    head = "".join(f"<link rel=alternate hreflang={name} href={href}>" for name, href in versions.items())
    links = [link.url for link in read(f"{head}<link rel=alternate href=/feed.xml><p>Text").links]
    assert links == ["http://example.com/bn/b.html", "http://example.at/b.html"]
    many = "".join(f"<link rel=alternate hreflang=x{number} href=/{number}>" for number in range(300))
    assert len(read(many).links) == 20


def test_canonical() -> None:
    assert read("<link rel=canonical href=/c>").canonical == "http://example.com/c"
    assert read("<link REL='Canonical' href=/c>").canonical == "http://example.com/c"
    assert read("<link rel='shortlink canonical' href=/c>").canonical == "http://example.com/c"
    assert read("<link rel=canonical href='javascript:1'>").canonical is None
    assert read("<p>x").canonical is None


@pytest.mark.parametrize(
    ("url", "canonical", "version_of"),
    [
        ("http://example.com/a/?print=1", "http://example.com/a/", "http://example.com/a/"),
        ("http://example.com/a/amp/", "/a/?utm_source=amp#top", "http://example.com/a/"),
        ("http://m.example.com/a", "https://www.example.com/a", "https://www.example.com/a"),
        ("http://example.com/a", "http://example.com/a#part", ""),
        ("http://example.com/a", "http://elsewhere.com/a", ""),
        ("http://example.com/a", "http://example.com/", ""),
        ("http://example.com/?from=mail", "http://example.com/", "http://example.com/"),
        ("http://example.com/a", "javascript:1", ""),
    ],
)
def test_a_page_may_say_where_else_on_its_site_its_content_is(url: str, canonical: str, version_of: str) -> None:
    page = read(f"<link rel=canonical href='{canonical}'><p>x <a href=/b>b</a>", url=url)
    assert page.version_of == version_of
    assert [link.url for link in page.links][1:] == ([version_of] if version_of else []), "it is a link, the last one"


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("<html lang=de>", "de"),
        ("<html lang='pt-BR'>", "pt"),
        ("<html lang='EN_us'>", "en"),
        ("<html lang=iw>", "he"),
        ("<html>", ""),
    ],
)
def test_stated_language(tag: str, language: str) -> None:
    assert read(f"{tag}<p>x").language == language


@pytest.mark.parametrize(
    ("html", "day"),
    [
        ("<meta property='article:published_time' content='2025-02-03T10:00:00Z'>", date(2025, 2, 3)),
        ("<meta property='article:published_time' content='1987-02-26'>", date(1987, 2, 26)),
        ("<meta property='article:published_time' content='1895-11-30T00:00:00Z'>", date(1895, 11, 30)),
        ("<meta property='article:published_time' content='1970-01-01T00:00:00Z'>", None),
        ("<meta property='article:published_time' content='1900-01-01'>", None),
        ("<meta property='article:published_time' content='0001-01-01T00:00:00'>", None),
        ("<meta name=date content=20250203>", date(2025, 2, 3)),
        ("<meta name=DC.date.issued content=2025-2-3>", date(2025, 2, 3)),
        ("<meta name=pubdate content='Mon, 03 Feb 2025 10:00:00 GMT'>", date(2025, 2, 3)),
        ("<meta name=pubdate content='February 3rd, 2025'>", date(2025, 2, 3)),
        ("<meta name=pubdate content='3 Feb 2025'>", date(2025, 2, 3)),
        ("<meta itemprop=datePublished content=2025-02-03>", date(2025, 2, 3)),
        ('<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2025-02-03"}</script>',
         date(2025, 2, 3)),
        ('<script type="Application/LD+JSON; charset=utf-8">{"datePublished":"2025-02-03"}</script>', date(2025, 2, 3)),
        ('<script type="application/ld+json">{"name":"a\nb","datePublished":"2025-02-03"}</script>', date(2025, 2, 3)),
        ("<time datetime='2025-02-03T08:00'>yesterday</time>", date(2025, 2, 3)),
        ("<meta name=citation_publication_date content=2025/02/03>", date(2025, 2, 3)),
        ("<meta name=article:published content=20250203101500>", date(2025, 2, 3)),
        ("<meta name=date content=03.02.2025>", date(2025, 2, 3)),
        ("<meta name=date content=23/02/2025>", date(2025, 2, 23)),
        ("<meta name=date content=02/23/2025>", date(2025, 2, 23)),
        ("<meta name=date content=02/03/2025>", None),  # nobody knows which is the month
        ("<meta name=date content='3 août 2025'>", date(2025, 8, 3)),
        ("<meta name=date content='3 de marzo de 2025'>", date(2025, 3, 3)),
        ("<meta name=date content='3 февраля 2025'>", date(2025, 2, 3)),
        ("<meta name=date content=2025年2月3日>", date(2025, 2, 3)),
        ('<script type="application/ld+json">//<![CDATA[\n{"x":"a\nb","datePublished":"2025-02-03"};\n//]]></script>',
         date(2025, 2, 3)),
        ('<script type="application/ld+json; charset=utf-8"><!-- {"datePublished":"2025-02-03"} --></script>',
         date(2025, 2, 3)),
        ("<time datetime=2025-06-01>today</time><time itemprop=datePublished datetime=2025-02-03>", date(2025, 2, 3)),
        ("<span itemprop=datePublished>3 février 2025</span>", date(2025, 2, 3)),
        ("<div itemprop='dateCreated datePublished' content=2025-02-03>today</div>", date(2025, 2, 3)),
        ("<span property='schema:datePublished' title='the day'>3. Mai 2025</span>", date(2025, 5, 3)),
        ("<abbr class=published title=2025-02-03T10:00:00Z>Monday</abbr>", date(2025, 2, 3)),
        ("<time>10:30</time><time class=published>3 de febrero de 2025</time>", date(2025, 2, 3)),
        ("<time>3 de fevereiro de 2025</time>", date(2025, 2, 3)),
        ("<meta name=pubdate content=1738576800>", date(2025, 2, 3)),
        ("<meta name=pubdate content=1738576800000>", date(2025, 2, 3)),
        ('<script type="application/ld+json">{"datePublished": 1738576800}</script>', date(2025, 2, 3)),
        ("<meta name=pubdate content=9738576800>", None),
        ("<meta name=date content=2025.02.03>", date(2025, 2, 3)),
        ("<meta name=date content='2025. 2. 3.'>", date(2025, 2, 3)),
        ("<meta name=date content='3 maart 2025'>", date(2025, 3, 3)),
        ("<meta name=date content='3 Şubat 2025'>", date(2025, 2, 3)),
        ("<meta name=date content='3 فبراير 2025'>", date(2025, 2, 3)),
        ("<meta name=date content='3 лютого 2025'>", date(2025, 2, 3)),
        ('<script type="application/ld+json">{"url":"http://a.example/,}", "datePublished":"2025-02-03",}</script>',
         date(2025, 2, 3)),
        ('<script type="application/ld+json">{/* news */ "a": [1,], // more\n"datePublished":"2025-02-03"}</script>',
         date(2025, 2, 3)),
        ('<script type="application/ld+json">{&quot;datePublished&quot;:&quot;2025-02-03&quot;}</script>',
         date(2025, 2, 3)),
        ('<script type="application/ld+json">{"headline": "the "big" one", "datePublished": "2025-02-03"</script>',
         date(2025, 2, 3)),
        ('<script type="application/ld+json">{"@graph":[{"@type":"WebSite"},{"datePublished":"2025-02-03"}]}</script>',
         date(2025, 2, 3)),
        ("<meta name=date content=1960-01-01>", None),
        ("<meta name=date content=2031-01-01>", None),
        ("<meta name=date content=2025-13-45>", None),
        ("<meta name=date content='soon'>", None),
        ("<div class=related-posts><h4>Other</h4><time class=published datetime=2009-04-11>11 April 2009</time></div>"
         "<time datetime=2025-02-03>", date(2025, 2, 3)),
        ("<aside><time datetime=2009-04-11></time></aside>", None),
        ("<footer><p itemprop=datePublished>2009-04-11</p></footer>", None),
        ("<div class=elementor-widget><h1>Flood</h1><time datetime=2025-02-03></time></div>", date(2025, 2, 3)),
        ("<meta name=date content=1960-01-01><time datetime=2025-02-03>", date(2025, 2, 3)),
        ("", None),
    ],
)  # fmt: skip
def test_publication_dates(html: str, day: date | None) -> None:
    assert read(html + "<p>x").published == day


def test_a_date_in_the_url() -> None:
    for path, day in (
        ("/2025/02/03/flood", date(2025, 2, 3)),
        ("/news/2025-02-03-flood", date(2025, 2, 3)),
        ("/world/2025/feb/03/flood", date(2025, 2, 3)),
        ("/news/20250203/flood", date(2025, 2, 3)),
        ("/news/flood-20250203.html", date(2025, 2, 3)),
        ("/web/20250203101500/flood", None),
        ("/item-20251399-flood", None),
        ("/2025/02/flood", None),
        ("/1875/02/03/", None),
        ("/article/20253102", None),
        ("/article/120250203", None),
    ):
        response = fetched(f"http://example.com{path}", b"<p>x")
        assert read_page(response).published == day


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("2025-02-04T03:30:59+00:00", date(2025, 2, 3)),
        ("2025-02-04T03:30:59.123Z", date(2025, 2, 3)),
        ("Tue, 04 Feb 2025 03:30:59 GMT", date(2025, 2, 3)),
        ("2025-02-02T23:30:00Z", date(2025, 2, 3)),
        ("2025-02-04T03:30:59+01:00", date(2025, 2, 4)),
        ("2025-02-04", date(2025, 2, 4)),
        ("2025-02-05T03:30:59Z", date(2025, 2, 5)),
    ],
)
def test_of_a_moment_in_universal_time_the_url_has_the_publishers_day(stated: str, day: date) -> None:
    body = f"<meta property=article:published_time content='{stated}'><p>x".encode()
    assert read_page(fetched("http://example.com/2025/02/03/flood", body)).published == day


JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
 {"@type": "Restaurant", "geo": {"latitude": "45.5", "longitude": -122.6},
  "address": {"@type": "PostalAddress", "streetAddress": "1 Main St", "addressLocality": "Portland",
              "addressRegion": "OR", "postalCode": "97201"}}]}</script>"""


def test_places_in_json_ld() -> None:
    hints = read(JSON_LD).hints
    assert hints.points == (LonLat(-122.6, 45.5),)
    assert hints.postal_addresses == ("1 Main St, Portland, OR 97201",)
    listed = JSON_LD.replace('"PostalAddress"', '["Thing", "PostalAddress"]')
    assert read(listed).hints.postal_addresses == ("1 Main St, Portland, OR 97201",)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[[[[", "null", "1", '"x"', '{"latitude": {}, "longitude": []}', '{"latitude": 1e999, "longitude": 0}',
     '{"latitude": 91, "longitude": 0}', '{"@type": "PostalAddress", "addressLocality": 7}', "[" * 100_000,
     '"' + '\\"' * 90_000, "/*" * 90_000, ",  " * 60_000,
     '{"a":' * 5_000 + "1" + "}" * 5_000, "9" * 10_000, '{"datePublished": 7}', '{"@type": {"x": 1}}'],
)  # fmt: skip
def test_broken_json_ld_says_nothing(text: str) -> None:
    page = read(f'<script type="application/ld+json">{text}</script><p>x')
    assert page.hints.points == ()
    assert page.hints.postal_addresses == ()


def test_places_in_meta_tags_and_microdata() -> None:
    hints = read(
        "<meta name=geo.position content='38.7;-9.1'><meta name=geo.placename content='Lisbon'>"
        "<div itemscope itemtype='http://schema.org/PostalAddress'><span itemprop=streetAddress>1 Rua A</span>"
        "<span itemprop=addressLocality>Lisboa</span></div>"
        "<div class=adr><span class=street-address>2 Rua B</span> <span class=locality>Porto</span></div>"
    ).hints
    assert hints.points == (LonLat(-9.1, 38.7),)
    assert hints.place_names == ("Lisbon",)
    assert hints.postal_addresses == ("1 Rua A, Lisboa", "2 Rua B, Porto")
    assert read("<meta name=ICBM content='0,0'>").hints.points == ()
    assert read("<meta name=ICBM content='500,0'>").hints.points == ()


def test_places_that_schema_org_things_are_about() -> None:
    things = (
        '{"@type":"NewsArticle","contentLocation":{"@type":"Place","name":" Lisbon,  Portugal "},'
        '"spatialCoverage":["Porto",{"name":7},{"name":"Braga"}],"areaServed":{"geo":{"latitude":38.7,"longitude":-9.1}}}'
    )
    hints = read(f'<script type="application/ld+json">{things}</script>').hints
    assert hints.place_names == ("Lisbon, Portugal", "Porto", "Braga")
    assert hints.points == (LonLat(-9.1, 38.7),)
    microdata = read(
        "<div itemprop=geo itemscope itemtype='http://schema.org/GeoCoordinates'>"
        "<meta itemprop=latitude content=45.5><meta itemprop=longitude content=-122.6></div>"
        "<span class=geo><i class=latitude>1.5</i> <i class=longitude>2.5</i></span>"
    ).hints
    assert microdata.points == (LonLat(-122.6, 45.5), LonLat(2.5, 1.5))


@pytest.mark.parametrize(
    ("html", "day"),
    [
        ("<p class=byline>Posted on 12 March 2024 by A. Writer</p>", date(2024, 3, 12)),
        ("<div id=date>2024-03-12</div>", date(2024, 3, 12)),
        ("<p class=fecha>Publicado el 12 de marzo de 2024</p>", date(2024, 3, 12)),
        ("<p>Pubblicato il 12 marzo 2024</p>", date(2024, 3, 12)),
        ("<p>Veröffentlicht am 12.03.2024</p>", date(2024, 3, 12)),
        ("<p>Опубликовано 12 марта 2024</p>", date(2024, 3, 12)),
        ("<p>发布时间：2024年03月12日</p>", date(2024, 3, 12)),
        ("<p>Datum: 12.03.2024</p>", date(2024, 3, 12)),
        ("<?xml version='1.0' encoding='utf-8'?><p class=date>12.03.2024</p>", date(2024, 3, 12)),
        ("<p>Erstellt am: 01.11.2023</p>", date(2023, 11, 1)),
        ("<p class=byline>Posted on 12 March 1924</p>", None),
        ("<p class=byline>Posted on 12 March 2044</p>", None),
        ("<p>nothing", None),
        ("", None),
        ("<", None),
    ],
)
def test_a_date_that_is_only_shown_is_searched_for(html: str, day: date | None) -> None:
    page = read(html + "<p>x")
    assert page.published is None
    assert page.names_a_day or day is None  # or nobody would search
    assert searched_date(html, "http://example.com/", date(2026, 3, 1)) == day


MENU = "".join(f"<li><a href=/{number}>Section {number}</a>" for number in range(8))
PROSE = "The river rose above its banks on Sunday night and the old town was under water by the next morning. "


def test_menus_and_lists_of_links_are_furniture() -> None:
    page = read(
        f"<ul>{MENU}</ul><h1>Flood</h1><p>{PROSE}<a href=/more>Mayor</a> spoke.</p><h2>After</h2><p>{PROSE}</p>"
        f"<h3>More</h3><ul>{MENU}</ul><p>Imprint</p><p>© 2026 Some Paper</p>"
    )
    prose = PROSE.strip()
    assert without(page.text, page.furniture) == f"Flood\n{prose} Mayor spoke.\nAfter\n{prose}\nMore\n"
    assert "Section 3" in page.text
    assert "Imprint" in page.text
    assert page.description.startswith("Flood The river rose")


def test_a_page_without_prose_has_no_furniture() -> None:
    assert read(f"<ul>{MENU}</ul><p>Short").furniture == ()
    assert read("").furniture == ()


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<nav><ul>", "</ul></nav>"), ("<aside><h3>Related</h3><ul>", "</ul></aside>"),
        ("<footer><p>Some Paper, Bonn</p><ul>", "</ul></footer>"), ("<ul class='main Menu'>", "</ul>"),
        ("<div id=related><h3>Read on</h3><ul>", "</ul></div>"), ("<div role=navigation><ul>", "</ul></div>"),
        (f"<div class='box comments'><p>{PROSE}</p><ul>", "</ul></div>"),
    ],
)  # fmt: skip
def test_what_the_markup_sets_apart_is_furniture(begin: str, end: str) -> None:
    page = read(f"<main><h1>Flood</h1><p>{PROSE * 3}</p></main>{begin}{MENU}{end}")
    assert without(page.text, page.furniture).strip() == f"Flood\n{(PROSE * 3).strip()}"
    short = read(f"{begin.replace(PROSE, '')}{MENU}{end}<main><h1>Flood</h1><p>Sylhet is under water.</p></main>")
    assert without(short.text, short.furniture).strip() == "Flood\nSylhet is under water."


def test_a_page_all_of_which_is_set_apart_is_what_it_says() -> None:
    assert read(f"<nav><ul>{MENU}</ul></nav>").furniture == ()
    talk = read(f"<h1>Floods?</h1><div class=comments><p>{PROSE}</p><p>{PROSE}</p></div>")
    assert without(talk.text, talk.furniture) == talk.text


def test_the_line_of_a_footer_is_no_content_of_a_page_with_little_text() -> None:
    footer = "<footer>Sylhet Herald, 12 Zindabazar Road, Sylhet 3100, Bangladesh, telephone 12345</footer>"
    page = read(f"<h1>Floods</h1><p>No more articles.</p>{footer}")
    assert without(page.text, page.furniture).split() == ["Floods", "No", "more", "articles."]


def test_a_box_that_only_names_what_stands_beside_it_is_none() -> None:
    page = read(f"<div class='page with-sidebar'><h1>Flood</h1><p>{PROSE * 3}</p><p>Mayor spoke.</p></div>")
    assert page.furniture == ()


def test_prose_without_blanks_is_prose() -> None:
    line = "昨日の夜、川の水があふれ、翌朝までに旧市街は水につかった。"
    page = read(f"<ul>{MENU}</ul><p>{line}<p>{line}<p>{line}")
    assert without(page.text, page.furniture) == "\n".join([line] * 3)


def test_description() -> None:
    assert read("<meta name=description content=' a \n b '>").description == "a b"
    assert read("<meta property=og:description content='x'>").description == "x"
    assert len(read(f"<meta name=description content='{'x' * 5_000}'>").description) == 1_000


# -- Hostile input (reliability C1, C4, C6, U7) --------------------------------------------------------

HOSTILE = {
    "links": "".join(f"<a href=/{number}>l{number}</a> " for number in range(100_000)),
    "as many links as fit": "".join(f'<a href="/{number:x}">{number:x}</a>' for number in range(200_000)),
    "long hrefs": "".join(f"<a href=/{'x' * 100_000}>l</a> " for _ in range(20)),
    "siblings": "<p>" * 200_000,
    "formatting": "<b>" * 20_000,
    "tables": "<table>" * 10_000,
    "anchors": "<a href=/x>" * 20_000,
    "tags": "<p><b>x</b>" * 900_000,
    "nested": "<div>" * 100_000 + "x",
    "nested lists": "<ul><li>" * 100_000 + "x",
    "nested and closed": "<div>" * 100_000 + "x" + "</div>" * 100_000,
    "nested with stray ends": "<div></b>" * 100_000,
    "nested formatting": "<b><div>" * 50_000 + "</b>" * 50_000,
    "unclosed": "<meta " * 20_000,
    "one text": "word " * 1_000_000,
    "one word": "x" * 5_000_000,
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(5_000)) + ">x",
    "many attributes": "<p " + " ".join(f"a{number}" for number in range(100_000)) + ">x",
    "many attributes of many tags": ("<p " + " ".join(f'a{number}="b c"' for number in range(20_000)) + ">x") * 20,
    "attributes without an end": "<p " + "a<b " * 1_000_000,
    "addresses": "<div class=adr><b class=locality>x</b></div>" * 20_000,
    "title": "<title>" + "x" * 5_000_000,
    "entities": "&amp;" * 500_000,
    "digits": "&#2;" + "9" * 5_000 + "&#3;",
    "robots": "<meta name=robots content=" + "noindex," * 100_000 + ">",
    "dates": "".join(f"<time datetime={'9' * 1000}>" for _ in range(1_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_in_time(name: str) -> None:
    """Within the time that `run.page_cpu_seconds` gives a page, and a quarter of its memory."""
    read("<p>x")  # what is imported at the first use is not the page's

    def work() -> tuple[int, int, int]:
        page = read(HOSTILE[name])
        return len(page.text), len(page.title), len(page.links)

    (text, title, links), cost = in_own_process(work)
    assert text <= 500_000
    assert title <= 500
    assert links <= 500
    assert cost.processor <= 2.0
    assert cost.memory <= 128 * 2**20


@pytest.mark.parametrize("tags", ["<div>", "<ul><li>", "<section><div>", "<div><p>", "<blockquote>"])
def test_a_page_nested_beyond_reason_keeps_its_text_and_links(tags: str) -> None:
    html = f"<title>Deep</title><p>First{tags * 20_000}Second <a href=/deep>link</a>{tags * 20_000}Third"
    with bounded_effort():
        page = read(html)
    assert page.title == "Deep"
    assert page.text.split() == ["First", "Second", "link", "Third"]
    assert [(link.url, link.anchor) for link in page.links] == [("http://example.com/deep", "link")]


def test_a_page_of_too_many_tags_is_read_as_far_as_its_bound() -> None:
    page = read("<title>Long</title>" + "".join(f"<p>{number}</p>" for number in range(200_000)))
    assert page.title == "Long"
    numbers = [int(line) for line in page.text.split()]
    assert numbers == list(range(len(numbers)))
    assert 45_000 < len(numbers) <= 50_000


def test_a_page_of_many_tags_is_read_as_it_is() -> None:
    rows = "".join(f"<div><p>Row {number}<ul><li>a<li>b</ul></div>" for number in range(3_000))
    assert read(rows).text.count("\n") == 3 * 3_000 - 1


def test_a_hundred_thousand_links_are_counted() -> None:
    page = read(HOSTILE["links"])
    assert (len(page.links), page.dropped) == (500, {"page_links": 99_500, "document": 1})
    assert page.links[499].anchor == "l499"


def test_a_tag_of_too_many_attributes_loses_the_last_of_them_and_says_so() -> None:
    """Text and links around it stay; a long attribute is not many."""
    many = " ".join(f'a{number}="x y"' for number in range(50_000))
    page = read(f'<title>T</title><p>One <a href=/x {many} title=late>two</a> three <a href="/y">four</a>')
    assert page.text.split() == ["One", "two", "three", "four"]
    assert [link.url for link in page.links] == ["http://example.com/x", "http://example.com/y"]
    assert page.dropped == {"document": 1}
    long = read(f'<p><a title="{"word " * 20_000}" href=/x>two</a>')
    assert (long.links[0].url, long.dropped) == ("http://example.com/x", {})


def test_a_text_that_is_cut_leaves_no_mark_behind() -> None:
    for padding in range(0, 40, 3):
        html = "x" * (499_970 + padding) + "".join(f"<a href=/{number}>y</a>" for number in range(20))
        text = read(html).text
        assert set(text) <= {"x", "y", " "}


FRAGMENTS = st.sampled_from(
    ["<p>", "</p>", "<a href=/x>", "</a>", "<div", ">", "<table><tr><td>", "<title>", "</title>", "<script>", "-->",
     "<!--", "<meta charset=", "utf-16", "shift_jis", '"', "'", "&#", "&#2;", "5", "&#3;", "<base href=", "http://[",
     "<meta name=robots content=", "<svg>", "<template>", "<frameset>", "<frame src=x>", "\x00", "\x02", "ü", "東", " "]
)  # fmt: skip


@settings(max_examples=examples(600), deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=40), st.sampled_from(["", "text/html; charset=shift_jis"]))
def test_any_markup_gives_a_page_or_our_error(pieces: list[str], header: str) -> None:
    body = "".join(pieces).encode("utf-8", "surrogatepass")
    try:
        page = read(body, header=header)
    except PeriplusError:
        return
    assert not any(ord(character) < 32 and character != "\n" for character in page.text)
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)


@settings(max_examples=examples(400), deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["text/html", "text/html; charset=gbk", "text/html; charset=utf-16"]))
def test_any_bytes_give_a_page_or_our_error(body: bytes, header: str) -> None:
    with contextlib.suppress(PeriplusError):
        read(body, header=header)


def test_mutated_pages_give_a_page_or_our_error() -> None:
    numbers = random.Random(5)
    good = (
        JSON_LD + "<title>t</title><p>Visit <a href=/x rel=next>Lisbon</a>, <b>Portugal</b>.<table><tr><td>x"
    ).encode()
    for _ in range(1_000):
        body = bytearray(good)
        for _ in range(numbers.randint(1, 20)):
            at = numbers.randrange(len(body))
            if numbers.random() < 0.5:
                body[at] = numbers.randrange(256)
            else:
                del body[at : at + numbers.randint(1, 10)]
        read(bytes(body))


def test_reading_is_a_pure_function() -> None:
    html = JSON_LD + "<p>Visit <a href=/x>Lisbon</a>"
    assert read(html) == read(html)


def test_a_link_knows_the_part_of_the_page_that_it_stands_in() -> None:
    body = (
        b"<nav><a href=/n>n</a></nav><ol class='Breadcrumbs'><li><ul><li><a href=/b>b</a></ul></ol><p><a href=/t>t</a>"
        b"<h2><a href=/h>h</a></h2><table><tr><td><a href=/c>c</a><ul><li><a href=/l>l</a></ul></table>"
        b"<footer><nav><a href=/f>f</a></nav></footer><a href=/last>x</a>"
    )
    found = {link.anchor: link.position.name for link in read(body).links}
    assert found == {
        "n": "NAVIGATION", "b": "BREADCRUMB", "t": "TEXT", "h": "HEADING", "c": "TABLE", "l": "TABLE", "f": "FOOTER",
        "x": "TEXT",
    }  # fmt: skip
