"""Pages are looked at again: what is unchanged costs a conditional request, what is changed or gone is seen to be."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from changing_site import HOME, HOST, Site, served
from command_line import periplus


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site({"/": HOME})
    for name in ("a", "b", "c"):
        made.page(f"/{name}", f"Floods number {name} were seen")
    made.etags["/c"] = '"c-1"'
    with served(made) as running:
        yield running


def job(folder: Path, site: Site, *, hours: float, sitemaps: str = "off") -> Path:
    path = folder / "job.toml"
    path.write_text(
        f"""
seeds = ["http://{HOST}/"]
[crawl]
keep = "all"
delay_seconds = 0.0
sitemaps = "{sitemaps}"
allow_private = ["127.0.0.0/8"]
workers = 1
[crawl.revisit]
hours = {hours}
[crawl.resolve]
"{HOST}" = "127.0.0.1:{site.port}"
""",
        "utf-8",
    )
    return path


DUE = "UPDATE progress SET not_before = 0 WHERE state = 2 AND id IN (SELECT id FROM url WHERE {})"


def make_due(folder: Path, which: str = "true") -> None:
    """Let the time pass for the URLs that wait for their next visit."""
    with closing(sqlite3.connect(folder / "nodes/main/node.db")) as db, db:
        assert db.execute(DUE.format(which)).rowcount > 0


def changes(folder: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "nodes/main/node.db")) as db:
        rows = db.execute("SELECT u.url, c.what FROM page_change c JOIN url u ON u.id = c.url_id").fetchall()
    return {(url.removeprefix(f"http://{HOST}"), what) for url, what in rows}


def test_unchanged_changed_and_gone(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    settings = job(tmp_path, site, hours=24)
    first = periplus("crawl", settings, "--out", folder, "--json")
    assert first.code == 0, first.err
    assert first.json["pages"] == first.json["kept"] == 4
    assert {what for _, what in changes(folder)} == {"new"}

    site.page("/a", "Droughts are what it has now")
    del site.pages["/b"]
    make_due(folder)
    before = len(site.asked)
    second = periplus("crawl", settings, "--out", folder, "--json")
    assert second.code == 0, second.err
    asked = dict(site.asked[before:])
    assert asked["/c"] == '"c-1"', "it has an ETag, so it is asked for with it"
    assert changes(folder) >= {("/a", "changed"), ("/b", "gone")}
    assert {path for path, what in changes(folder) if what != "new"} == {"/a", "/b"}
    assert second.json["outcomes"]["not_modified"] >= 2, "/c by its ETag, / by its content"
    assert (second.json["pages"], second.json["kept"]) == (4, 3)
    assert periplus("search", folder, "droughts", "--json").json["total"] == 1
    assert periplus("search", folder, "floods", "--json").json["total"] == 1, "only /c: /a changed and /b is gone"


@pytest.mark.parametrize(("status", "outcome"), [(403, "http_error"), (302, "too_many_redirects")])
def test_a_page_that_is_refused_for_once_is_not_given_up(site: Site, tmp_path: Path, status: int, outcome: str) -> None:
    folder = tmp_path / "crawl"
    settings = job(tmp_path, site, hours=24)
    assert periplus("crawl", settings, "--out", folder).code == 0
    site.refusals["/a"] = status
    make_due(folder)
    assert periplus("crawl", settings, "--out", folder, "--json").json["outcomes"][outcome] == 1
    assert periplus("search", folder, "floods", "--json").json["total"] == 3, "what was read stays"
    told = periplus("why", folder, f"http://{HOST}/a").out
    assert "\nkept as it was; at its last visit: " in told, told
    assert "not kept" not in told

    site.refusals.clear()
    site.page("/a", "Droughts are what it has now")
    make_due(folder)
    assert periplus("crawl", settings, "--out", folder).code == 0
    assert ("/a", "changed") in changes(folder), "it was asked for again"


def test_a_duplicate_takes_the_place_of_its_original_when_that_is_gone(site: Site, tmp_path: Path) -> None:
    """/a and /b say the same; whichever was kept goes."""
    folder = tmp_path / "crawl"
    settings = job(tmp_path, site, hours=24)
    site.pages["/b"] = site.pages["/a"]
    site.etags |= {"/a": '"same"', "/b": '"same"'}
    first = periplus("crawl", settings, "--out", folder, "--json")
    assert (first.json["pages"], first.json["kept"]) == (4, 3), first.err
    with closing(sqlite3.connect(folder / "nodes/main/node.db")) as db:
        ((original,),) = db.execute("SELECT url FROM page WHERE kept AND url GLOB '*/[ab]'").fetchall()

    del site.pages[original.removeprefix(f"http://{HOST}")]
    make_due(folder, f"url = '{original}'")
    assert periplus("crawl", settings, "--out", folder, "--json").json["kept"] == 2
    make_due(folder, "url GLOB '*/[ab]'")
    third = periplus("crawl", settings, "--out", folder, "--json")
    assert third.json["kept"] == 3, "what it says is still there, at another address"
    make_due(folder)
    assert periplus("crawl", settings, "--out", folder, "--json").json["kept"] == 3


def test_nothing_is_revisited_unless_it_is_asked_for(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert periplus("crawl", job(tmp_path, site, hours=0), "--out", folder).code == 0
    before = len(site.asked)
    assert periplus("crawl", job(tmp_path, site, hours=0), "--out", folder).code == 0
    assert periplus("crawl", job(tmp_path, site, hours=1_000), "--out", folder).code == 0
    assert len(site.asked) == before
    make_due(folder)  # the last run began to revisit, although the first did not
    assert periplus("crawl", job(tmp_path, site, hours=1_000), "--out", folder).code == 0
    assert len(site.asked) == before + 4


def test_a_sitemap_brings_a_visit_forward(site: Site, tmp_path: Path) -> None:
    def sitemap(day: str) -> str:
        row = f"<url><loc>http://{HOST}/a</loc><lastmod>{day}</lastmod></url>"
        return f"<urlset>{row}<url><loc>http://{HOST}/only-here</loc></url></urlset>"

    folder = tmp_path / "crawl"
    settings = job(tmp_path, site, hours=1_000, sitemaps="robots")
    site.pages["/robots.txt"] = f"User-agent: *\nDisallow:\nSitemap: http://{HOST}/map.xml\n"
    site.pages["/map.xml"] = sitemap("2020-01-01")
    site.page("/only-here", "An orphan was seen")
    first = periplus("crawl", settings, "--out", folder, "--json")
    assert first.code == 0, first.err
    assert first.json["outcomes"]["sitemap"] == 1
    assert first.json["pages"] == 5, "with the page that only the sitemap names"

    site.page("/a", "Droughts are what it has now")
    site.pages["/map.xml"] = sitemap("2099-01-01")
    make_due(folder, "sitemap = 1")
    before = len(site.asked)
    second = periplus("crawl", settings, "--out", folder, "--json")
    assert second.code == 0, second.err
    assert {path for path, _ in site.asked[before:]} == {"/map.xml", "/a"}
    assert ("/a", "changed") in changes(folder)
