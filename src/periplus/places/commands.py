"""The commands `periplus places` and `periplus gazetteer …`; heavy imports happen when a command runs.

`cli.py` registers `places` as a command and `gazetteer_app` as a group.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from periplus.errors import UsageError
from periplus.files import read_input
from periplus.model import Fetched, Located, Place
from periplus.options import refuse
from periplus.wording import counted

if TYPE_CHECKING:
    from periplus.places import Gazetteer, HostPrior

__all__ = ["gazetteer_app", "located_as_dict", "place_as_dict", "places"]

gazetteer_app = typer.Typer(help="What places are known: show, look up, build, add.", no_args_is_help=True)


def place_as_dict(place: Place) -> dict[str, Any]:
    """A place in the JSON form of every command."""
    return {
        "id": place.id, "name": place.name, "kind": place.kind, "country": place.country, "admin1": place.admin1,
        "lat": round(place.point.lat, 6), "lon": round(place.point.lon, 6), "population": place.population,
        "path": list(place.path),
    }  # fmt: skip


def located_as_dict(located: Located, document_id: str | int | None) -> dict[str, Any]:
    """What was found in a text, in the JSON form of `periplus places`."""
    return {
        "id": document_id,
        "mentions": [
            {
                "start": m.start, "end": m.end, "text": m.text, "place": place_as_dict(m.place) if m.place else None,
                "confidence": m.confidence, "candidates": [place_as_dict(c) for c in m.candidates],
                "adjectival": m.adjectival, "within": m.within,
            }
            for m in located.mentions
        ],
        "addresses": [
            {
                "start": a.start, "end": a.end, "text": a.text, "street_number": a.street_number, "street": a.street,
                "city": a.city, "state": a.state, "zip": a.zip, "place_id": a.place_id, "level": a.level,
                "unit": a.unit,
            }
            for a in located.addresses
        ],
        "footprint": [
            {"place": place_as_dict(w.place), "weight": round(w.weight, 4)} for w in located.footprint.places
        ],
    }  # fmt: skip


def located_as_geojson(located: Located) -> dict[str, Any]:
    """The mentions as GeoJSON points."""
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [m.place.point.lon, m.place.point.lat]},
            "properties": {
                "text": m.text, "start": m.start, "end": m.end, "confidence": m.confidence, **place_as_dict(m.place),
            },
        }
        for m in located.mentions
        if m.place is not None
    ]  # fmt: skip
    return {"type": "FeatureCollection", "features": features}


def _line(value: Any) -> str:
    """JSON in plain characters, escaped where some could not be written (lone surrogates)."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def open_with_progress() -> "Gazetteer":
    """Open the gazetteer; a bar on the terminal while it is compiled for the first time."""
    from periplus.places import open_gazetteer  # noqa: PLC0415  heavy

    with _bar() as progress:
        return open_gazetteer(progress=progress)


@contextmanager
def _bar() -> "Iterator[Callable[[str, float], None] | None]":
    """A progress callback that draws a bar; None where nobody looks at a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress  # noqa: PLC0415  heavy

    from periplus.printing import Console  # noqa: PLC0415  heavy

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("gazetteer", total=1.0)
        yield lambda what, share: bar.update(task, completed=share, description=what)


def _text_of(data: bytes, source: str) -> str:
    if b"\0" in data[:1024] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{source} is not text (it holds NUL bytes); give a text file, or --html for a page")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return data.decode(encoding, "replace")


def _documents(lines: Iterable[str], source: str) -> Iterator[tuple[Any, str, str | None]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            document = row["id"], row["text"], row.get("url")
            if not isinstance(document[1], str):
                raise TypeError("text")
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f'{source} line {number}: not a JSON object with "id" and "text"') from error
        yield document


def places(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="Text or HTML file, or - for standard input.")] = "-",
    *,
    html: Annotated[
        bool, typer.Option("--html", help="The input is an HTML page, though it does not look like one.")
    ] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help='One {"id", "text", "url"?} a line in, one result a line out.')
    ] = False,
    site_memory: Annotated[
        bool, typer.Option("--site-memory", help="Documents of one host inform each other (two passes; with --jsonl).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    geojson: Annotated[bool, typer.Option("--geojson", help="Print the mentions as GeoJSON.")] = False,
    demonyms: Annotated[bool, typer.Option(help="Count adjectival forms such as Portuguese.")] = True,
) -> None:
    """Find places in a text. Example: echo 'Floods hit Sylhet.' | periplus places - --json"""
    from periplus.pages import is_html  # noqa: PLC0415  heavy
    from periplus.places import locate  # noqa: PLC0415  heavy

    if not jsonl:
        refuse(context, "site_memory", because="is for several documents; give them with --jsonl")
    else:
        refuse(context, "html", "geojson", because="is not possible with --jsonl: texts in, JSON out")
    if geojson:
        refuse(context, "as_json", because="and --geojson exclude each other; give one of them")
    gazetteer = open_with_progress()
    data = read_input(file)
    if jsonl:
        _run_lines(_text_of(data, file), file, gazetteer, site_memory=site_memory, demonyms=demonyms)
        return
    if html or is_html(data, file):
        located = _located_page(data, gazetteer, demonyms=demonyms)
    else:
        located = locate(_text_of(data, file), gazetteer, demonyms=demonyms)
    if geojson:
        print(_line(located_as_geojson(located)))
    elif as_json:
        print(_line(located_as_dict(located, None if file == "-" else file)))
    else:
        _show(located)


def _located_page(data: bytes, gazetteer: "Gazetteer", *, demonyms: bool) -> Located:
    """The places of an HTML page, as a crawl sees them: without those that only its menus and lists of links name."""
    from periplus.pages import read_page  # noqa: PLC0415  heavy
    from periplus.places.locate import locate, outside  # noqa: PLC0415  heavy

    page = read_page(Fetched("http://localhost/", 200, (), data, "text/html", datetime.now(UTC), 0.0, ""))
    found = locate(
        page.text,
        gazetteer,
        hints=page.hints,
        demonyms=demonyms,
        furniture=page.furniture,
        language=page.language,
    )
    return replace(found, mentions=tuple(outside(found.mentions, page.furniture)))


def _run_lines(text: str, source: str, gazetteer: "Gazetteer", *, site_memory: bool, demonyms: bool) -> None:
    """One JSON result a line, in the order of the input."""
    from periplus.places import locate  # noqa: PLC0415  heavy

    documents = list(_documents(text.split("\n"), source))
    priors = _site_priors(documents, gazetteer) if site_memory else {}
    for i, (document_id, body, url) in enumerate(documents):
        located = locate(body, gazetteer, url=url, prior=priors.get(i), demonyms=demonyms)
        print(_line(located_as_dict(located, document_id)))


def _site_priors(documents: list[tuple[Any, str, str | None]], gazetteer: "Gazetteer") -> "dict[int, HostPrior]":
    """For every document what the others of its host were about (a first pass over all of them)."""
    from periplus.places import locate  # noqa: PLC0415  heavy
    from periplus.places.memory import leave_one_out  # noqa: PLC0415  heavy

    return leave_one_out(
        [(body, url or "") for _, body, url in documents],
        lambda body, url: locate(body, gazetteer, url=url, candidates=False),
    )


def _show(located: Located) -> None:
    """Tables for people."""
    from rich.table import Table  # noqa: PLC0415  heavy

    from periplus.printing import Console  # noqa: PLC0415  heavy

    table = Table("text", "place", "kind", "lat, lon", "confidence", title="Mentions")
    for m in located.mentions:
        where = "unsettled" if m.place is None else " / ".join(m.place.path[1:])
        point = "" if m.place is None else f"{m.place.point.lat:.3f}, {m.place.point.lon:.3f}"
        table.add_row(m.text, where, m.place.kind if m.place else "", point, f"{m.confidence:.2f}")
    console = Console()
    console.print(table)
    for address in located.addresses:
        console.print(f"address: {' '.join(address.text.split())}", highlight=False)
    for item in located.footprint.places[:5]:
        console.print(f"{item.weight:5.0%}  {' / '.join(item.place.path[1:])}", highlight=False)


@gazetteer_app.command("info")
def gazetteer_info(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what the gazetteer holds. Example: periplus gazetteer info --json"""
    gazetteer = open_with_progress()
    facts = {
        "path": str(gazetteer.path), "version": gazetteer.version, "digest": gazetteer.digest,
        "sources": gazetteer.meta.get("sources", {}), "counts": gazetteer.counts(),
        "skipped": gazetteer.meta.get("skipped", {}),
    }  # fmt: skip
    if as_json:
        print(json.dumps(facts))
        return
    for name, value in {**facts, **gazetteer.counts()}.items():
        if not isinstance(value, dict):
            print(f"{name:12} {value}")


@gazetteer_app.command("lookup")
def gazetteer_lookup(
    name: Annotated[str, typer.Argument(help='A name, "City, State", or an id.')],
    limit: Annotated[int, typer.Option(help="How many candidates.", min=1)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the candidates for a name, best first. Example: periplus gazetteer lookup "Portland, OR" """
    from periplus.errors import PlaceError  # noqa: PLC0415
    from periplus.places.lookup import nearest_names  # noqa: PLC0415  heavy

    gazetteer = open_with_progress()
    found = gazetteer.find(name, limit=limit)
    if as_json:
        print(_line([place_as_dict(p) for p in found]))
    if not found:
        near = ", ".join(nearest_names(gazetteer, name))
        raise PlaceError(f"no place is called {name!r}" + (f"; did you mean {near}?" if near else ""))
    if not as_json:
        for p in found:
            print(f"{p.id:>12}  {' / '.join(p.path[1:])}  ({p.kind}, {p.population:,})")


@gazetteer_app.command("build")
def gazetteer_build(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="GeoNames dumps (.txt, .zip), .geojson, .shp, .csv, WordNet's data.noun; none: bundled data."
        ),
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; default: the user's cache.")] = None,
    min_population: Annotated[int, typer.Option(help="Leave smaller towns of the dumps out.")] = 500,
    features: Annotated[
        bool, typer.Option("--features", help="Take rivers, mountains and the like too, if they have several names.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compile a gazetteer. Example: periplus gazetteer build allCountries.zip alternateNamesV2.zip"""
    from periplus.places import open_gazetteer  # noqa: PLC0415  heavy
    from periplus.places.cache import build_from, built_path, rebuild  # noqa: PLC0415  heavy

    missing = [f for f in files or () if not f.is_file()]
    if missing:
        raise UsageError(f"no file {missing[0]}")
    target = out or built_path()
    if not files and out is None:
        refuse(context, "min_population", "features", because="is for dumps; name their files")
        with _bar() as progress:
            rebuild(progress)
        gazetteer = open_with_progress()
        skipped: dict[str, int] = {}
    else:
        with _bar() as progress:
            gathered = build_from(
                files or [], target, min_population=min_population, features=features, progress=progress
            )
        gazetteer, skipped = open_gazetteer(target), dict(gathered.skipped)
    facts = {"path": str(gazetteer.path), "digest": gazetteer.digest, "counts": gazetteer.counts(), "skipped": skipped}
    if as_json:
        print(json.dumps(facts))
        return
    print(f"{gazetteer.path}: {counted(len(gazetteer), 'place')}, {counted(gazetteer.counts()['names'], 'name')}")
    for reason, count in skipped.items():
        print(f"skipped {counted(count, 'row')}: {reason}")


@gazetteer_app.command("streets")
def gazetteer_streets(
    files: Annotated[
        list[Path], typer.Argument(help="TIGER/Line ADDRFEAT or FEATNAMES (.dbf, .shp), or .csv with street and zip.")
    ],
) -> None:
    """Load street names to check addresses against. Example: periplus gazetteer streets tl_2023_25017_addrfeat.dbf"""
    from periplus.places.cache import streets_path  # noqa: PLC0415  heavy
    from periplus.places.streets import StreetNames  # noqa: PLC0415  heavy

    gazetteer = open_with_progress()
    names = StreetNames.read(files, gazetteer)
    names.save(streets_path(gazetteer.path))
    print(f"{counted(sum(map(len, names.by_zip.values())), 'name')} in {counted(len(names.by_zip), 'ZIP')},", end=" ")
    print(f"{counted(sum(map(len, names.by_area.values())), 'name')} in {len(names.by_area):,} cities and counties")
    for reason, count in names.skipped.items():
        print(f"skipped {counted(count, 'row')}: {reason}")


@gazetteer_app.command("add")
def gazetteer_add(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Places as .geojson, .shp, .csv or .jsonl.")] = None,
    *,
    name: Annotated[str | None, typer.Option(help="Name of one place.")] = None,
    lat: Annotated[float | None, typer.Option(help="Its latitude.")] = None,
    lon: Annotated[float | None, typer.Option(help="Its longitude.")] = None,
    kind: Annotated[str, typer.Option(help="Its kind: city, region, feature, ...")] = "region",
    parent: Annotated[str, typer.Option(help="Id or name of the place around it.")] = "",
    alias: Annotated[list[str] | None, typer.Option(help="Another name; may be repeated.")] = None,
    overlaps: Annotated[list[str] | None, typer.Option(help="A place it overlaps with; may be repeated.")] = None,
) -> None:
    """Add own places, aliases, polygons and overlaps. Example: periplus gazetteer add --name Hill --lat 1 --lon 2"""
    from periplus.places.cache import add_records, built_path  # noqa: PLC0415  heavy
    from periplus.places.own import read_records  # noqa: PLC0415  heavy

    if file is not None:
        one = ("name", "lat", "lon", "kind", "parent", "alias", "overlaps")
        refuse(context, *one, because="is for a place without a file; a file says it itself")
        records = read_records(file)
    elif name and lat is not None and lon is not None:
        records = [
            {
                "name": name, "lat": lat, "lon": lon, "kind": kind, "parent": parent, "aliases": alias or [],
                "overlaps": overlaps or [],
            }
        ]  # fmt: skip
    else:
        raise UsageError("give a file, or --name with --lat and --lon")
    add_records(records)
    if built_path().exists():
        print(f"added {len(records)}; {built_path()} takes them in when you build it again from its files")
        return
    gazetteer = open_with_progress()
    print(f"added {len(records)}; {gazetteer.path} now holds {counted(len(gazetteer), 'place')}")
