"""`make experiments`: the papers' comparison on three collections, written to docs/experiments.md. No number is typed.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/experiments.py [--out FOLDER] [--draws 20]

FOLDER keeps the recorded webs and every run, so that a second call goes on where the first was stopped.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiment_webs import STRATEGIES, Web, labels_of, miniature, read_world, webkb, wikispeedia

from periplus.ceilings import TRUTH
from periplus.compare import Ceiling, Plan, ceiling, run_all, summary
from periplus.evaluate.paper import PAPER
from periplus.places import Gazetteer, open_gazetteer
from periplus.world import World

PAGE = Path(__file__).parents[1] / "docs/experiments.md"
LOCALITIES = (0.0, 0.7, 1.0)
RANDOM_SEED = 2
"""Other draws than those that settings of `blend` were chosen on (1)."""

KEPT_ASIDE = 7
"""The seed of a miniature web that nothing was learnt on."""

NEVER_LOOKED_AT = 23
"""The seed of one that no setting was ever tried on either."""

SHOWN = {
    "geo_coverage": "geo-coverage",
    "distinct_geo_coverage": "of distinct pages",
    "geo_focus": "geo-focus",
    "own_target_pages_per_download": "own-target pages per download",
    "overlap": "overlap",
    "diversity": "diversity",
    "communication_overhead": "URLs sent per page",
    "links_assigned_away_per_page": "links for others per page",
}
AIMS = ("geo_coverage", "geo_focus", "own_target_pages_per_download")
DISTINCT = "distinct_geo_coverage"
NOTES = {
    "miniature web": "Our own web: its URLs name towns more often than the real one's, which helps `url`.",
    "WebKB": "Real pages and addresses of 1997; nearly all links stay in a university, and no URL names its city.",
    "wikispeedia": "An encyclopedia: one host, titles as URLs, no addresses; the truth is its editors' subjects.",
}
AT_MOST = """Geo-coverage, and own-target pages per download. "No crawl without overlap": as many pages with an entity
as links lead to from the seeds, or as the budget allows. *truth* is told what every link leads to, gives it to the node
that owns the page's place and everything else to the general one; turns and order are those of the others.
"""
LEVEL_NAMES = {"street": "with number and street", "postal": "or with a ZIP that agrees"}
ORDERS = {"breadth": "breadth first, as in the paper", "best": "best first, as a crawl without a topic goes"}
HEAD = """# Experiments

Written by `make experiments` from runs on this code; nothing is typed by hand. Every strategy starts from the same
{draws} draws of 20 seeds, has the same owners, the same number of downloads and the same order; figures are means over
the draws with 95 % intervals. The nodes are the paper's independent ones (`--overlap allow`). There are two tables for
each web: breadth first, which is the paper's order, and best first, in which links whose words name places come first,
as in a crawl without a topic. [Measures](measures.md), [how a web is played](compare.md).

`classifier` is trained on a miniature web that none of the experiments crawls. `ip` goes by made addresses, since none
come with these webs: universities are at home, half of the hosts of a miniature web too, the others in three cities of
data centers, and wikispeedia is one host (`scripts/experiment_models.py`). `blend` gets the addresses too, as it does
in `periplus compare --ip-database`, and no classifier. Its weights were learnt on the miniature web (seed 1, locality
0.7), WebKB and wikispeedia, and how choosy its nodes are (`strategies/demands.py`) was chosen out of some fifty
settings by other draws of seeds on these three and on miniature webs of localities 0.3 and 1. So figures there are
not those of a web that it has never met. On the miniature web "kept aside" nothing was learnt, but settings were
looked at there, or on a smaller web of the same seed, with other draws of seeds. On the one "never looked at" (seed
23) nothing was learnt or chosen: it is played for this page only,
again whenever the code has changed.

Geo-coverage counts downloads, as in the paper, so a page that three nodes have counts three times; "of distinct pages"
counts it once. *truth* is no strategy but what one could have ("What is possible"). What follows from that is in
[decision 12](decisions/0012-coverage-and-what-is-possible.md).
"""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One web and one budget."""

    web: Web
    share: float


def experiments(folder: Path, data: Path, gazetteer: Gazetteer) -> Iterator[Experiment]:
    """All experiments, those on one web together."""
    for locality in LOCALITIES:
        yield Experiment(miniature(folder, locality, pages=1_500, hosts=120), 0.2)
    aside = miniature(folder, 0.7, seed=KEPT_ASIDE)
    yield Experiment(replace(aside, name=f"{aside.name}, kept aside"), 0.2)
    unseen = miniature(folder, 0.5, seed=NEVER_LOOKED_AT, pages=1_500, hosts=120)
    yield Experiment(replace(unseen, name=f"{unseen.name}, never looked at"), 0.2)
    web = webkb(folder, data)
    yield Experiment(web, 0.25)
    web = wikispeedia(folder, data, gazetteer)
    for share in (0.10, 0.25):
        yield Experiment(web, share)


@dataclass(frozen=True, slots=True)
class Result:
    """One order of an experiment: strategy -> measures, and what any strategy could have."""

    table: dict[str, dict[str, Any]]
    most: Ceiling


Results = dict[str, Result]
"""By order."""


def run(
    all_of_them: list[Experiment], folder: Path, draws: int, reader: Callable[[Web], World]
) -> Iterator[tuple[Experiment, int, Results]]:
    """Every experiment with its budget and its tables; each web is read once."""
    known: tuple[str, World] | None = None
    for experiment in all_of_them:
        web = experiment.web
        if known is None or known[0] != web.file.name:
            known = (web.file.name, reader(web))
        world = known[1]
        budget = round(experiment.share * len(world.pages()))
        results = {}
        for order in ORDERS:
            names = tuple(STRATEGIES.split(","))
            plan = Plan(names, budget, draws=draws, random_seed=RANDOM_SEED, level=web.entities, order=order)
            print(f"{web.name}, {budget} pages, {order}", file=sys.stderr, flush=True)
            runs, labels = folder / web.file.stem, labels_of(web)
            table = summary(run_all(world, plan, runs, labels=labels))
            results[order] = Result(table, ceiling(world, plan, runs, labels=labels))
        yield experiment, budget, results


def section(experiment: Experiment, budget: int, results: Results) -> str:
    """One experiment as Markdown: a table for each order, and what of the paper's orderings holds."""
    truth = "labels" if experiment.web.labels else f"`{experiment.web.entities}` addresses"
    lines = [f"\n### {experiment.share:.0%} of the pages ({budget:,} downloads), {truth}"]
    bound = results["breadth"].most.reachable
    lines.append(f"\nNo crawl from these seeds that downloads nothing twice can have a geo-coverage above {bound:.3f}.")
    for order, result in results.items():
        lines += [f"\n{ORDERS[order].capitalize()}:\n", "| strategy | " + " | ".join(SHOWN.values()) + " |"]
        lines.append("|---|" + "---|" * len(SHOWN))
        for strategy, row in {**result.table, TRUTH: result.most.truth}.items():
            name = f"*{TRUTH}*" if strategy == TRUTH else f"`{strategy}`"
            lines.append(f"| {name} | " + " | ".join(_cell(row, name) for name in SHOWN) + " |")
        lines += ["", *_findings(result.table)]
    if not experiment.web.labels:
        lines += _levels(results["breadth"].table)
    return "\n".join(lines)


def _levels(table: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """The measures of entities at both levels, breadth first."""
    yield "\nWhat counts as an entity, breadth first: geo-coverage, geo-focus, own-target pages per download\n"
    yield "| strategy | " + " | ".join(f"`{level}`: {said}" for level, said in LEVEL_NAMES.items()) + " |"
    yield "|---|" + "---|" * len(LEVEL_NAMES)
    for strategy, row in table.items():
        cells = (", ".join(_short(row["levels"][level][name]) for name in AIMS) for level in LEVEL_NAMES)
        yield f"| `{strategy}` | " + " | ".join(cells) + " |"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


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
        same = [key for key in ours if key in papers] == [key for key in papers if key in ours]
        verdict = "that is the paper's order" if same else f"the paper's is {_arrow(papers)}"
        yield f"- {SHOWN[name]}: {_arrow(ours)}; {verdict}."
    for name in AIMS:
        rest = [key for key in table if key != "blend" and table[key][name] is not None]
        best = max(rest, key=lambda key: table[key][name])
        blend, other = table["blend"][name], table[best][name]
        if blend is None:
            yield f"- `blend` has no {SHOWN[name]} to speak of."
            continue
        margin = sum(table[key][f"{name}_interval"] or 0.0 for key in ("blend", best))
        if blend == other:
            yield f"- `blend` has as much {SHOWN[name]} as the best of the others: {other:.3f} (`{best}`)."
            continue
        word = "more" if blend > other else "less"
        word += "" if abs(blend - other) > margin else " (within the intervals)"
        figures = f"{blend:.3f} against {other:.3f} (`{best}`)"
        yield f"- `blend` has {word} {SHOWN[name]} than the best of the others: {figures}."
    more = (table["blend"]["overlap"] or 0.0) > (table["url"]["overlap"] or 0.0)
    yield f"- `blend` has {'more' if more else 'no more'} overlap than `url`."


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
    done: Iterable[tuple[Experiment, int, Results]], draws: int, page: Path = PAGE, missing: Sequence[str] = ()
) -> None:
    """The whole page; `missing` are experiments that it does not have."""
    parts, verdicts = [HEAD.format(draws=draws), papers_table()], []
    last = ""
    for experiment, budget, results in done:
        if experiment.web.name != last:
            last = experiment.web.name
            note = next(text for key, text in NOTES.items() if last.startswith(key))
            parts.append(f"\n## {last[0].upper()}{last[1:]}\n\n{note}")
        parts.append(section(experiment, budget, results))
        verdicts += [(f"{last}, {experiment.share:.0%}", order, result) for order, result in results.items()]
    parts.insert(1, in_short(verdicts))
    if missing:
        parts.insert(1, f"Not in this page, since not all of their runs had ended: {', '.join(missing)}.")
    page.write_text("\n".join(parts) + "\n", "utf-8")


def in_short(verdicts: list[tuple[str, str, Result]]) -> str:
    """All experiments on one screen: who is ahead in what, and by how much `blend` leads or trails."""
    shown = {name: SHOWN[name] for name in AIMS} | {DISTINCT: "geo-coverage of distinct pages"}
    lines = [
        "\n## In short\n",
        "What `blend` has more (+) or less (−) than the best of the others, and which that is:\n",
    ]
    lines += ["| web | order | " + " | ".join(shown.values()) + " | overlap |", "|---|---|---|---|---|---|---|"]
    for web, order, result in verdicts:
        cells = [_ahead(result.table, name) for name in shown]
        lines.append(f"| {web} | {order} | " + " | ".join(cells) + f" | {result.table['blend']['overlap']:.3f} |")
    return "\n".join([*lines, "", *_holds(verdicts), *_at_most(verdicts)])


def _holds(verdicts: list[tuple[str, str, Result]]) -> Iterator[str]:
    """In how many of the tables `blend` is ahead of all others in everything, and what keeps it behind in the rest."""
    ahead = {name: [_margin(result.table, name) > 0 for *_, result in verdicts] for name in (*AIMS, DISTINCT)}
    focus, own = ahead["geo_focus"], ahead["own_target_pages_per_download"]
    whole = [all(parts) for parts in zip(ahead["geo_coverage"], focus, own, strict=True)]
    distinct = [all(parts) for parts in zip(ahead[DISTINCT], focus, own, strict=True)]
    yield (
        f"Ahead of all six in geo-coverage, geo-focus and own-target pages at once: {sum(whole)} of {len(whole)} "
        f"tables; with the coverage of distinct pages: {sum(distinct)}."
    )
    yield from (
        f"- {web}, {order}: nobody can have more geo-focus than the 1.000 of another; `blend` has {mine:.3f}."
        for web, order, result in verdicts
        if (mine := result.table["blend"]["geo_focus"]) - _margin(result.table, "geo_focus") >= 1.0
    )
    for (web, order, result), fine in zip(verdicts, ahead["geo_coverage"], strict=True):
        best = max(row["geo_coverage"] for key, row in result.table.items() if key != "blend")
        if not fine and best > result.most.reachable:
            yield f"- {web}, {order}: the best coverage ({best:.3f}) is beyond what any crawl without overlap can have."
        elif not fine and best > result.most.truth["geo_coverage"]:
            yield f"- {web}, {order}: the best coverage ({best:.3f}) is beyond that of perfect knowledge of every link."


def _margin(table: Mapping[str, dict[str, Any]], name: str) -> float:
    rest = (table[key][name] for key in table if key != "blend" and table[key][name] is not None)
    return float((table["blend"][name] or 0.0) - max(rest))


def _ahead(table: Mapping[str, dict[str, Any]], name: str) -> str:
    rest = [key for key in table if key != "blend" and table[key][name] is not None]
    best = max(rest, key=lambda key: table[key][name])
    ahead = _margin(table, name)
    sign = "+" if ahead > 0 else "−" if ahead else "±"
    return f"{sign}{abs(ahead):.3f} (`{best}`)"


def _at_most(verdicts: list[tuple[str, str, Result]]) -> Iterator[str]:
    """What can be had, beside what `blend` has."""
    yield "\n## What is possible\n"
    yield AT_MOST
    yield "| web | order | no crawl without overlap | *truth* | `blend` | *truth*, own | `blend`, own |"
    yield "|---|---|---|---|---|---|---|"
    own = "own_target_pages_per_download"
    for web, order, result in verdicts:
        truth, blend = result.most.truth, result.table["blend"]
        figures = (result.most.reachable, truth["geo_coverage"], blend["geo_coverage"], truth[own], blend[own])
        yield f"| {web} | {order} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("experiments"))
    parser.add_argument("--draws", type=int, default=20)
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
