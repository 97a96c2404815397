"""`periplus simulate`: what a crawl by N nodes would be like, before any machine is hired."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, TextColumn
from rich.table import Table

from periplus.errors import UsageError
from periplus.evaluate.simulation import Machine
from periplus.evaluate.simulation import simulate as run_simulation
from periplus.evaluate.tables import wide_console
from periplus.evaluate.webgraph import Shape, WebGraph, made_up, of_crawl, owners_by
from periplus.options import refuse
from periplus.printing import Console
from periplus.wording import counted

__all__ = ["simulate"]

OF_MADE_UP = ("web_pages", "web_links", "web_hosts", "locality", "latency", "random_seed")
"""Options that say how a made-up web is."""

STRATEGIES = ("hash", "hash-host", "place")
MAX_NODES = 10_000
MAX_PAGES = 100_000_000
EVERY = 1_000


def simulate(
    context: typer.Context,
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A crawl whose web is crawled again; without it one is made up."),
    ] = None,
    *,
    nodes: Annotated[str, typer.Option(help="How many nodes; several numbers with commas between.")] = "1,2,4",
    machines: Annotated[int, typer.Option(help="Machines that the nodes are spread over; 0: one each.", min=0)] = 1,
    strategy: Annotated[str, typer.Option(help="hash, hash-host or place.")] = "hash",
    pages: Annotated[int, typer.Option(help="Stop after so many pages; 0: all.", min=0)] = 0,
    web_pages: Annotated[int, typer.Option(help="Of a made-up web: pages.", min=1, max=MAX_PAGES)] = 100_000,
    web_links: Annotated[int, typer.Option(help="Of a made-up web: links a page.", min=1, max=1_000)] = 50,
    web_hosts: Annotated[int, typer.Option(help="Of a made-up web: hosts.", min=1)] = 1_000,
    locality: Annotated[
        float, typer.Option(help="Of a made-up web: links to the same place, 0..1.", min=0, max=1)
    ] = 0.4,
    latency: Annotated[float, typer.Option(help="Of a made-up web: seconds until a host answers.", min=0)] = 0.3,
    delay: Annotated[float, typer.Option(help="Seconds that a host rests after a request.", min=0)] = 1.0,
    connections: Annotated[int, typer.Option(help="Of a machine.", min=1)] = 64,
    workers: Annotated[int, typer.Option(help="Of a machine.", min=1)] = 2,
    page_ms: Annotated[float, typer.Option(help="Milliseconds of a worker for a page.", min=0)] = 8.0,
    way_ms: Annotated[float, typer.Option(help="Milliseconds that links take between machines.", min=0)] = 0.0,
    start_seconds: Annotated[float, typer.Option(help="Seconds that a crawl needs to start and end.", min=0)] = 0.0,
    random_seed: Annotated[int, typer.Option(help="Which made-up web.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Predict throughput, exchange, queues and balance of a crawl by N nodes, without HTTP or pages.

    Example: periplus simulate crawls/oregon --nodes 1,2,4,8 --machines 0 --strategy place
    """
    if strategy not in STRATEGIES:
        raise UsageError(f"--strategy {strategy!r}: choose {', '.join(STRATEGIES)}")
    if directory is not None:
        refuse(context, *OF_MADE_UP, because="is for a made-up web; the crawl's is as it is")
    counts = _counts(nodes)
    shape = Shape(
        web_pages,
        web_pages * web_links,
        min(web_hosts, web_pages),
        locality=locality,
        latency=latency,
        random_seed=random_seed,
    )
    web = of_crawl(directory) if directory else made_up(shape)
    machine = Machine(
        delay, connections, workers, page_ms / 1000, way_seconds=way_ms / 1000, start_seconds=start_seconds
    )
    results = _predicted(web, counts, strategy, machine, machines=machines, pages=pages)
    about: dict[str, Any] = {
        "urls": web.size,
        "links": len(web.targets),
        "hosts": len(web.latency),
        "strategy": strategy,
    }
    if as_json:
        typer.echo(json.dumps({"web": about, "nodes": results}, allow_nan=False))
        return
    _show(about, results)


def _show(about: dict[str, Any], results: dict[str, dict[str, Any]]) -> None:
    """The tables for people."""
    out = wide_console()
    out.print(
        f"{counted(about['urls'], 'URL')}, {counted(about['links'], 'link')}, {counted(about['hosts'], 'host')}; "
        f"strategy {about['strategy']}"
    )
    out.print(_table(results))
    out.print(_queues(results))


def _predicted(
    web: WebGraph, counts: list[int], strategy: str, machine: Machine, *, machines: int, pages: int
) -> dict[str, dict[str, Any]]:
    """What is predicted for each number of nodes, while a bar shows how far it is."""
    results: dict[str, dict[str, Any]] = {}
    columns = (*Progress.get_default_columns(), TextColumn("{task.completed:,} pages"))
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        for count in counts:
            task = bar.add_task(counted(count, "node"), total=pages or web.size)

            def on_page(done: int, task: Any = task) -> None:
                if done % EVERY == 0:
                    bar.update(task, completed=done)

            started = time.perf_counter()
            results[str(count)] = run_simulation(
                web,
                owners_by(web, strategy, count),
                machine,
                nodes=count,
                machines=min(machines, count) or count,
                pages=pages,
                on_page=on_page,
            )
            bar.update(task, description=f"{counted(count, 'node')}, {time.perf_counter() - started:.0f} s")
    return results


def _counts(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--nodes {text!r}: give whole numbers with commas between") from None
    if not all(1 <= count <= MAX_NODES for count in counts):
        raise UsageError(f"--nodes {text!r}: each must be from 1 to {MAX_NODES:,}")
    return list(dict.fromkeys(counts))


def _table(results: dict[str, dict[str, Any]]) -> Table:
    columns = (
        "nodes",
        "pages",
        "seconds",
        "pages/s",
        "URLs sent a page",
        "bytes/s exchanged",
        "batches",
        "imbalance",
        "queued",
    )
    table = Table(*columns, box=None)
    for column in table.columns:
        column.justify = "right"
    for count, row in results.items():
        table.add_row(
            count,
            f"{row['pages']:,}",
            f"{row['seconds']:,.0f}",
            f"{row['pages_per_second']:,.1f}",
            f"{row['communication_overhead']:.3f}",
            f"{row['bytes_per_second']:,.0f}",
            f"{row['batches']:,}",
            "–" if row["balance_gini"] is None else f"{row['balance_gini']:.3f}",
            f"{row['queued']:,}",
        )
    return table


def _queues(results: dict[str, dict[str, Any]]) -> Table:
    """How many URLs wait, over the crawl."""
    table = Table("queued after", *(counted(int(count), "node") for count in results), box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    longest = max(len(row["course"]) for row in results.values())
    for step in range(4, longest, 5):
        cells = [f"{row['course'][step]['queued']:,}" if step < len(row["course"]) else "–" for row in results.values()]
        table.add_row(f"{(step + 1) * 5} % of the pages", *cells)
    return table
