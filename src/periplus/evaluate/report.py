"""A comparison as files: `results.json`, CSV tables in the shape of paper A's, and `report.html`, which stands alone.

Text in the report is escaped, styles are in the page, and a content policy forbids everything else.
"""

import csv
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from periplus.evaluate.paper import PAPER
from periplus.evaluate.plots import bar_plot, line_plot, map_plot, point_plot
from periplus.store.database import storage_errors

__all__ = ["ORDER_NAMES", "Compared", "most_said", "write_report"]

Summary = Mapping[str, dict[str, Any]]
Point = tuple[float, float, str, int]

COLUMNS = {
    "geo_coverage": "geo-coverage",
    "distinct_geo_coverage": "of distinct pages",
    "geo_focus": "geo-focus",
    "own_target_pages_per_download": "own-target pages per download",
    "entity_uniqueness": "entity uniqueness",
    "geo_centrality": "geo-centrality",
    "overlap": "overlap",
    "diversity": "diversity",
    "communication_overhead": "URLs sent per page",
    "links_assigned_away_per_page": "links for others per page",
}

ORDER_NAMES = {"breadth": "Breadth first, as in the paper", "best": "Best first, as a crawl goes"}
BEST = {
    "geo_coverage": max,
    "geo_focus": max,
    "own_target_pages_per_download": max,
    "distinct_geo_coverage": max,
    "geo_centrality": max,
}
"""Measures of which more is better: the best of a column is set off."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5c6b7a; --line: #dfe5ea; --paper: #f4f6f8; --card: #fff;
  --sea: #eef4f8; --best: #e3f0e6 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #9fb0c0; --line: #33414f; --paper: #10161c; --card: #18212a; --sea: #1b2732;
    --best: #1e3a2a }
}
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 }
main { max-width: 78rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.01em }
h2 { font-size: 1.05rem; margin: 0 0 .75rem }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.25rem;
  margin-top: 1rem; min-width: 0 }
.facts { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin: 0; color: var(--soft) }
.facts b { color: var(--ink); font-weight: 600 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); gap: 1rem }
.plots section { margin-top: 0 }
.plots, .plots + section { margin-top: 1rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .87rem }
td { white-space: nowrap }
th { font-weight: 600; color: var(--soft); vertical-align: bottom }
th, td { padding: .4rem .5rem; border-bottom: 1px solid var(--line); text-align: right }
tr:last-child td { border-bottom: 0 }
th:first-child, td:first-child { text-align: left; font-weight: 600 }
td.best { background: var(--best); font-weight: 600 }
small, .note { color: var(--soft) }
td small { display: block; font-weight: 400; line-height: 1.2 }
.note { margin: .75rem 0 0; max-width: 60rem }
.wide > svg { width: 100%; height: auto; display: block }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink) }
.grid { stroke: var(--line) }
.whisker { stroke: var(--soft) }
.sea { fill: var(--sea) }
.coast { fill: none; stroke: var(--soft); stroke-width: .8; opacity: .7 }
.wide { overflow-x: auto }
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """A whole comparison: the table in the first order, and in the other order if there is one.

    `where` has for each strategy the points (longitude, latitude, node, pages) that its pages are about; `ceiling` for
    each order what any strategy could have (`compare.Ceiling`).
    """

    strategies: Summary
    about: Mapping[str, Any]
    where: Mapping[str, Sequence[Point]]
    order: str = "breadth"
    best_first: Summary = field(default_factory=dict)
    ceiling: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What results.json holds."""
        found = {"about": self.about, "order": self.order, "strategies": self.strategies}
        found |= {"best_first": self.best_first} if self.best_first else {}
        return found | ({"ceiling": self.ceiling} if self.ceiling else {})


def write_report(folder: Path, compared: Compared) -> None:
    """Write all files of a comparison; the CSV tables are those of the first order."""
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(compared.as_json(), indent=1, sort_keys=True, allow_nan=False)
        (folder / "results.json").write_text(text + "\n", "utf-8")
        for prefix, summary in (("", compared.strategies), ("best-first-", compared.best_first)):
            for name, rows in _tables(summary).items() if summary else ():
                with (folder / f"{prefix}{name}.csv").open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows(rows)
        (folder / "report.html").write_text(_html(compared), "utf-8")


def _tables(summary: Summary) -> dict[str, list[list[Any]]]:
    """Paper A's Tables 2-9 and 11: by node where the paper has nodes, by strategy where it has strategies."""
    nodes = sorted(next(iter(summary.values()))["nodes"]) if summary else []
    by_node = {
        "table-2-pages": "pages",
        "table-3-geo-coverage": "geo_coverage",
        "table-4-geo-focus": "geo_focus",
        "table-5-entity-uniqueness": "entity_uniqueness",
        "table-6-geo-centrality": "geo_centrality",
    }
    whole = {
        "table-7-overlap": "overlap",
        "table-8-diversity": "diversity",
    }
    tables: dict[str, list[list[Any]]] = {}
    for name, measure in by_node.items():
        tables[name] = [["strategy", *nodes, "all", "interval", "paper"]]
        for strategy, row in summary.items():
            values = [row["nodes"][node].get(measure) for node in nodes]
            tables[name].append(
                [strategy, *values, row.get(measure), row.get(f"{measure}_interval"), _paper(strategy, measure)]
            )
    for name, measure in whole.items():
        tables[name] = [["strategy", "value", "interval", "paper"]]
        for strategy, row in summary.items():
            tables[name].append([strategy, row[measure], row[f"{measure}_interval"], _paper(strategy, measure)])
    away, sent = "links_assigned_away_per_page", "communication_overhead"  # the paper has the first only
    tables["table-9-communication"] = [["strategy", "value", "interval", "paper", "sent", "sent interval"]]
    for strategy, row in summary.items():
        figures = [row[away], row[f"{away}_interval"], _paper(strategy, away), row[sent], row[f"{sent}_interval"]]
        tables["table-9-communication"].append([strategy, *figures])
    tables["table-11-locality"] = [["strategy", "linked", "unlinked", "paper linked", "paper unlinked"]]
    for strategy, row in summary.items():
        locality = row["locality"]
        papers = [_paper(strategy, f"locality.{kind}") for kind in ("linked", "unlinked")]
        tables["table-11-locality"].append([strategy, locality["linked"], locality["unlinked"], *papers])
    return tables


def _paper(strategy: str, measure: str) -> float | None:
    return PAPER.get(strategy, {}).get(measure)


def _html(compared: Compared) -> str:
    summary = compared.strategies
    nodes = sorted(next(iter(summary.values()))["nodes"]) if summary else []
    orders = {compared.order: summary} | ({"best": compared.best_first} if compared.best_first else {})
    tables = [
        (ORDER_NAMES[order], _whole_table(table) + _said(table) + _most(compared.ceiling.get(order)))
        for order, table in orders.items()
    ]
    tables.append(("Beside the paper", _paper_table(summary)))
    plots = _plots(summary, nodes)
    maps = [(f"Where the pages went: {name}", map_plot(points, nodes)) for name, points in compared.where.items()]
    facts = "".join(f"<span>{escape(key)} <b>{escape(str(value))}</b></span>" for key, value in compared.about.items())
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><meta name="viewport" content="width=device-width"><title>Strategies compared</title>'
        f'<style>{STYLE}</style></head><body><main><h1>Strategies compared</h1><p class="facts">{facts}</p>'
        f'{_sections(tables[:-1])}<div class="plots">{_sections(plots)}</div>{_sections(tables[-1:])}'
        f'<div class="plots">{_sections(maps)}</div></main></body></html>\n'
    )


def _plots(summary: Summary, nodes: Sequence[str]) -> list[tuple[str, str]]:
    progress = {
        name: [(step["pages"], step["geo_coverage"]) for step in row["progress"]] for name, row in summary.items()
    }
    focus = {node: {name: row["nodes"][node]["geo_focus"] for name, row in summary.items()} for node in nodes}
    spread = {name: (row["overlap"] or 0.0, row["geo_coverage"] or 0.0) for name, row in summary.items()}
    margins = {name: row.get("geo_coverage_interval") or 0.0 for name, row in summary.items()}
    own = {
        name: [(step["pages"], step["own_target_pages"]) for step in row["progress"]] for name, row in summary.items()
    }
    return [
        ("Geo-coverage over the crawl", line_plot(progress, "pages downloaded", "geo-coverage")),
        ("Pages at the node that owns them", line_plot(own, "pages downloaded", "own-target pages")),
        ("Focus of the nodes", bar_plot({n: f for n, f in focus.items() if any(f.values())}, "geo-focus")),
        ("Overlap against coverage", point_plot(spread, "overlap", "geo-coverage", margins)),
    ]


def _sections(parts: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f'<section><h2>{escape(title)}</h2><div class="wide">{content}</div></section>' for title, content in parts
    )


def _whole_table(summary: Summary) -> str:
    best = {}
    for name, choose in BEST.items():
        known = [row[name] for row in summary.values() if row[name] is not None]
        best[name] = choose(known) if len(known) > 1 else None
    rows = [
        [strategy, f"{row['pages']:,.0f}", *(_with_interval(row, name) for name in COLUMNS)]
        for strategy, row in summary.items()
    ]
    marked = {
        (number, place)
        for number, row in enumerate(summary.values())
        for place, name in enumerate(COLUMNS, 2)
        if best.get(name) is not None and row[name] == best[name]
    }
    return _table(["strategy", "pages", *COLUMNS.values()], rows, marked)


def _said(summary: Summary) -> str:
    """Which strategy is ahead, in words, and whether the intervals of the first two are apart."""
    said = []
    for name in list(BEST)[:3]:
        ranked = sorted((row[name], key) for key, row in summary.items() if row[name] is not None)[::-1]
        if len(ranked) < 2:
            continue
        (first, leader), (second, follower) = ranked[:2]
        margin = sum(summary[key].get(f"{name}_interval") or 0.0 for key in (leader, follower))
        apart = "" if first - second > margin else ", within the intervals"
        said.append(f"{COLUMNS[name]}: {escape(leader)} before {escape(follower)}{apart}")
    return f'<p class="note">{"; ".join(said)}.</p>' if said else ""


def most_said(reachable: float) -> str:
    """The bound of geo-coverage in words."""
    return f"No crawl from these seeds that downloads nothing twice can have a geo-coverage above {reachable:.3f}."


def _most(ceiling: Mapping[str, Any] | None) -> str:
    if ceiling is None:
        return ""
    names = ("geo_coverage", "geo_focus", "own_target_pages_per_download")
    truth = ", ".join(f"{COLUMNS[name]} {_number(ceiling['truth'][name])}" for name in names)
    return (
        f'<p class="note">{most_said(ceiling["reachable"])} If every link were known to lead where it does and went '
        f"to the node that owns the page&#39;s place, in the same turns and order: {truth}.</p>"
    )


def _paper_table(summary: Summary) -> str:
    """Ours / the paper's, measure by measure; what differs is said below."""
    measures = [name for name in COLUMNS if any(name in row for row in PAPER.values())]
    rows = [
        [strategy, *(f"{_number(row[name])} / {_number(_paper(strategy, name))}" for name in measures)]
        for strategy, row in summary.items()
        if strategy in PAPER
    ]
    note = (
        '<p class="note">Ours / the paper\'s. The paper crawled the live web of 2005 for two weeks, 12.8 million '
        "pages a strategy, with street addresses of 100 US cities as entities; this is one recorded web with its own "
        "density of addresses, so levels differ and only the order of strategies can be compared.</p>"
    )
    return _table(["strategy", *(COLUMNS[name] for name in measures)], rows) + note


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    interval = row.get(f"{name}_interval")
    return _number(row[name]) + (f" <small>± {_number(interval)}</small>" if interval is not None else "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], marked: Container[tuple[int, int]] = ()) -> str:
    """Cells are numbers of ours with marks of ours; only names come from outside, and they are in the first column."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for number, row in enumerate(rows):
        first, *others = row
        cells = (
            f'<td class="best">{cell}</td>' if (number, place) in marked else f"<td>{cell}</td>"
            for place, cell in enumerate(others, 1)
        )
        lines.append(f"<tr><td>{escape(first)}</td>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
