"""Options that would do nothing are refused: nobody is left to think that they did something."""

import typer

from periplus.errors import UsageError

__all__ = ["refuse"]


def refuse(context: typer.Context, *names: str, because: str) -> None:
    """UsageError if one of these parameters was given on the command line; `because` follows the option's name."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name) if parameter.name in names else None
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} {because}")
