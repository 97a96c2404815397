"""`periplus why DIR URL`: what a crawl knows about a URL, who sent it where, and what its priority is made of."""

import json
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from periplus.clock import SystemClock
from periplus.errors import ConfigError, UsageError
from periplus.evaluate.holdups import lacking, left_out, refused, waits_for
from periplus.evaluate.reasons import Reasons, host_view
from periplus.index import unpack_text
from periplus.model import Link, Outcome
from periplus.places import open_gazetteer
from periplus.printing import Console
from periplus.settings import Job, load_job
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.strategies import Ownership, make_strategy
from periplus.topics import LinkParts, countries_of, make_topics, unpacked_parts
from periplus.urls import CanonicalUrl, canonicalize, fingerprint

__all__ = ["explain_url", "why"]

MAX_PARENTS = 20
"""Parents that are shown; the mean is over all of them."""

IN_QUEUE = ("queued", Outcome.RETRY)
"""What is said of URLs that wait: never fetched yet, or failed for now."""

UNTOLD = "what the page said, which was not kept"
"""Stands for evidence of a page that is not archived, and without which the link would have gone elsewhere."""

_PARTS = LinkParts._fields


def why(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the crawl.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL known to the crawl.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explain a URL: its node, its priority part by part, the pages that link to it, and how it was judged.

    Example: periplus why crawls/north-korea https://example.org/
    """
    found = explain_url(directory, url)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, allow_nan=False))
    else:
        _show(found)


def explain_url(directory: Path, url: str) -> dict[str, Any]:
    """All that a crawl knows about a URL. UsageError if it is not one, or not known."""
    canonical = canonicalize(url)
    if canonical is None:
        raise UsageError(f"{url!r} is not an http(s) URL")
    mark = fingerprint(canonical.href)
    folder = CrawlFolder.existing(directory)
    job = load_job(folder.job_file)
    result: dict[str, Any] = {"url": canonical.href, "node": None, "nodes": [], "reason": "", "parents": []}
    result["unexplained"] = ""
    result |= {"origins": [{"kind": "seed", "url": None}] if canonical.href in job.seeds else [], "leads_to": None}
    onward = None
    for node in folder.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            row = db.execute(
                "SELECT priority, depth, outcome, redirect FROM known_url WHERE fingerprint = ?", (mark,)
            ).fetchone()
            if row:
                mine = {"node": node.name, "priority": row[0], "depth": row[1], "outcome": row[2] or "queued"}
                result["nodes"].append(mine)
                onward = onward or row[3]
                page = _page(db, mark)
                if result["node"] is None or (page and not result["page"]):  # of several, one that has the page
                    result |= mine | {"page": page}
            result["origins"] += _redirects(node.name, db, mark)
            result["parents"] += _parents(node.name, db, mark)
    result["reason"] = _holdup(folder, job, canonical, result)
    if result["node"] is None and not (result["parents"] or result["origins"] or result["reason"]):
        raise UsageError(
            f"{canonical.href} is not known to the crawl in {directory}: no page that was read leads to it"
        )
    if onward is not None:
        result["leads_to"] = _url_of(folder, onward)
    result["parents_count"] = len(result["parents"])
    result["mean_priority"] = mean = _mean(result["parents"])
    # What the link book added when it last moved the URL: hub, words and siblings (`topics/link_book.py`).
    result["bonus"] = round(result["priority"] - mean, 4) if mean is not None and result["node"] else None
    result["parents"] = result["parents"][:MAX_PARENTS]
    _add_reasons(folder, job, canonical, result)
    return result


def _url_of(folder: CrawlFolder, mark: int) -> str | None:
    for node in folder.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            row = db.execute("SELECT url FROM url WHERE fingerprint = ?", (mark,)).fetchone()
            if row:
                return str(row[0])
    return None


def _redirects(node: str, db: sqlite3.Connection, mark: int) -> list[dict[str, Any]]:
    """The URLs of the node that redirect to the URL."""
    rows = db.execute("SELECT url FROM known_url WHERE redirect = ? LIMIT ?", (mark, MAX_PARENTS))
    return [{"kind": "redirect", "url": url, "node": node} for (url,) in rows]


def _holdup(folder: CrawlFolder, job: Job, url: CanonicalUrl, found: dict[str, Any]) -> str:
    """Why the URL is no page of the collection, if it is not and that can be told."""
    if found["node"] is None or found["outcome"] in IN_QUEUE:
        with ExitStack() as stack:
            databases = {node.name: stack.enter_context(closing(open_reader(node.database))) for node in folder.nodes()}
            if found["node"] is None:
                return left_out(list(databases.values()), url, job)
            now = SystemClock().now().timestamp()
            return waits_for(list(databases.values()), databases[found["node"]], url, now)
    if not found["page"] or found["page"]["outcome"] != Outcome.NOT_RELEVANT:
        return refused(found["outcome"])
    try:
        return lacking(found["page"], make_topics(job.topic, job.topics, job.name, open_gazetteer()))
    except ConfigError:  # a place of the topic is not in the gazetteer any more
        return ""


def _add_reasons(folder: CrawlFolder, job: Job, url: CanonicalUrl, found: dict[str, Any]) -> None:
    """What speaks for which node, on each linking page and by itself; only where nodes own places."""
    parents, origins = found["parents"], found["origins"]
    if job.crawl.strategy == "nearest":  # round trips decided, which no page shows
        for parent in parents:
            parent["evidence"] = [{"node": parent["sent_to"], "evidence": "nearest", "place": None}]
        return
    if not (parents or origins) or not any(node.places for node in job.nodes.values()):
        return
    gazetteer, crawl = open_gazetteer(), job.crawl
    try:
        ownership = Ownership.of_job(job, gazetteer)
        strategy = make_strategy(
            crawl.strategy,
            ownership,
            gazetteer,
            classifier_model=crawl.classifier_model,
            ip_database=crawl.ip_database,
            geofeeds=crawl.geofeeds,
            ip_confidence=crawl.ip_confidence,
            content_alpha=crawl.content_alpha,
            content_beta=crawl.content_beta,
            places=job.network.places,
            in_crawl=True,
        )
        topics = make_topics(job.topic, job.topics, job.name, gazetteer)
    except ConfigError as error:  # the model, database, polygon or a place of the crawl is not here any more
        found["unexplained"] = str(error)
        return
    reasons = Reasons(strategy, gazetteer, job.crawl, countries_of(topics))
    with ExitStack() as stack:
        databases = {node.name: stack.enter_context(closing(open_reader(node.database))) for node in folder.nodes()}
        view = host_view(databases.values(), url.host)
        folders = {node.name: node for node in folder.nodes()}
        for parent in parents:
            link, name = Link(url.href, parent["anchor"]), parent["node"]
            evidence = reasons.of(databases[name], folders[name], link, parent["url"], view)
            sent_to = ownership.spokesman(parent["sent_to"])
            told = any("weight" in one or one["node"] == sent_to for one in evidence)
            parent["evidence"] = evidence if told else [{"node": parent["sent_to"], "evidence": UNTOLD, "place": None}]
        for origin in origins:
            seed = origin["kind"] == "seed"
            origin["evidence"] = (
                reasons.of_seed(url.href) if seed else reasons.of_redirect(url.href, origin["node"], view)
            )


def _page(db: sqlite3.Connection, mark: int) -> dict[str, Any] | None:
    """How the page was judged, if it was fetched."""
    row = db.execute(
        "SELECT title, keyword_relevance, place_relevance, topic, outcome, published FROM page WHERE fingerprint = ?",
        (mark,),
    ).fetchone()
    names = ("title", "keyword_relevance", "place_relevance", "topic", "outcome", "published")
    return dict(zip(names, row, strict=True)) if row else None


def _parents(node: str, db: sqlite3.Connection, mark: int) -> list[dict[str, Any]]:
    """The pages that link to the URL, with the parts of the priority that each gave it."""
    wanted = int(mark).to_bytes(8, "little", signed=True)
    rows = db.execute(
        "SELECT page.url, link.fingerprints, link.parts, link.nodes, place.path, link.anchors FROM link "
        "JOIN page ON page.id = link.page_id LEFT JOIN place ON place.id = page.main_place "
        "WHERE instr(link.fingerprints, ?) > 0",
        (wanted,),
    )
    nodes_by_number = dict(db.execute("SELECT id, name FROM node_name").fetchall())
    found: list[dict[str, Any]] = []
    for parent, packed, parts, nodes, path, anchors in rows:
        at = np.flatnonzero(np.frombuffer(packed, dtype="<i8") == mark)
        if not len(at):
            continue  # the bytes met across two fingerprints
        start = int(at[0]) * len(_PARTS)
        own = parts[start : start + len(_PARTS)]
        # Crawls of older versions have fewer parts.
        values = unpacked_parts(own) if len(parts) * 8 == len(packed) * len(_PARTS) else None
        shown = {name: round(getattr(values, name), 3) for name in _PARTS} if values else {}
        sent_to, *also = [nodes_by_number.get(number, "") for number in np.frombuffer(nodes, dtype="<u2")[at].tolist()]
        about = json.loads(path)[-1] if path else None
        shown |= {"rank": round(values.rank, 3)} if values else {}
        said = _anchor(anchors, int(at[0]))
        found.append({"url": parent, "node": node, "about": about, "anchor": said, "sent_to": sent_to, "parts": shown})
        found[-1]["also_sent_to"] = also  # policy b
    return found


def _anchor(packed: bytes, at: int) -> str:
    """What a page's link says; empty in crawls of older versions."""
    if not packed:
        return ""
    found = unpack_text(packed).split("\n")
    return found[at] if at < len(found) else ""


def _mean(parents: list[dict[str, Any]]) -> float | None:
    values = [parent["parts"]["priority"] for parent in parents if parent["parts"]]
    return round(sum(values) / len(values), 4) if values else None


def _show(found: dict[str, Any]) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(found["url"])
    for one in found["nodes"]:
        console.print(f"node {one['node']}, {one['outcome']}, depth {one['depth']}, priority {one['priority']:.3f}")
    if found["reason"]:
        console.print(f"{_standing(found)}: {found['reason']}")
    if found["leads_to"]:
        console.print(f"leads to {found['leads_to']}")
    if found["bonus"] is not None:
        parents = "one page that links" if found["parents_count"] == 1 else f"{found['parents_count']} pages that link"
        console.print(f"mean over {parents} to it {found['mean_priority']:.3f}, learnt {found['bonus']:+.3f}")
    page = found.get("page")
    if page:
        relevances = f"keywords {page['keyword_relevance']:.3f}, places {page['place_relevance']:.3f}"
        console.print(f"page {page['title']!r}: {relevances}, topic {page['topic'] or 'none'}")
    if found["unexplained"]:
        console.print(f"what spoke for which node cannot be told: {found['unexplained']}")
    for origin in found["origins"]:
        console.print(
            "a seed" if origin["kind"] == "seed" else f"redirected from {origin['url']}, node {origin['node']}"
        )
        _show_evidence(console, origin)
    for parent in found["parents"]:
        parts = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in parent["parts"].items())
        whence = f"linked from {parent['url']} (about {parent['about'] or 'no place'})"
        receivers = " and ".join([parent["sent_to"], *parent["also_sent_to"]])
        console.print(f"{whence}, sent to {receivers}: {parts or 'no parts stored'}")
        _show_evidence(console, parent)
    if found["nodes"] and not found["parents"]:
        console.print("no page links to it" if found["origins"] else "no page links to it: a sitemap led to it")


def _standing(found: dict[str, Any]) -> str:
    """What became of a URL that has a reason."""
    if found["node"] is None:
        return "left out"
    if found["outcome"] in IN_QUEUE:
        return "waits"
    was_kept = found["page"] is not None and found["page"]["outcome"] == Outcome.KEPT
    return "kept as it was; at its last visit" if was_kept else "not kept"


def _show_evidence(console: Console, source: dict[str, Any]) -> None:
    for reason in source.get("evidence", ()):
        weight = f" {reason['weight']:+.2f}" if "weight" in reason else ""
        place = f", {reason['place']}" if reason["place"] else ""
        console.print(f"    for {reason['node']}{weight}: {reason['evidence'].replace('_', ' ')}{place}")
