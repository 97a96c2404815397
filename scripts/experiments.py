"""`make experiments`: the papers' comparison on three collections, written to docs/experiments.md. No number is typed.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/experiments.py [--out FOLDER] [--draws 5]

FOLDER keeps the recorded webs and every run, so that a second call goes on where the first was stopped.
"""

import argparse
import csv
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiment_webs import Web, miniature, webkb, wikispeedia

from periplus.compare import Plan, run_all, summary
from periplus.evaluate.paper import PAPER
from periplus.experiments import lenses_for
from periplus.places import Gazetteer, open_gazetteer
from periplus.store.recorded import RecordedWeb
from periplus.world import World

PAGE = Path(__file__).parents[1] / "docs/experiments.md"
STRATEGIES = "hash,url,anchor,content,blend"
LOCALITIES = (0.0, 0.7, 1.0)
SHOWN = {
    "geo_coverage": "geo-coverage",
    "geo_focus": "geo-focus",
    "own_target_pages_per_download": "own-target pages per download",
    "overlap": "overlap",
    "diversity": "diversity",
    "communication_overhead": "URLs sent per page",
}
AIMS = ("geo_coverage", "geo_focus", "own_target_pages_per_download")
NOTES = {
    "miniature web": "Our own web: its URLs name towns more often than the real one's, which helps `url`.",
    "WebKB": "Real pages and addresses of 1997; nearly all links stay in a university, and no URL names its city.",
    "wikispeedia": "An encyclopedia: one host, titles as URLs, no addresses; the truth is its editors' subjects.",
}
HEAD = """# Experiments

Written by `make experiments` from runs on this code; nothing is typed by hand. Every strategy starts from the same
draws of 20 seeds, has the same owners and the same number of downloads; figures are means over {draws} draws with 95 %
intervals. The nodes are the paper's independent ones (`--overlap allow`). All go breadth first; `blend` takes first
what it expects most of. [Measures](measures.md), [what each collection can show](compare.md).

`classifier` and `ip` are not here: no labelled pages but the crawled ones, and no addresses of servers, come with
these webs. The weights of `blend` were learnt on these three collections; how they do when one is left out is in
`strategies/weights.json`.
"""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One web, one budget, one level of entities."""

    web: Web
    share: float
    level: str


def experiments(folder: Path, data: Path, gazetteer: Gazetteer) -> Iterator[Experiment]:
    """All experiments, those on one web together."""
    for locality in LOCALITIES:
        web = miniature(folder, locality)
        for level in ("street", "postal"):
            yield Experiment(web, 0.2, level)
    web = webkb(folder, data)
    for share in (0.25, 0.5):
        for level in ("street", "postal"):
            yield Experiment(web, share, level)
    web = wikispeedia(folder, data, gazetteer)
    for share in (0.10, 0.25):
        yield Experiment(web, share, "street")


def read_world(web: Web, gazetteer: Gazetteer) -> World:
    """The web as all strategies see it."""
    lenses, _ = lenses_for(STRATEGIES, web.targets, gazetteer, "allow")
    return World.of(RecordedWeb(web.file).responses(), lenses, processes=os.cpu_count() or 1)


def labels_of(web: Web) -> dict[str, int] | None:
    """The truth of a web that has one."""
    if web.labels is None:
        return None
    with web.labels.open(encoding="utf-8", newline="") as file:
        return {row["url"]: int(row["place"]) for row in csv.DictReader(file)}


def run(
    all_of_them: list[Experiment], folder: Path, draws: int, reader: Callable[[Web], World]
) -> Iterator[tuple[Experiment, int, dict[str, dict[str, Any]]]]:
    """Every experiment with its budget and its table; each web is read once."""
    known: tuple[str, World] | None = None
    for experiment in all_of_them:
        web = experiment.web
        if known is None or known[0] != web.file.name:
            known = (web.file.name, reader(web))
        world = known[1]
        budget = round(experiment.share * len(world.pages()))
        plan = Plan(tuple(STRATEGIES.split(",")), budget, draws=draws, level=experiment.level)
        print(f"{web.name}, {budget} pages, {experiment.level}", file=sys.stderr, flush=True)
        results = run_all(world, plan, folder / web.file.stem, labels=labels_of(web))
        yield experiment, budget, summary(results)


def section(experiment: Experiment, budget: int, table: Mapping[str, dict[str, Any]]) -> str:
    """One experiment as Markdown: the table, and what of the paper's orderings holds."""
    truth = "labels" if experiment.web.labels else f"`{experiment.level}` addresses"
    lines = [f"\n### {experiment.share:.0%} of the pages ({budget:,} downloads), {truth}\n"]
    lines.append("| strategy | " + " | ".join(SHOWN.values()) + " |")
    lines.append("|---|" + "---|" * len(SHOWN))
    for strategy, row in table.items():
        lines.append(f"| `{strategy}` | " + " | ".join(_cell(row, name) for name in SHOWN) + " |")
    lines += ["", *_findings(table)]
    return "\n".join(lines)


def _cell(row: Mapping[str, Any], name: str) -> str:
    value, interval = row[name], row[f"{name}_interval"]
    if value is None:
        return "–"
    return f"{value:.3f} ± {interval:.3f}" if interval else f"{value:.3f}"


def _findings(table: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """What the table says, in words."""
    for name in ("geo_coverage", "geo_focus"):
        ours = _order(table, {key: row[name] for key, row in table.items() if key != "blend"})
        papers = _order(table, {key: PAPER[key].get(name) for key in table if key in PAPER})
        same = [key for key in ours if key in papers] == papers
        verdict = "that is the paper's order" if same else f"the paper's is {_arrow(papers)}"
        yield f"- {SHOWN[name]}: {_arrow(ours)}; {verdict}."
    rest = [key for key in table if key != "blend"]
    for name in AIMS:
        best = max((key for key in rest if table[key][name] is not None), key=lambda key: table[key][name])
        blend, other = table["blend"][name], table[best][name]
        word = "more" if blend > other else "less"
        figures = f"{blend:.3f} against {other:.3f} (`{best}`)"
        yield f"- `blend` has {word} {SHOWN[name]} than the best of the others: {figures}."


def _order(table: Mapping[str, Any], values: Mapping[str, float | None]) -> list[str]:
    known = [key for key in table if values.get(key) is not None]
    return sorted(known, key=lambda key: -(values[key] or 0.0))


def _arrow(names: list[str]) -> str:
    return " > ".join(names)


def papers_table() -> str:
    """The paper's own figures, in the same columns."""
    columns = [name for name in SHOWN if any(name in row for row in PAPER.values())]
    lines = [
        "\n## The paper's figures\n",
        "12.8 million pages a strategy on the web of 2005, 100 US cities on 5 nodes.\n",
    ]
    lines.append("| strategy | " + " | ".join(SHOWN[name] for name in columns) + " |")
    lines.append("|---|" + "---|" * len(columns))
    for strategy, row in PAPER.items():
        cells = ("–" if row.get(name) is None else f"{row[name]:g}" for name in columns)
        lines.append(f"| `{strategy}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_page(
    done: Iterator[tuple[Experiment, int, dict[str, dict[str, Any]]]], draws: int, page: Path = PAGE
) -> None:
    """The whole page."""
    parts = [HEAD.format(draws=draws), papers_table()]
    last = ""
    for experiment, budget, table in done:
        if experiment.web.name != last:
            last = experiment.web.name
            note = next(text for key, text in NOTES.items() if last.startswith(key))
            parts.append(f"\n## {last[0].upper()}{last[1:]}\n\n{note}")
        parts.append(section(experiment, budget, table))
    page.write_text("\n".join(parts) + "\n", "utf-8")


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("experiments"))
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    data = Path(os.environ.get("PERIPLUS_DATA", ""))
    if not (data / "webkb").is_dir() or not (data / "wikispeedia").is_dir():
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (webkb, wikispeedia)")
    options.out.mkdir(parents=True, exist_ok=True)
    gazetteer = open_gazetteer()
    chosen = list(experiments(options.out, data, gazetteer))
    write_page(run(chosen, options.out, options.draws, lambda web: read_world(web, gazetteer)), options.draws)


if __name__ == "__main__":
    main()
