"""The commands `index rebuild` and `index info`."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from periplus.index.node_index import NodeIndex
from periplus.index.query import IndexQuery
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder

__all__ = ["index_app"]

index_app = typer.Typer(
    help="The full-text index of a crawl.\n\nExample: periplus index info my-crawl", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a crawl.", show_default=False)]


@index_app.command()
def rebuild(folder: Folder) -> None:
    """Build the index of every node anew from its stored pages.

    Example: periplus index rebuild my-crawl
    """
    for node in CrawlFolder.existing(folder).nodes():
        with closing(open_reader(node.database)) as db:
            read = NodeIndex.open(node.index).rebuild(db)
        typer.echo(f"{node.name}: {read:,} pages read")


@index_app.command()
def info(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what each node's index holds and how far it is.

    Example: periplus index info my-crawl
    """
    rows = {}
    for node in CrawlFolder.existing(folder).nodes():
        index = NodeIndex.open(node.index)
        size = sum(file.stat().st_size for file in node.index.iterdir() if file.is_file())
        rows[node.name] = {"pages": index.count(IndexQuery()), "revision": index.revision, "bytes": size}
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for name, row in rows.items():
        typer.echo(f"{name}: {row['pages']:,} pages up to revision {row['revision']:,}, {row['bytes'] / 2**20:.1f} MiB")
