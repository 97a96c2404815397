"""A ready job file for a crawl of the miniature web."""

import json
from collections.abc import Sequence

from periplus.miniweb.naming import SUFFIX

__all__ = ["job_toml"]


def job_toml(
    port: int,
    seeds: Sequence[str],
    *,
    address: str = "127.0.0.1",
    name: str = "miniweb",
    out: str = "crawls/miniweb",
    targets: str = "us100",
    strategy: str = "url",
    pages: int = 3000,
    keep: str = "all",
    delay_seconds: float = 0.0,
    retry_seconds: float = 1.0,
    connections: int = 64,
    keywords: dict[str, float] | None = None,
    places: dict[str, float] | None = None,
) -> str:
    """The text of a job file that crawls the miniature web at `address:port`; every key is explained in it.

    The crawl reaches the hosts by the resolver table alone: nothing on the machine has to be set up.
    """
    lines = [
        "# A crawl of the miniature web. `periplus config --explain` describes every key.",
        f"name = {_text(name)}",
        f"out = {_text(out)}",
        f"targets = {_text(targets)}  # which node owns which cities",
        "seeds = [",
        *(f"  {_text(seed)}," for seed in seeds),
        "]",
        "",
        "[crawl]",
        f"strategy = {_text(strategy)}",
        f"pages = {pages}",
        f"keep = {_text(keep)}",
        f"delay_seconds = {delay_seconds}  # the hosts are all ours",
        f"retry_seconds = {retry_seconds}",
        f"connections = {connections}",
        'allow_private = ["127.0.0.0/8"]  # the guard refuses loopback unless a job asks for it',
        "",
        "[crawl.resolve]",
        f'"*{SUFFIX}" = "{address}:{port}"',
    ]
    if keywords or places:
        lines += ["", "[topic]"]
        lines += [f"{key} = {_table(table)}" for key, table in (("keywords", keywords), ("places", places)) if table]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    # A JSON string of printable text is a valid TOML basic string.
    return json.dumps(value, ensure_ascii=False)


def _table(weights: dict[str, float]) -> str:
    return "{ " + ", ".join(f"{_text(word)} = {weight}" for word, weight in weights.items()) + " }"
