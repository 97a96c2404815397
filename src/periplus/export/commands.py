"""The command `export`."""

import signal
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from periplus.errors import UsageError
from periplus.export.archives import export_wacz, export_warc
from periplus.export.files import write_csv, write_geojson, write_geoparquet
from periplus.export.geopackage import write_geopackage
from periplus.export.postgis import PostgisSink, ServerAway, Synced
from periplus.export.rows import ExportedPage, Selection, read_pages
from periplus.export.selection import chosen_pages
from periplus.options import refuse
from periplus.search import Collection, SearchRequest
from periplus.search.names import GazetteerNames
from periplus.search.reading import RELAXED
from periplus.search.request import MOST_RESULTS
from periplus.store.folder import CrawlFolder
from periplus.wording import counted

__all__ = ["export"]

TABLES: dict[str, Callable[[Iterable[ExportedPage], Path], int]] = {
    "geojson": write_geojson,
    "geoparquet": write_geoparquet,
    "gpkg": write_geopackage,
    "csv": write_csv,
}
ARCHIVES = {"warc": export_warc, "wacz": export_wacz}
SERVERS = ("postgis://", "postgresql://", "postgres://")


def export(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a crawl.", show_default=False)],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORM",
            help="geojson, geoparquet, gpkg, csv, warc, wacz, or the address of a PostGIS database: "
            "postgis://user@host/database (?schema=NAME).",
            show_default=False,
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write.")] = None,
    query: Annotated[str | None, typer.Option("--query", help="Only pages that answer this question.")] = None,
    text: Annotated[bool, typer.Option("--text", help="With the text of each page (tables only).")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="PostGIS: stay, and write what the crawl adds.")] = False,
    every: Annotated[float, typer.Option("--every", help="Seconds between two looks with --follow.")] = 5.0,
) -> None:
    """Write what a crawl found for other programs, or keep a PostGIS database up to date with it.

    Example: periplus export my-crawl --to gpkg -o my-crawl.gpkg
    """
    crawl = CrawlFolder.existing(folder)
    if not follow:
        refuse(context, "every", because="is how often --follow looks; it does nothing alone")
    if to.startswith(SERVERS):
        refuse(context, "output", "query", "text", because="is not possible with a database; it gets everything")
        _to_server(crawl, to, follow=follow, every=every)
        return
    if to not in TABLES and to not in ARCHIVES:
        forms = ", ".join([*TABLES, *ARCHIVES])
        raise UsageError(f"--to {to[:40]!r} is not possible; choose {forms}, or postgis://user@host/database")
    if output is None:
        raise UsageError(f"--to {to} needs -o FILE")
    if follow:
        raise UsageError("--follow is for databases; a file is written once")
    if to in ARCHIVES:
        refuse(context, "text", because=f"is for tables; --to {to} has the pages as they were sent")
    chosen, told = _chosen(folder, query) if query is not None else (None, "")
    if to in TABLES:
        wanted: Selection | None = None if chosen is None else lambda node, page: (node, page) in chosen
        count = TABLES[to](read_pages(crawl, wanted=wanted, text=text), output)
    else:
        urls = None if chosen is None else frozenset(chosen.values())
        count = ARCHIVES[to](crawl, output, None if urls is None else urls.__contains__)
    if told:
        typer.echo(told, err=True)
    why = "" if count else f"; {'the crawl has kept no page yet' if query is None else 'none answers the question'}"
    typer.echo(f"{output}: {counted(count, 'page' if to in TABLES or to == 'wacz' else 'record')}{why}")


def _chosen(folder: Path, query: str) -> tuple[dict[tuple[str, int], str], str]:
    """The pages that answer, by node and number; and how the question was read."""
    request = SearchRequest.of(query, limit=1)
    with Collection.open([folder], names=GazetteerNames()) as collection:
        first = collection.search(request)
        found = chosen_pages(collection, request)
    told = first.understood.reading + (f" · {RELAXED}" if first.relaxed else "")
    if found and first.total > len(found):
        told += (
            f" · {counted(first.total - len(found), 'more page')} left out: the same again, or beyond {MOST_RESULTS:,}"
        )
    return {(hit.node, hit.page): hit.url for hit in found}, told


def _to_server(crawl: CrawlFolder, address: str, *, follow: bool, every: float) -> None:
    if not 0.1 <= every <= 86_400:
        raise UsageError(f"--every {every} is not between 0.1 and 86,400 seconds")
    if follow:
        _follow(crawl, address, every)
    with PostgisSink(address) as sink:
        _say_written(sink.sync(crawl))


def _say_written(done: Synced) -> None:
    typer.echo(f"{counted(done.pages, 'page')} written, {done.removed:,} not kept")


def _follow(crawl: CrawlFolder, address: str, every: float) -> NoReturn:
    """Write what comes until interrupted; a server that goes away is waited for, but it must be there at first."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    begun = away = False
    while not stop.is_set():
        try:
            with PostgisSink(address) as sink:
                begun = True
                while not stop.is_set():
                    done = sink.sync(crawl)
                    if away:
                        typer.echo("periplus: PostgreSQL answers again", err=True)
                    away = False
                    if done.pages or done.removed:
                        _say_written(done)
                    stop.wait(every)
        except ServerAway as error:
            if not begun:
                raise
            if not away:  # said once, however long it takes
                typer.echo(f"periplus: {error}; waits for the server", err=True)
            away = True
            stop.wait(every)
    raise KeyboardInterrupt  # what was begun is written; the same command goes on from here
