"""`periplus record` and `periplus compare`: recorded webs, and all strategies on one of them."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.progress import Progress, TaskID, TextColumn
from rich.table import Table

from periplus.analysis import Lens
from periplus.ceilings import TRUTH
from periplus.compare import MEASURES, Ceiling, Plan, ceiling, run_all, summary
from periplus.errors import UsageError
from periplus.evaluate.labels import read_labels
from periplus.evaluate.report import ORDER_NAMES, Compared, most_said, write_report
from periplus.evaluate.tables import wide_console
from periplus.files import target_folder
from periplus.job import seed_lines
from periplus.miniweb.web import generate
from periplus.model import Fetched
from periplus.options import refuse
from periplus.places import Gazetteer, open_gazetteer
from periplus.printing import Console
from periplus.replay import ORDERS
from periplus.settings import CrawlSettings, FetchSettings, TopicSettings
from periplus.store.folders import is_caret_folder, pages_of_folder
from periplus.store.recorded import RecordedWeb
from periplus.store.wacz import write_wacz
from periplus.strategies import NAMES, STRATEGIES, Ownership, load_targets, make_strategy, naming_options
from periplus.strategies.names import NameTable
from periplus.strategies.scoring import ALPHA, BETA
from periplus.topics import make_topic
from periplus.urls import canonicalize
from periplus.wording import counted
from periplus.world import World

__all__ = ["compare", "lenses_for", "record"]

GeofeedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--geofeed", help="File that says where addresses are (RFC 8805 CSV), for ip and blend; may be repeated."
    ),
]
OPTIONS = {
    "crawl.classifier_model": "--classifier-model",
    "crawl.ip_database": "--ip-database",
    "crawl.strategy": "--strategies",
    "crawl.geofeeds": "--geofeed",
}


def record(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="DIR|WEB",
            help="A crawl's folder, WARC or WACZ files, a folder of files named by URL with carets, or `miniweb`.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The WACZ file to write.")],
    pages: Annotated[int, typer.Option(help="Of `miniweb`: how many pages.")] = 5_500,
    hosts: Annotated[int, typer.Option(help="Of `miniweb`: how many hosts.")] = 320,
    locality: Annotated[float, typer.Option(help="Of `miniweb`: how strongly links stay in a town, 0..1.")] = 0.7,
    seed: Annotated[int, typer.Option(help="Of `miniweb`: which one.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a recorded web: one file with all responses, to be compared on or served again.

    Example: periplus record crawls/oregon -o oregon.wacz
    """
    notes: list[str] = []
    if source != "miniweb":
        refuse(context, "pages", "hosts", "locality", "seed", because=f"is for `miniweb`; {source} is as it is")
    if source == "miniweb":
        responses = _miniweb(seed, hosts, pages, locality)
    elif Path(source).is_dir() and is_caret_folder(Path(source)):
        responses = pages_of_folder(Path(source))
    else:
        web = RecordedWeb(Path(source))
        responses, notes = web.responses(), web.notes
    wanted = _each_once(responses)
    first = next(wanted, None)
    if first is None:
        raise UsageError(f"{source}: no response in it; it should be a WARC or WACZ file, or a folder with some")
    count = write_wacz(chain([first], wanted), out)
    for note in notes:
        typer.echo(note, err=True)
    result = {"out": str(out), "responses": count, "bytes": out.stat().st_size, "notes": notes}
    typer.echo(
        json.dumps(result)
        if as_json
        else f"{counted(count, 'response')} in {out} ({out.stat().st_size / 2**20:.1f} MB)"
    )


def _each_once(responses: Iterable[Fetched]) -> Iterator[Fetched]:
    seen = set()
    for fetched in responses:
        if fetched.url not in seen:
            seen.add(fetched.url)
            yield fetched


def _miniweb(seed: int, hosts: int, pages: int, locality: float) -> Iterator[Fetched]:
    """Every page of a miniature web, without HTTP."""
    web = generate(seed, hosts=hosts, pages=pages, locality=locality)
    return web.responses()


def compare(
    context: typer.Context,
    web: Annotated[Path, typer.Argument(metavar="WEB", help="A recorded web: WARC or WACZ files, or their folder.")],
    *,
    targets: Annotated[str, typer.Option(help="Who owns what: a job file, `us100`, or `all:CC`.")] = "us100",
    strategies: Annotated[str, typer.Option(help="Names with commas between, or `all`.")] = "all",
    pages: Annotated[int, typer.Option(help="Downloads of each crawl, all nodes together; 0: all.", min=0)] = 0,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder for tables, plots and JSON.")] = Path("compared"),
    draws: Annotated[int, typer.Option(help="Repeat with so many draws of seeds.", min=1, max=1_000)] = 5,
    seeds_per_draw: Annotated[int, typer.Option(help="Pages in a draw of seeds.", min=1)] = 20,
    seeds: Annotated[Path | None, typer.Option(help="A file of seeds instead of draws.")] = None,
    random_seed: Annotated[int, typer.Option(help="Which draws.")] = 1,
    entities: Annotated[str, typer.Option(help="Which addresses count: street or postal.")] = "street",
    labels: Annotated[Path | None, typer.Option(help="CSV `url,place`: truth instead of addresses.")] = None,
    overlap: Annotated[str, typer.Option(help="allow (the paper's independent nodes) or forbid.")] = "allow",
    order: Annotated[
        str, typer.Option(help="What all nodes take first: breadth (as the paper), best (as a crawl), or both tables.")
    ] = "both",
    classifier_model: Annotated[str, typer.Option(help="File of `periplus classifier train`.")] = "",
    ip_database: Annotated[str, typer.Option(help="A city database in MaxMind's format.")] = "",
    geofeeds: GeofeedOption = None,
    content_alpha: Annotated[float, typer.Option(help="α of content's formula.", min=0, max=1)] = 0.7,
    content_beta: Annotated[float, typer.Option(help="β of content's formula.", min=0, max=1)] = 0.5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replay a recorded web under every strategy: tables, plots and JSON as in the paper.

    Example: periplus compare oregon.wacz --targets us100 --pages 1000 -o compared
    """
    _check(entities, ("street", "postal"), "--entities")
    _check(overlap, ("allow", "forbid"), "--overlap")
    _check(order, (*ORDERS, "both"), "--order")
    orders = ORDERS if order == "both" else (order,)
    if seeds is not None:
        refuse(context, "draws", "seeds_per_draw", because="and --seeds exclude each other: nothing is drawn then")
    target_folder(out)
    given = tuple(_seeds(seeds) if seeds else ())
    gazetteer, recorded = open_gazetteer(), RecordedWeb(web)
    made, left_out = lenses_for(
        strategies,
        targets,
        gazetteer,
        overlap,
        classifier_model=classifier_model,
        ip_database=ip_database,
        geofeeds=geofeeds or (),
        content_alpha=content_alpha,
        content_beta=content_beta,
    )
    if "content" not in made:
        unused = f"is for the strategy content, which is not among {', '.join(made)}"
        refuse(context, "content_alpha", "content_beta", because=unused)
    plan = Plan(tuple(made), pages, draws, seeds_per_draw, random_seed, entities, orders[0], given)
    with _progress() as bar, _Runs(out, bar, len(orders) * (len(made) + 1) * (1 if seeds else draws)) as runs:
        world = _read(recorded, made, bar)
        known = _labels(labels, gazetteer, world) if labels else None
        results, most = _played(world, {one: replace(plan, order=one) for one in orders}, known, runs)
    about = {"web": web.name, "targets": targets} | _about(plan, world, [*recorded.notes, *left_out])
    _report(out, results, most, about, as_json=as_json)


def _read(recorded: RecordedWeb, lenses: dict[str, Lens], bar: Progress) -> World:
    task, processes = bar.add_task("Reading pages", total=None), os.cpu_count() or 1
    world = World.of(recorded.responses(), lenses, processes=processes, on_page=lambda: bar.advance(task))
    if not world.pages():
        raise UsageError("; ".join([f"{recorded.path}: no HTML page in it", *recorded.notes]))
    return world


def _progress() -> Progress:
    """Bars on standard error; none where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (*Progress.get_default_columns(), TextColumn("{task.completed:,}"))
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class _Runs:
    """How far the runs of a comparison are: shown as they go, and said in one line if they are interrupted."""

    def __init__(self, out: Path, bar: Progress, total: int) -> None:
        self.out, self._bar, self._total = out, bar, total
        self._task: TaskID | None = None
        self._kept = 0

    def __enter__(self) -> "_Runs":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not KeyboardInterrupt:
            return
        if self._kept:
            left = f"{self._kept:,} of {counted(self._total, 'run')} kept in {self.out / 'runs'}"
            typer.echo(f"periplus: interrupted, {left}; the same command plays the others", err=True)
        else:
            typer.echo("periplus: interrupted before a run was played; the same command begins again", err=True)

    def play(self, name: str) -> None:
        if self._task is None:
            self._task = self._bar.add_task("Playing", total=self._total)
        self._bar.update(self._task, description=f"Playing {name}")

    def keep(self) -> None:
        self._kept += 1
        if self._task is not None:
            self._bar.advance(self._task)


def _played(
    world: World, plans: dict[str, Plan], labels: dict[str, int] | None, runs: _Runs
) -> tuple[dict[str, dict[str, list[dict[str, Any]]]], dict[str, Ceiling]]:
    """The runs of each order, and what is possible in it; those of the strategies first."""
    found = {
        order: run_all(world, plan, runs.out, labels=labels, on_run=runs.play, on_kept=runs.keep)
        for order, plan in plans.items()
    }
    most = {
        order: ceiling(world, plan, runs.out, labels=labels, on_run=runs.play, on_kept=runs.keep)
        for order, plan in plans.items()
    }
    return found, most


def _report(
    out: Path, results: dict[str, Any], most: dict[str, Ceiling], about: dict[str, Any], *, as_json: bool
) -> None:
    """Write the files of a comparison and print it; the first order is that of the paper's tables."""
    tables, first = {one: summary(runs) for one, runs in results.items()}, next(iter(results))
    where = {name: [tuple(point) for point in runs[0]["where"]] for name, runs in results[first].items()}
    second = tables["best"] if len(tables) > 1 else {}
    compared = Compared(tables[first], about, where, first, second, {one: asdict(row) for one, row in most.items()})
    write_report(out, compared)
    if as_json:
        typer.echo(json.dumps(compared.as_json(), sort_keys=True, allow_nan=False))
    else:
        _print(tables, most, about, out)


def _print(tables: dict[str, Any], most: dict[str, Ceiling], about: dict[str, Any], out: Path) -> None:
    for name, table in tables.items():
        typer.echo(f"{ORDER_NAMES[name]}:")
        wide_console().print(_table({**table, TRUTH: most[name].truth}))
        typer.echo(f"{TRUTH} knows what every link leads to. {most_said(most[name].reachable)}")
    typer.echo(f"Notes: {about['notes']}\nReport: {out / 'report.html'}")


def _check(value: str, choices: tuple[str, ...], option: str) -> None:
    if value not in choices:
        raise UsageError(f"{option} {value!r}: choose {' or '.join(choices)}")


def lenses_for(
    names: str,
    targets: str,
    gazetteer: Gazetteer,
    overlap: str,
    *,
    classifier_model: str = "",
    ip_database: str = "",
    geofeeds: Sequence[str] = (),
    content_alpha: float = ALPHA,
    content_beta: float = BETA,
) -> tuple[dict[str, Lens], list[str]]:
    """A lens for each strategy; with `all`, what each needs and does not have is said instead."""
    ownership = Ownership.of(load_targets(targets, Path(), gazetteer), gazetteer)
    crawl = msgspec.structs.replace(CrawlSettings(), keep="all", overlap=overlap)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    left_out: list[str] = []
    if names == "all":
        wanted = [name for name in STRATEGIES if name != "hash-host"]
        for name, needed, given in (
            ("classifier", "--classifier-model", classifier_model),
            ("ip", "--ip-database or --geofeed", ip_database or geofeeds),
        ):
            if given:
                wanted.insert(-1, name)
            else:
                left_out.append(f"{name} was left out: it needs {needed}")
    topic = make_topic(TopicSettings(), "compare", gazetteer)
    fetch = msgspec.structs.replace(FetchSettings(), ports=tuple(range(1, 65_536)))
    lenses = {}
    table = NameTable(ownership, gazetteer) if set(wanted) - {"hash", "hash-host", "classifier", "ip"} else None
    for name in dict.fromkeys(wanted):
        with naming_options(OPTIONS):
            made = make_strategy(
                name,
                ownership,
                gazetteer,
                classifier_model=classifier_model,
                ip_database=ip_database,
                geofeeds=geofeeds,
                content_alpha=content_alpha,
                content_beta=content_beta,
                table=table,
            )
        lenses[name] = Lens(gazetteer, (topic,), made, ownership, crawl, fetch, warc=False)
    if not lenses:
        raise UsageError(f"--strategies {names!r}: name at least one of {', '.join(NAMES)}, or all")
    return lenses, left_out


def _seeds(path: Path) -> list[str]:
    found = []
    for where, text in seed_lines(path):
        url = canonicalize(text)
        if url is None:
            raise UsageError(f"{where}: {text!r} is not an http(s) URL")
        found.append(url.href)
    if not found:
        raise UsageError(f"--seeds {path}: no URL is in it; give one a line, or leave --seeds out for draws")
    return found


def _labels(path: Path, gazetteer: Gazetteer, world: World) -> dict[str, int]:
    """Page -> the target that it is about, from a CSV with the columns url and place (a name or an id)."""
    labels = read_labels(path, gazetteer, ("place",))
    unknown = sum(label.url not in world.facts for label in labels)
    if unknown:
        typer.echo(f"{path}: {counted(unknown, 'label')} of pages that are not in the recorded web", err=True)
    return {label.url: label.place for label in labels if label.url in world.facts and label.place is not None}


def _about(plan: Plan, world: World, notes: list[str]) -> dict[str, Any]:
    pages = len(world.pages())
    if plan.pages > pages:
        notes = [
            *notes,
            f"the budget of {counted(plan.pages, 'page')} is larger than the web: every crawl ends when it is done",
        ]
    return {
        "pages in the web": pages,
        "nodes": len(world.nodes),
        "pages a crawl": f"{plan.pages:,}" if plan.pages else "all",
        "draws of seeds": 1 if plan.seeds else plan.draws,
        "seeds a draw": len(plan.seeds) or plan.seeds_per_draw,
        "random seed": plan.random_seed,
        "entities": plan.level,
        "notes": "; ".join(notes) or "none",
    }


def _table(rows: dict[str, dict[str, Any]]) -> Table:
    shown = [name for name in MEASURES if name not in ("accuracy", "coverage", "links_assigned_away_per_page")]
    table = Table("strategy", "pages", *(name.replace("_", " ") for name in shown), box=None)
    for strategy, row in rows.items():
        table.add_row(strategy, f"{row['pages']:,.0f}", *(_cell(row, name) for name in shown))
    return table


def _cell(row: dict[str, Any], name: str) -> str:
    value, interval = row[name], row[f"{name}_interval"]
    if value is None:
        return "–"
    return f"{value:.3f} ±{interval:.3f}" if interval else f"{value:.3f}"
