"""`periplus evaluate`: every measure of the papers over a crawl."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from periplus.evaluate.crawl import evaluate_crawl
from periplus.evaluate.tables import wide_console
from periplus.wording import counted

__all__ = ["evaluate"]

_MEANINGS = {
    "geo_coverage": "pages with a postal address of a target city",
    "distinct_geo_coverage": "the same, pages that were downloaded again counted once",
    "geo_focus": "of these, pages at the node that owns the city (mean of nodes)",
    "entity_uniqueness": "distinct addresses / addresses",
    "geo_centrality": "how near such pages are by links (mean of pages)",
    "overlap": "downloads of a page that another node had already",
    "diversity": "registrable domains / pages",
    "links_assigned_away_per_page": "links for other nodes / pages: what the paper counts as communication",
    "communication_overhead": "URLs that were sent / pages: without those that were sent or seen before",
    "accuracy": "pages with places that were kept / that were read",
    "coverage": "distinct places / places, in kept pages",
}


def evaluate(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl, finished or running.")],
    *,
    labels: Annotated[
        Path | None,
        typer.Option(help="CSV `url,relevant` (1 or 0) or `url,place`: precision, recall and F against it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure a crawl as the papers do: coverage, focus, centrality, overlap, overhead, locality.

    Example: periplus evaluate crawls/north-korea
    """
    result = evaluate_crawl(directory, labels=labels)
    told = result.get("labels")
    if told and told["not_read"]:
        typer.echo(f"{labels}: {counted(told['not_read'], 'label')} of pages that the crawl has not read", err=True)
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, allow_nan=False))
        return
    console = wide_console()
    console.print(_whole(result))
    console.print(_nodes(result["nodes"]))
    console.print(_exchange(result["exchange"]))
    if told:
        console.print(_labels(told))
    console.print(_harvest(result["harvest"]))
    console.print(_policy(result["policy"]))


def _whole(result: dict[str, Any]) -> Table:
    table = Table(
        "measure", "value", "what it says", box=None, title=counted(result["pages"], "page"), title_justify="left"
    )
    table.columns[1].justify = "right"
    for name, meaning in _MEANINGS.items():
        table.add_row(name.replace("_", " "), _text(result[name]), meaning)
    locality = result["locality"]
    table.add_row("locality, linked", _text(locality["linked"]), "linked pairs of pages about the same target")
    table.add_row("locality, unlinked", _text(locality["unlinked"]), "the same for pairs without a link")
    table.add_row("imbalance", _text(result["balance_gini"]), "Gini of pages over nodes: 0 even, 1 one does all")
    return table


def _nodes(nodes: dict[str, dict[str, Any]]) -> Table:
    columns = ("pages", "kept", "geo_coverage", "geo_focus", "entity_uniqueness", "geo_centrality", "sent", "received")
    table = Table("node", *(name.replace("_", " ") for name in columns), box=None, title="Nodes", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, node in nodes.items():
        table.add_row(name, *(_text(node[column]) for column in columns))
    return table


def _exchange(found: dict[str, int]) -> str:
    return (
        f"Exchange: {counted(found['sent'], 'link')} sent ({found['bytes']:,} bytes), {found['received']:,} received, "
        f"{found['duplicate']:,} of them again, {found['waiting']:,} on their way"
    )


def _labels(found: dict[str, Any]) -> str:
    """Precision, recall and F against the labels."""
    lines = [f"Against {found['labels']:,} labels, {found['not_read']:,} of them of pages that were not read:"]
    lines += [
        f"  {name}: " + ", ".join(f"{key} {_text(value)}" for key, value in found[name].items())
        for name in ("relevance", "places")
        if found[name]
    ]
    return "\n".join(lines)


def _harvest(steps: list[dict[str, Any]]) -> str:
    shown = [f"{step['recently']:.2f}" for step in steps]
    return f"Harvest rate (kept / read) over the crawl, in equal parts: {' '.join(shown) or 'no pages'}"


def _policy(costs: dict[str, Any]) -> str:
    """Paper A's cost model in a sentence."""
    if costs["a_is_cheaper_above_claims"] is None:
        return "Policies: no pages yet to say what they cost"
    return (
        f"Policies (Lemma 2): a page {costs['page_bytes']:,.0f} bytes, a message {costs['message_bytes']:.0f}, "
        f"{costs['links_per_page']:.1f} links a page. A costs at most {costs['cost_a_bytes']:,.0f} bytes a page, "
        f"B at least {costs['cost_b_bytes']:,.0f} with {costs['cost_b_claims']:.2f} claims a link "
        f"(in this crawl {costs['claims_per_link']:.2f}); "
        f"A is cheaper above {costs['a_is_cheaper_above_claims']:.3f} claims"
    )


def _text(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
