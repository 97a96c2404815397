"""The command `serve`."""

from pathlib import Path
from typing import Annotated

import typer

from periplus.web.server import serve as run_server

__all__ = ["serve"]


def serve(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of crawls.", show_default=False)],
    *,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; others than loopback need --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0: any free one.")] = 8400,
    token: Annotated[str | None, typer.Option("--token", help="What visitors must know.", envvar="PERIPLUS_TOKEN")] = (
        None
    ),
    rate: Annotated[
        float, typer.Option("--rate", help="Requests a second that one visitor may make of the API; 0: any number.")
    ] = 50.0,
    cors: Annotated[
        list[str] | None,
        typer.Option("--cors", metavar="ORIGIN", help="A site whose pages may ask the API, as https://example.org."),
    ] = None,
) -> None:
    """Serve the web page and the HTTP API.

    Example: periplus serve my-crawl --port 8400
    """
    run_server(folders, host, port, token, rate=rate, origins=cors or [])
