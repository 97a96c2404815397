"""The command line: every room that has commands brings them in its `commands.py`; here they are put together.

Errors end here: one line on standard error and the exit code of `errors.py`, never a traceback for what a user can
put right. 0 done · 2 wrong usage or file · 3 stopped by a limit with work left · 4 environment · 130 interrupted.
"""

import importlib
import os
import sys
from typing import Annotated

import typer

from periplus import __version__
from periplus.errors import PeriplusError

# Small matrices in several processes: threads of the linear algebra library would only get in each other's way. Has to
# stand before the first import of numpy, which comes with the command's module.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["COMMANDS", "assemble", "main"]

INTERRUPTED = 130

COMMANDS = {
    "crawl": "periplus.commands:crawl",
    "node": "periplus.hosting:node",
    "cluster": "periplus.clustering:cluster_app",
    "search": "periplus.search.commands:search",
    "trend": "periplus.search.commands:trend",
    "serve": "periplus.web.commands:serve",
    "tasks": "periplus.tasks.commands:tasks_app",
    "export": "periplus.export.commands:export",
    "index": "periplus.index.commands:index_app",
    "verify": "periplus.verify:verify",
    "evaluate": "periplus.evaluate.commands:evaluate",
    "record": "periplus.experiments:record",
    "compare": "periplus.experiments:compare",
    "simulate": "periplus.evaluate.simulate:simulate",
    "delegate": "periplus.network.commands:delegate",
    "network": "periplus.network.range_commands:network_app",
    "why": "periplus.evaluate.why:why",
    "places": "periplus.places.commands:places",
    "relocate": "periplus.relocation:relocate",
    "assign": "periplus.assignments:assign",
    "nodes": "periplus.assignments:nodes_app",
    "classifier": "periplus.assignments:classifier_app",
    "gazetteer": "periplus.places.commands:gazetteer_app",
    "score": "periplus.teaching:score",
    "topic": "periplus.teaching:topic_app",
    "miniweb": "periplus.miniweb.commands:app",
    "config": "periplus.commands:config",
}
"""Every command and group of commands, in the order of `--help`. A module is imported when its command is wanted."""


def assemble(wanted: str | None = None) -> typer.Typer:
    """The command line; with `wanted` only that command of it, which is all that one run needs."""
    app = typer.Typer(
        name="periplus",
        help="A geographically focused web crawler with a place-aware search engine.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"periplus {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """A geographically focused web crawler with a place-aware search engine."""


def main() -> None:
    """The console script `periplus`."""
    try:
        code = assemble(sys.argv[1] if len(sys.argv) > 1 else None)(standalone_mode=False)
    except PeriplusError as error:
        code = _say(str(error), error.exit_code)
    except typer.TyperException as error:  # wrong usage
        message = error.format_message()  # empty when the help was shown for want of arguments
        code = _say(f"{message} (--help explains)", error.exit_code) if message else error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # `periplus … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # the supervisor of all commands: a bug of ours is one line too, unless asked for
        if os.environ.get("PERIPLUS_DEBUG"):
            raise
        code = _say(f"a bug: {type(error).__name__}: {error} (PERIPLUS_DEBUG=1 shows where; please report it)", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _say(message: str, code: int) -> int:
    """One line on standard error."""
    print(f"periplus: {' '.join(message.split())}", file=sys.stderr)
    return code
