"""The papers' experiment: one recorded web, every strategy, the same seeds, budget and owners; means with intervals.

Each run is written to the result's folder when it is done, so that a comparison that was stopped goes on where it was.
The same web, job and random seed give the same numbers.
"""

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import xxhash

from periplus.ceilings import TRUTH, knowing, reachable, truth_of
from periplus.errors import UsageError
from periplus.files import write_whole
from periplus.replay import play
from periplus.store.database import storage_errors
from periplus.world import World

__all__ = ["MEASURES", "Ceiling", "Plan", "ceiling", "run_all", "summary"]

MEASURES = (
    "geo_coverage",
    "distinct_geo_coverage",
    "geo_focus",
    "own_target_pages_per_download",
    "entity_uniqueness",
    "geo_centrality",
    "overlap",
    "diversity",
    "communication_overhead",
    "links_assigned_away_per_page",
    "accuracy",
    "coverage",
)
MILESTONES = 20
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Student's t for a 95 % interval, by the number of runs; beyond ten the normal value is near enough."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared: every strategy from the same draws of seeds, each with the same budget of pages."""

    strategies: tuple[str, ...]
    pages: int
    draws: int = 5
    seeds_per_draw: int = 20
    random_seed: int = 1
    level: str = "street"
    order: str = "breadth"
    seeds: tuple[str, ...] = ()  # given seeds: then there is one draw

    def seed_sets(self, world: World) -> list[list[str]]:
        """The draws of seeds, the same for every strategy."""
        if self.seeds:
            missing = [url for url in self.seeds if url not in world.facts]
            if missing:
                raise UsageError(f"{missing[0]}: this seed is not in the recorded web")
            return [list(self.seeds)]
        pages = sorted(world.pages())
        if not pages:
            raise UsageError("the recorded web has no HTML page")
        chance = random.Random(self.random_seed)
        return [chance.sample(pages, min(self.seeds_per_draw, len(pages))) for _ in range(self.draws)]


def run_all(
    world: World,
    plan: Plan,
    folder: Path,
    *,
    labels: Mapping[str, int] | None = None,
    on_run: Callable[[str], None] = lambda _: None,
    on_kept: Callable[[], None] = lambda: None,
) -> dict[str, list[dict[str, Any]]]:
    """All runs of the plan by strategy, in order of the draws; those that are on disk already are not run again.

    `on_run` hears of each before it is played, `on_kept` when it is on disk.
    """
    draws = plan.seed_sets(world)
    runs = folder / "runs"
    with storage_errors(runs):
        runs.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[dict[str, Any]]] = {}
    budget = plan.pages or len(world.pages())
    milestones = sorted({max(1, budget * step // MILESTONES) for step in range(1, MILESTONES + 1)})
    for strategy in plan.strategies:
        digest = _digest(world, plan, strategy, labels)
        for number, seeds in enumerate(draws):
            path = runs / f"{strategy}-{number}-{digest}.json"
            on_run(f"{strategy}, draw {number + 1}")
            done = _load(path)
            if done is None:
                played = play(
                    world,
                    strategy,
                    seeds,
                    pages=plan.pages,
                    labels=labels,
                    level=plan.level,
                    order=plan.order,
                    milestones=milestones,
                )
                done = played.measures
                _save(path, done)
            on_kept()
            results.setdefault(strategy, []).append(done)
    return results


def summary(results: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """By strategy: the mean of each measure with its 95 % interval over the draws, and the first run's nodes."""
    table: dict[str, dict[str, Any]] = {}
    for strategy, runs in results.items():
        row: dict[str, Any] = {"pages": round(float(np.mean([run["pages"] for run in runs])), 1)}
        for name in MEASURES:
            row[name], row[f"{name}_interval"] = _mean([run[name] for run in runs])
        row["locality"] = {kind: _mean([run["locality"][kind] for run in runs])[0] for kind in ("linked", "unlinked")}
        row["levels"] = _mean_nodes([run["levels"] for run in runs])
        row["nodes"] = _mean_nodes([run["nodes"] for run in runs])
        row["progress"] = _mean_progress([run["progress"] for run in runs])
        table[strategy] = row
    return table


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What strategies can have at most from the seeds of a plan, as means over its draws.

    `reachable`: the geo-coverage that no crawl without overlap exceeds; `truth`: the row of one that knows every link.
    """

    reachable: float
    truth: dict[str, Any]


def ceiling(
    world: World,
    plan: Plan,
    folder: Path,
    *,
    labels: Mapping[str, int] | None = None,
    on_run: Callable[[str], None] = lambda _: None,
    on_kept: Callable[[], None] = lambda: None,
) -> Ceiling:
    """What strategies can have at most; the runs of the one that knows all are told and kept as in `run_all`."""
    truth = truth_of(world, labels, plan.level)
    bounds = [reachable(world, seeds, plan.pages, truth) for seeds in plan.seed_sets(world)]
    told, knows = replace(plan, strategies=(TRUTH,)), knowing(world, truth)
    runs = run_all(knows, told, folder, labels=labels, on_run=on_run, on_kept=on_kept)
    return Ceiling(round(sum(bounds) / len(bounds), 6), summary(runs)[TRUTH])


def _mean(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Mean and half the width of its 95 % interval; None where a run has no value, or only one run has."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None
    mean = sum(known) / len(known)
    if len(known) < 2:
        return round(mean, 6), None
    spread = math.sqrt(sum((value - mean) ** 2 for value in known) / (len(known) - 1))
    return round(mean, 6), round(T_95.get(len(known), 1.96) * spread / math.sqrt(len(known)), 6)


def _mean_nodes(runs: Sequence[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = {}
    for name in runs[0]:
        nodes[name] = {key: _mean([run[name][key] for run in runs])[0] for key in runs[0][name]}
    return nodes


def _mean_progress(runs: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The course of the crawl as far as every run went."""
    length = min(len(run) for run in runs)
    return [{key: _mean([run[step][key] for run in runs])[0] for key in runs[0][step]} for step in range(length)]


def _digest(world: World, plan: Plan, strategy: str, labels: Mapping[str, int] | None) -> str:
    """What a run depends on, in short: another web, plan or owner gives another file, as do links that go elsewhere
    (by another model or database). Not how many draws there are, so that more of them add to those that were played."""
    lens = world.lenses[strategy]
    parts: list[object] = [asdict(plan) | {"strategies": (), "draws": 0}, *lens.ownership.names]
    parts += [lens.ownership.described(), sorted((labels or {}).items()), repr(lens.crawl)]
    told = xxhash.xxh3_64(json.dumps(parts, sort_keys=True, default=str).encode())
    for url in sorted(world.facts):
        told.update(msgspec.msgpack.encode((world.facts[url], world.routes[strategy].get(url))))
    return told.hexdigest()[:12]


def _load(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _save(path: Path, measures: dict[str, Any]) -> None:
    with storage_errors(path):
        write_whole(path, json.dumps(measures, sort_keys=True).encode())
