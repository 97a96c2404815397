"""Options that would do nothing, or something else than was meant, are refused."""

from pathlib import Path

import typer

from periplus.errors import UsageError

__all__ = ["named_folder", "refuse"]


def refuse(context: typer.Context, *names: str, because: str) -> None:
    """UsageError if one of these parameters was given on the command line; `because` follows the option's name."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name) if parameter.name in names else None
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} {because}")


def named_folder(out: str | None) -> Path | None:
    """The folder that --out names; an empty name, as of a shell's variable that is not set, is not this folder."""
    if out is not None and not out.strip():
        raise UsageError("--out: an empty name; give the folder of the crawl")
    return Path(out) if out is not None else None
