"""Settings of what a crawl is about: the table [topic] of a job file, and each table of [topics]."""

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta, Struct

from periplus.errors import ConfigError
from periplus.network_settings import described as _meta

__all__ = ["UNNAMED", "LearntSettings", "RelatednessSettings", "TopicSettings", "check_topic"]

Share = Annotated[float, Meta(ge=0, le=1)]
"""A number from 0 to 1."""

MAX_KEYWORDS, MAX_PLACES = 20_000, 2_000
UNNAMED = "crawl"
"""What a job is called that does not say."""

MOST_NAMED = 3
"""Keywords, and places, by which a topic without a name is called."""


class RelatednessSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """R of paper C: what a mention of a place is worth for a topic's place that lies around, in or over it."""

    inside: Annotated[
        tuple[Share, ...], _meta("Places inside the topic's place, 1, 2, 3 steps down.", "0..1", max_length=3)
    ] = (0.6, 0.4, 0.2)
    around: Annotated[
        tuple[Share, ...], _meta("Places around the topic's place, 1, 2 steps up.", "0..1", max_length=2)
    ] = (0.4, 0.2)
    overlap: Annotated[float, _meta("Places that overlap with it.", "0..1", ge=0, le=1)] = 0.4


class LearntSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `periplus topic learn` found out beside the weights; absent in topics written by hand."""

    form: Annotated[
        Literal["none", "logistic", "cosine"],
        _meta("How keyword weights become a score: logistic (learnt against other pages), cosine, none (by hand)."),
    ] = "none"
    scale: Annotated[float, _meta("What a keyword of weight 1 is worth.", ge=0, le=1e6)] = 0.0
    bias: Annotated[float, _meta("Score of a page without any keyword.", ge=-1e6, le=1e6)] = 0.0
    keyword_half: Annotated[float, _meta("Keyword score at which the relevance is 0.5.", "0..1", ge=0, le=1)] = 0.0
    place_half: Annotated[float, _meta("Share of mentions at which the relevance is 0.5.", "0..1", ge=0, le=1)] = 0.0
    language: Annotated[str, _meta("Language of the samples.", "code")] = ""


class TopicSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the crawl is about: a two-tuple of keywords and places. Either part may be absent."""

    name: Annotated[
        str,
        _meta("Name of the topic, for `inclass:NAME` in searches. Empty: the job's name, else what it is about."),
    ] = ""
    judge: Annotated[
        Literal["default", "paper", "one-vector"],
        _meta("How pages are judged: default, the paper's two-step rule, or one cosine over keywords and places."),
    ] = "default"
    point: Annotated[
        Literal["wide", "balanced", "strict"],
        _meta("Operating point of the default judge: wide keeps more, strict keeps purer."),
    ] = "balanced"
    threshold: Annotated[
        Share | None,
        _meta("Both relevances must reach this; absent: as `point` says (paper 0.5, one-vector 0.65).", "0..1"),
    ] = None
    keyword_threshold: Annotated[
        Share | None, _meta("Threshold of the keyword step alone; absent: `threshold`.", "0..1")
    ] = None
    place_threshold: Annotated[
        Share | None, _meta("Threshold of the place step alone; absent: `threshold`.", "0..1")
    ] = None
    keywords: Annotated[dict[str, float], _meta("Words and phrases with their weights.", "weight 0..1")] = {}
    places: Annotated[
        dict[str, float],
        _meta('Places with their weights: a name, "Name, ST", "Name, Country" or a gazetteer id.', "weight 0..1"),
    ] = {}
    against: Annotated[
        dict[str, float], _meta("Words and phrases that speak against a page, with their weights.", "weight 0..1")
    ] = {}
    relatedness: Annotated[RelatednessSettings, _meta("R of the paper's rule.")] = RelatednessSettings()
    learnt: Annotated[LearntSettings, _meta("Written by `periplus topic learn`.")] = LearntSettings()
    since: Annotated[date | None, _meta("Pages published before this day are not relevant.", "date")] = None
    until: Annotated[date | None, _meta("Pages published after this day are not relevant.", "date")] = None
    dates: Annotated[
        Literal["published", "named", "either"],
        _meta("Dates that must lie in the span: the page's own, those its text names, or its own if it states one."),
    ] = "either"
    half_life_days: Annotated[
        float,
        _meta("Age after which a page is worth half, and its links wait longer; 0: age says nothing.", "days", ge=0),
    ] = 0.0
    time_threshold: Annotated[
        float,
        _meta("Relevance of time that a page must reach; 0: any page whose dates touch the span.", "0..1", ge=0, le=1),
    ] = 0.0

    def called(self, job_name: str) -> str:
        """The topic's name, or that of its job; where neither has one, what it is about: "flood, dam in Sylhet"."""
        if self.name or job_name != UNNAMED:
            return self.name or job_name
        parts = (sorted(part, key=lambda one: -part[one])[:MOST_NAMED] for part in (self.keywords, self.places))
        return " in ".join(", ".join(part) for part in parts if part) or job_name


def check_topic(source: str, where: str, topic: TopicSettings) -> None:
    """What types alone cannot say of a topic; `where` is the name of its table. ConfigError in one line."""
    for part in ("keywords", "against", "places"):
        _check_weights(source, f"{where}.{part}", getattr(topic, part))
    if len(topic.keywords) > MAX_KEYWORDS or len(topic.places) > MAX_PLACES:
        raise ConfigError(
            f"{source}: {where}: at most {MAX_KEYWORDS:,} keywords and {MAX_PLACES:,} places; these are "
            f"{len(topic.keywords):,} and {len(topic.places):,}"
        )
    if topic.since and topic.until and topic.since > topic.until:
        raise ConfigError(f"{source}: {where}.since {topic.since} is after {where}.until {topic.until}")


def _check_weights(source: str, key: str, weights: dict[str, float]) -> None:
    for name, weight in weights.items():
        if not name.strip():
            raise ConfigError(f"{source}: {key}: an empty name")
        if not 0 < weight <= 1:
            raise ConfigError(f"{source}: {key}: weight {weight} of {name!r} is not above 0 and at most 1")
