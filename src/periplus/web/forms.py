"""The new-crawl form: from what a person typed to a job, and what is wrong with it, field by field."""

import ipaddress
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from periplus.errors import ConfigError, PeriplusError, UsageError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.settings import NODE_NAME, Job, NodeSettings, job_from_dict
from periplus.strategies import Ownership, make_strategy
from periplus.tasks import Schedule
from periplus.tasks.book import NAME
from periplus.urls import canonicalize
from periplus.web.bodies import NewTask
from periplus.web.choices import Choices

__all__ = ["check_form", "job_of_form", "place_json", "places_json"]

MOST_ERRORS = 30
NEXT_TIMES = 3
NEEDS_A_FILE = ("classifier", "ip")
FILE_FORMS = ("polygon ",)
"""Places of a node that name a file: not over the web."""


def place_json(place: Place) -> dict[str, Any]:
    """A place of the gazetteer as the form shows it."""
    return {
        "id": place.id,
        "name": place.name,
        "label": _label(place),
        "kind": place.kind,
        "country": place.country,
        "lat": place.point.lat,
        "lon": place.point.lon,
        "population": place.population,
    }


def _label(place: Place, *, whole: bool = False) -> str:
    """`Portland, Oregon, United States`; `whole`: with the county, where that is what tells two places apart."""
    names = [name for name in place.path[2:] if name] or [place.name]
    if not whole and place.kind == "city" and len(names) > 3:
        names = [names[0], names[1], names[-1]]
    return ", ".join(reversed(names))


def places_json(places: Sequence[Place]) -> list[dict[str, Any]]:
    """Places with labels that tell them apart."""
    counts = Counter(_label(place) for place in places)
    return [place_json(place) | {"label": _label(place, whole=counts[_label(place)] > 1)} for place in places]


def job_of_form(form: NewTask, defaults: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """The job's data: `defaults` are what the person who runs the server decided, such as the contact."""
    crawl = defaults.get("crawl", {}) | {
        "strategy": form.strategy,
        "keep": form.keep,
        "pages": form.pages,
        "minutes": form.minutes,
        "depth": form.depth,
        "delay_seconds": form.delay_seconds,
        "workers": form.workers,
        **choices.settings(form),
    }
    topic: dict[str, Any] = {
        "name": form.topic,
        "keywords": dict(form.keywords),
        "against": dict(form.against),
        "places": dict(form.places),
        "point": form.point,
    }
    if form.learnt is not None:
        topic["learnt"] = {name: getattr(form.learnt, name) for name in form.learnt.__struct_fields__}
    job = {
        **defaults,
        "name": form.name,
        "seeds": _seeds(form),
        "contact": form.contact or defaults.get("contact", ""),
        "topic": topic,
        "crawl": crawl,
        "nodes": {name: {"places": list(places)} for name, places in form.nodes.items()},
    }
    job.pop("out", None)
    job.pop("targets", None)
    return job


def check_form(form: NewTask, defaults: dict[str, Any], choices: Choices, gazetteer: Gazetteer) -> dict[str, Any]:
    """What is wrong, by field, and what was understood: places with their other meanings, and the next runs."""
    errors = [*_check_name(form), *_check_seeds(form, defaults), *_check_topic(form), *choices.errors(form)]
    places = {}
    for name in dict.fromkeys([*form.places, *(place for owned in form.nodes.values() for place in owned)]):
        found, error = _check_place(name, gazetteer)
        places[name] = found
        if error:
            errors.append({"field": "places" if name in form.places else "nodes", "text": error})
    errors += [
        {"field": "nodes", "text": f"{name!r}: a node's name is 1 to 32 letters, digits, - or _"}
        for name in form.nodes
        if not NODE_NAME.fullmatch(name)
    ]
    times, schedule_errors = _check_schedule(form)
    errors += schedule_errors
    if not errors:
        errors += _check_whole(job_of_form(form, defaults, choices), gazetteer)
    return {"errors": errors[:MOST_ERRORS], "places": places, "next": times}


def _check_name(form: NewTask) -> list[dict[str, str]]:
    if NAME.fullmatch(" ".join(form.name.split())):
        return []
    return [{"field": "name", "text": "Give the task a name of letters and digits, at most 80."}]


def _seeds(form: NewTask) -> list[str]:
    """The addresses to begin with; lists that were pasted from a file have quotes and commas around them."""
    return [seed for one in form.seeds if (seed := one.strip(" \t\r\n\"'“”,;<>"))]


def _check_seeds(form: NewTask, defaults: dict[str, Any]) -> list[dict[str, str]]:
    errors = []
    seeds = _seeds(form)
    if not seeds:
        errors.append({"field": "seeds", "text": "Give at least one address to begin with."})
    for number, seed in enumerate(seeds, 1):
        if "://" not in seed or canonicalize(seed) is None:
            errors.append({"field": "seeds", "text": f"Line {number}: {seed[:60]!r} is not an http(s) address."})
    contact = form.contact or defaults.get("contact", "")
    if not errors and not contact and any(not _is_here(seed, defaults) for seed in seeds):
        text = "A crawl that leaves this machine needs a contact: your web or e-mail address, for the sites."
        errors.append({"field": "contact", "text": text})
    return errors


def _is_here(seed: str, defaults: dict[str, Any]) -> bool:
    host = urlsplit(seed).hostname or ""
    if defaults.get("crawl", {}).get("resolve"):  # the crawl itself knows better where names lead
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_topic(form: NewTask) -> list[dict[str, str]]:
    if form.keep == "relevant" and not form.keywords and not form.places:
        return [{"field": "keywords", "text": "Give a keyword or a place, or keep all pages."}]
    return [
        {"field": "keywords", "text": "A keyword is empty."}
        for word in form.keywords
        if not word.strip()
    ][:1]  # fmt: skip


def _check_place(name: str, gazetteer: Gazetteer) -> tuple[dict[str, Any], str]:
    """A place by name or id with its other meanings, and what is wrong with it."""
    if name.lower().startswith(FILE_FORMS):
        return {"chosen": None, "others": []}, f"{name[:60]!r} names a file; that is not possible here"
    if name.lower().startswith(("all of ", "time zone ")):
        return {"chosen": None, "others": []}, ""
    try:
        chosen = gazetteer.resolve(name)
    except UsageError as error:
        others = [place_json(place) for place in gazetteer.find(name, limit=6)]
        return {"chosen": None, "others": others}, str(error)
    plain = chosen.name if name.lstrip("-").isdigit() else name
    others = [place_json(place) for place in gazetteer.find(plain, limit=6) if place.id != chosen.id]
    return {"chosen": place_json(chosen), "others": others}, ""


def _check_schedule(form: NewTask) -> tuple[list[float], list[dict[str, str]]]:
    try:
        schedule = Schedule.of(form.schedule, form.zone)
    except ConfigError as error:
        return [], [{"field": "schedule", "text": str(error)}]
    times: list[float] = []
    at: datetime | None = datetime.now(UTC)
    while at is not None and len(times) < NEXT_TIMES:
        at = schedule.next_after(at)
        if at is not None:
            times.append(at.timestamp())
    return times, []


def _check_whole(data: dict[str, Any], gazetteer: Gazetteer) -> list[dict[str, str]]:
    """What only shows when all is put together: nodes that leave places to nobody, a strategy that lacks its file."""
    field = ""
    try:
        job: Job = job_from_dict(data, "the form")
        field = "nodes"
        several = job.crawl.strategy == "place+nearest"
        ownership = Ownership.of(job.nodes or {"main": NodeSettings()}, gazetteer, several_sites=several)
        field = "strategy"
        if job.crawl.strategy in NEEDS_A_FILE:  # the others take a second to make, and can lack nothing
            make_strategy(
                job.crawl.strategy,
                ownership,
                gazetteer,
                classifier_model=job.crawl.classifier_model,
                ip_database=job.crawl.ip_database,
                geofeeds=job.crawl.geofeeds,
            )
    except PeriplusError as error:
        return [{"field": field, "text": str(error)}]
    return [] if job.seeds else [{"field": "seeds", "text": "Give at least one address to begin with."}]
