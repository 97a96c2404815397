"""The job file: one typed table of settings, read from TOML.

Every setting has a default, a unit and a sentence; `periplus config --explain` prints exactly what stands
here, and `docs/settings.md` is generated from it. An unknown key is an error that names the nearest valid one.
"""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from periplus.cluster_settings import ClusterSettings
from periplus.errors import ConfigError
from periplus.network_settings import NetworkSettings
from periplus.network_settings import described as _meta
from periplus.topic_settings import UNNAMED, LearntSettings, RelatednessSettings, TopicSettings, check_topic

__all__ = [
    "ArchiveSettings",
    "ClusterSettings",
    "CrawlSettings",
    "FetchSettings",
    "Job",
    "LearntSettings",
    "NetworkSettings",
    "NodeSettings",
    "RelatednessSettings",
    "RevisitSettings",
    "RunSettings",
    "SettingRow",
    "TopicSettings",
    "explain",
    "job_from_dict",
    "load_job",
]

STRATEGIES = ("hash", "hash-host", "url", "anchor", "content", "classifier", "ip", "nearest", "place+nearest", "blend")
"""Strategies by name. Each is a file in `strategies/`."""

MAX_TOPIC_NAME = 80
PROXY = re.compile(r"https?://[^\s/?#]+/?", re.IGNORECASE)
NODE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.IGNORECASE)


class RevisitSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When pages that were read are looked at again. The interval of each page follows how often it changes."""

    hours: Annotated[
        float, _meta("Time until a page's first revisit, in this run or a later one; 0: never.", "hours", ge=0)
    ] = 0.0
    min_hours: Annotated[float, _meta("A page that keeps changing is not revisited sooner.", "hours", gt=0)] = 1.0
    max_hours: Annotated[float, _meta("A page that never changes is not revisited later.", "hours", gt=0)] = 720.0


class CrawlSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the crawl goes."""

    strategy: Annotated[str, _meta("What decides which node gets a link: " + ", ".join(STRATEGIES) + ".")] = "url"
    policy: Annotated[
        Literal["a", "b"],
        _meta("Paper A's assignment: a sends a link to the one most probable node, b to every node with a claim."),
    ] = "a"
    content_alpha: Annotated[
        float,
        _meta(
            "Strategy content: what cities named with their state count for beside cities named alone (paper A: 0.7).",
            "0..1",
            ge=0,
            le=1,
        ),
    ] = 0.7
    content_beta: Annotated[
        float,
        _meta(
            "Strategy content: what people count for beside mentions of the state, where a city is named alone "
            "(paper A: 0.5).",
            "0..1",
            ge=0,
            le=1,
        ),
    ] = 0.5
    classifier_model: Annotated[
        str, _meta("Model for the strategy classifier, from `periplus classifier train`.", "file")
    ] = ""
    ip_database: Annotated[
        str, _meta("City database in MaxMind's format (.mmdb) for the strategies ip and blend.", "file")
    ] = ""
    geofeeds: Annotated[
        list[str],
        _meta("Operators' own lists of where their addresses are (RFC 8805 CSV), for ip, blend and nearest.", "files"),
    ] = []
    ip_confidence: Annotated[
        float, _meta("The strategy ip goes by the smallest place that is at least so sure.", "0..1", ge=0, le=1)
    ] = 0.0
    nearest_owner_km: Annotated[
        float,
        _meta(
            "A place that nobody owns belongs to the owner of the nearest target this near; 0: to nobody.", "km", ge=0
        ),
    ] = 0.0
    pages: Annotated[int, _meta("Stop after this many fetched pages; 0: no limit.", "pages", ge=0)] = 0
    minutes: Annotated[float, _meta("Stop after this time; 0: no limit.", "minutes", ge=0)] = 0.0
    depth: Annotated[
        int, _meta("How many links away from a seed the crawl goes, by the shortest way.", "links", ge=0)
    ] = 20
    keep: Annotated[
        Literal["relevant", "all"],
        _meta("Which fetched pages are stored and indexed: the relevant ones, or all."),
    ] = "relevant"
    follow: Annotated[
        Literal["all", "relevant"],
        _meta("Whose links are followed: every fetched page's, or the relevant pages' only (paper C)."),
    ] = "all"
    adaptive: Annotated[
        bool,
        _meta("Learn from fetched pages which words of links lead to relevant ones; only in crawls with a topic."),
    ] = True
    site_memory: Annotated[
        bool,
        _meta("When the crawl ends, let the pages of each host decide which places its ambiguous names mean."),
    ] = False
    rdap: Annotated[
        str,
        _meta(
            "Service that is asked where domains are registered: RDAP, such as https://rdap.org, or WHOIS, such as "
            "whois://whois.iana.org; empty: none.",
            "URL",
        ),
    ] = ""
    seed_correlation: Annotated[
        float,
        _meta(
            "Seeds are left out unless the places that their URLs and registrations name are nearer together than this "
            "(paper B: 0.5); 0: all are taken.",
            "0..1",
            ge=0,
            le=1,
        ),
    ] = 0.0
    delay_seconds: Annotated[
        float,
        _meta(
            "Least time between two requests to a host; robots' Crawl-delay can only raise it.",
            "seconds",
            ge=0,
        ),
    ] = 1.0
    delay_factor: Annotated[
        float,
        _meta(
            "A host rests so many times as long as its last answer took, up to 30 s; not if delay_seconds is 0.",
            "times",
            ge=0,
        ),
    ] = 5.0
    ip_delay_seconds: Annotated[
        float,
        _meta(
            "Least time between two requests to an address; not applied inside `allow_private`.",
            "seconds",
            ge=0,
        ),
    ] = 0.2
    connections: Annotated[int, _meta("Requests under way at once, over all hosts.", "requests", ge=1, le=10_000)] = 64
    workers: Annotated[
        int,
        _meta(
            "Processes that read, locate and judge pages; 0: one for each core.",
            "processes",
            ge=0,
            le=256,
        ),
    ] = 0
    obey_robots: Annotated[bool, _meta("Follow robots.txt. `false` is refused for a crawl that leaves loopback.")] = (
        True
    )
    overlap: Annotated[
        Literal["forbid", "allow"],
        _meta("forbid: a URL is fetched once, whoever got it. allow: the paper's independent nodes."),
    ] = "forbid"
    allow_private: Annotated[
        list[str],
        _meta("Address ranges that the address guard lets through although they are not public.", "CIDR"),
    ] = []
    resolve: Annotated[
        dict[str, str],
        _meta('Host (or *.suffix) to "address:port", asked before DNS. It is how the miniature web is reached.'),
    ] = {}
    replay: Annotated[
        str, _meta("Crawl a recorded web (WARC or WACZ, see `periplus record`) instead of the network.", "file")
    ] = ""
    replay_latency: Annotated[
        float, _meta("How long each answer of it takes; -1: as long as it took when recorded.", "s", ge=-1, le=60)
    ] = 0.0
    replay_failures: Annotated[
        float, _meta("Share of requests to it that fail, always the same ones.", "0..1", ge=0, le=1)
    ] = 0.0
    host_pages: Annotated[int, _meta("Most URLs of one host that join the frontier.", "URLs", ge=1)] = 10_000
    domain_hosts: Annotated[
        int,
        _meta("Most hosts of one registrable domain that join the frontier, for each process.", "hosts", ge=1),
    ] = 5_000
    pattern_pages: Annotated[
        int,
        _meta(
            "URLs of a host that differ in one number or parameter, fewer in more; new texts earn more.", "URLs", ge=1
        ),
    ] = 500
    prefix_pages: Annotated[
        int,
        _meta("Beyond so many URLs below one folder of a host, further ones come last.", "URLs", ge=1),
    ] = 2_000
    scope: Annotated[
        tuple[str, ...],
        _meta(
            "Rules in order, the first that fits decides: accept or reject host, domain, prefix, path, query or all."
        ),
    ] = ()
    near_duplicates: Annotated[
        int,
        _meta(
            "After so many near-duplicates in a row, further URLs of their pattern come last; 0: never.", "pages", ge=0
        ),
    ] = 8
    sitemaps: Annotated[
        Literal["off", "robots", "probe"],
        _meta("Which sitemaps are read: none, those that robots.txt names, or /sitemap.xml of every host as well."),
    ] = "off"
    revisit: Annotated[RevisitSettings, _meta("When pages are looked at again.")] = RevisitSettings()
    url_length: Annotated[int, _meta("Longest URL that is followed.", "characters", ge=100, le=8_192)] = 2_048
    page_links: Annotated[int, _meta("Most links taken from one page, in document order.", "links", ge=1)] = 500
    anchor_window: Annotated[
        int,
        _meta("Tokens kept on each side of a link for the strategies and the priority.", "tokens", ge=0, le=500),
    ] = 50
    retries: Annotated[int, _meta("How often a failed URL is tried again.", "tries", ge=0, le=20)] = 3
    retry_seconds: Annotated[
        float,
        _meta("Wait before the first retry; it doubles with each further one, up to an hour.", "seconds", ge=0),
    ] = 30.0
    host_failures: Annotated[int, _meta("Failures or refusals in a row that close a host; 0: none.", "times", ge=0)] = 8


class FetchSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Bounds on a single request."""

    total_seconds: Annotated[float, _meta("Deadline around everything a URL may cost.", "seconds", gt=0)] = 30.0
    connect_seconds: Annotated[float, _meta("Deadline of name look-up, connection and TLS.", "seconds", gt=0)] = 10.0
    wire_bytes: Annotated[int, _meta("Most bytes read from the network for a page.", "bytes", gt=0)] = 5 * 2**20
    body_bytes: Annotated[int, _meta("Most bytes of a page after decoding.", "bytes", gt=0)] = 10 * 2**20
    redirects: Annotated[int, _meta("Most redirects followed inside one host.", "redirects", ge=0, le=20)] = 5
    ports: Annotated[tuple[int, ...], _meta("Ports that URLs may name, beside those of the seeds.", "ports")] = (
        80,
        443,
        8080,
        8443,
    )
    robots_hours: Annotated[float, _meta("How long a robots.txt is used before it is read again.", "hours", gt=0)] = (
        24.0
    )
    sitemap_bytes: Annotated[int, _meta("Most bytes of a sitemap, on the wire and after decoding.", "bytes", gt=0)] = (
        10 * 2**20
    )
    robots_bytes: Annotated[int, _meta("Most bytes of a robots.txt that are read.", "bytes", gt=0)] = 512 * 1024
    robots_refused: Annotated[
        Literal["allow", "deny"],
        _meta(
            "What a robots.txt that may not be read (401, 403) means: RFC 9309 allows the pages, the cautious do not."
        ),
    ] = "allow"
    name_servers: Annotated[
        list[str],
        _meta("Name servers to ask, each an address with or without a port; empty: the system's.", "addresses"),
    ] = []
    proxy: Annotated[
        str,
        _meta(
            "HTTP proxy for all requests; it decides itself where names lead. Empty: none, whatever the system says.",
            "URL",
        ),
    ] = ""
    tls_verify: Annotated[bool, _meta("Check certificates, by SSL_CERT_FILE or the system's authorities.")] = True


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is written to disk."""

    warc: Annotated[bool, _meta("Keep the response of every kept page in WARC files.")] = True
    warc_bytes: Annotated[int, _meta("Size at which a new WARC file is begun.", "bytes", ge=2**20)] = 2**30
    disk_reserve_bytes: Annotated[
        int, _meta("The crawl does not start, and pauses, when less than this is free.", "bytes", ge=0)
    ] = 256 * 2**20
    durability: Annotated[
        Literal["normal", "full"],
        _meta("normal: nothing is lost when the process dies. full: nor when the power fails (slower)."),
    ] = "normal"


class RunSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the process runs and what it tells."""

    log: Annotated[
        Literal["off", "events", "pages"],
        _meta("What goes into log.jsonl in the crawl's folder: nothing, events, or also the end of every lease."),
    ] = "events"
    log_bytes: Annotated[
        int, _meta("Size at which the log is begun anew; the one before is kept.", "bytes", ge=2**12)
    ] = 64 * 2**20
    metrics_port: Annotated[
        Annotated[int, Meta(ge=0, le=65_535)] | None,
        _meta("Port of /metrics in Prometheus' text form; 0: any free one, which the log names; absent: none.", "port"),
    ] = None
    metrics_host: Annotated[str, _meta("Address that /metrics listens on; there is no password.", "address")] = (
        "127.0.0.1"
    )
    watchdog_seconds: Annotated[
        float, _meta("The log says where the event loop is when it stands still so long; 0: never.", "seconds", ge=0)
    ] = 2.0
    disk_wait_minutes: Annotated[
        float,
        _meta(
            "How long a crawl without room on the disk waits for some before it ends (exit code 4).", "minutes", ge=0
        ),
    ] = 60.0
    page_cpu_seconds: Annotated[
        float, _meta("Most processor time to read, locate and judge one page.", "seconds", gt=0)
    ] = 2.0
    page_memory_bytes: Annotated[
        int, _meta("Most memory that a page may cost beyond what its worker has.", "bytes", ge=2**26)
    ] = 512 * 2**20


class NodeSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A node of the crawl and the places it owns."""

    places: Annotated[
        list[str],
        _meta(
            'Places the node owns: "City, ST", a country, a gazetteer id, "all of TX", "time zone America/Denver" or '
            '"polygon FILE.geojson". Empty: a general node.'
        ),
    ] = []
    at: Annotated[
        str, _meta('Where the node\'s machine stands, for nearest: a place or "LAT,LON"; empty: unknown.')
    ] = ""
    address: Annotated[str, _meta("The address of its machine, for nearest: its own subnet is its own.", "address")] = (
        ""
    )


class Job(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole job file."""

    name: Annotated[str, _meta("Name of the crawl.")] = UNNAMED
    out: Annotated[str, _meta("Folder of the crawl, relative to the job file.", "folder")] = ""
    seeds: Annotated[list[str], _meta("Where the crawl begins: URLs, or files with one URL a line.")] = []
    contact: Annotated[
        str, _meta("URL or e-mail address in the user agent; needed as soon as a crawl leaves loopback.")
    ] = ""
    targets: Annotated[
        str,
        _meta("Nodes and their places from elsewhere: `us100`, `all:US` (any country code) or a file with [nodes]."),
    ] = ""
    topic: Annotated[TopicSettings, _meta("What the crawl is about.")] = TopicSettings()
    topics: Annotated[
        dict[str, TopicSettings],
        _meta("Several topics by name, each like [topic]: a page that belongs to any of them is kept, with its names."),
    ] = {}
    crawl: Annotated[CrawlSettings, _meta("How it goes.")] = CrawlSettings()
    fetch: Annotated[FetchSettings, _meta("Bounds on one request.")] = FetchSettings()
    archive: Annotated[ArchiveSettings, _meta("What is written.")] = ArchiveSettings()
    run: Annotated[RunSettings, _meta("How the process runs and what it tells.")] = RunSettings()
    cluster: Annotated[ClusterSettings, _meta("Several machines.")] = ClusterSettings()
    network: Annotated[NetworkSettings, _meta("Which node is near a site.")] = NetworkSettings()
    nodes: Annotated[dict[str, NodeSettings], _meta("The nodes by name; none: one general node, `main`.")] = {}


NAMED_TABLES: dict[str, type[Struct]] = {"nodes": NodeSettings, "topics": TopicSettings}
"""Tables of tables: their keys are names that the job chooses."""


# -- Reading ---------------------------------------------------------------------------------------


def load_job(path: Path) -> Job:
    """Read and check a job file. Raises ConfigError with one line that names the file and the key."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a folder, not a job file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text, so not a job file") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    return job_from_dict(data, str(path))


def job_from_dict(data: dict[str, Any], source: str) -> Job:
    """Check a job given as plain data; `source` is what error messages call it."""
    _refuse_unknown_keys(data, Job, (), source)
    for key, kind in NAMED_TABLES.items():
        named = data.get(key)
        for name, inside in named.items() if isinstance(named, dict) else ():  # each for itself, so that errors name it
            _converted(inside, kind, f"{key}.{name}", source)
    job: Job = _converted(data, Job, "", source)
    _check(job, source)
    return job


def _converted(data: Any, kind: type[Struct], prefix: str, source: str) -> Any:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(_readable(str(error), kind, prefix, source)) from None


def _readable(message: str, kind: type[Struct], prefix: str, source: str) -> str:
    """msgspec's message with the key in front: `crawl.pages: expected int, got str`."""
    text, _, where = message.partition(" - at `$")
    inside = where.rstrip("`").lstrip(".")
    key = f"{prefix}.{inside}".strip(".")
    if text.startswith("Invalid enum value "):
        return _choice(source, key, text.split(maxsplit=3)[3].strip("'"), _valid(kind, inside))
    text = text.replace("`array`", "a list in square brackets").replace("`object`", "a table").replace("`", "")
    return f"{source}: {key}: {text[0].lower()}{text[1:]}" if key else f"{source}: {text}"


def _valid(table: type[Struct], key: str) -> tuple[str, ...]:
    """The values that a key of a table may have, where they are few."""
    first, _, rest = key.partition(".")
    annotation = next(field.type for field in msgspec.structs.fields(table) if field.name == first)
    inner = _table_type(annotation)
    if inner is not None:
        return _valid(inner, rest)
    return get_args(get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation)


def _refuse_unknown_keys(data: dict[str, Any], table: type[Struct], path: tuple[str, ...], source: str) -> None:
    fields = {f.name: f for f in msgspec.structs.fields(table)}
    for key, value in data.items():
        if key not in fields:
            raise ConfigError(_unknown_key_message(key, fields, path, source))
        inner = _table_type(fields[key].type)
        if inner is not None and isinstance(value, dict):
            _refuse_unknown_keys(value, inner, (*path, key), source)
        elif key in NAMED_TABLES and isinstance(value, dict):
            for name, inside in value.items():
                if isinstance(inside, dict):
                    _refuse_unknown_keys(inside, NAMED_TABLES[key], (*path, key, name), source)


def _unknown_key_message(key: str, fields: dict[str, Any], path: tuple[str, ...], source: str) -> str:
    where = ".".join((*path, key))
    elsewhere = [row.name for row in explain() if row.name.rpartition(".")[2] == key]
    near = difflib.get_close_matches(key, fields, n=1, cutoff=0.5)
    if elsewhere:
        hint = f"did you mean {elsewhere[0]}?"
    elif near:
        hint = f"did you mean {'.'.join((*path, near[0]))}?"
    else:
        hint = f"valid keys here: {', '.join(sorted(fields))}"
    return f"{source}: unknown key {where}; {hint}"


def _table_type(annotation: Any) -> type[Struct] | None:
    """The table behind a field, or None if the field is a plain value."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation if isinstance(annotation, type) and issubclass(annotation, Struct) else None


def _check(job: Job, source: str) -> None:
    """What types alone cannot say."""
    if job.crawl.strategy not in STRATEGIES:
        raise ConfigError(_choice(source, "crawl.strategy", job.crawl.strategy, STRATEGIES))
    check_topic(source, "topic", job.topic)
    for name, topic in job.topics.items():
        if not name.strip() or len(name) > MAX_TOPIC_NAME or "\n" in name:
            raise ConfigError(f"{source}: topics: {name!r} is no name: 1 to {MAX_TOPIC_NAME} characters in one line")
        check_topic(source, f"topics.{name}", topic)
    _check_network(source, job)
    revisit = job.crawl.revisit
    if revisit.min_hours > revisit.max_hours:
        raise ConfigError(
            f"{source}: crawl.revisit.min_hours {revisit.min_hours:g} is above max_hours {revisit.max_hours:g}"
        )
    for name, node in job.nodes.items():
        if not NODE_NAME.fullmatch(name):
            raise ConfigError(f"{source}: nodes.{name}: a node's name is 1 to 32 letters, digits, - or _")
        _check_address(source, f"nodes.{name}.address", node.address)


def _check_network(source: str, job: Job) -> None:
    """Addresses, and where names lead."""
    for network in job.crawl.allow_private:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise ConfigError(f"{source}: crawl.allow_private: {error}") from None
    for host, address in job.crawl.resolve.items():
        _check_resolve(source, host, address)
    for server in job.fetch.name_servers:
        with_port = re.fullmatch(r"\[?(.+?)\]?:\d{1,5}", server) if server.count(":") == 1 or "]" in server else None
        _check_address(source, "fetch.name_servers", with_port[1] if with_port else server or "none")
    if job.fetch.proxy and not PROXY.fullmatch(job.fetch.proxy):
        raise ConfigError(f"{source}: fetch.proxy: not the URL of an HTTP proxy, for example http://127.0.0.1:3128")
    if job.run.metrics_host != "localhost":
        _check_address(source, "run.metrics_host", job.run.metrics_host or "none")


def _check_address(source: str, key: str, address: str) -> None:
    try:
        ipaddress.ip_address(address or "::")
    except ValueError:
        raise ConfigError(f"{source}: {key}: {address!r} is not an address") from None


def _check_resolve(source: str, host: str, address: str) -> None:
    ip, _, port = address.rpartition(":")
    try:
        ipaddress.ip_address(ip.strip("[]"))
        if not 0 < int(port) < 65536:
            raise ValueError
    except ValueError:
        raise ConfigError(
            f'{source}: crawl.resolve: {host!r} = {address!r} is not "address:port", for example "127.0.0.1:8480"'
        ) from None


def _choice(source: str, key: str, value: str, valid: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(value, valid, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(valid)}"
    return f"{source}: {key}: no {value!r}; {hint}"


# -- Explaining ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One line of `periplus config --explain`."""

    name: str
    default: str
    unit: str
    sentence: str


def explain() -> list[SettingRow]:
    """Every setting of the job file, in the order of the file."""
    return list(_rows(Job, ""))


def _rows(table: type[Struct], prefix: str) -> Iterator[SettingRow]:
    hints = get_type_hints(table, include_extras=True)
    for info in msgspec.structs.fields(table):
        if info.name == "topics":  # each of them is a table like [topic]
            yield SettingRow("topics.NAME", "{}", "table", get_args(hints[info.name])[1].description)
            continue
        inner = NAMED_TABLES.get(info.name) or _table_type(hints[info.name])
        if inner is not None:
            yield from _rows(inner, f"{prefix}{info.name}." + ("NAME." if info.name in NAMED_TABLES else ""))
            continue
        meta = get_args(hints[info.name])[1]
        yield SettingRow(prefix + info.name, _default_text(info), meta.extra["unit"], meta.description)


def _default_text(info: Any) -> str:
    if info.default_factory is not msgspec.NODEFAULT:
        return "[]" if info.default_factory() == [] else repr(info.default_factory()).replace("'", '"')
    if info.default is None:
        return "absent"
    if isinstance(info.default, bool):
        return str(info.default).lower()
    if isinstance(info.default, tuple):
        return str(list(info.default))
    return f'"{info.default}"' if isinstance(info.default, str) else str(info.default)
