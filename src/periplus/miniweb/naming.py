"""Names of hosts and paths: what URLs look like, with and without the town in them.

Used by `planning` only; every function is pure given its random stream.
"""

from periplus.miniweb.places import Town
from periplus.miniweb.prose import Random, pick

__all__ = ["BRANDS", "SUFFIX", "NameBook", "blog_name", "business_name", "guide_name", "news_name", "topic_name"]

SUFFIX = ".mini.test"

_GUIDES = (
    "visit-{slug}-{st}",
    "{slug}-guide",
    "{glued}online",
    "discover{glued}",
    "{slug}-{st}-city-guide",
    "my-{slug}",
    "{glued}-{st}",
    "go{glued}",
    "{slug}-today",
)
_NAMELESS = ("the-{a}-{b}", "{a}{b}", "{a}-and-{b}", "{a}-{b}-pages")
_A = (
    "blue",
    "golden",
    "river",
    "harbor",
    "prairie",
    "copper",
    "cedar",
    "granite",
    "summer",
    "north",
    "lantern",
    "maple",
)
_B = (
    "gazette",
    "corner",
    "compass",
    "lantern",
    "notebook",
    "guide",
    "journal",
    "almanac",
    "kettle",
    "workshop",
    "shelf",
)
_PAPERS = ("daily-herald", "morning-post", "evening-star", "tribune", "courier", "chronicle", "observer", "bulletin")
_TOPIC_WORDS = ("weekly", "corner", "notes", "lab", "hub", "basics", "world", "club", "daily", "handbook", "forum")

BRANDS: tuple[tuple[str, str, str], ...] = (
    ("phoenix-software", "Phoenix Software", "software"),
    ("orlando-writes", "Orlando Pereira", "books"),
    ("amazon-audio", "Amazon Audio", "electronics"),
    ("columbia-outfitters", "Columbia Outfitters", "clothing"),
    ("lincoln-tools", "Lincoln Tools", "woodworking"),
    ("dakota-boots", "Dakota Boots", "clothing"),
    ("austin-reads", "Austin Reed", "books"),
    ("aurora-engine", "Aurora Engine", "programming"),
    ("jackson-json", "Jackson Parser", "programming"),
    ("savannah-skin", "Savannah Skin Care", "health"),
    ("mesa-graphics", "Mesa Graphics", "software"),
    ("buffalo-games", "Buffalo Board Games", "games"),
    ("paris-nails", "Paris Nails", "health"),
    ("denver-cooks", "Denver Brooks", "recipes"),
    ("mobile-apps", "Mobile Apps Weekly", "software"),
    ("madison-knits", "Madison Knits", "knitting"),
    ("cleveland-clock", "Cleveland Clock", "physics"),
    ("houston-the-cat", "Houston the Cat", "photography"),
    ("plano-tutor", "Plano Tutor", "mathematics"),
    ("memphis-design", "Memphis Design", "games"),
)
"""Host, display name and topic of brands and people that are named like places."""


class NameBook:
    """Hands out host names, each once: a taken name gets a number."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, wish: str) -> str:
        """The wished name under the suffix, or the next free one after it."""
        name, number = wish, 1
        while name in self._taken:
            number += 1
            name = f"{wish}-{number}"
        self._taken.add(name)
        return name + SUFFIX


def _region_slug(town: Town) -> str:
    return town.admin1.lower() if town.country == "US" else town.short_region.lower().replace(" ", "")


def guide_name(random: Random, town: Town) -> str:
    """A city guide's host: the town's name in most of them, glued or hyphenated, none in one of seven."""
    if random() < 0.14:
        return pick(random, _NAMELESS).format(a=pick(random, _A), b=pick(random, _B))
    glued = town.slug.replace("-", "")
    if town.name == "New York" and random() < 0.5:
        glued = "newyorkcity"
    return pick(random, _GUIDES).format(slug=town.slug, glued=glued, st=_region_slug(town))


def business_name(random: Random, town: Town, label: str) -> str:
    """A business's host, such as `joes-diner-portland`."""
    slug = label.lower().replace("'", "").replace(" ", "-")
    chance = random()
    if chance < 0.55:
        return f"{slug}-{town.slug}"
    if chance < 0.75:
        return f"{slug}-{town.slug.replace('-', '')}-{town.admin1.lower()}"
    return slug


def news_name(random: Random, town: Town | None) -> str:
    """A newspaper's host, with its town when it is a local one."""
    paper = pick(random, _PAPERS)
    return f"{town.slug}-{paper}" if town is not None else paper


def blog_name(random: Random) -> str:
    """A blog's host; it never tells what the blog is about."""
    return pick(random, _NAMELESS).format(a=pick(random, _A), b=pick(random, _B))


def topic_name(random: Random, topic: str) -> str:
    """A subject site's host, such as `chess-weekly`."""
    return f"{topic}-{pick(random, _TOPIC_WORDS)}"
