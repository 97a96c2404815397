"""`periplus network build | info | lookup`: the hierarchy of addresses out of the registries' files."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.errors import UsageError
from periplus.network.build import build_hierarchy
from periplus.network.ranges import IpHierarchy
from periplus.wording import counted

__all__ = ["network_app"]

network_app = typer.Typer(
    help="Address ranges and whose they are: build from the registries' files, show, look up.", no_args_is_help=True
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@network_app.command("build")
def network_build(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="delegated(-extended) statistics, RIPE-style and ARIN-style dumps, IP-to-AS tables; or .gz."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Build the hierarchy of address ranges that `network.hierarchy` of a job names.

    A crawl keeps what it has learnt when the file is built anew: delegations are found again by their addresses.

    Example: periplus network build delegated-*-extended-latest ripe.db.inetnum.gz asn-ipv4.csv -o addresses.bin
    """
    built = build_hierarchy(files)
    built.hierarchy.save(output)
    counts = {"ranges": len(built.hierarchy), "organisations": built.hierarchy.organisations}
    result = counts | {"bytes": built.hierarchy.nbytes, "left_out": _left_out(built.counts), "output": str(output)}
    if as_json:
        typer.echo(json.dumps(result))
        return
    typer.echo(f"{_holding(counts)} in {output}")
    for reason, count in _left_out(built.counts).items():
        typer.echo(f"{counted(count, 'row')} left out: {reason}")


@network_app.command("info")
def network_info(
    file: Annotated[Path, typer.Argument(help="A file of `network build`.")], as_json: AsJson = False
) -> None:
    """Show what a built file holds. Example: periplus network info addresses.bin"""
    hierarchy = IpHierarchy.open(file)
    facts = {
        "ranges": len(hierarchy),
        "organisations": hierarchy.organisations,
        "bytes": hierarchy.nbytes,
        "sources": hierarchy.meta.get("sources", []),
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(f"{_holding(facts)}; {facts['bytes']:,} bytes")
    for source in facts["sources"]:
        typer.echo(f"from {source}")


@network_app.command("lookup")
def network_lookup(
    file: Annotated[Path, typer.Argument(help="A file of `network build`.")],
    addresses: Annotated[list[str], typer.Argument(help="IPv4 or IPv6 addresses.")],
    as_json: AsJson = False,
) -> None:
    """Show the ranges around addresses, from the world down.

    Example: periplus network lookup addresses.bin 193.0.6.139
    """
    hierarchy = IpHierarchy.open(file)
    for address in addresses:
        try:
            subnet = hierarchy.subnet(address)
        except ValueError:
            raise UsageError(f"{address!r} is not an address") from None
        if as_json:
            facts = {"organisation": subnet.organisation_name, "country": subnet.country, "registry": subnet.registry}
            typer.echo(json.dumps({"address": address, "subnet": subnet.key, "path": list(subnet.path), **facts}))
        else:
            owner = subnet.organisation_name or (
                "nobody knows" if subnet.organisation is None else f"organisation {subnet.organisation}"
            )
            typer.echo(f"{address}: {' > '.join(subnet.path)}: {owner}")


def _left_out(counts: dict[str, int]) -> dict[str, int]:
    return {reason: count for reason, count in sorted(counts.items()) if count and not reason.startswith("files: ")}


def _holding(counts: dict[str, Any]) -> str:
    return f"{counted(counts['ranges'], 'range')} of {counted(counts['organisations'], 'organisation')}"
