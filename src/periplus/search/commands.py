"""The commands `search` and `trend`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from periplus.index import IndexQuery
from periplus.printing import Console
from periplus.search.atlas import KnownPlace
from periplus.search.collection import Collection
from periplus.search.names import GazetteerNames
from periplus.search.reading import RELAXED
from periplus.search.request import SearchRequest
from periplus.search.results import Hit, SearchResult, Trend
from periplus.search.trend import check_every
from periplus.wording import counted

__all__ = ["search", "trend"]

MOST_OTHERS = 4
"""Other places of a name that are listed."""

CLUSTER_SECONDS = 10.0
"""How long an answer of a cluster is waited for; who has not answered by then is missing."""

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of a crawl; with --cluster its name.", show_default=False)
]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster",
        metavar="SERVERS",
        help="Ask the machines of a cluster, by NATS: nats://HOST:4222, or a TOML file with a \\[cluster] table.",
    ),
]
Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help='What, where and when: words, "a phrase", -word, OR, inclass:TOPIC site:HOST place:"NAME" '
        "near:LAT,LON,KM before:DATE after:DATE lang:CODE.",
    ),
]
PlaceOption = Annotated[str | None, typer.Option("--place", help="Place name or id; wins over places in QUERY.")]
Near = Annotated[str | None, typer.Option("--near", metavar="LAT,LON,KM", help="Around a point.")]
Box = Annotated[str | None, typer.Option("--bbox", metavar="W,S,E,N", help="In a box; W > E crosses the date line.")]
Shape = Annotated[str | None, typer.Option("--polygon", metavar="LON,LAT;…", help="In a polygon: its corners.")]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Published on or after: 2026-05-17, 2026.")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Published on or before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def search(
    folder: Folder,
    query: Query = "",
    *,
    place: PlaceOption = None,
    near: Near = None,
    bbox: Box = None,
    polygon: Shape = None,
    since: Since = None,
    until: Until = None,
    sort: Annotated[str, typer.Option("--sort", help="relevance or time.")] = "relevance",
    limit: Annotated[int, typer.Option("--limit", help="Results to show, at most 200.")] = 10,
    offset: Annotated[int, typer.Option("--offset", help="Results to skip.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    freshness: Annotated[
        int,
        typer.Option("--freshness", metavar="DAYS", help="Pages this old count half as much; 0: age does not count."),
    ] = 0,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Search a crawl by what, where and when.

    Example: periplus search my-crawl "pizza restaurant in Lisbon" --since 2026
    """
    request = SearchRequest.of(
        query,
        place=place,
        near=near,
        bbox=bbox,
        polygon=polygon,
        since=since,
        until=until,
        sort=sort,
        limit=limit,
        offset=offset,
        explain=explain,
        freshness=freshness,
    )
    with _open(folder, cluster) as collection:
        result = collection.search(request, seconds=CLUSTER_SECONDS if cluster else None)
        pages = collection.count(IndexQuery())
    if as_json:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        _show(result, pages)
    if not pages and not result.missing:
        _say_empty(folder)


def trend(
    folder: Folder,
    query: Query = "",
    *,
    every: Annotated[str, typer.Option("--every", "--by", help="day, week, month or year.")] = "month",
    place: PlaceOption = None,
    near: Near = None,
    bbox: Box = None,
    polygon: Shape = None,
    since: Since = None,
    until: Until = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Count the pages that answer a question over time.

    Example: periplus trend my-crawl "inclass:floods near Sylhet" --every week
    """
    check_every(every)  # before anything is opened
    request = SearchRequest.of(query, place=place, near=near, bbox=bbox, polygon=polygon, since=since, until=until)
    with _open(folder, cluster) as collection:
        result = collection.trend(request, every)
        pages = collection.count(IndexQuery())
    if as_json:
        typer.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        _show_trend(result)
    if not pages and not result.missing:
        _say_empty(folder)


def _say_empty(folder: Path) -> None:
    """A collection without pages answers every question with nothing: whoever asks it is told why."""
    typer.echo(f"periplus: {folder} is empty: its crawl has kept no page yet", err=True)


def _open(folder: Path, cluster: str) -> Collection:
    if cluster:
        from periplus.cluster.addresses import cluster_settings  # noqa: PLC0415  heavy
        from periplus.search.remote import ClusterLink  # noqa: PLC0415

        return Collection.of_cluster(ClusterLink(cluster_settings(cluster), str(folder)), names=GazetteerNames())
    errors = Console(stderr=True)
    if not errors.is_terminal:
        return Collection.open([folder], names=GazetteerNames())
    with errors.status("opening the index …") as status:
        return Collection.open(
            [folder], names=GazetteerNames(), progress=lambda done: status.update(f"indexing: {done:,} pages …")
        )


def _show(result: SearchResult, collection_pages: int) -> None:
    console = _console()
    console.print(_meaning(result))
    for hit in result.hits:
        console.print(_entry(hit))
    if not result.hits and result.missing and not result.nodes:
        console.print("Nobody has answered: start the nodes with `periplus node NAME --answer`.")
    elif not result.hits and collection_pages:
        console.print("Nothing found. Try fewer words, a place around it, or no dates.")


def _console() -> Console:
    console = Console(highlight=False)
    console.soft_wrap = not console.is_terminal  # lines that other programs read are whole
    return console


def _meaning(result: SearchResult) -> Text:
    """One line on how the question was understood."""
    text = Text(counted(result.total, "page"), style="bold")
    text.append(f" · {_printable(result.understood.reading)}", style="not bold")
    text.append(_others(result.understood.where.candidates[1:]), style="dim")
    if result.relaxed:
        text.append(f" · {RELAXED}", style="yellow")
    if result.missing:
        text.append(f" · without {', '.join(result.missing)}: no answer from there", style="yellow")
    if result.did_you_mean:
        text.append(f" · did you mean: {result.did_you_mean}", style="yellow")
    return text


def _others(places: Sequence[KnownPlace]) -> str:
    """The places that the name could mean as well, with what to write for them."""
    if not places:
        return ""
    shown = ", ".join(f"{place.label} (--place {place.id})" for place in places[:MOST_OTHERS])
    rest = len(places) - MOST_OTHERS
    return f" · not: {shown}" + (f" and {rest:,} more" if rest > 0 else "")


def _entry(hit: Hit) -> Text:
    entry = Text(f"\n{hit.rank:>3}. ")
    title = Text(_printable(hit.title) or hit.url, style="bold")
    entry.append(title)
    path = " › ".join(hit.place.path[1:]) if hit.place else "no place"
    entry.append(f"\n     {path} · {hit.published or 'undated'} · {_printable(hit.url)}\n     ", style="dim")
    snippet = Text(_printable(hit.snippet))
    for mark in hit.marks:
        snippet.stylize("green" if mark.kind == "where" else "yellow", mark.start, mark.end)
    entry.append(snippet)
    if hit.reason:
        entry.append(f"\n     {'near: ' if hit.relation == 'near' else ''}{_printable(hit.reason)}", style="magenta")
    if hit.alike:
        entry.append(f"\n     {hit.alike:,} more {'pages say' if hit.alike > 1 else 'page says'} the same", style="dim")
    if hit.explanation:
        parts = ", ".join(f"{key} {value}" for key, value in hit.explanation.items() if key != "formula")
        entry.append(f"\n     score {hit.score:.4f}: {parts}", style="cyan")
    return entry


def _printable(text: str) -> str:
    """Crawled text without anything that a terminal would obey; of the same length."""
    return "".join(character if character.isprintable() else " " for character in text)


def _show_trend(result: Trend) -> None:
    table = Table(box=None, show_header=False, padding=(0, 1))
    most = max((bucket.count for bucket in result.buckets), default=1)
    shown = {"year": 4, "month": 7}.get(result.every)  # 2026, 2026-05
    for bucket in result.buckets:
        bar = "█" * round(40 * bucket.count / most) if most else ""
        table.add_row(bucket.start[:shown], f"{bucket.count:,}", bar or ("▏" if bucket.count else ""))
    console = _console()
    console.print(table)
    console.print(
        f"{counted(result.total, 'page')}, {result.undated:,} without a date · {_printable(result.understood.reading)}",
        markup=False,
    )
    if result.relaxed:
        console.print(RELAXED)
    if result.missing:
        console.print(f"without {', '.join(result.missing)}: no answer from there", markup=False)
