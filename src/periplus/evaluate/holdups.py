"""What keeps a URL from being a page of the collection: why it was left out, what it waits for, what it lacks."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from periplus.frontier.state import UrlState
from periplus.model import Outcome
from periplus.settings import Job
from periplus.topics import Topic
from periplus.urls import CanonicalUrl, drop_reason, fingerprint
from periplus.urls.filters import DROP_REASONS
from periplus.wording import counted

__all__ = ["lacking", "left_out", "refused", "waits_for"]

REFUSALS: dict[str, str] = {
    Outcome.NOT_INDEXED: "the page or its headers ask not to be indexed",
    Outcome.EMPTY: "the page has neither a title nor a text",
    Outcome.DUPLICATE: "a page with the same content is kept",
    Outcome.REDIRECTED: "it leads to another URL, which is asked for instead if it is new and no rule keeps it out",
    Outcome.GONE: "it was a page once, and is none any more",
    Outcome.NOT_HTML: "its content is of a kind that is not read",
    Outcome.HTTP_ERROR: "the server answered that there is no such page, or that it is not for us (4xx)",
    Outcome.SERVER_ERROR: "the server failed (5xx, 408, 429), also when it was asked again",
    Outcome.ROBOTS: "robots.txt of its host forbids it",
    Outcome.CRAWL_DELAY: "robots.txt of its host asks for a longer delay than a crawl can wait",
    Outcome.ROBOTS_UNREACHABLE: "robots.txt of its host could not be read, also when it was asked for again",
    Outcome.BLOCKED: "its host has an address that is out of bounds (crawl.allow_private opens ranges)",
    Outcome.TOO_LARGE: "it is larger than fetch.wire_bytes or fetch.body_bytes allow",
    Outcome.TOO_SLOW: "the answer was not complete within fetch.total_seconds",
    Outcome.TOO_MANY_REDIRECTS: "it redirects to itself, or more in a row led to it than fetch.redirects allows",
    Outcome.BAD_CONTENT: "the answer could not be read: it breaks the rules of HTTP, or is no text",
    Outcome.QUARANTINED: "reading it broke two processes, by a crash, time or memory",
    Outcome.TLS_ERROR: "the certificate or the handshake of its host failed",
    Outcome.DNS_ERROR: "the name of its host leads to no address",
    Outcome.CONNECTION_FAILED: "the connection was refused, reset or cut short, also when it was made again",
}
"""Why URLs are no pages of the collection whose lease ended so."""


AHEAD = "(SELECT count(*) FROM {} o WHERE o.host_id = u.host_id AND (o.priority, -o.id) > (u.priority, -u.id))"
"""URLs of a table that come before one."""

ONLY_LINKS = "it is a list of other pages, and the topic's keywords are only in what it says of them"
"""What keeps a page out that has enough of everything."""


def refused(outcome: str) -> str:
    """Why a URL with that outcome is no page of the collection; a log of pages has what exactly went wrong."""
    return REFUSALS.get(outcome, "")


def waits_for(databases: Sequence[sqlite3.Connection], home: sqlite3.Connection, url: CanonicalUrl, now: float) -> str:
    """Why a URL in the queue of `home` was not fetched yet; `databases`: of all nodes, since they share robots.txt."""
    state, attempts, again, host, turn, ahead = home.execute(
        f"SELECT u.state, u.attempts, u.not_before, h.name, h.not_before, {AHEAD.format('queue')} - "
        f"{AHEAD.format('spent')} FROM known_url u JOIN host h ON h.id = u.host_id WHERE u.url = ?",
        (url.href,),
    ).fetchone()
    if state == UrlState.WAITING:
        return f"it is visited again at {_time(again)}"
    if robots := _robots(databases, url.origin, now):
        return robots
    if again > now:
        return f"{counted(attempts, 'try', 'tries')} failed; it is tried again at {_time(again)}"
    if turn > now:
        return f"{host} is not asked again before {_time(turn)}, to be polite"
    before = f"{counted(ahead, 'URL')} of {host} come before it" if ahead > 1 else f"one URL of {host} comes before it"
    return before if ahead else "nothing keeps it: it is the next of its host"


def left_out(databases: Sequence[sqlite3.Connection], url: CanonicalUrl, job: Job) -> str:
    """Why a URL that is in no frontier did not join one, if that can be told."""
    crawl = job.crawl
    reason = drop_reason(url, max_length=crawl.url_length, ports=job.fetch.ports, scope=crawl.scope)
    if reason is None:
        query = "SELECT depth, redirects FROM beyond WHERE fingerprint = ?"
        beyond = [row for db in databases for row in db.execute(query, (fingerprint(url.href),))]
        if beyond and min(depth for depth, _ in beyond) > crawl.depth:
            reason = "depth"
        elif beyond:
            reason = "redirects" if min(hops for _, hops in beyond) > job.fetch.redirects else "trap"
        elif sum(_urls_of(db, url.host) for db in databases) >= crawl.host_pages:
            reason = "host_quota"
    return DROP_REASONS[reason] if reason else ""


def _urls_of(db: sqlite3.Connection, host: str) -> int:
    found = db.execute("SELECT count(*) FROM url JOIN host ON host.id = url.host_id WHERE host.name = ?", (host,))
    return int(found.fetchone()[0])


def _robots(databases: Sequence[sqlite3.Connection], origin: str, now: float) -> str:
    """What robots.txt of an origin keeps waiting; nothing where it was read."""
    rows = [
        row
        for db in databases
        for row in db.execute("SELECT status, fetched_at, expires_at, failures FROM robots WHERE origin = ?", (origin,))
    ]
    if not rows:
        return f"{origin}/robots.txt was not read yet, and nothing is fetched before"
    status, _, expires, failures = max(rows, key=lambda row: row[1])
    if status != "unreachable":
        return ""
    when = f"it is asked again at {_time(expires)}" if expires > now else "it is due to be asked again"
    return f"{origin}/robots.txt could not be read ({counted(failures, 'time')}), and nothing is fetched before; {when}"


def lacking(page: dict[str, Any], topics: Sequence[Topic]) -> str:
    """What of the topic a page lacked that was read and not kept; nothing where there are several topics."""
    if page["outcome"] != Outcome.NOT_RELEVANT or len(topics) != 1:
        return ""
    topic = topics[0]
    found = []
    if page["keyword_relevance"] < topic.keyword_threshold:
        found.append(f"keywords {page['keyword_relevance']:.3f} of the {topic.keyword_threshold:g} needed")
    if topic.judge != "one-vector" and page["place_relevance"] < topic.place_threshold:
        found.append(f"places {page['place_relevance']:.3f} of the {topic.place_threshold:g} needed")
    if time := _out_of_time(page, topic, certain=not found):
        found.append(time)
    return "; ".join(found) or ONLY_LINKS


def _out_of_time(page: dict[str, Any], topic: Topic, *, certain: bool) -> str:
    """How the page's time misses the topic's; `certain`: nothing else kept it out, so that this did."""
    day = date.fromisoformat(page["published"]) if page["published"] and topic.dates != "named" else None
    if day is not None and topic.since is not None and day < topic.since:
        return f"published {day}, before the topic's since {topic.since}"
    if day is not None and topic.until is not None and day > topic.until:
        return f"published {day}, after the topic's until {topic.until}"
    if not certain or not (topic.since or topic.until or topic.half_life_days):
        return ""
    return f"published {day}: too old for the topic" if day else "the dates in its text are not in the topic's time"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(" ", "seconds")
