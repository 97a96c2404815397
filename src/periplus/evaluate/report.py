"""A comparison as files: `results.json`, CSV tables in the shape of paper A's, and `report.html`, which stands alone.

Text in the report is escaped, styles are in the page, and a content policy forbids everything else.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from periplus.evaluate.paper import PAPER
from periplus.evaluate.plots import bar_plot, line_plot, map_plot, point_plot
from periplus.store.database import storage_errors

__all__ = ["write_report"]

Summary = Mapping[str, dict[str, Any]]

COLUMNS = {
    "geo_coverage": "geo-coverage",
    "geo_focus": "geo-focus",
    "own_target_pages_per_download": "own-target pages per download",
    "entity_uniqueness": "entity uniqueness",
    "geo_centrality": "geo-centrality",
    "overlap": "overlap",
    "diversity": "diversity",
    "communication_overhead": "URLs sent per page",
    "links_assigned_away_per_page": "links for others per page",
}

STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5c6b7a; --line: #d8dee5; --paper: #fff; --sea: #eef4f8 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --soft: #9fb0c0; --line: #33414f; --paper: #141b22; --sea: #1b2732 }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem }
h2 { font-size: 1.15rem; margin-top: 2.5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
td { white-space: nowrap }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: right }
th:first-child, td:first-child { text-align: left }
small, .note { color: var(--soft) }
svg { width: 100%; max-width: 44rem; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink) }
.grid { stroke: var(--line) }
.sea { fill: var(--sea) }
.wide { overflow-x: auto }
"""


def write_report(
    folder: Path, summary: Summary, about: Mapping[str, Any], points: Sequence[tuple[float, float, str, int]]
) -> None:
    """Write all files of a comparison. `points` is where the pages of the last strategy went."""
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"about": about, "strategies": summary}, indent=1, sort_keys=True, allow_nan=False)
        (folder / "results.json").write_text(text + "\n", "utf-8")
        for name, rows in _tables(summary).items():
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)
        (folder / "report.html").write_text(_html(summary, about, points), "utf-8")


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
        "table-9-communication": "communication_overhead",
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
    tables["table-11-locality"] = [["strategy", "linked", "unlinked", "paper linked", "paper unlinked"]]
    for strategy, row in summary.items():
        locality = row["locality"]
        papers = [_paper(strategy, f"locality.{kind}") for kind in ("linked", "unlinked")]
        tables["table-11-locality"].append([strategy, locality["linked"], locality["unlinked"], *papers])
    return tables


def _paper(strategy: str, measure: str) -> float | None:
    return PAPER.get(strategy, {}).get(measure)


def _html(summary: Summary, about: Mapping[str, Any], points: Sequence[tuple[float, float, str, int]]) -> str:
    nodes = sorted(next(iter(summary.values()))["nodes"]) if summary else []
    progress = {
        name: [(step["pages"], step["geo_coverage"]) for step in row["progress"]] for name, row in summary.items()
    }
    focus = {node: {name: row["nodes"][node]["geo_focus"] for name, row in summary.items()} for node in nodes}
    spread = {name: (row["overlap"] or 0.0, row["geo_coverage"] or 0.0) for name, row in summary.items()}
    sections = [
        ("Strategies", _whole_table(summary)),
        ("Beside the paper", _paper_table(summary)),
        ("Geo-coverage over the crawl", line_plot(progress, "pages downloaded", "geo-coverage")),
        ("Focus of the nodes", bar_plot({n: f for n, f in focus.items() if any(f.values())}, "geo-focus")),
        ("Overlap against coverage", point_plot(spread, "overlap", "geo-coverage")),
        (f"Where the pages went: {list(summary)[-1] if summary else ''}", map_plot(points, nodes)),
    ]
    facts = "".join(f"<li>{escape(key)}: {escape(str(value))}</li>" for key, value in about.items())
    body = "".join(f'<h2>{escape(title)}</h2><div class="wide">{content}</div>' for title, content in sections)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><meta name="viewport" content="width=device-width"><title>Strategies compared</title>'
        f"<style>{STYLE}</style></head><body><h1>Strategies compared</h1>"
        f'<ul class="note">{facts}</ul>{body}</body></html>\n'
    )


def _whole_table(summary: Summary) -> str:
    rows = [
        [strategy, f"{row['pages']:,.0f}", *(_with_interval(row, name) for name in COLUMNS)]
        for strategy, row in summary.items()
    ]
    return _table(["strategy", "pages", *COLUMNS.values()], rows)


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


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Cells are numbers of ours with marks of ours; only names come from outside, and they are in the first column."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for row in rows:
        first, *others = row
        lines.append(f"<tr><td>{escape(first)}</td>{''.join(f'<td>{cell}</td>' for cell in others)}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
