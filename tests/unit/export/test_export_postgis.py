"""The PostGIS sink against a real PostgreSQL with PostGIS: incremental, exact, and as SQL users see it."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from command_line import periplus, start
from postgres_server import postgres
from sample_collection import PAGES, SamplePage, add_pages, build_collection, make_page

from periplus.errors import EnvironmentFailure
from periplus.export.postgis import PostgisSink, ServerAway, _links
from periplus.store.folder import CrawlFolder

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.needs("postgis")]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as socket:
        yield socket


@pytest.fixture
def address(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of its own for each test."""
    name = f"t{abs(hash(request.node.name))}"
    with psycopg.connect(f"postgresql://postgres@/postgres?host={server}", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        yield f"postgis://postgres@/{name}?host={server}"
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def ask(address: str, sql: str) -> list[Any]:
    with psycopg.connect(address.replace("postgis://", "postgresql://")) as db:
        db.execute("SET search_path TO periplus, public")
        return db.execute(sql.encode()).fetchall()


def sync(crawl: CrawlFolder, address: str) -> tuple[int, int]:
    with PostgisSink(address) as sink:
        done = sink.sync(crawl)
    return done.pages, done.removed


def story(number: int, place: int, *links: tuple[str, str, str], **changes: object) -> SamplePage:
    return make_page(number, url=f"http://s.example/{number}", places=((place, 0.9),), links=links, **changes)


def test_a_crawl_as_sql_users_see_it(address: str, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl")
    kept = [page for page in PAGES if page.kept]
    assert sync(crawl, address) == (len(kept), len(PAGES) - len(kept))
    assert ask(address, "SELECT count(*) FROM pages") == [(len(kept),)]
    near = "ST_DWithin(geom::geography, ST_MakePoint(-9.14, 38.72)::geography, 25000)"
    assert ask(address, f"SELECT count(*) FROM pages WHERE {near} AND words @@ to_tsquery('simple', 'pizza')") == [
        (24,)
    ]
    assert ask(address, "SELECT path[3], ST_SRID(geom) FROM places WHERE name = 'Sylhet'") == [("Bangladesh", 4326)]
    rows = ask(address, "SELECT name, substr(body, start_at + 1, end_at - start_at) FROM mentions JOIN pages "
                        "USING (crawl, node, page)")  # fmt: skip
    assert rows
    assert all(name == cut for name, cut in rows)
    assert ask(address, "SELECT topics, published::text FROM pages WHERE url LIKE '%sylhet%'") == [
        (["floods"], "2026-06-18")
    ]
    kinds = dict(ask(address, "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'periplus'"))
    for name in ("pages_geom", "places_geom", "mentions_geom", "links_geom"):
        assert "USING gist" in kinds[name]
    assert "USING gin" in kinds["pages_words"]


def test_only_what_is_new_is_written(address: str, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", PAGES[:4], nodes=("a",))
    assert sync(crawl, address) == (4, 0)
    assert sync(crawl, address) == (0, 0)
    add_pages(crawl.node("a").database, [make_page(1), make_page(2)])
    assert sync(crawl, address) == (2, 0)
    add_pages(crawl.node("a").database, [make_page(1, text="Now about zeppelins in Dallas", places=((4684888, 1.0),))])
    assert sync(crawl, address) == (1, 0)
    assert ask(address, "SELECT count(*) FROM pages") == [(6,)]
    found = ask(address, "SELECT p.name FROM pages JOIN places p ON p.id = place_id WHERE body LIKE '%zeppelin%'")
    assert found == [("Dallas",)]
    add_pages(crawl.node("a").database, [make_page(2, kept=False)])
    assert sync(crawl, address) == (0, 1)
    assert ask(address, "SELECT count(*) FROM pages") == [(5,)]
    orphans = "SELECT count(*) FROM mentions LEFT JOIN pages USING (crawl, node, page) WHERE pages.page IS NULL"
    assert ask(address, orphans) == [(0,)]


def test_links_are_lines_between_the_places_of_pages(address: str, tmp_path: Path) -> None:
    to_dallas = ("http://s.example/2", "see Dallas", "b")
    crawl = build_collection(tmp_path / "crawl", [story(1, 4699066, to_dallas)], nodes=("a", "b"))
    sync(crawl, address)
    assert ask(address, "SELECT anchor, geom IS NULL FROM links") == [("see Dallas", True)]
    add_pages(crawl.node("b").database, [story(2, 4684888)])  # the page it leads to comes later, in another node
    sync(crawl, address)
    (line,) = ask(address, "SELECT ST_AsText(geom, 2) FROM links")
    assert line == ("LINESTRING(-95.36 29.76,-96.81 32.78)",)
    add_pages(crawl.node("b").database, [story(2, 4718097)])  # it is about another place now
    sync(crawl, address)
    (line,) = ask(address, "SELECT ST_AsText(geom, 2) FROM links")
    assert line == ("LINESTRING(-95.36 29.76,-95.21 29.69)",)
    add_pages(crawl.node("b").database, [story(2, 4718097, kept=False)])
    sync(crawl, address)
    assert ask(address, "SELECT geom IS NULL FROM links") == [(True,)]


def test_two_crawls_and_hostile_text_in_one_schema(address: str, tmp_path: Path) -> None:
    nasty = make_page(1, title="Robert'); DROP TABLE pages;--\x00\\N\t", text="NUL \x00 and \\. and \t tab\n\\N")
    one = build_collection(tmp_path / "one", [nasty], nodes=("a",))
    two = build_collection(tmp_path / "two", [nasty], nodes=("a",))
    sync(one, address)
    sync(two, address)
    titles = ask(address, "SELECT crawl, title FROM pages ORDER BY 1")
    assert titles == [(name, "Robert'); DROP TABLE pages;--\\N\t") for name in ("one", "two")]


def test_a_sink_that_dies_leaves_whole_batches(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.export.postgis.BATCH", 5)
    crawl = build_collection(tmp_path / "crawl", PAGES[:20], nodes=("a",))
    calls = 0

    def fails_at_the_third(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise psycopg.OperationalError("the server went away")

    with monkeypatch.context() as patch:
        patch.setattr("periplus.export.postgis._draw_links", fails_at_the_third)
        with pytest.raises(EnvironmentFailure, match="the server went away"):
            sync(crawl, address)
    assert ask(address, "SELECT count(*) FROM pages") == [(10,)]
    assert sync(crawl, address) == (10, 0)
    assert ask(address, "SELECT count(*), count(DISTINCT url) FROM pages") == [(20, 20)]


def end_connections(server: str, database: str) -> None:
    """End all connections to a database, as a server does that is shut down."""
    with psycopg.connect(f"postgresql://postgres@/postgres?host={server}", autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database,))


def test_a_server_that_stops_in_the_middle_is_one_line_and_leaves_whole_batches(
    server: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.export.postgis.BATCH", 5)
    crawl = build_collection(tmp_path / "crawl", PAGES[:20], nodes=("a",))
    database, batches = urlsplit(address).path[1:], 0

    def gone_before_the_third(*rows: Any) -> Any:
        nonlocal batches
        batches += 1
        if batches == 3:
            end_connections(server, database)
        return _links(*rows)

    with monkeypatch.context() as patch:
        patch.setattr("periplus.export.postgis._links", gone_before_the_third)
        with pytest.raises(ServerAway, match=r"^PostgreSQL: [^\n]*terminating connection[^\n]*$"):
            sync(crawl, address)
    assert ask(address, "SELECT count(*) FROM pages") == [(10,)]
    assert sync(crawl, address) == (10, 0)


def test_follow_waits_for_a_server_that_goes_away(server: str, address: str, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", PAGES[:4], nodes=("a",))
    database = urlsplit(address).path[1:]
    process = start("export", crawl.path, "--to", address, "--follow", "--every", "0.1")
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "4 pages written" in process.stdout.readline()
        with psycopg.connect(f"postgresql://postgres@/postgres?host={server}", autocommit=True) as admin:
            admin.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false".encode())
            end_connections(server, database)
            assert "PostgreSQL: " in (said := process.stderr.readline()), said
            assert "; waits for the server" in said
            add_pages(crawl.node("a").database, [make_page(1)])
            admin.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true".encode())
        assert process.stderr.readline() == "periplus: PostgreSQL answers again\n", "it is said once that it is away"
        assert "1 page written" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, errors) == (130, "")


def test_the_command_and_follow(address: str, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", PAGES[:4], nodes=("a",))
    assert "4 pages written" in periplus("export", crawl.path, "--to", address).out
    process = start("export", crawl.path, "--to", address, "--follow", "--every", "0.1")
    try:
        add_pages(crawl.node("a").database, [make_page(1)])
        assert process.stdout is not None
        assert "1 page written" in process.stdout.readline()
        assert ask(address, "SELECT count(*) FROM pages") == [(5,)]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in errors
