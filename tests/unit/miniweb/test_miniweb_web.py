"""The miniature web as a function: what it holds, how it answers, and that a seed fixes every byte."""

import gzip
import hashlib
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from statistics import mean

import pytest

from periplus.errors import UsageError
from periplus.miniweb import Miniweb, generate
from periplus.miniweb.blueprint import Host, PagePlan
from periplus.miniweb.places import paper_targets, towns
from periplus.miniweb.rendering import Rendered, render

SMALL = {"hosts": 70, "pages": 700}


@pytest.fixture(scope="module")
def web() -> Miniweb:
    return generate(1)


@pytest.fixture(scope="module")
def drawn(web: Miniweb) -> list[Rendered]:
    return [render(web.blueprint, page) for page in web.blueprint.pages]


def hosts_of(web: Miniweb, kind: str) -> list[Host]:
    return [host for host in web.blueprint.hosts if host.kind == kind]


def pages_of(web: Miniweb, quirk: str) -> list[PagePlan]:
    return [page for page in web.blueprint.pages if page.quirk == quirk]


def get(web: Miniweb, page: PagePlan, visit: int = 1) -> bytes:
    return web.respond(web.blueprint.hosts[page.host].name, page.path, visit).body


# -- Size and content ------------------------------------------------------------------------------


def test_the_default_web_has_at_least_300_hosts_and_5000_pages(web: Miniweb) -> None:
    assert len(web.blueprint.hosts) >= 300
    assert len(web.blueprint.pages) == 5500
    assert len(set(web.urls())) == 5500
    assert all(host.name.endswith(".mini.test") for host in web.blueprint.hosts)


@pytest.mark.parametrize(("hosts", "pages"), [(60, 300), (70, 700), (500, 9000)])
def test_it_has_exactly_the_size_that_was_asked_for(hosts: int, pages: int) -> None:
    web = generate(3, hosts=hosts, pages=pages)
    assert len(web.blueprint.hosts) == hosts
    assert len(web.blueprint.pages) == pages
    assert len(set(web.urls())) == pages


def test_most_pages_are_not_geographic(web: Miniweb) -> None:
    geographic = sum(bool(page.towns) for page in web.blueprint.pages)
    assert 0.3 < geographic / len(web.blueprint.pages) < 0.45


def test_every_city_of_the_paper_has_postal_addresses(drawn: list[Rendered]) -> None:
    assert len(paper_targets()) == 100
    with_addresses = {business.town.index for page in drawn for business, _ in page.addresses}
    assert {town.index for town in paper_targets()} <= with_addresses


@pytest.mark.parametrize(
    "pair",
    [
        ("Glendale AZ", "Glendale CA"),
        ("Arlington TX", "Arlington VA"),
        ("Portland OR", "Portland ME"),
        ("Kansas City MO", "Kansas City KS"),
        ("Lisbon 14", "Lisbon NH"),
        ("Athens ESYE31", "Athens GA"),
        ("Paris TX", "Paris 11"),
        ("Springfield IL", "Springfield MO"),
    ],
)
def test_towns_of_the_same_name_each_have_a_guide(web: Miniweb, pair: tuple[str, str]) -> None:
    guided = {
        f"{towns()[host.town].name} {towns()[host.town].admin1}": towns()[host.town] for host in hosts_of(web, "guide")
    }
    assert pair[0] in guided
    assert pair[1] in guided
    assert guided[pair[0]].twins


def test_brands_named_like_places_are_not_geographic(web: Miniweb) -> None:
    brands = hosts_of(web, "brand")
    assert any("phoenix" in host.name for host in brands)
    for host in brands:
        pages = web.blueprint.pages[host.first : host.first + host.count]
        assert [page.kind for page in pages if page.towns] in ([], ["contact"])


def test_hosts_come_in_all_kinds(web: Miniweb) -> None:
    kinds = Counter(host.kind for host in web.blueprint.hosts)
    assert set(kinds) == {
        "blog", "brand", "business", "calendar", "closed", "directory", "folders", "guide", "language", "mirror",
        "news", "portal", "redirects", "shop", "topic", "unreachable",
    }  # fmt: skip


def test_urls_of_geographic_sites_name_their_town_often_but_not_always(web: Miniweb) -> None:
    pages = [page for page in web.blueprint.pages if page.towns and page.kind != "foreign"]
    named = 0
    for page in pages:
        url = web.blueprint.url(page).replace("-", "").replace("+", "")
        named += towns()[page.towns[0]].slug.replace("-", "") in url
    assert 0.5 < named / len(pages) < 0.95


def test_pages_have_the_size_and_the_links_of_ordinary_pages(drawn: list[Rendered]) -> None:
    assert 4_000 < mean(len(page.html) for page in drawn) < 10_000
    assert 15 < mean(len(page.links) for page in drawn) < 40
    assert mean(3_000 <= len(page.html) <= 15_000 for page in drawn) > 0.97


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1251", "shift_jis", "gbk"])
def test_foreign_pages_are_written_in_their_charset_and_say_so(web: Miniweb, charset: str) -> None:
    hosts = [host for host in hosts_of(web, "language") if host.charset == charset]
    assert hosts
    for host in hosts:
        response = web.respond(host.name, "/")
        text = response.body.decode(charset)
        assert towns()[host.town].local_name in text
        in_header = f"charset={charset}" in response.content_type
        in_meta = f'charset="{charset}"' in text or f"charset={charset}" in text
        assert (in_header, in_meta) == {"header": (True, False), "meta": (False, True), "both": (True, True)}[
            host.charset_by
        ]


def test_the_web_speaks_eight_languages_besides_english(web: Miniweb) -> None:
    pages = Counter(web.blueprint.hosts[page.host].language for page in web.blueprint.pages)
    assert set(pages) == {"en", "es", "fr", "de", "pt", "zh", "ja", "ru", "ar"}
    assert min(pages.values()) >= 5


def test_news_carries_its_date_in_the_address_the_markup_and_the_text(web: Miniweb) -> None:
    news = [page for page in web.blueprint.pages if page.kind == "news"]
    assert all(page.published for page in news)
    bodies = [get(web, page) for page in news[:200]]
    assert any(b'"datePublished"' in body for body in bodies)
    assert any(b"article:published_time" in body for body in bodies)
    assert all(b"<time datetime=" in body for page, body in zip(news, bodies, strict=False) if page.quirk != "error")


def test_listings_use_tables_and_microdata_and_plain_text(web: Miniweb) -> None:
    bodies = [get(web, page) for page in web.blueprint.pages if page.kind == "listing"]
    for mark in (b'itemprop="addressLocality"', b"<th>Address</th>", b"<address>", b"<li><b>"):
        assert sum(mark in body for body in bodies) >= 20


def test_locality_decides_how_many_links_stay_with_their_town() -> None:
    measured = [_measured_locality(generate(2, **SMALL, locality=value)) for value in (0.0, 0.4, 0.8)]
    assert measured[0] < 0.05
    assert measured[0] + 0.1 < measured[1] < measured[2] - 0.15


def _measured_locality(web: Miniweb) -> float:
    """Share of links between hosts, from pages with a town, that lead to a page about the same town."""
    blueprint = web.blueprint
    by_url = {blueprint.url(page): page for page in blueprint.pages}
    same = every = 0
    for page in blueprint.pages:
        if not page.towns or page.kind == "region":
            continue
        for link in render(blueprint, page).links:
            target = by_url.get(link)
            if target is not None and target.host != page.host:
                every += 1
                same += target.towns[:1] == page.towns[:1]
    return same / every


# -- Determinism and scale -------------------------------------------------------------------------

_DIGEST = """
import hashlib
from periplus.miniweb import generate
web = generate(5, hosts=70, pages=700)
digest = hashlib.sha256()
for page in web.blueprint.pages:
    digest.update(web.page_response(page, 1).body)
print(digest.hexdigest())
"""


def _digest_in_a_new_process(hash_seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", _DIGEST], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    assert _digest_in_a_new_process("1") == _digest_in_a_new_process("4711")


def test_the_bytes_of_seed_1_have_not_changed_by_accident() -> None:
    # A change of the generator may change this on purpose: then recorded crawls and figures change with it.
    web = generate(1, hosts=60, pages=300)
    digest = hashlib.sha256()
    for page in web.blueprint.pages:
        digest.update(web.page_response(page, 1).body)
    assert digest.hexdigest()[:16] == "29d2164b1db2dd5a"


def test_another_seed_gives_another_web() -> None:
    first, second = generate(1, **SMALL), generate(2, **SMALL)
    assert set(first.urls()) != set(second.urls())


def test_pages_do_not_depend_on_the_order_of_requests() -> None:
    web = generate(1, **SMALL)
    forwards = [get(web, page) for page in web.blueprint.pages]
    backwards = [get(web, page) for page in reversed(web.blueprint.pages)]
    assert forwards == backwards[::-1]


def test_a_plan_costs_little_memory_so_that_100000_pages_are_no_matter() -> None:
    generate(1, **SMALL)  # what is shared by all plans is loaded
    tracemalloc.start()
    try:
        web = generate(1, hosts=100, pages=4000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(web.blueprint.pages) == 4000
    assert peak / 4000 < 2_000  # bytes a page: 100,000 pages stay under 200 MB


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hosts": 10}, "10 hosts are too few"),
        ({"hosts": 100, "pages": 200}, "ask for at least 500"),
        ({"locality": 1.5}, "not between 0 and 1"),
        ({"slow_seconds": -1}, "not between 0 and 60"),
    ],
)
def test_numbers_that_cannot_work_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        generate(1, **arguments)  # type: ignore[arg-type]  # the table mixes ints and floats


# -- Special behaviour -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quirk", "at_least"),
    [
        ("slow", 10),
        ("error", 10),
        ("flaky", 10),
        ("busy", 3),
        ("noindex", 20),
        ("nofollow", 15),
        ("private", 40),
        ("orphan", 5),
    ],
)
def test_every_quirk_occurs(web: Miniweb, quirk: str, at_least: int) -> None:
    assert len(pages_of(web, quirk)) >= at_least


def test_failing_pages_fail_always_and_flaky_ones_once(web: Miniweb) -> None:
    failing, flaky = pages_of(web, "error")[0], pages_of(web, "flaky")[0]
    assert [web.page_response(failing, visit).status for visit in (0, 1, 2)] == [500, 500, 500]
    assert [web.page_response(flaky, visit).status for visit in (0, 1, 2)] == [500, 200, 200]


def test_slow_pages_wait_for_the_time_that_was_asked_for() -> None:
    web = generate(1, slow_seconds=0.05)
    assert {web.page_response(page).delay_seconds for page in pages_of(web, "slow")} == {0.05}
    assert web.page_response(web.blueprint.pages[0]).delay_seconds == 0.0


def test_noindex_is_said_in_the_page_or_in_a_header(web: Miniweb) -> None:
    said: Counter[bool] = Counter()
    for page in pages_of(web, "noindex"):
        response = web.page_response(page)
        in_page = b'<meta name="robots" content="noindex">' in response.body
        assert in_page != (response.x_robots_tag == "noindex")
        said[in_page] += 1
    assert min(said[True], said[False]) >= 5
    assert all(b'content="nofollow"' in web.page_response(page).body for page in pages_of(web, "nofollow"))


def test_robots_files_come_in_all_sorts(web: Miniweb) -> None:
    sorts = Counter(host.robots for host in web.blueprint.hosts)
    assert sorts["closed"] == sorts["unreachable"] == 1
    assert min(sorts["none"], sorts["open"], sorts["folders"]) >= 20
    answers = {host.robots: web.respond(host.name, "/robots.txt") for host in web.blueprint.hosts}
    assert {sort: answer.status for sort, answer in answers.items()} == {
        "none": 404,
        "open": 200,
        "folders": 200,
        "closed": 200,
        "unreachable": 503,
    }
    assert b"Disallow: /\n" in answers["closed"].body
    assert b"Disallow: /private/\n" in answers["folders"].body
    delays = [web.respond(host.name, "/robots.txt").body for host in web.blueprint.hosts if host.crawl_delay]
    assert delays
    assert all(b"Crawl-delay: 0.05" in body for body in delays)


def test_one_page_of_a_closed_folder_is_open(web: Miniweb) -> None:
    host = hosts_of(web, "calendar")[0]
    assert b"Allow: /private/open-day.html\n" in web.respond(host.name, "/robots.txt").body
    assert web.respond(host.name, "/private/open-day.html").outcome == "kept"


def test_sitemaps_are_named_in_robots_and_hold_the_orphans(web: Miniweb) -> None:
    orphan = pages_of(web, "orphan")[0]
    kinds = Counter(host.sitemap for host in web.blueprint.hosts)
    assert min(kinds["plain"], kinds["gzip"]) >= 20
    host = web.blueprint.hosts[orphan.host]
    path = "/sitemap.xml.gz" if host.sitemap == "gzip" else "/sitemap.xml"
    assert f"Sitemap: http://{host.name}{path}\n".encode() in web.respond(host.name, "/robots.txt").body
    body = web.respond(host.name, path).body
    text = gzip.decompress(body) if host.sitemap == "gzip" else body
    assert f"<loc>{web.blueprint.url(orphan).replace('&', '&amp;')}</loc>".encode() in text
    assert b"/private/" not in text


def test_orphans_are_linked_from_nowhere(web: Miniweb, drawn: list[Rendered]) -> None:
    orphans = {web.blueprint.url(page) for page in pages_of(web, "orphan")}
    assert not orphans.intersection(link for page in drawn for link in page.links)


def test_redirects_lead_on_within_a_host_and_between_hosts(web: Miniweb) -> None:
    page = web.blueprint.pages[1500]
    host = web.blueprint.hosts[page.host]
    moved = web.respond(host.name, f"/old{page.path}")
    assert (moved.status, moved.location) == (301, page.path)
    away = [web.respond("webatlas.mini.test", f"/go/{number}") for number in (1500, 1501)]
    assert [response.status for response in away] == [301, 302]
    assert away[0].location == web.blueprint.url(page)
    assert web.respond(host.name, "/go/999999999").status == 404


def test_a_redirect_loop_never_ends_and_a_chain_does(web: Miniweb) -> None:
    assert web.respond("redirect-office.mini.test", "/loop/a").location == "/loop/b"
    assert web.respond("redirect-office.mini.test", "/loop/b").location == "/loop/a"
    target, hops = "/chain/3", 0
    while (response := web.respond("redirect-office.mini.test", target)).location:
        target, hops = response.location, hops + 1
    assert (target, hops, response.status) == ("/", 4, 200)


def test_mirrors_serve_the_very_same_bytes(web: Miniweb) -> None:
    for mirror in hosts_of(web, "mirror"):
        original = web.blueprint.hosts[mirror.mirror_of]
        assert original.count >= 2
        for page in web.blueprint.pages[original.first : original.first + original.count]:
            assert web.respond(mirror.name, page.path, 1).body == web.respond(original.name, page.path, 1).body
        assert web.respond(mirror.name, "/").duplicate_of == original.url


def test_a_print_version_is_a_near_duplicate(web: Miniweb) -> None:
    page = next(p for p in web.blueprint.pages if p.kind == "news" and not p.quirk and "?" not in p.path)
    host = web.blueprint.hosts[page.host].name
    original, printed = web.respond(host, page.path), web.respond(host, f"/print{page.path}")
    assert printed.duplicate_of == web.blueprint.url(page)
    assert printed.body != original.body
    assert abs(len(printed.body) - len(original.body)) < 100


@pytest.mark.parametrize("session", ["path", "query"])
def test_session_ids_in_links_lead_to_the_same_page(web: Miniweb, session: str) -> None:
    host = next(host for host in hosts_of(web, "shop") if host.session == session)
    links = [
        link
        for page in web.blueprint.pages[host.first : host.first + host.count]
        for link in render(web.blueprint, page).links
        if link.startswith(host.url)
    ]
    mark = ";jsessionid=" if session == "path" else "sid="
    marked = [link for link in links if mark in link]
    assert len(marked) > len(links) * 0.7
    for link in marked[:50]:
        response = web.respond(host.name, link.removeprefix(f"http://{host.name}"), 1)
        assert response.status in (200, 500)
        if response.status == 200:
            bare = response.duplicate_of.removeprefix(f"http://{host.name}")
            assert mark not in bare
            assert web.respond(host.name, bare, 1).body == response.body


def test_tracking_parameters_lead_to_the_same_page(web: Miniweb) -> None:
    page = web.blueprint.pages[0]
    response = web.respond("webatlas.mini.test", "/?utm_source=x&utm_medium=link")
    assert response.body == get(web, page)
    assert response.duplicate_of == "http://webatlas.mini.test/"


def test_the_calendar_never_ends(web: Miniweb) -> None:
    host = hosts_of(web, "calendar")[0].name
    target = "/calendar/2026/11/"
    for _ in range(40):
        body = web.respond(host, target).body.decode()
        assert web.respond(host, target).outcome == "trap"
        target = body.partition('">Next month')[0].rpartition('"')[2]
    assert target == "/calendar/2030/3/"
    assert web.respond(host, "/calendar/2030/3/28").status == 200
    assert web.respond(host, "/calendar/2030/13/").status == 404
    assert web.respond("webatlas.mini.test", target).status == 404


def test_other_traps_answer_at_any_depth(web: Miniweb) -> None:
    folders = hosts_of(web, "folders")[0].name
    shop = next(host.name for host in hosts_of(web, "shop") if host.has_facets)
    assert web.respond(folders, "/deeper/" + "deeper/" * 30).outcome == "trap"
    assert web.respond(shop, "/browse?color=red&size=m").outcome == "trap"
    assert b"color=red&amp;size=m&amp;sort=price" in web.respond(shop, "/browse?color=red&size=m").body
    assert web.respond(shop, "/browse?evil=1").status == 404


def test_files_that_are_not_html_say_what_they_are(web: Miniweb) -> None:
    host = web.blueprint.hosts[20].name
    assert web.respond(host, "/files/brochure-3.pdf").content_type == "application/pdf"
    assert web.respond(host, "/images/photo-3.jpg").content_type == "image/jpeg"
    assert web.respond(host, "/style.css").content_type == "text/css"


@pytest.mark.parametrize("target", ["/no-such-page", "/go/x", "/print/none", "/old/none", "/%00", "/?", "/<script>"])
def test_anything_else_is_not_found(web: Miniweb, target: str) -> None:
    response = web.respond("webatlas.mini.test", target)
    assert response.status in (404, 200)
    assert b"<script>" not in response.body
    assert response.status == 404 or target == "/?"


def test_an_unknown_host_is_misdirected(web: Miniweb) -> None:
    response = web.respond("<b>elsewhere.test", "/")
    assert response.status == 421
    assert b"<b>" not in response.body
