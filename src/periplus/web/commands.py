"""The command `serve`."""

from pathlib import Path
from typing import Annotated

import typer

from periplus.web.server import serve as run_server

__all__ = ["serve"]


def serve(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of crawls.", show_default=False)],
    host: Annotated[str, typer.Option("--host", help="Address to listen on; others than loopback need --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0: any free one.")] = 8400,
    token: Annotated[str | None, typer.Option("--token", help="What visitors must know.", envvar="PERIPLUS_TOKEN")] = (
        None
    ),
) -> None:
    """Serve the web page and the HTTP API.

    Example: periplus serve my-crawl --port 8400
    """
    run_server(folders, host, port, token)
