"""From a job file to something that can run: what can be checked before the first request is checked here."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from periplus.analysis import Lens
from periplus.errors import ConfigError
from periplus.files import target_folder
from periplus.model import Link, Located, Page
from periplus.places import Gazetteer
from periplus.settings import (
    ClusterSettings,
    CrawlSettings,
    FetchSettings,
    Job,
    NetworkSettings,
    NodeSettings,
    load_job,
)
from periplus.store.folder import CrawlFolder
from periplus.store.recorded import RecordedWeb
from periplus.strategies import Ownership, load_targets, make_strategy
from periplus.strategies.ownership import with_whole_paths
from periplus.topics import countries_of, make_topics
from periplus.urls import CanonicalUrl, canonicalize, drop_reason
from periplus.urls.filters import DROP_REASONS

__all__ = ["Prepared", "job_toml", "prepare", "seed_lines", "seed_node"]

MAX_SEED_FILE_BYTES = 64 * 2**20
WHOIS_SERVICE = re.compile(r"whois://[a-z0-9-]+(\.[a-z0-9-]+)*/?", re.IGNORECASE)
FIRST_FREE_PORT = 1024
NOT_WEB_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, *range(6665, 6670), 6679, 6697, 10080}
)
"""Ports that browsers refuse too, since what listens there may take a request for a command of its own."""

USERINFO = re.compile(r"//[^/?#]*@")
"""User and password of a URL, which no message repeats."""

MOST_OF_ANYTHING = 1e9
"""In seconds that is thirty years."""

CONTACT = re.compile(r"(?:mailto:)?[!-'*-;=?A-~]+@[!-'*-;=?A-~]+|https?://[!-'*-;=?-~]+", re.IGNORECASE)
"""Printable ASCII without blanks, and without what ends a comment in a header: ( ) < >."""

CLUSTER_FILES = (
    *("password_file", "token_file", "nkey_file", "credentials_file"),
    *("tls_ca", "tls_certificate", "tls_key"),
)
Table = TypeVar("Table", CrawlSettings, NetworkSettings, ClusterSettings)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job whose places, targets and seeds are settled."""

    job: Job
    folder: CrawlFolder
    nodes: tuple[str, ...]
    lens: Lens
    seeds: tuple[tuple[str, str], ...]  # canonical URL, node
    loopback_only: bool

    def keep_job(self) -> None:
        """Write the job into the folder, as it was started; paths in it no longer matter."""
        seeds = [url for url, _ in self.seeds]
        job = msgspec.structs.replace(self.job, out=".", seeds=seeds, targets="", nodes=self.job.nodes)
        self.folder.write_job(job_toml(job))


def prepare(job: Job, base: Path, gazetteer: Gazetteer) -> Prepared:
    """Settle a job; paths in it are relative to `base`. ConfigError in one line if something is wrong."""
    if not job.out:
        raise ConfigError("no folder for the crawl: set `out` in the job file or give --out DIR")
    _check_numbers(msgspec.to_builtins(job, builtin_types=(date,)), "")
    _check_contact(job.contact)
    folder = CrawlFolder(target_folder(base / job.out))
    urls = _seed_urls(job, base)
    job = msgspec.structs.replace(
        job,
        fetch=_with_ports(job.fetch, urls),
        nodes=with_whole_paths(_nodes(job, base, gazetteer), base),
        crawl=_with_whole_paths(job.crawl, base, ("classifier_model", "ip_database", "geofeeds", "replay")),
        network=_with_whole_paths(job.network, base, ("round_trips", "hierarchy")),
        cluster=_with_whole_paths(job.cluster, base, CLUSTER_FILES),
    )
    _check_same_nodes(folder, job)
    ownership = Ownership.of_job(job, gazetteer)
    topics = make_topics(job.topic, job.topics, job.name, gazetteer)
    lens = Lens(
        gazetteer=gazetteer,
        topics=topics,
        strategy=make_strategy(
            job.crawl.strategy,
            ownership,
            gazetteer,
            classifier_model=job.crawl.classifier_model,
            ip_database=job.crawl.ip_database,
            geofeeds=job.crawl.geofeeds,
            ip_confidence=job.crawl.ip_confidence,
            content_alpha=job.crawl.content_alpha,
            content_beta=job.crawl.content_beta,
            places=job.network.places,
            in_crawl=True,
        ),
        ownership=ownership,
        crawl=job.crawl,
        fetch=job.fetch,
        warc=job.archive.warc,
        countries=countries_of(topics),
    )
    if job.crawl.rdap and canonicalize(job.crawl.rdap) is None and not WHOIS_SERVICE.fullmatch(job.crawl.rdap):
        raise ConfigError(f"crawl.rdap: {job.crawl.rdap!r} is neither an http(s) URL nor whois:// and a server's name")
    if job.crawl.replay and next(RecordedWeb(Path(job.crawl.replay)).responses(), None) is None:
        raise ConfigError(f"crawl.replay: {job.crawl.replay}: no response in it; it should be a WARC or WACZ file")
    loopback_only = _stays_on_loopback(job, urls)
    if job.network.emulate and not loopback_only:
        raise ConfigError("network.emulate is refused for a crawl that may leave loopback")
    seeds = tuple((url.href, seed_node(url, lens)) for url in urls)
    return Prepared(job, folder, ownership.names, lens, seeds, loopback_only)


def _nodes(job: Job, base: Path, gazetteer: Gazetteer) -> dict[str, NodeSettings]:
    """The job's own nodes, or those of its targets, or a single general one."""
    if job.targets and job.nodes:
        raise ConfigError("targets and [nodes] exclude each other: give one of them")
    if job.targets:
        return load_targets(job.targets, base, gazetteer)
    return job.nodes or {"main": NodeSettings()}


def _with_whole_paths(table: Table, base: Path, keys: Iterable[str]) -> Table:
    """Files that the job names, findable from anywhere: the job is kept in another folder than it was given in."""

    def whole(value: str) -> str:
        return str((base / value).absolute())

    values = {key: value for key in keys if (value := getattr(table, key))}
    return msgspec.structs.replace(
        table,
        **{key: whole(one) if isinstance(one, str) else [whole(each) for each in one] for key, one in values.items()},
    )


def _check_same_nodes(folder: CrawlFolder, job: Job) -> None:
    """A crawl is resumed with the nodes it was begun with: its databases are split by them."""
    if not folder.job_file.exists():
        return
    begun = load_job(folder.job_file)
    if begun.nodes != job.nodes or begun.crawl.overlap != job.crawl.overlap:
        raise ConfigError(
            f"{folder.path}: was begun with other nodes or another crawl.overlap; take another folder, or the job in "
            f"{folder.job_file}"
        )


def _seed_urls(job: Job, base: Path) -> list[CanonicalUrl]:
    """The seeds, canonical and each once, in order; lines of seed files included."""
    urls: dict[str, CanonicalUrl] = {}
    for seed in job.seeds:
        lines = [("seeds", seed)] if "://" in seed else seed_lines(base / seed)
        for where, text in lines:
            url = canonicalize(text)
            if url is None:
                raise ConfigError(f"{where}: {USERINFO.sub('//', text)!r} is not an http(s) URL")
            ports = _seed_ports(url, job.fetch.ports)
            reason = drop_reason(url, max_length=job.crawl.url_length, ports=ports, scope=job.crawl.scope)
            if reason:
                why = f"a port of other services, unless fetch.ports lists {url.port}" if reason == "port" else None
                raise ConfigError(
                    f"{where}: {USERINFO.sub('//', text)!r} cannot be crawled: {why or DROP_REASONS[reason]}"
                )
            urls[url.href] = url
    if not urls:
        raise ConfigError("no seeds: set `seeds` in the job file or give --seed URL")
    return list(urls.values())


def _with_ports(fetch: FetchSettings, seeds: Iterable[CanonicalUrl]) -> FetchSettings:
    """Who names a seed on a port of its own means that port; where it may lead is the address guard's matter."""
    others = dict.fromkeys(url.port for url in seeds if url.port not in fetch.ports)
    return msgspec.structs.replace(fetch, ports=(*fetch.ports, *others)) if others else fetch


def _seed_ports(url: CanonicalUrl, ports: tuple[int, ...]) -> tuple[int, ...]:
    """The ports that a seed may have: those of the job, and any that is not kept for services other than the web."""
    return (*ports, url.port) if url.port >= FIRST_FREE_PORT and url.port not in NOT_WEB_PORTS else ports


def seed_lines(path: Path) -> list[tuple[str, str]]:
    """The URLs of a seed file, one a line, with where they stand; blank lines and # comments are skipped."""
    try:
        if path.stat().st_size > MAX_SEED_FILE_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_SEED_FILE_BYTES // 2**20} MiB")
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        raise ConfigError(f"seeds: {str(path)!r} is neither a URL nor a readable file of URLs") from None
    return [
        (f"{path}:{number}", line.strip())
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _check_numbers(table: Mapping[str, Any], path: str) -> None:
    """TOML can write numbers with which no clock can reckon: infinity, NaN, 1e308."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            _check_numbers(value, f"{path}{key}.")
        elif isinstance(value, float) and not abs(value) <= MOST_OF_ANYTHING:
            raise ConfigError(f"{path}{key}: {value:g} is no number to reckon with; at most {MOST_OF_ANYTHING:g}")


def _check_contact(contact: str) -> None:
    """Whoever runs a site has to be able to write there, and it goes into a line of every request."""
    if contact and not CONTACT.fullmatch(contact):
        raise ConfigError(f"contact: {contact!r} is neither an e-mail address nor a URL with http(s):// or mailto:")


def _stays_on_loopback(job: Job, seeds: list[CanonicalUrl]) -> bool:
    """Whether the crawl is confined to this machine: it is unless it names a contact, and then it obeys robots.txt."""
    if job.crawl.replay:
        return True
    if job.contact:
        if not job.crawl.obey_robots:
            raise ConfigError("crawl.obey_robots = false is refused for a crawl that may leave loopback")
        return False
    away = next((url for url in seeds if not _is_loopback(url.host, job.crawl.resolve)), None)
    if away is not None:
        raise ConfigError(
            f"{away.href} is not on this machine: set `contact` (a URL or e-mail address of yours, for the user agent)"
        )
    return True


def _is_loopback(host: str, table: dict[str, str]) -> bool:
    """Whether a host is on this machine by its own name or by the job's table."""
    address = table.get(host) or next(
        (value for key, value in table.items() if key.startswith("*.") and host.endswith(key[1:])), None
    )
    text = address.rpartition(":")[0] if address else host
    try:
        return ipaddress.ip_address(text.strip("[]")).is_loopback
    except ValueError:
        return text == "localhost"


def seed_node(url: CanonicalUrl, lens: Lens) -> str:
    """The node that a seed begins at: what the strategy says of a link without a page around it."""
    link = Link(url.href, "")
    return lens.strategy.claims(link, Page(url.href, "", "", ()), Located())[0].node


def job_toml(job: Job) -> str:
    """A job as TOML; settings at their defaults are left out."""
    data = msgspec.to_builtins(job, builtin_types=(date,))
    text = tomli_w.dumps(_changed(data, msgspec.to_builtins(Job(), builtin_types=(date,))))
    return f"# The job as it was started. `periplus crawl` with this file resumes the crawl.\n{text}"


def _changed(data: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """What differs from the defaults, table by table; nodes and tables of names are kept whole."""
    changed: dict[str, Any] = {}
    for key, value in data.items():
        default = defaults.get(key)
        inner = _changed(value, default) if isinstance(value, dict) and default else value
        if key == "topics":
            plain = defaults["topic"]
            inner = {name: _changed(topic, plain) for name, topic in value.items()}
        if value is not None and value != default:
            changed[key] = inner
    return changed
