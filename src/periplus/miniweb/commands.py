"""`periplus miniweb`: serve the miniature web, or write it to a folder."""

import asyncio
import signal
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import quote

import typer

from periplus.errors import EnvironmentFailure
from periplus.files import target_folder
from periplus.miniweb.job import job_toml
from periplus.miniweb.server import MiniwebServer
from periplus.miniweb.server import serve as open_server
from periplus.miniweb.web import generate as make_web
from periplus.printing import Console
from periplus.wording import counted

__all__ = ["app"]

app = typer.Typer(
    help="The miniature web: a synthetic web with known truth, for demos, tests and benchmarks.\n\n"
    "Example: periplus miniweb serve --job mini.toml",
    no_args_is_help=True,
)

Seed = Annotated[int, typer.Option("--seed", help="Same seed, same bytes.")]
Hosts = Annotated[int, typer.Option("--hosts", help="Number of hosts, at least 60.")]
Pages = Annotated[int, typer.Option("--pages", help="Number of pages, at least 5 a host.")]
Locality = Annotated[float, typer.Option("--locality", help="How strongly links stay with their town, 0 to 1.")]


@app.command()
def serve(
    *,
    seed: Seed = 1,
    hosts: Hosts = 320,
    pages: Pages = 5500,
    locality: Locality = 0.7,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 8480,
    slow: Annotated[float, typer.Option("--slow", help="Delay of the slow pages, in seconds.")] = 0.3,
    prerender: Annotated[
        bool, typer.Option("--prerender", help="Write all pages first (6 KB each in memory).")
    ] = False,
    truth: Annotated[Path | None, typer.Option("--truth", help="Write what is true about each page here.")] = None,
    job: Annotated[Path | None, typer.Option("--job", help="Write a job file that crawls this web here.")] = None,
    log: Annotated[Path | None, typer.Option("--log", help="Write one JSON line for each request here.")] = None,
) -> None:
    """Serve the miniature web on loopback until interrupted.

    Example: periplus miniweb serve --job mini.toml   (then, elsewhere: periplus crawl mini.toml)
    """
    web = make_web(seed, hosts=hosts, pages=pages, locality=locality, slow_seconds=slow)
    if truth is not None:
        web.write_truth(truth)
    with ExitStack() as stack:
        log_file = stack.enter_context(_opened(log)) if log is not None else None
        asyncio.run(_serve(open_server(web, host, port, log_file=log_file, prerender=prerender), job))


async def _serve(opening: AbstractAsyncContextManager[MiniwebServer], job: Path | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with opening as server:
        web = server.web
        if job is not None:
            _write(job, job_toml(server.port, web.seeds(), address=server.address))
        console = Console(highlight=False, soft_wrap=True)
        console.print(
            f"The miniature web: {counted(len(web.blueprint.pages), 'page')} "
            f"on {counted(len(web.blueprint.hosts), 'host')} at http://{server.address}:{server.port}/"
        )
        if job is not None:
            console.print(f"Crawl it with: periplus crawl {job}")
        else:
            console.print("Crawl it with a job file: run again with --job mini.toml, then periplus crawl mini.toml")
        console.print(
            f"Look at a page with: curl -H 'Host: {web.blueprint.hosts[0].name}' http://{server.address}:{server.port}/"
        )
        console.print("Stop it with Ctrl-C.")
        await stop.wait()


@app.command()
def generate(
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.")],
    seed: Seed = 1,
    hosts: Hosts = 320,
    pages: Pages = 5500,
    locality: Locality = 0.7,
) -> None:
    """Write every page to a folder, with the truth and the seeds.

    Example: periplus miniweb generate -o miniweb   (pages/HOST/PATH, truth.jsonl, seeds.txt)
    """
    target_folder(output)
    web = make_web(seed, hosts=hosts, pages=pages, locality=locality)
    for page in web.blueprint.pages:
        response = web.page_response(page, 1)
        name = quote(page.path.lstrip("/"), safe="") or "index"
        _write_bytes(output / "pages" / web.blueprint.hosts[page.host].name / name, response.body)
    rows = web.write_truth(output / "truth.jsonl")
    _write(output / "seeds.txt", "\n".join(web.seeds()) + "\n")
    Console(highlight=False, soft_wrap=True).print(
        f"{counted(len(web.blueprint.pages), 'page')} and {counted(rows, 'truth row')} in {output}"
    )


def _opened(path: Path) -> IO[str]:
    try:
        return path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise EnvironmentFailure(f"{path}: {error.strerror}; choose another file") from None


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise EnvironmentFailure(f"{path}: {error.strerror}; choose another place") from None
