"""A page as the topics of a crawl see it: read once for all of them, and no more of it than they ask for. Pure."""

from periplus.model import Located, Page, Place
from periplus.topics.lexicon import Lexicon
from periplus.topics.named_dates import DaySpan, named_dates
from periplus.topics.reading import Reading, content_counts, place_masses, site_country
from periplus.topics.tally import Chunks, cut
from periplus.topics.words import CHUNKS, Content, pairs

__all__ = ["View"]


class View:
    """One page with its places; every part is worked out when it is first asked for."""

    def __init__(self, page: Page, located: Located) -> None:
        self.page = page
        self.located = located
        self._content: dict[str, tuple[Content, dict[str, int]]] = {}
        self._chunks: Chunks | None = None
        self._masses: dict[Place, float] | None = None
        self._dates: tuple[DaySpan, ...] | None = None

    @property
    def masses(self) -> dict[Place, float]:
        """What each of the page's places weighs."""
        if self._masses is None:
            self._masses = place_masses(self.page.text, self.located, self.page.title)
        return self._masses

    @property
    def country(self) -> str:
        """The country of the site's domain."""
        return site_country(self.page.url)

    @property
    def words(self) -> int:
        """About how many words the text has."""
        return self.page.text.count(" ") + self.page.text.count("\n") + 1

    @property
    def named_dates(self) -> tuple[DaySpan, ...]:
        """The dates that the text names."""
        if self._dates is None:
            self._dates = named_dates(self.page.text)
        return self._dates

    @property
    def chunks(self) -> Chunks:
        """The text cut at blanks."""
        if self._chunks is None:
            self._chunks = cut(CHUNKS, self.page.text)
        return self._chunks

    def reading(self, language: str, lexicons: tuple[Lexicon, ...]) -> Reading:
        """The page as learnt topics see it, with those pairs of words that the lexicons know."""
        found = self._content.get(language)
        if found is None:
            found = self._content[language] = content_counts(self.page.text, self.located, self.page.title, language)
        content, counts = found
        firsts = set().union(*(lexicon.firsts for lexicon in lexicons)) & counts.keys()
        neighbours = pairs(content.sequence, firsts) if firsts else {}
        return Reading(counts, neighbours, len(content), self.masses, self.country)
