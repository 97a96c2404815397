"""The commands `index rebuild` and `index info`."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from periplus.index.node_index import NodeIndex
from periplus.index.query import IndexQuery
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.wording import counted

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
        typer.echo(f"{node.name}: {counted(read, 'page')} read")


@index_app.command()
def info(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what each node's index holds and how far it is.

    Example: periplus index info my-crawl
    """
    rows = {node.name: _row(node) for node in CrawlFolder.existing(folder).nodes()}
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for name, row in rows.items():
        if not row["bytes"]:
            typer.echo(f"{name}: no index yet; `periplus search` builds it")
            continue
        far = "" if row["revision"] is None else f" up to revision {row['revision']:,}"
        typer.echo(f"{name}: {counted(row['pages'] or 0, 'page')}{far}, {(row['bytes'] or 0) / 2**20:.1f} MiB")


def _row(node: NodeFolder) -> dict[str, int | None]:
    """What a node's index holds; without a revision where nothing was there to be read."""
    if not (node.index / "meta.json").exists():
        return {"pages": 0, "revision": None, "bytes": 0}
    index = NodeIndex.open(node.index)
    size = sum(file.stat().st_size for file in node.index.iterdir() if file.is_file())
    revision = None if index.revision < 0 else index.revision
    return {"pages": index.count(IndexQuery()), "revision": revision, "bytes": size}
