"""The command line: every room that has commands brings them in its `commands.py`; here they are put together.

Errors end here: one line on standard error and the exit code of `errors.py`, never a traceback for what a user can
put right. 0 done · 2 wrong usage or file · 3 stopped by a limit with work left · 4 environment · 130 interrupted.
"""

import contextlib
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from periplus import __version__
from periplus.errors import PeriplusError

if TYPE_CHECKING:
    import typer

# Small matrices in several processes: threads of the linear algebra library would only get in each other's way. Has to
# stand before the first import of numpy, which comes with the command's module.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["COMMANDS", "assemble", "main", "overview"]

INTERRUPTED = 130

COMMANDS = {
    "crawl": ("periplus.commands:crawl", "Crawl, or go on with a crawl that was stopped: the same command resumes it."),
    "node": ("periplus.hosting:node", "Run one node of a crawl on several machines, until the whole crawl is done."),
    "cluster": ("periplus.clustering:cluster_app", "See and steer a crawl on several machines."),
    "search": ("periplus.search.commands:search", "Search a crawl by what, where and when."),
    "trend": ("periplus.search.commands:trend", "Count the pages that answer a question over time."),
    "serve": ("periplus.web.commands:serve", "Serve the web page and the HTTP API."),
    "tasks": (
        "periplus.tasks.commands:tasks_app",
        "Saved crawls with schedules; the web page shows and runs the same ones.",
    ),
    "export": (
        "periplus.export.commands:export",
        "Write what a crawl found for other programs, or keep a PostGIS database up to date with it.",
    ),
    "index": ("periplus.index.commands:index_app", "The full-text index of a crawl."),
    "verify": ("periplus.verify:verify", "Check database, archive, index and exchange of a crawl against each other."),
    "evaluate": (
        "periplus.evaluate.commands:evaluate",
        "Measure a crawl as the papers do: coverage, focus, centrality, overlap, overhead, locality.",
    ),
    "record": (
        "periplus.experiments:record",
        "Make a recorded web: one file with all responses, to be compared on or served again.",
    ),
    "compare": (
        "periplus.experiments:compare",
        "Replay a recorded web under every strategy: tables, plots and JSON as in the paper.",
    ),
    "simulate": (
        "periplus.evaluate.simulate:simulate",
        "Predict throughput, exchange, queues and balance of a crawl by N nodes, without HTTP or pages.",
    ),
    "delegate": (
        "periplus.network.commands:delegate",
        "Replay who fetches what: every site to the crawler with the shortest round trip, with few probes.",
    ),
    "network": (
        "periplus.network.range_commands:network_app",
        "Address ranges and whose they are: build from the registries' files, show, look up.",
    ),
    "why": (
        "periplus.evaluate.why:why",
        "Explain a URL: its node, its priority part by part, the pages that link to it, and how it was judged.",
    ),
    "places": (
        "periplus.places.commands:places",
        "Find places in a text. Example: echo 'Floods hit Sylhet.' | periplus places - --json",
    ),
    "relocate": (
        "periplus.relocation:relocate",
        "Use site memory: what a host's other pages are about decides which places its names mean.",
    ),
    "assign": ("periplus.assignments:assign", "Where links would go: one JSON line a link in, one out, in order."),
    "nodes": ("periplus.assignments:nodes_app", "Nodes and what they own: plan a balanced split."),
    "classifier": ("periplus.assignments:classifier_app", "The model of the strategy classifier: train it."),
    "gazetteer": ("periplus.places.commands:gazetteer_app", "What places are known: show, look up, build, add."),
    "score": (
        "periplus.teaching:score",
        "Relevance of texts to a topic. Example: periplus score topic.toml page.txt --json",
    ),
    "topic": ("periplus.teaching:topic_app", "Topics: learn one from samples, teach it by judging pages."),
    "miniweb": (
        "periplus.miniweb.commands:app",
        "The miniature web: a synthetic web with known truth, for demos, tests and benchmarks.",
    ),
    "config": ("periplus.explaining:config", "Show the settings that a job file may have."),
}
"""Every command and group of commands, in the order of `--help`: where it is and what it says of itself first. So the
overview needs none of them, and a module is imported when its command is wanted."""


def assemble(wanted: str | None = None) -> "typer.Typer":
    """The command line; with `wanted` only that command of it, which is all that one run needs."""
    import typer  # noqa: PLC0415  # when signals are heeded already

    app = _empty()
    for name in [wanted] if wanted else COMMANDS:
        module, _, attribute = COMMANDS[name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def overview() -> "typer.Typer":
    """The command line for who names no command of it: says what there is, without importing any of it."""
    app = _empty()
    for name, (_, summary) in COMMANDS.items():
        app.command(name, help=summary)(lambda: None)
    return app


def _empty() -> "typer.Typer":
    import typer  # noqa: PLC0415  # when signals are heeded already

    def print_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"periplus {__version__}")
            raise typer.Exit

    def options(
        _version: Annotated[
            bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and end.")
        ] = False,
    ) -> None:
        """A geographically focused web crawler with a place-aware search engine."""

    app = typer.Typer(
        name="periplus",
        help="A geographically focused web crawler with a place-aware search engine.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    return app


def main() -> None:
    """The console script `periplus`."""
    _heed(lambda *_: os._exit(INTERRUPTED))  # while modules are imported, when nothing has begun that is to be ended
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # what an old terminal cannot write is no reason to write nothing
    code = _run(sys.argv[1] if len(sys.argv) > 1 else "")
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _nobody_reads()
    sys.exit(code)


def _heed(handler: Callable[[int, FrameType | None], None]) -> None:
    """What Ctrl-C and SIGTERM do from now on, unless whoever started us wants them ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _run(wanted: str) -> int:
    """Run the command line to its end; gives the exit code."""
    import typer  # noqa: PLC0415  # when signals are heeded already

    try:
        app = assemble(wanted) if wanted in COMMANDS else overview()
        _heed(signal.default_int_handler)  # KeyboardInterrupt
        code = app(standalone_mode=False)
    except PeriplusError as error:
        return _say(str(error), error.exit_code)
    except typer.TyperException as error:  # wrong usage
        message = error.format_message()  # empty when the help was shown for want of arguments
        return _say(f"{message}{_hint(message)} (--help explains)", error.exit_code) if message else error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _nobody_reads()  # `periplus … | head`: typer makes an end with 1 of it
        return 0
    except Exception as error:  # the supervisor of all commands: a bug of ours is one line too, unless asked for
        if os.environ.get("PERIPLUS_DEBUG"):
            raise
        return _say(f"a bug: {type(error).__name__}: {error} (PERIPLUS_DEBUG=1 shows where; please report it)", 1)
    return code if isinstance(code, int) else 0


def _hint(message: str) -> str:
    """What helps where a question was meant: `search my-crawl -pizza`, `search my-crawl pizza oven`."""
    if re.match(r"No such option: -[^-]", message):
        return "; what begins with - and is no option stands behind --"
    return "; several words need quotes" if message.startswith("Got unexpected extra argument") else ""


def _nobody_reads() -> None:
    from periplus.printing import nobody_reads  # noqa: PLC0415  # rich is not needed otherwise

    nobody_reads(sys.stdout)


def _say(message: str, code: int) -> int:
    """One line on standard error."""
    with contextlib.suppress(BrokenPipeError):
        print(f"periplus: {' '.join(message.split())}", file=sys.stderr)
    return code
