"""A recorded web as strategies see it: each page is read and located once, and each strategy routes its links once.

After that a crawl under any strategy, from any seeds, can be played through in seconds (`replay`).
"""

import itertools
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from periplus.analysis import Examined, Lens, conclude, examine
from periplus.errors import BadContent
from periplus.evaluate.measures import NO_TARGET
from periplus.files import write_whole
from periplus.model import Analysis, Fetched, Link, Links
from periplus.store.database import storage_errors
from periplus.strategies import BlendStrategy, Known, Ownership
from periplus.strategies.hash import host_of
from periplus.urls import canonicalize

__all__ = ["Marks", "PageFacts", "World", "is_page"]

Marks = npt.NDArray[np.int64]
Evidence = tuple[tuple[tuple[int, int, float], ...], ...]
CHUNK = 16


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What every strategy finds the same on a page; `found` has no links, text or archive record."""

    url: str
    host: str
    found: Analysis | None  # None: not a page but a redirect
    redirect: str | None
    hosts: tuple[str, ...]  # of the links, as are:
    urls: tuple[str, ...]
    steps: bytes
    priorities: tuple[float, ...]
    targets: dict[int, int]  # place -> the target that it is or lies in


class _Kept(msgspec.Struct, frozen=True):
    """A world as a file."""

    nodes: tuple[str, ...]
    facts: list[PageFacts]
    routes: dict[str, dict[str, tuple[bytes, Evidence]]]


@dataclass(frozen=True, slots=True)
class World:
    """A recorded web as several strategies see it."""

    nodes: tuple[str, ...]
    lenses: Mapping[str, Lens]
    facts: Mapping[str, PageFacts]
    routes: Mapping[str, Mapping[str, tuple[bytes, Evidence]]]  # strategy -> page -> nodes, evidence

    @classmethod
    def of(
        cls,
        responses: Iterable[Fetched],
        lenses: Mapping[str, Lens],
        *,
        processes: int = 1,
        on_page: Callable[[], None] = lambda: None,
    ) -> "World":
        """Read all pages under all strategies. The lenses differ in their strategies only."""
        nodes = next(iter(lenses.values())).ownership.names
        facts: dict[str, PageFacts] = {}
        routes: dict[str, dict[str, tuple[bytes, Evidence]]] = {name: {} for name in lenses}
        for fact, found in _studied(responses, lenses, processes):
            facts[fact.url] = fact
            for name, route in found.items():
                routes[name][fact.url] = route
            on_page()
        return cls(nodes, lenses, facts, routes)

    def save(self, path: Path) -> None:
        """Keep what was read, to be loaded for the same lenses: reading a web takes far longer than playing it."""
        kept = _Kept(self.nodes, list(self.facts.values()), {name: dict(found) for name, found in self.routes.items()})
        with storage_errors(path):
            write_whole(path, msgspec.msgpack.encode(kept))

    @classmethod
    def load(cls, path: Path, lenses: Mapping[str, Lens]) -> "World | None":
        """What was saved under the same nodes and strategies; None if there is no such file or it is of others."""
        try:
            kept = msgspec.msgpack.decode(path.read_bytes(), type=_Kept)
        except (OSError, msgspec.MsgspecError):
            return None
        if kept.nodes != next(iter(lenses.values())).ownership.names or not lenses.keys() <= kept.routes.keys():
            return None
        return cls(kept.nodes, lenses, {fact.url: fact for fact in kept.facts}, kept.routes)

    def pages(self) -> list[str]:
        """All pages, in the order in which they were recorded."""
        return [url for url, fact in self.facts.items() if fact.found is not None]


# -- Reading every page once -----------------------------------------------------------------------

Study = tuple[PageFacts, dict[str, tuple[bytes, Evidence]]]

_lenses: Mapping[str, Lens] = {}
"""What worker processes look at pages with: they are forked, so nothing is copied."""


def _studied(responses: Iterable[Fetched], lenses: Mapping[str, Lens], processes: int) -> Iterator[Study]:
    global _lenses  # noqa: PLW0603  # the one way into a forked worker that copies nothing
    _lenses = lenses
    if processes < 2:
        yield from (study for study in map(_study, responses) if study)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _leave_signals) as pool:
        left = iter(responses)
        batches = iter(lambda: list(itertools.islice(left, CHUNK)), [])
        for batch in _bounded_map(pool, batches, 4 * processes):
            yield from (study for study in batch if study)


def _leave_signals() -> None:
    """Ctrl-C is for the process that waits for us: it ends us in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _bounded_map(
    pool: ProcessPoolExecutor, batches: Iterator[list[Fetched]], ahead: int
) -> Iterator[list[Study | None]]:
    """`pool.map` over the batches that does not read all of them at once."""
    waiting = [pool.submit(_study_all, batch) for batch in itertools.islice(batches, ahead)]
    while waiting:
        yield waiting.pop(0).result()
        waiting += [pool.submit(_study_all, batch) for batch in itertools.islice(batches, 1)]


def _study_all(batch: list[Fetched]) -> list[Study | None]:
    return [_study(fetched) for fetched in batch]


def _study(fetched: Fetched) -> Study | None:
    """The facts of a response and the way of its links under each strategy; None if it is neither page nor redirect."""
    url = canonicalize(fetched.url)
    location = fetched.location
    if url is None:
        return None
    if 300 <= fetched.status < 400 and location:
        target = canonicalize(location, url.href)
        fact = PageFacts(url.href, url.host, None, target.href if target else None, (), (), b"", (), {})
        return fact, {}
    if not is_page(fetched):
        return None
    try:
        return _study_page(replace(fetched, url=url.href), url.host)
    except BadContent:
        return None


def is_page(fetched: Fetched) -> bool:
    """Whether a response is an HTML page."""
    kind = fetched.content_type.partition(";")[0].strip().lower()
    return fetched.status == 200 and kind in ("", "text/html", "application/xhtml+xml")


def _study_page(fetched: Fetched, host: str) -> Study:
    first = replace(next(iter(_lenses.values())), warc=False)
    examined = examine(fetched, first)
    whole = conclude(fetched, examined, first)
    by_url: dict[str, Link] = {}
    for link in examined.page.links:
        by_url.setdefault(link.url, link)
    links = [by_url[url] for url in whole.links.urls]  # those that pass every rule; that is the same for all
    routes = {name: _routed(lens, links, examined, fetched.address) for name, lens in _lenses.items()}
    fact = PageFacts(
        fetched.url,
        host,
        msgspec.structs.replace(whole, links=Links(), text=b"", mentions=b"", warc=()),
        None,
        whole.links.hosts,
        whole.links.urls,
        whole.links.steps,
        tuple(whole.links.worths(whole.link_priority)),
        _targets(whole, first.ownership),
    )
    return fact, routes


def _routed(lens: Lens, links: list[Link], examined: Examined, address: str) -> tuple[bytes, Evidence]:
    """The number of each link's node under one strategy; evidence instead, where the crawl's memory settles it."""
    numbers = {node: number for number, node in enumerate(lens.ownership.names)}
    page, located, known = examined.page, examined.located, Known(address=address)
    evidence: Evidence = ()
    if isinstance(lens.strategy, BlendStrategy):
        evidence = tuple(lens.strategy.evidence(links, page, located, known))
        nodes = [lens.ownership.general_for(host_of(link.url)) for link in links]
    else:
        nodes = [claims[0].node for claims in lens.strategy.route(links, page, located, known)]
    return np.array([numbers[node] for node in nodes], "<u2").tobytes(), evidence if any(evidence) else ()


def _targets(found: Analysis, ownership: Ownership) -> dict[int, int]:
    owned = {weighted.place.id: ownership.owner(weighted.place) for weighted in found.places}
    return {place: owner[1] if owner else NO_TARGET for place, owner in owned.items()}
