"""Addresses that markup declares, all over the world, from the page's bytes to entities."""

from datetime import UTC, datetime

import pytest

from periplus.model import Fetched, Located, LonLat, PageHints, PostalParts
from periplus.pages import read_page
from periplus.places import Gazetteer, locate
from periplus.places.declared import declared_addresses


def located(html: str, gazetteer: Gazetteer) -> Located:
    body = f"<!doctype html><html><head><title>x</title></head><body>{html}</body></html>".encode()
    page = read_page(Fetched("http://localhost/", 200, (), body, "text/html", datetime.now(UTC), 0.0, ""))
    return locate(page.text, gazetteer, hints=page.hints)


JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Museum",
 "address": {"@type": "PostalAddress", "streetAddress": "Torstraße 77", "addressLocality": "Berlin",
 "postalCode": "10117", "addressCountry": {"@type": "Country", "name": "DE"}}}</script><p>Welcome."""
MICRODATA = """<div itemscope itemtype="https://schema.org/PostalAddress"><span itemprop="streetAddress">10 Downing
 Street</span> <span itemprop="addressLocality">London</span> <meta itemprop="addressCountry" content="GB"></div>"""
RDFA = """<p vocab="https://schema.org/" typeof="PostalAddress"><span property="streetAddress">Rua Augusta 5</span>,
 <span property="addressLocality">Lisboa</span> <span property="addressCountry">Portugal</span></p>"""
H_CARD = """<div class="h-card"><span class="p-name">Cafe</span> <span class="p-street-address">1-1 Chiyoda</span>
 <span class="p-locality">東京</span> <span class="p-country-name">Japan</span></div>"""
HCARD = """<div class="vcard"><span class="fn">Pub</span><div class="adr"><span class="street-address">3 Grafton
 St</span>, <span class="locality">Dublin</span>, <span class="country-name">Ireland</span></div></div>"""


@pytest.mark.parametrize(
    ("html", "place_id", "number", "street"),
    [
        (JSON_LD, 2950159, "77", "Torstraße"),
        (MICRODATA, 2643743, "10", "Downing Street"),
        (RDFA, 2267057, "5", "Rua Augusta"),
        (H_CARD, 1850147, "1-1", "Chiyoda"),
        (HCARD, 2964574, "3", "Grafton St"),
    ],
)
def test_declared_addresses_are_entities(
    gazetteer: Gazetteer, html: str, place_id: int, number: str, street: str
) -> None:
    found = located(html, gazetteer)
    (address,) = found.addresses
    assert (address.place_id, address.street_number, address.street) == (place_id, number, street)
    assert address.level == "street"
    assert found.footprint.main is not None
    assert found.footprint.main.id == place_id


def test_geo_meta_tags_are_entities(gazetteer: Gazetteer) -> None:
    named = located("<meta name=geo.region content=US-OR><meta name=geo.placename content=Portland>", gazetteer)
    assert [(a.place_id, a.level, a.start) for a in named.addresses] == [(5746545, "postal", -1)]
    bare = located("<meta name=ICBM content='30.27, -97.74'><p>Hello", gazetteer)
    assert [gazetteer.place(a.place_id).name for a in bare.addresses] == ["Austin"]
    geo = located('<abbr class="geo" title="-33.87;151.21">here</abbr>', gazetteer)
    assert [gazetteer.place(a.place_id).country for a in geo.addresses] == ["AU"]
    at_sea = located("<meta name=geo.position content='40.0;-40.0'><p>Hello", gazetteer)
    assert at_sea.addresses == ()


def test_an_address_in_text_and_markup_counts_once(gazetteer: Gazetteer) -> None:
    html = """<div itemscope itemtype="http://schema.org/PostalAddress"><span itemprop=streetAddress>1200 Main
    Street</span>, <span itemprop=addressLocality>Springfield</span>, <span itemprop=addressRegion>IL</span>
    <span itemprop=postalCode>62701</span></div>"""
    (address,) = located(html, gazetteer).addresses
    assert address.start >= 0
    assert address.place_id == 4250542


@pytest.mark.parametrize(
    ("parts", "points", "expected"),
    [
        (PostalParts(locality="Portland", region="ME", country="US"), (), 4975802),
        (PostalParts(locality="Portland", region="Maine"), (), 4975802),
        (PostalParts(locality="Paris"), (), 2988507),
        (PostalParts(locality="Paris"), (LonLat(-95.55, 33.66),), 4717560),
        (PostalParts(locality="Springfield"), (), None),
        (PostalParts(locality="Springfield", code="62701", region="Illinois"), (), 4250542),
        (PostalParts(locality="München", country="Deutschland"), (), 2867714),
        (PostalParts(locality="القاهرة", country="EG"), (), 360630),
        (PostalParts(locality="Nosuchplace", country="FR"), (), None),
        (PostalParts(region="Bavaria", country="Germany"), (), "Bavaria"),
        (PostalParts(country="FR"), (), None),
        (PostalParts(locality="London", country="CA"), (), 6058560),
    ],
)
def test_which_of_several_is_meant(
    gazetteer: Gazetteer, parts: PostalParts, points: tuple[LonLat, ...], expected: int | str | None
) -> None:
    found = declared_addresses(PageHints(points=points, addresses=(parts,)), gazetteer)
    by_name = isinstance(expected, str)
    got: list[int | str] = [gazetteer.place(a.place_id).name if by_name else a.place_id for a in found]
    assert got == ([] if expected is None else [expected])


def test_addresses_on_one_line(gazetteer: Gazetteer) -> None:
    lines = ("221B Baker Street, London NW1 6XE, UK", "12 W. Main St., Springfield, IL 62701", "no, such, thing at all")
    found = declared_addresses(PageHints(postal_addresses=lines), gazetteer)
    assert [a.place_id for a in found] == [2643743, 4250542]
    assert (found[0].street_number, found[0].street) == ("221B", "Baker Street")


def test_hostile_markup_is_bounded(gazetteer: Gazetteer) -> None:
    many = "".join(f'<div class="adr"><span class="locality">Paris{n}</span></div>' for n in range(500))
    odd = '<div class="adr"><span class="locality">\ud7ff\x00' + "x" * 5000 + "</span></div>"
    assert len(located(many + odd, gazetteer).addresses) <= 20


OFFICE = """{"@type": "PostalAddress", "streetAddress": "Torstraße 77", "addressLocality": "Berlin",
 "addressCountry": "DE"}"""
ARTICLE = '{"@type": "NewsArticle", "headline": "Sleep well"}'


def ld(*things: str) -> str:
    return f'<script type="application/ld+json">[{", ".join(things)}]</script>'


@pytest.mark.parametrize(
    "html",
    [
        ld(ARTICLE, f'{{"@type": "Organization", "address": {OFFICE}}}'),
        ld(ARTICLE, f'{{"@type": ["Organization", "Place"], "address": {OFFICE}}}'),
        ld(ARTICLE, '{"@type": "LocalBusiness", "address": "Torstraße 77, Berlin, Germany"}'),
        ld(ARTICLE, OFFICE),
        ld(f'{{"@type": "BlogPosting", "publisher": {{"@type": "Organization", "address": {OFFICE}}}}}'),
        ld(f'{{"@type": "WebPage", "mainEntity": {ARTICLE}}}', f'{{"@type": "Corporation", "location": {OFFICE}}}'),
        ld(f'{{"@graph": [{ARTICLE}, {{"@type": "Organization", "address": {OFFICE}}}]}}')
        + "<meta name=geo.placename content=Berlin><meta name=geo.position content='52.5;13.4'>",
        ld(f'{{"@type": "Organization", "address": {OFFICE}}}'),
        ld(f'{{"@type": "Bakery", "address": {OFFICE}}}') + "<meta property=article:published_time content=2026-01-02>",
        f"{ld(ARTICLE)}<footer>{MICRODATA}</footer>",
        f"{ld(ARTICLE)}<div itemprop=author itemscope>{MICRODATA}</div>",
        f"{ld(ARTICLE)}<meta name=geo.placename content=Berlin><meta name=geo.region content=DE-BE>",
        f"{ld(ARTICLE)}<meta property=place:location:latitude content=52.5>"
        "<meta property=place:location:longitude content=13.4>",
        ld('{"@type": "Organization", "contactPoint": {"@type": "ContactPoint", "areaServed": "DE"}}'),
        ld('{"@type": "Service", "areaServed": ["DE", "CA"]}'),
    ],
)
def test_where_an_article_is_published_is_not_where_it_is_about(gazetteer: Gazetteer, html: str) -> None:
    found = located(f"{html}<article><p>How to sleep well, in ten steps.</p></article>", gazetteer)
    assert found.addresses == ()
    assert {one.place for one in found.footprint.places} == {mention.place for mention in found.mentions}  # the text's


@pytest.mark.parametrize(
    "html",
    [
        ld(f'{{"@type": "Bakery", "address": {OFFICE}}}'),
        ld(f'{{"@type": "Organization", "address": {OFFICE}}}') + "<p>The baker of Berlin.",
        ld(f'{{"@type": "NewsArticle", "contentLocation": {{"@type": "Place", "address": {OFFICE}}}}}'),
        ld(f'{{"@type": "BlogPosting", "mainEntity": {{"@type": "Museum", "address": {OFFICE}}}}}'),
        ld(ARTICLE, f'{{"@type": "Event", "startDate": "2026-01-02", "location": {{"address": {OFFICE}}}}}'),
        ld(ARTICLE) + "<article>" + MICRODATA.replace("London", "Berlin").replace("GB", "DE") + "</article>",
        ld(ARTICLE) + "<meta name=geo.placename content=Berlin><meta name=geo.region content=DE-BE><p>Snow in Berlin.",
    ],
)
def test_where_a_page_is_about_counts(gazetteer: Gazetteer, html: str) -> None:
    found = located(html, gazetteer)
    assert {address.place_id for address in found.addresses} == {2950159}
    assert found.footprint.main is not None
    assert found.footprint.main.id == 2950159
