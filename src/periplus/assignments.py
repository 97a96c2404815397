"""The commands about who gets what: `periplus assign`, `why`, `nodes plan` and `classifier train`.

They read crawls as well as strategies, so they stand outside the rooms; heavy imports happen when one runs.
"""

import contextlib
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import zstandard

from periplus.errors import PlaceError, UsageError
from periplus.model import Assignment, Link, Located, Page, Place
from periplus.options import refuse
from periplus.places.commands import open_with_progress, place_as_dict
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.urls import canonicalize
from periplus.wording import counted

if TYPE_CHECKING:
    from periplus.places import Gazetteer
    from periplus.strategies import Ownership, Strategy
    from periplus.strategies.samples import Labels

__all__ = ["assign", "classifier_app", "nodes_app"]

nodes_app = typer.Typer(
    help="Nodes and what they own: plan a balanced split.\n\nExample: periplus nodes plan --nodes 4 --targets us100",
    no_args_is_help=True,
)
classifier_app = typer.Typer(
    help="The model of the strategy classifier: train it.\n\n"
    "Example: periplus classifier train pages.tsv --targets us100 -o us100.npz",
    no_args_is_help=True,
)

MAX_LINE_CHARS = 16 * 2**20
MAX_TEXT_BYTES = 64 * 2**20
NEEDS_PLACES = frozenset({"content", "blend"})
BY_ADDRESS = frozenset({"ip", "blend"})
WORDS = ("anchor", "before", "after")
OPTIONS = {
    "crawl.classifier_model": "--model",
    "crawl.ip_database": "--ip-database",
    "crawl.strategy": "--strategy",
    "crawl.geofeeds": "--geofeed",
}
TargetsOption = Annotated[str, typer.Option("--targets", help="us100, all:US (any country) or a file with \\[nodes].")]


def assign(
    context: typer.Context,
    *,
    strategy: Annotated[str, typer.Option("--strategy", help="hash, url, anchor, content, classifier, ip, blend …")],
    targets: TargetsOption,
    file: Annotated[str, typer.Argument(help="JSONL of links; - or nothing: standard input.")] = "-",
    model: Annotated[str, typer.Option("--model", help="Model for the strategy classifier.")] = "",
    ip_database: Annotated[str, typer.Option("--ip-database", help="City database (.mmdb) for ip and blend.")] = "",
    geofeeds: Annotated[
        list[str] | None,
        typer.Option(
            "--geofeed", help="File that says where addresses are (RFC 8805 CSV), for ip and blend; may be repeated."
        ),
    ] = None,
) -> None:
    """Where links would go: one JSON line a link in, one out, in order.

    Example: echo '{"id":1,"url":"http://visitboston.example/"}' | periplus assign --strategy url --targets us100
    """
    if strategy != "classifier":
        refuse(context, "model", because=f"is for the strategy classifier; {strategy} would not look at it")
    if strategy not in BY_ADDRESS:
        refuse(context, "ip_database", "geofeeds", because=f"is for ip and blend; {strategy} would not look at it")
    gazetteer = open_with_progress()
    ownership = _ownership(targets, gazetteer)
    from periplus.strategies import make_strategy, naming_options  # noqa: PLC0415  heavy

    with naming_options(OPTIONS):
        made = make_strategy(
            strategy, ownership, gazetteer, classifier_model=model, ip_database=ip_database, geofeeds=geofeeds or ()
        )
    refused = 0
    for row in _rows(file):
        anchor, before, after = (row.get(key) or "" for key in WORDS)
        link = Link(row["url"], anchor, before, after)
        claim = _claim(link, row, made, gazetteer, strategy) if canonicalize(link.url) else None
        refused += claim is None
        typer.echo(json.dumps(_result(row.get("id"), claim, gazetteer), ensure_ascii=False))
    if refused:
        print(f"periplus: without http(s) URL, so that the node is null: {counted(refused, 'link')}", file=sys.stderr)


def _ownership(targets: str, gazetteer: "Gazetteer") -> "Ownership":
    from periplus.strategies import Ownership, load_targets  # noqa: PLC0415  heavy

    return Ownership.of(load_targets(targets, Path(), gazetteer), gazetteer)


def _rows(file: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file that say what a link is; UsageError with the line of one that does not."""
    try:
        source = sys.stdin if file == "-" else Path(file).open(encoding="utf-8", errors="replace")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    with contextlib.nullcontext(source) if file == "-" else source:
        number = 0
        while line := source.readline(MAX_LINE_CHARS):
            number += 1
            if len(line) == MAX_LINE_CHARS and not line.endswith("\n"):
                raise UsageError(f"{file}:{number}: longer than {MAX_LINE_CHARS:,} characters; shorten its page_text")
            if line.strip():
                yield _row(line, f"{file}:{number}")


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("url"), str):
        raise UsageError(f'{where}: not a JSON object with "url"')
    for key in (*WORDS, "page_text", "page_url", "ip"):
        if not isinstance(row.get(key) or "", str):
            raise UsageError(f'{where}: "{key}" is a text')
    return row


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _claim(link: Link, row: dict[str, Any], strategy: "Strategy", gazetteer: "Gazetteer", name: str) -> Assignment:
    from periplus.places import locate  # noqa: PLC0415  heavy
    from periplus.strategies import Known  # noqa: PLC0415  heavy

    text, url = row.get("page_text") or "", row.get("page_url") or ""
    located = locate(text, gazetteer, url=url, candidates=False) if text and name in NEEDS_PLACES else Located()
    page = Page(url, "", text, (link,))
    return strategy.claims(link, page, located, Known(address=row.get("ip") or ""))[0]


def _result(row_id: Any, claim: Assignment | None, gazetteer: "Gazetteer") -> dict[str, Any]:
    if claim is None:
        return {"id": row_id, "target": None, "node": None, "reason": "not_http"}
    target = None if claim.target_id is None else place_as_dict(gazetteer.place(claim.target_id))
    return {"id": row_id, "target": target, "node": claim.node, "reason": claim.reason}


@nodes_app.command("plan")
def plan(
    context: typer.Context,
    *,
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="How many geographic nodes; a general one is added.")],
    targets: TargetsOption = "us100",
    by: Annotated[
        Literal["population", "timezone", "links"], typer.Option("--by", help="What is to be balanced.")
    ] = "population",
    crawl: Annotated[Path | None, typer.Option("--crawl", help="Crawl whose links are counted for --by links.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of TOML.")] = False,
) -> None:
    """Propose a balanced split of a target list over N nodes, as the table nodes of a job file.

    Example: periplus nodes plan --nodes 4 --by population --targets us100
    """
    from periplus.strategies.planning import plan_nodes  # noqa: PLC0415  heavy

    if by != "links":
        refuse(context, "crawl", because="is for --by links, which counts a crawl's links")
    elif crawl is None:
        raise UsageError("--by links needs --crawl DIR: the crawl whose links are counted")
    gazetteer = open_with_progress()
    ownership = _ownership(targets, gazetteer)
    places = _to_split(ownership, nodes)
    if not places:
        raise UsageError(f"--targets {targets}: no node there owns a place, so there is nothing to split")
    links = _links_by_place(crawl, places, gazetteer) if crawl else {}
    groups = plan_nodes(places, nodes, by, zone_of=gazetteer.timezone, links=links)
    names = {f"node{i}": group for i, group in enumerate(groups, 1)}
    if as_json:
        shown = {
            name: {"places": [place_as_dict(place) for place in group], "population": _people(group)}
            | ({"links": _found(links, group)} if crawl else {})
            for name, group in names.items()
        }
        typer.echo(json.dumps({"nodes": shown}, ensure_ascii=False))
        return
    for name, group in names.items():
        largest = ", ".join(p.name for p in sorted(group, key=lambda p: -p.population)[:5])
        found = f", {counted(_found(links, group), 'link')}" if crawl else ""
        typer.echo(f"# {name}: {counted(len(group), 'place')}, {_people(group):,} people{found}; {largest}")
    for name, group in names.items():
        lines = (f'    "{place.id}",  # {_described(place)}\n' for place in group)
        typer.echo(f"[nodes.{name}]\nplaces = [\n{''.join(lines)}]\n")
    typer.echo("[nodes.general]")


DIVISION = 3
"""Where a path has the first division: behind the world, the continent and the country."""


def _described(place: Place) -> str:
    """A place for people, beside its id."""
    division = place.path[DIVISION:-1][:1]
    return ", ".join(part for part in (place.name, *division, place.country) if part)


def _people(group: list[Place]) -> int:
    return sum(place.population for place in group)


def _found(links: Mapping[int, int], group: list[Place]) -> int:
    return sum(links.get(place.id, 0) for place in group)


def _to_split(ownership: "Ownership", nodes: int) -> list[Place]:
    """The targets; the cities in them where time zones and polygons are among them, or they are fewer than nodes."""
    targets = _outermost(ownership.targets)
    if not ownership.owner_by_zone and not ownership.areas and nodes <= len(targets):
        return targets
    return _outermost(place for place in ownership.named_places() if place.kind not in ("country", "admin1")) or targets


def _outermost(places: Iterable[Place]) -> list[Place]:
    """Each place once, and none inside another: two nodes must not get parts of one."""
    found = {place.id: place for place in places}
    return [place for place in found.values() if found.keys().isdisjoint(place.ancestors)]


def _links_by_place(crawl: Path, places: list[Place], gazetteer: "Gazetteer") -> Counter[int]:
    """Links of the pages about each of the places, or about a place inside it, over all nodes of a crawl."""
    counts: Counter[int] = Counter()
    wanted = {place.id for place in places}
    for _, db in _databases(crawl):
        for place_id, size in db.execute(
            "SELECT p.main_place, sum(length(l.fingerprints)) / 8 FROM page p JOIN link l ON l.page_id = p.id "
            "WHERE p.main_place IS NOT NULL GROUP BY p.main_place"
        ):
            with contextlib.suppress(PlaceError):  # of another gazetteer
                around = {place_id, *gazetteer.place(place_id).ancestors}
                counts.update(dict.fromkeys(around & wanted, size))
    return counts


def _databases(crawl: Path) -> Iterator[tuple[str, sqlite3.Connection]]:
    """The databases of a crawl's nodes, open for reading."""
    for node in CrawlFolder.existing(crawl).nodes():
        with contextlib.closing(open_reader(node.database)) as db, storage_errors(node.database):
            yield node.name, db


@classifier_app.command("train")
def train_command(
    samples: Annotated[list[Path], typer.Argument(help="Labelled pages: .tsv, .jsonl, .rdf files or crawl folders.")],
    targets: TargetsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of the model.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the model's metadata as JSON.")] = False,
) -> None:
    """Train the classifier for the nodes of a target list. A label is a node's name or a place.

    A line of .tsv is label, tab, text; of .jsonl an object with "text" and the label in "node", "place" or "label".
    Pages without a label, and those of places that no node owns, are samples of what is not geographic.

    Example: periplus classifier train pages.tsv --targets us100 -o us100.npz
    """
    from periplus.strategies.classifier import train  # noqa: PLC0415  heavy
    from periplus.strategies.samples import Labels, read_samples  # noqa: PLC0415  heavy

    gazetteer = open_with_progress()
    ownership = _ownership(targets, gazetteer)
    labels = Labels(ownership, gazetteer)
    pages = (
        pair
        for path in samples
        for pair in (_crawl_samples(path, labels) if path.is_dir() else read_samples(path, labels))
    )
    model = train(pages, ownership)
    model.metadata["sources"] = [path.name for path in samples]
    model.save(out)
    if as_json:
        left = {"unknown_labels": dict(labels.unknown.most_common(MOST_UNKNOWN)), "skipped_lines": labels.skipped}
        typer.echo(json.dumps(model.metadata | left))
    else:
        shown = ", ".join(f"{name} {count}" for name, count in model.metadata["pages"].items())
        typer.echo(f"{out}: trained on {counted(sum(model.metadata['pages'].values()), 'page')} ({shown})")
        _tell_what_was_not_understood(labels)


MOST_UNKNOWN = 20
"""Labels that are told to be unknown."""


def _tell_what_was_not_understood(labels: "Labels") -> None:
    """Mistyped labels and lines would go unnoticed: they are no error, since pages of nowhere are samples too."""
    if labels.skipped:
        typer.echo(f"{counted(labels.skipped, 'line')} without a labelled page left out", err=True)
    if labels.unknown:
        named = ", ".join(f"{label!r} {count:,}" for label, count in labels.unknown.most_common(MOST_UNKNOWN))
        more = ", …" if len(labels.unknown) > MOST_UNKNOWN else ""
        pages = counted(labels.unknown.total(), "page")
        typer.echo(f"{pages} taken as not geographic: no node and no one place is called {named}{more}", err=True)


def _crawl_samples(crawl: Path, labels: "Labels") -> Iterator[tuple[str, str]]:
    """The kept pages of a crawl as labelled pages; the main place of each is its label."""
    unpack = zstandard.ZstdDecompressor()
    for _, db in _databases(crawl):
        rows = db.execute("SELECT p.title, p.main_place, t.text FROM page p JOIN page_text t ON t.page_id = p.id")
        for title, place_id, packed in rows:
            text = unpack.decompress(packed, max_output_size=MAX_TEXT_BYTES).decode("utf-8", "replace")
            yield labels.of_id(place_id), f"{title}\n{text}"
