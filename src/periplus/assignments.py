"""The commands about who gets what: `periplus assign`, `why`, `nodes plan` and `classifier train`.

They read crawls as well as strategies, so they stand outside the rooms; heavy imports happen when one runs.
"""

import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from periplus.errors import PlaceError, UsageError
from periplus.files import target_file
from periplus.model import Assignment, Link, Located, Page, Place
from periplus.options import refuse
from periplus.places.commands import open_with_progress, place_as_dict
from periplus.urls import canonicalize
from periplus.wording import counted

if TYPE_CHECKING:
    from io import BufferedReader

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
READ_BYTES = 2**18
LONGEST_CHAR = 4
"""Bytes of UTF-8."""
MEMO_CLAIMS = 50_000
NEEDS_PLACES = frozenset({"content", "blend"})
BY_LINKS = frozenset({"hash", "hash-host", "url", "anchor"})
"""Strategies to which a link's page is nothing but what stands around it."""
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
    content_alpha: Annotated[
        float, typer.Option(help="α of the strategy content's formula (crawl.content_alpha).", min=0, max=1)
    ] = 0.7,
    content_beta: Annotated[
        float, typer.Option(help="β of the strategy content's formula (crawl.content_beta).", min=0, max=1)
    ] = 0.5,
) -> None:
    """Where links would go: one JSON line a link in, one out, in order.

    Example: echo '{"id":1,"url":"http://visitboston.example/"}' | periplus assign --strategy url --targets us100
    """
    if strategy != "classifier":
        refuse(context, "model", because=f"is for the strategy classifier; {strategy} would not look at it")
    if strategy not in BY_ADDRESS:
        refuse(context, "ip_database", "geofeeds", because=f"is for ip and blend; {strategy} would not look at it")
    if strategy != "content":
        unused = f"is for the strategy content; {strategy} would not look at it"
        refuse(context, "content_alpha", "content_beta", because=unused)
    gazetteer = open_with_progress()
    ownership = _ownership(targets, gazetteer)
    from periplus.strategies import make_strategy, naming_options  # noqa: PLC0415  heavy

    with naming_options(OPTIONS):
        made = make_strategy(
            strategy,
            ownership,
            gazetteer,
            classifier_model=model,
            ip_database=ip_database,
            geofeeds=geofeeds or (),
            content_alpha=content_alpha,
            content_beta=content_beta,
        )
    answers = _Answers(strategy, made, gazetteer)
    for rows, wrong in _batches(file):
        typer.echo("".join(answers.of(rows)), nl=False)
        if wrong is not None:
            raise wrong
    if answers.refused:
        refused = counted(answers.refused, "link")
        print(f"periplus: without http(s) URL, so that the node is null: {refused}", file=sys.stderr)


def _ownership(targets: str, gazetteer: "Gazetteer") -> "Ownership":
    from periplus.strategies import Ownership, load_targets  # noqa: PLC0415  heavy

    return Ownership.of(load_targets(targets, Path(), gazetteer), gazetteer)


def _batches(file: str) -> Iterator[tuple[list[dict[str, Any]], UsageError | None]]:
    """The JSON objects of a file that say what a link is, as many at once as are there already; and with the last of
    them what is wrong with the line that comes next."""
    number = 0
    for lines in _lines(file):
        rows: list[dict[str, Any]] = []
        for line in lines:
            number += 1
            try:
                if line.strip():
                    rows.append(_row(line, f"{file}:{number}"))
            except UsageError as error:
                yield rows, error
                return
        yield rows, None


def _lines(file: str) -> Iterator[list[str]]:
    """The lines of a file, or of who writes to us: whoever waits for the answer to a line has it before the next."""
    try:
        source = cast("BufferedReader", sys.stdin.buffer) if file == "-" else Path(file).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    with contextlib.nullcontext(source) if file == "-" else source:
        begun: list[bytes] = []  # of a line whose end is not here yet
        size = 0
        while block := source.read1(READ_BYTES):
            whole, end, rest = block.rpartition(b"\n")
            if end:
                yield b"".join([*begun, whole]).decode("utf-8", "replace").split("\n")
                begun, size = [], 0
            begun.append(rest)
            size += len(rest)
            if size > MAX_LINE_CHARS * LONGEST_CHAR:  # never longer in memory than a line may be
                break
        if size:
            yield [b"".join(begun).decode("utf-8", "replace")]


def _row(line: str, where: str) -> dict[str, Any]:
    if len(line) >= MAX_LINE_CHARS:
        raise UsageError(f"{where}: longer than {MAX_LINE_CHARS:,} characters; shorten its page_text")
    try:
        row = READER.decode(line.strip())
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


READER = json.JSONDecoder(parse_constant=_no_number)


class _Answers:
    """Where links go, as lines. Links that one page has are assigned together, as in a crawl, if the strategy goes by
    pages, else all that are there."""

    def __init__(self, name: str, strategy: "Strategy", gazetteer: "Gazetteer") -> None:
        self._strategy = strategy
        self._gazetteer = gazetteer
        self._by_links = name in BY_LINKS
        self._reads_places = name in NEEDS_PLACES
        self._last: tuple[Page, Located] = (Page("", "", "", ()), Located())
        self._endings: dict[Assignment | None, str] = {}
        self.refused = 0

    def of(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        """A line of JSON for each row."""
        for page, alike in groupby(rows, _no_page if self._by_links else _page_of):
            yield from self._of_page(*page, list(alike))

    def _of_page(self, url: str, text: str, address: str, rows: list[dict[str, Any]]) -> Iterator[str]:
        from periplus.strategies import Known  # noqa: PLC0415  heavy

        links = [_link(row) for row in rows]
        good = [link for link in links if canonicalize(link.url)]
        self.refused += len(links) - len(good)
        claims = iter(self._strategy.route(good, *self._read(url, text), Known(address=address)) if good else ())
        wanted = iter(good)
        next_good = next(wanted, None)
        for row, link in zip(rows, links, strict=True):
            claim = None
            if link is next_good:
                claim, next_good = next(claims)[0], next(wanted, None)
            yield f'{{"id": {json.dumps(row.get("id"), ensure_ascii=False)}, {self._ending(claim)}\n'

    def _read(self, url: str, text: str) -> tuple[Page, Located]:
        """A page as far as a strategy looks at it; the links of one mostly come one after the other."""
        from periplus.places import locate  # noqa: PLC0415  heavy

        page, located = self._last
        if (page.url, page.text) != (url, text):
            wanted = text and self._reads_places
            page = Page(url, "", text, ())
            located = locate(text, self._gazetteer, url=url, candidates=False) if wanted else Located()
            self._last = page, located
        return page, located

    def _ending(self, claim: Assignment | None) -> str:
        """What is said of a claim, behind the link's id; most links go where others went."""
        if claim not in self._endings:
            if len(self._endings) >= MEMO_CLAIMS:
                self._endings.clear()
            self._endings[claim] = json.dumps(_result(claim, self._gazetteer), ensure_ascii=False)[1:]
        return self._endings[claim]


def _link(row: Mapping[str, Any]) -> Link:
    anchor, before, after = (row.get(key) or "" for key in WORDS)
    return Link(row["url"], anchor, before, after)


def _no_page(_: Mapping[str, Any]) -> tuple[str, str, str]:
    return "", "", ""


def _page_of(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row.get("page_url") or "", row.get("page_text") or "", row.get("ip") or ""


def _result(claim: Assignment | None, gazetteer: "Gazetteer") -> dict[str, Any]:
    if claim is None:
        return {"target": None, "node": None, "reason": "not_http"}
    target = None if claim.target_id is None else place_as_dict(gazetteer.place(claim.target_id))
    return {"target": target, "node": claim.node, "reason": claim.reason}


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
    from periplus.sampling import databases  # noqa: PLC0415  heavy

    counts: Counter[int] = Counter()
    wanted = {place.id for place in places}
    for _, db in databases(crawl):
        for place_id, size in db.execute(
            "SELECT p.main_place, sum(length(l.fingerprints)) / 8 FROM page p JOIN link l ON l.page_id = p.id "
            "WHERE p.main_place IS NOT NULL GROUP BY p.main_place"
        ):
            with contextlib.suppress(PlaceError):  # of another gazetteer
                around = {place_id, *gazetteer.place(place_id).ancestors}
                counts.update(dict.fromkeys(around & wanted, size))
    return counts


@classifier_app.command("train")
def train_command(
    samples: Annotated[
        list[Path],
        typer.Argument(
            help="Labelled pages: .tsv, .jsonl or .rdf files, crawl folders, or recorded webs (WACZ, WARC)."
        ),
    ],
    targets: TargetsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of the model.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the model's metadata as JSON.")] = False,
) -> None:
    """Train the classifier for the nodes of a target list. A label is a node's name or a place.

    A line of .tsv is label, tab, text; of .jsonl an object with "text" and the label in "node", "place" or "label".
    Pages of crawls and of recorded webs have the place that they are mostly about as their label.
    Pages without a label, and those of places that no node owns, are samples of what is not geographic.

    Example: periplus classifier train pages.tsv --targets us100 -o us100.npz
    """
    from periplus.sampling import samples_in  # noqa: PLC0415  heavy
    from periplus.strategies.classifier import train  # noqa: PLC0415  heavy
    from periplus.strategies.samples import Labels  # noqa: PLC0415  heavy

    if not target_file(out).parent.is_dir():  # said before hours of reading
        raise UsageError(f"{out}: there is no folder {out.parent}")
    gazetteer = open_with_progress()
    ownership = _ownership(targets, gazetteer)
    labels = Labels(ownership, gazetteer)
    pages = (pair for path in samples for pair in samples_in(path, labels, ownership, gazetteer))
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
