"""A page as the topics of a crawl see it: read once for all of them, and no more of it than they ask for. Pure."""

from periplus.model import Located, Page, Place
from periplus.topics.named_dates import DaySpan, named_dates
from periplus.topics.reading import count_content, place_masses, site_country
from periplus.topics.tally import Chunks, StemCounts, cut
from periplus.topics.words import CHUNKS

__all__ = ["View"]


class View:
    """One page with its places; every part is worked out when it is first asked for."""

    def __init__(self, page: Page, located: Located) -> None:
        self.page = page
        self.located = located
        self._content: dict[str, StemCounts] = {}
        self._chunks: Chunks | None = None
        self._title: Chunks | None = None
        self._masses: list[tuple[Place, float]] | None = None
        self._dates: tuple[DaySpan, ...] | None = None

    @property
    def masses(self) -> list[tuple[Place, float]]:
        """What each of the page's places weighs."""
        if self._masses is None:
            self._masses = list(place_masses(self.page.text, self.located, self.page.title))
        return self._masses

    @property
    def country(self) -> str:
        """The country of the site's domain."""
        return site_country(self.page.url)

    @property
    def words(self) -> int:
        """How many words the text has."""
        return self.chunks.count

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

    @property
    def title(self) -> Chunks:
        """The title cut at blanks."""
        if self._title is None:
            self._title = cut(CHUNKS, self.page.title)
        return self._title

    def content(self, language: str) -> StemCounts:
        """The stems that say something, place names left out, counted with those of the title."""
        found = self._content.get(language)
        if found is None:
            found = self._content[language] = count_content(self.page.text, self.located, self.page.title, language)
        return found
