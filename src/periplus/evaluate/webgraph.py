"""A web as arrays, for simulated crawls: URLs, the hosts they are on, what each links to and what it is about.

Either the URLs that a crawl has met, from its databases, or a made-up web of any size. Nothing here holds a text: a URL
costs 30 bytes and a link 4.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from periplus.errors import UsageError
from periplus.evaluate.graph import Bools, Floats, Integers
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder

__all__ = ["NO_LABEL", "Shape", "WebGraph", "balanced", "made_up", "of_crawl", "owners_by"]

Small = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint64]

NO_LABEL = -1
CHUNK = 50_000
"""URLs whose links are made at once."""


@dataclass(frozen=True, slots=True)
class WebGraph:
    """URL u is on `host[u]` and links to `targets[offsets[u]:offsets[u + 1]]`; `is_page` has what counts as a page."""

    offsets: Integers
    targets: Small
    host: Small
    label: Small  # what it is about, or NO_LABEL
    is_page: Bools
    marks: Marks  # the URLs' hashes: what strategy `hash` goes by
    host_marks: Marks
    latency: Floats  # seconds that an answer of each host takes
    seeds: Integers

    @property
    def size(self) -> int:
        """The number of URLs."""
        return len(self.host)


def of_crawl(folder: Path) -> WebGraph:
    """The web as a crawl has met it: every URL that it has asked for, with the hosts' own times of answering."""
    crawl = CrawlFolder.existing(folder)
    parts = []
    for node in crawl.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            parts.append(_urls(db))
    urls = np.concatenate(parts) if parts else _urls_of(())
    _, first = np.unique(urls["mark"], return_index=True)
    urls = urls[np.sort(first)]
    if not len(urls):
        raise UsageError(f"{folder}: this crawl has asked for no URL yet, so there is nothing to simulate")
    order = np.argsort(urls["mark"])
    offsets, targets = _crawled_links(crawl, urls["mark"], order)
    hosts, host = np.unique(urls["host"], return_inverse=True)
    digests = [xxhash.xxh3_64_intdigest(str(name).encode("utf-8", "surrogatepass")) for name in hosts]
    return WebGraph(
        offsets,
        targets,
        host.astype(np.int32),
        np.unique(urls["place"], return_inverse=True)[1].astype(np.int32) - bool(np.any(urls["place"] == NO_LABEL)),
        urls["page"].copy(),
        urls["mark"].astype(np.uint64),
        np.array(digests, dtype=np.uint64),
        _mean_latency(host, urls["seconds"], len(hosts)),
        np.flatnonzero(urls["depth"] == 0),
    )


def _urls_of(rows: Sequence[tuple[object, ...]]) -> npt.NDArray[np.void]:
    kind = [("mark", "i8"), ("host", "U255"), ("depth", "i4"), ("page", "?"), ("place", "i8"), ("seconds", "f8")]
    return np.array(rows, dtype=kind)


def _urls(db: sqlite3.Connection) -> npt.NDArray[np.void]:
    """A node's URLs that had their turn: fingerprint, host, depth, whether a page came, of which place, how fast."""
    rows = db.execute(
        "SELECT url.fingerprint, host.name, url.depth, page.id IS NOT NULL, ifnull(page.main_place, ?), "
        "ifnull(page.fetch_seconds, -1) "
        "FROM progress JOIN url ON url.id = progress.id JOIN host ON host.id = url.host_id "
        "LEFT JOIN page ON page.url_id = url.id WHERE progress.outcome IS NOT NULL AND url.sitemap = 0 ORDER BY url.id",
        (NO_LABEL,),
    )
    return _urls_of(rows.fetchall())


def _crawled_links(crawl: CrawlFolder, marks: Integers, order: Integers) -> tuple[Integers, Small]:
    """The links between the URLs, those of each in a row; `order` sorts the marks."""
    ordered = marks[order]
    rows: list[Small] = [np.empty(0, np.int32)] * len(marks)
    for node in crawl.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            query = "SELECT page.fingerprint, link.fingerprints FROM link JOIN page ON page.id = link.page_id"
            for mark, packed in db.execute(query):
                wanted = np.frombuffer(packed, dtype="<i8")
                at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
                linked = order[at[ordered[at] == wanted]]
                rows[int(order[np.searchsorted(ordered, mark)])] = linked.astype(np.int32)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return offsets, np.concatenate(rows)


def _mean_latency(host: Integers, seconds: Floats, hosts: int) -> Floats:
    """The mean time of each host's answers; of all hosts for one that never answered with a page."""
    known = seconds >= 0
    sums = np.bincount(host[known], weights=seconds[known], minlength=hosts)
    counts = np.bincount(host[known], minlength=hosts)
    overall = float(seconds[known].mean()) if known.any() else 0.0
    return np.where(counts > 0, sums / np.maximum(counts, 1), overall)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a made-up web is like. Hosts are large and small by Zipf's law, and so are labels."""

    pages: int
    links: int  # in all
    hosts: int
    labels: int = 100
    labelled: float = 0.5  # share of hosts that are about a place
    inside: float = 0.6  # share of links that stay on their host
    locality: float = 0.4  # share of the others that lead to hosts about the same place
    latency: float = 0.3  # seconds, the median over hosts
    seeds: int = 100
    random_seed: int = 1


def made_up(shape: Shape) -> WebGraph:
    """A web of that shape; the same shape gives the same web."""
    chance = np.random.default_rng(shape.random_seed)
    weights = 1 / np.arange(1, shape.hosts + 1) ** 0.8
    sizes = np.maximum(1, np.floor(weights / weights.sum() * shape.pages)).astype(np.int64)
    sizes[0] += max(0, shape.pages - int(sizes.sum()))
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    pages = int(bounds[-1])
    host = np.repeat(np.arange(shape.hosts, dtype=np.int32), sizes)
    place = chance.choice(shape.labels, shape.hosts, p=_zipf(shape.labels))
    host_label = np.where(chance.random(shape.hosts) < shape.labelled, place, NO_LABEL).astype(np.int32)
    order = np.argsort(host_label, kind="stable")  # hosts of a label one after the other
    alike = np.searchsorted(host_label[order], np.arange(shape.labels + 1))
    per_page = max(1, shape.links // pages)
    targets = np.empty(pages * per_page, np.int32)
    for begin in range(0, pages, CHUNK):
        rows = slice(begin, min(begin + CHUNK, pages))
        found = _made_links(chance, host[rows], per_page, bounds, (host_label, order, alike), shape=shape)
        targets[rows.start * per_page : rows.stop * per_page] = found.ravel()
    return WebGraph(
        np.arange(pages + 1, dtype=np.int64) * per_page,
        targets,
        host,
        host_label[host],
        np.ones(pages, dtype=bool),
        chance.integers(0, 2**64 - 1, pages, dtype=np.uint64),
        chance.integers(0, 2**64 - 1, shape.hosts, dtype=np.uint64),
        shape.latency * np.exp(0.5 * chance.standard_normal(shape.hosts)),
        np.sort(chance.choice(pages, min(shape.seeds, pages), replace=False)),
    )


def _zipf(count: int) -> Floats:
    weights: Floats = 1 / np.arange(1.0, count + 1)
    shares: Floats = weights / weights.sum()
    return shares


def _made_links(
    chance: np.random.Generator,
    host: Small,
    per_page: int,
    bounds: Integers,
    labels: tuple[Small, Integers, Integers],
    *,
    shape: Shape,
) -> Integers:
    """Links of some pages: to the same host, to one about the same place, or anywhere; pages of a host evenly."""
    host_label, order, alike = labels
    size = (len(host), per_page)
    kind = chance.random(size)
    anywhere = chance.integers(0, bounds[-1], size)
    label = host_label[host]
    first, last = alike[np.maximum(label, 0)], alike[np.maximum(label, 0) + 1]
    some = order[np.minimum((first + (last - first) * chance.random(size).T).T.astype(np.int64), len(order) - 1)]
    near = np.where((label >= 0)[:, None], some, host[:, None])
    where = np.where(kind < shape.inside, host[:, None], near)
    local = kind < shape.inside + (1 - shape.inside) * shape.locality
    sizes = bounds[where + 1] - bounds[where]
    within = bounds[where] + (chance.random(size) * sizes).astype(np.int64)
    return np.where(local, within, anywhere)


def owners_by(web: WebGraph, strategy: str, nodes: int) -> npt.NDArray[np.int16]:
    """The node of each URL: by the hash of the URL (as strategy `hash` has it) or host, or by its place.

    By place, the last node is the general one and has what is about no place; places are spread over the others so
    that they have the same number of URLs.
    """
    if strategy == "hash":
        return (web.marks % np.uint64(nodes)).astype(np.int16)
    if strategy == "hash-host":
        return (web.host_marks % np.uint64(nodes)).astype(np.int16)[web.host]
    if nodes == 1:
        return np.zeros(web.size, np.int16)
    placed = web.label >= 0
    counts = np.bincount(web.label[placed], minlength=1)
    return np.where(placed, balanced(counts, nodes - 1)[web.label], nodes - 1).astype(np.int16)


def balanced(counts: Integers, parts: int) -> Integers:
    """A part for each count, the largest first to the part that has least."""
    part, load = np.zeros(len(counts), np.int64), np.zeros(parts, np.int64)
    for number in np.argsort(-counts, kind="stable"):
        part[number] = int(np.argmin(load))
        load[part[number]] += counts[number]
    return part
