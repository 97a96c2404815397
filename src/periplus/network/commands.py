"""`periplus delegate`: the experiment of paper D replayed over a table of round trips."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from periplus.errors import UsageError
from periplus.network.delegation import BruteForce, Delegator, Geographic, Random, replay
from periplus.network.hierarchy import THRESHOLD_MS, Hierarchy
from periplus.network.learning import PROBES, Learning
from periplus.network.matrix import Split, read_round_trips, split
from periplus.printing import Console
from periplus.wording import counted

__all__ = ["CURVE", "METHODS", "WARMUP_SHARE", "Methods", "delegate"]

METHODS: Final = ("brute-force", "random", "geographic", "hierarchy", "learn")
CURVE: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
"""Confidences at which the trade-off of the learning method is printed."""
WARMUP_SHARE: Final = 0.65
"""The paper's: 650 of 1,000 sites."""
_COLUMNS: Final = {
    "optimal_share": "optimal",
    "near_optimal_share": "near",
    "probes_per_site": "probes/site",
    "mean_ms": "mean ms",
    "mean_excess_ms": "excess ms",
    "p95_excess_ms": "p95 ms",
}


def delegate(
    rtt: Annotated[
        Path,
        typer.Option("--rtt", metavar="MATRIX.csv", help="Round trips: columns site,crawler,ms and what is known."),
    ],
    *,
    crawlers: Annotated[
        int | None,
        typer.Option(
            "--crawlers", help="Draw so many crawlers; without it all, or 12 where all of them are sites too."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw of crawlers and the order of sites.")] = 0,
    warmup: Annotated[
        int | None, typer.Option("--warmup", help="Sites before the measured ones; without it 65 %, as in the paper.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Milliseconds under which a probe is good enough (hierarchy).")
    ] = THRESHOLD_MS,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", help="Probability of being the best that ends the probing (learn); not steered."),
    ] = None,
    probes: Annotated[
        float,
        typer.Option("--probes", help="Probes a site that steer the confidence, where coordinates are known (learn)."),
    ] = PROBES,
    method: Annotated[
        str, typer.Option("--method", help=f"One of {', '.join(METHODS)}; or all, side by side.")
    ] = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replay who fetches what: every site to the crawler with the shortest round trip, with few probes.

    Example: periplus delegate --rtt servers.csv --crawlers 12 --seed 1 --warmup 72 --threshold 50 --method all
    """
    if method not in (*METHODS, "all"):
        raise UsageError(f"--method {method!r} is unknown: one of {', '.join(METHODS)}, all")
    if not (math.isfinite(threshold) and threshold > 0):
        raise UsageError(f"--threshold {threshold:g}: milliseconds above 0")
    if confidence is not None and not 0 < confidence <= 1:
        raise UsageError(f"--confidence {confidence:g}: a probability above 0 and up to 1")
    if not (math.isfinite(probes) and probes >= 0):
        raise UsageError(f"--probes {probes:g}: a number of probes, 0 or more")
    trips = read_round_trips(rtt)
    table = split(trips, crawlers, seed)
    methods = Methods(table, _warmup(warmup, len(table.sites)), threshold, confidence, seed, probes)
    result = methods.side_by_side() if method == "all" else {"method": method, **methods.replayed(method)}
    result |= {"crawlers": len(table.crawlers), "bad_rows": trips.bad_rows, "sites_left_out": table.left_out}
    if as_json:
        typer.echo(json.dumps(result, allow_nan=False))
    else:
        _show(result, Console(highlight=False))


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods by name over one table, each beginning with nothing learnt."""

    table: Split
    warmup: int
    threshold: float = THRESHOLD_MS
    confidence: float | None = None
    seed: int = 0
    probes: float = PROBES

    def side_by_side(self) -> dict[str, Any]:
        """The figures of `learn`, with those of all methods and the trade-off curve beside them."""
        every = {name: self.replayed(name) for name in METHODS}
        curve = [{"confidence": c, **replace(self, confidence=c).replayed("learn")} for c in CURVE]
        return {"method": "learn", **every["learn"], "methods": every, "curve": curve}

    def replayed(self, name: str) -> dict[str, float]:
        """The figures of one method."""
        return replay(self.table, self.warmup, self.made(name)).as_dict()

    def made(self, name: str) -> Delegator:
        """A method by its name, one of METHODS."""
        match name:
            case "brute-force":
                return BruteForce()
            case "random":
                return Random(self.seed)
            case "geographic":
                return Geographic(self.table.crawlers)
            case "hierarchy":
                return Hierarchy.over(self.table, self.threshold)
            case "learn":
                return Learning(self.table.crawlers, self.confidence, self.probes)
        raise UsageError(f"--method {name!r} is unknown: one of {', '.join(METHODS)}, all")


def _warmup(asked: int | None, sites: int) -> int:
    if asked is None:
        return int(WARMUP_SHARE * sites)
    if not 0 <= asked < sites:
        raise UsageError(f"--warmup {asked}: the table has {counted(sites, 'site')}, so 0 to {sites - 1:,}")
    return asked


def _show(result: dict[str, Any], console: Console) -> None:
    console.print(
        f"{counted(result['warmup_sites'], 'site')} to warm up, {result['sites']:,} measured, "
        f"{counted(result['crawlers'], 'crawler')}; brute force needs {counted(result['brute_force_probes'], 'probe')}"
    )
    if result["bad_rows"] or result["sites_left_out"]:
        console.print(
            f"{counted(result['bad_rows'], 'bad row')}; "
            f"{counted(result['sites_left_out'], 'site')} without a measurement"
        )
    console.print(_table("method", result.get("methods", {result["method"]: result})))
    if "curve" in result:
        rows = {f"{point['confidence']:.2f}": point for point in result["curve"]}
        console.print(_table("confidence", rows, title="The learning method, by confidence"))


def _table(first: str, rows: dict[str, dict[str, Any]], title: str | None = None) -> Table:
    table = Table(first, *_COLUMNS.values(), box=None, title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, row in rows.items():
        shares = (f"{row[key]:.3f}" for key in ("optimal_share", "near_optimal_share"))
        table.add_row(name, *shares, *(f"{row[key]:.2f}" for key in list(_COLUMNS)[2:]))
    return table
