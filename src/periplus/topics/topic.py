"""The two-tuple topic of paper C: keywords with weights, places with weights; either part may be empty."""

from dataclasses import dataclass
from datetime import date

from periplus.errors import ConfigError, PlaceError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.settings import TopicSettings

__all__ = ["Topic", "make_topic"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic ready for judging: places are gazetteer entries, so that aliases and translations count."""

    name: str
    keywords: tuple[tuple[str, float], ...] = ()
    places: tuple[tuple[Place, float], ...] = ()
    keyword_threshold: float = 0.5
    place_threshold: float = 0.5
    since: date | None = None
    until: date | None = None


def make_topic(settings: TopicSettings, job_name: str, gazetteer: Gazetteer) -> Topic:
    """Look the topic's places up. ConfigError with the candidates if one is unknown or ambiguous."""
    places = []
    for name, weight in settings.places.items():
        try:
            places.append((gazetteer.resolve(name), weight))
        except PlaceError as error:
            raise ConfigError(f"topic.places: {error}") from None
    return Topic(
        name=settings.name or job_name,
        keywords=tuple(settings.keywords.items()),
        places=tuple(places),
        keyword_threshold=settings.threshold if settings.keyword_threshold is None else settings.keyword_threshold,
        place_threshold=settings.threshold if settings.place_threshold is None else settings.place_threshold,
        since=settings.since,
        until=settings.until,
    )
