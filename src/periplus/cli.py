"""The command line: every room that has commands brings them in its `commands.py`; here they are put together.

Errors end here: one line on standard error and the exit code of `errors.py`, never a traceback for what a user can
put right. 0 done · 2 wrong usage or file · 3 stopped by a limit with work left · 4 environment · 130 interrupted.
"""

import os
import sys
from typing import Annotated

import click
import typer

from periplus import __version__, commands
from periplus.errors import PeriplusError
from periplus.evaluate.commands import evaluate
from periplus.miniweb import commands as miniweb_commands
from periplus.places import commands as places_commands
from periplus.search.commands import search, trend
from periplus.web.commands import serve

__all__ = ["app", "main"]

INTERRUPTED = 130

app = typer.Typer(
    name="periplus",
    help="A geographically focused web crawler with a place-aware search engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(commands.crawl)
app.command()(search)
app.command()(trend)
app.command()(serve)
app.command()(evaluate)
app.command()(places_commands.places)
app.add_typer(places_commands.gazetteer_app, name="gazetteer")
app.add_typer(miniweb_commands.app, name="miniweb")
app.command()(commands.config)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"periplus {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """A geographically focused web crawler with a place-aware search engine."""


def main() -> None:
    """The console script `periplus`."""
    try:
        code = app(standalone_mode=False)
    except PeriplusError as error:
        code = _say(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
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
