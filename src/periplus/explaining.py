"""`periplus config`: the settings of a job file, each with its default, unit and sentence."""

import dataclasses
import json
import sys
from typing import Annotated

import typer
from rich.table import Table

from periplus.printing import Console
from periplus.settings import explain

__all__ = ["config"]


def config(
    explained: Annotated[bool, typer.Option("--explain", help="Every setting: name, default, unit, sentence.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the settings as JSON.")] = False,
) -> None:
    """Show the settings that a job file may have.

    Example: periplus config --explain
    """
    rows = explain()
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(row) for row in rows], ensure_ascii=False))
        return
    if not explained:
        for row in rows:
            typer.echo(f"{row.name} = {row.default}")
        return
    table = Table("setting", "default", "unit", "meaning", box=None)
    for row in rows:
        table.add_row(row.name, row.default, row.unit, row.sentence)
    width = None if sys.stdout.isatty() else 200
    Console(highlight=False, width=width).print(table)
