"""The two-tuple topic of paper C: keywords with weights, places with weights; either part may be empty."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from periplus.errors import ConfigError, PlaceError
from periplus.model import Place
from periplus.places import Gazetteer, Relation, RelationKind, related_set
from periplus.settings import LearntSettings, RelatednessSettings, TopicSettings
from periplus.topics.lexicon import Lexicon
from periplus.topics.link_words import LinkWords
from periplus.topics.place_table import PlaceTable
from periplus.topics.url_names import UrlNames
from periplus.topics.words import WORD, primary_language

__all__ = ["POINTS", "Topic", "countries_of", "make_topic", "make_topics"]

POINTS = {"wide": (0.27, 0.01), "balanced": (0.5, 0.5), "strict": (0.64, 0.67)}
"""Operating points of the default judge: keyword and place threshold. Relevances are scaled so that 0.5 is balanced."""

MOST_COUNTRIES = 3
"""Countries up to which a topic says something about names that are in several."""

MAX_LEXICONS = 128
"""Languages whose keywords are kept ready; pages may claim any."""

MAX_LINK_WORDS = 16
"""Languages for which is remembered what links say."""

NO_NAMES = UrlNames({})


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic ready for judging: places are gazetteer entries, so that aliases and translations count.

    `related` is the set M of paper C, worked out once: place id → [(position in `places`, R)].
    """

    name: str
    keywords: tuple[tuple[str, float], ...] = ()
    places: tuple[tuple[Place, float], ...] = ()
    keyword_threshold: float = 0.5
    place_threshold: float = 0.5
    since: date | None = None
    until: date | None = None
    dates: str = "either"
    half_life_days: float = 0.0
    time_threshold: float = 0.0
    judge: str = "default"
    against: tuple[tuple[str, float], ...] = ()
    learnt: LearntSettings = field(default_factory=LearntSettings)
    related: dict[int, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    extents: dict[int, tuple[int, float]] = field(default_factory=dict)
    url_names: UrlNames = NO_NAMES
    table: PlaceTable = field(init=False, compare=False, repr=False)
    _mass: float = field(init=False, compare=False, repr=False)
    _lexicons: dict[tuple[str, str], Lexicon] = field(init=False, compare=False, repr=False)
    _link_words: dict[str, LinkWords] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", PlaceTable(self.places, self.extents))
        object.__setattr__(self, "_mass", sum(weight for _, weight in self.keywords))
        object.__setattr__(self, "_lexicons", {})
        object.__setattr__(self, "_link_words", {})

    @property
    def is_empty(self) -> bool:
        """Whether the topic says nothing: every page belongs to it."""
        return not (self.keywords or self.places or self.since or self.until)

    @property
    def keyword_mass(self) -> float:
        """The sum of the keywords' weights."""
        return self._mass

    def lexicon(self, language: str, *, against: bool = False) -> Lexicon:
        """The keywords (or those that speak against a page) as pages of a language have them."""
        key = (primary_language(language), "against" if against else "")
        known = self._lexicons.get(key)
        if known is None:
            if len(self._lexicons) >= MAX_LEXICONS:
                self._lexicons.clear()
            words = [word for word, _ in (self.against if against else self.keywords)]
            known = self._lexicons[key] = Lexicon(words, language)
        return known

    def link_words(self, language: str) -> LinkWords:
        """What links of pages in a language say to the topic."""
        key = primary_language(language)
        known = self._link_words.get(key)
        if known is None:
            if len(self._link_words) >= MAX_LINK_WORDS:
                self._link_words.clear()
            known = LinkWords(self.lexicon(language), self.keywords, self.url_names, self.table)
            self._link_words[key] = known
        return known


def make_topics(
    topic: TopicSettings, named: Mapping[str, TopicSettings], job_name: str, gazetteer: Gazetteer
) -> tuple[Topic, ...]:
    """The topics of a job: `[topic]`, unless it says nothing while others do, and those by name."""
    topics = [make_topic(settings, name, gazetteer, where=f"topics.{name}") for name, settings in named.items()]
    empty = next((one.name for one in topics if one.is_empty), None)
    if empty is not None:
        raise ConfigError(f"topics.{empty}: the topic is empty: give keywords, places or both")
    main = make_topic(topic, job_name, gazetteer)
    found = tuple(topics) if topics and main.is_empty else (main, *topics)
    names = [one.name.casefold() for one in found]
    double = next((one.name for one in found if names.count(one.name.casefold()) > 1), None)
    if double is not None:
        raise ConfigError(f"topics: two are called {double!r}; give them different names")
    return found


def countries_of(topics: Iterable[Topic]) -> tuple[str, ...]:
    """The countries that topics are about, if they are few enough to say anything about an ambiguous name."""
    found = {place.country for topic in topics for place, _ in topic.places}
    return tuple(sorted(found)) if "" not in found and len(found) <= MOST_COUNTRIES else ()


def make_topic(settings: TopicSettings, job_name: str, gazetteer: Gazetteer, *, where: str = "topic") -> Topic:
    """Look the topic's places up. ConfigError with the candidates if one is unknown or ambiguous, or a word is none."""
    silent = next((word for word in (*settings.keywords, *settings.against) if not WORD.search(word)), None)
    if silent is not None:
        raise ConfigError(f"{where}.keywords: {silent!r} holds no word; take it out")
    places = []
    for name, weight in settings.places.items():
        try:
            places.append((gazetteer.resolve(name), weight))
        except PlaceError as error:
            raise ConfigError(f"{where}.places: {error}") from None
    keyword_threshold, place_threshold = _thresholds(settings)
    return Topic(
        name=settings.called(job_name),
        keywords=tuple(settings.keywords.items()),
        places=tuple(places),
        keyword_threshold=keyword_threshold,
        place_threshold=place_threshold,
        since=settings.since,
        until=settings.until,
        dates=settings.dates,
        half_life_days=settings.half_life_days,
        time_threshold=settings.time_threshold,
        judge=settings.judge,
        against=tuple(settings.against.items()),
        learnt=settings.learnt,
        related=_related(places, settings.relatedness, gazetteer) if settings.judge == "paper" else {},
        extents=_extents(places, settings.relatedness, gazetteer) if settings.judge == "default" else {},
        url_names=UrlNames.of([place for place, _ in places], gazetteer),
    )


def _thresholds(settings: TopicSettings) -> tuple[float, float]:
    """Thresholds given one by one win over `threshold`, which wins over the operating point."""
    if settings.threshold is not None:
        keyword = place = settings.threshold
    elif settings.judge == "default":
        keyword, place = POINTS[settings.point]
    else:
        keyword = place = 0.65 if settings.judge == "one-vector" else 0.5
    return (
        keyword if settings.keyword_threshold is None else settings.keyword_threshold,
        place if settings.place_threshold is None else settings.place_threshold,
    )


def _related(
    places: list[tuple[Place, float]], factors: RelatednessSettings, gazetteer: Gazetteer
) -> dict[int, tuple[tuple[int, float], ...]]:
    found: dict[int, tuple[tuple[int, float], ...]] = {}
    for position, (place, _) in enumerate(places):
        for other, how in related_set(place, gazetteer).items():
            worth = _worth(how.relation, factors)
            if worth > 0.0:
                found[other] = (*found.get(other, ()), (position, worth))
    return found


def _extents(
    places: list[tuple[Place, float]], factors: RelatednessSettings, gazetteer: Gazetteer
) -> dict[int, tuple[int, float]]:
    """What polygons add for the default judge: places inside a topic's place count whole, overlapping ones in part.

    Empty unless polygons or overlaps are loaded: the hierarchy needs no table.
    """
    found: dict[int, tuple[int, float]] = {}
    for position, (place, _) in enumerate(places):
        row = gazetteer.row(place.id)
        if gazetteer.shape(row) is None and not gazetteer.overlaps(row):
            continue
        for other, how in related_set(place, gazetteer).items():
            kind = how.relation.kind
            part = {RelationKind.CONTAINS: 1.0, RelationKind.OVERLAP: factors.overlap}.get(kind, 0.0)
            if part > found.get(other, (0, 0.0))[1]:
                found[other] = (position, part)
    return found


def _worth(relation: Relation, factors: RelatednessSettings) -> float:
    """R(p_i, p_j) for p_i `relation` p_j, with the topic's own factors."""
    match relation.kind:
        case RelationKind.EQUAL:
            return 1.0
        case RelationKind.OVERLAP:
            return factors.overlap
        case RelationKind.CONTAINS:
            return factors.inside[relation.steps - 1] if relation.steps <= len(factors.inside) else 0.0
        case RelationKind.CONTAINED:
            return factors.around[relation.steps - 1] if relation.steps <= len(factors.around) else 0.0
        case RelationKind.DISJOINT:
            return 0.0
