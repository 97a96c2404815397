"""From a strategy's name to the strategy: what each needs beside nodes and gazetteer is looked for here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from periplus.errors import ConfigError, UsageError
from periplus.places import Gazetteer
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.blend import BlendStrategy
from periplus.strategies.classifier import ClassifierStrategy, load_model
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import HashStrategy, HostHashStrategy
from periplus.strategies.ip import IpStrategy
from periplus.strategies.names import NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import Strategy
from periplus.strategies.scoring import ALPHA, BETA
from periplus.strategies.url import UrlStrategy

__all__ = ["NAMES", "STRATEGIES", "make_strategy", "naming_options"]

STRATEGIES: dict[str, Callable[[Ownership, Gazetteer], Strategy]] = {
    "hash": HashStrategy,
    "hash-host": HostHashStrategy,
    "url": UrlStrategy,
    "anchor": AnchorStrategy,
    "content": ContentStrategy,
    "blend": BlendStrategy,
}
"""Strategies that need nothing but the nodes and the gazetteer."""

NAMES = (*STRATEGIES, "classifier", "ip")
"""All that decide without a network: the last two need a model and a database."""

BY_NAMES: dict[str, Callable[[Ownership, Gazetteer, NameTable | None], Strategy]] = {
    "url": UrlStrategy,
    "anchor": AnchorStrategy,
}


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """For commands that read no job file: errors about its keys name the options that stand for them there."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        for key, option in options.items():
            text = text.replace(key, option)
        raise UsageError(text) from None


def make_strategy(
    name: str,
    ownership: Ownership,
    gazetteer: Gazetteer,
    *,
    base: Path | None = None,
    classifier_model: str = "",
    ip_database: str = "",
    geofeeds: Sequence[str] = (),
    ip_confidence: float = 0.0,
    content_alpha: float = ALPHA,
    content_beta: float = BETA,
    places: str = "blend",
    in_crawl: bool = False,
    table: NameTable | None = None,
) -> Strategy:
    """The strategy of that name. ConfigError in one line if something that it needs is missing.

    `table` are the names of these targets, if they are at hand: several strategies may share them.

    `nearest` and `place+nearest` have only their first half here, which needs no network: any node, by the hash of the
    host, or the place's, by the strategy `places`. The crawl settles the rest (`reaching.py`), and only in one are they
    made (`in_crawl`).
    """
    folder = base or Path()
    if name.endswith("nearest") and not in_crawl:
        raise ConfigError(
            f"strategy {name} goes by round trips that a crawl measures; here choose one of {', '.join(NAMES)}"
        )
    if name == "nearest":
        return HostHashStrategy(ownership, gazetteer)
    if name == "place+nearest":
        name = places
    ip = partial(IpStrategy, ownership, gazetteer, folder / ip_database if ip_database else None)
    ip = partial(ip, [folder / feed for feed in geofeeds], ip_confidence)
    if name == "classifier":
        if not classifier_model:
            raise ConfigError(
                "crawl.strategy classifier needs crawl.classifier_model: a file of `periplus classifier train`"
            )
        return ClassifierStrategy(ownership, gazetteer, load_model(folder / classifier_model))
    if name == "ip":
        return ip()
    if name == "blend":
        return BlendStrategy(ownership, gazetteer, ip() if ip_database or geofeeds else None, table=table)
    by_names = BY_NAMES | {"content": partial(ContentStrategy, alpha=content_alpha, beta=content_beta)}
    if name in by_names:
        return by_names[name](ownership, gazetteer, table)
    if name not in STRATEGIES:
        raise ConfigError(f"no strategy is called {name!r}; choose one of {', '.join(NAMES)}")
    return STRATEGIES[name](ownership, gazetteer)
