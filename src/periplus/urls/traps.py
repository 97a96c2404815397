"""Endless sites: how far a step within one leads away, and how many URLs a host and a pattern may bring.

A pattern is what is left of a URL when everything that can be counted through is taken out (`outline.py`): numbers in
the path, values in the query. A calendar, an endless list or a shop's filters are one pattern with one, two or more
free dimensions. The more of them, the likelier it is that pages are only combined anew.

Two things follow. `link_steps`: a link that adds a dimension to the page's own address (a second filter to the first,
a day to a month) counts as several links of `crawl.depth`, so that the wide part of a trap is too far away. So do the
folders below a page in which it lists again what led to it: a site with relative links that answers every path. That
depends on the web alone, not on the order in which pages come. `TrapBudget`: a pattern is given so many URLs, a
quarter for each dimension beyond the first, and earns more while its pages have texts of their own: a newspaper may
number its articles too. It is the net below, and whoever comes first has it. A domain may bring so many hosts: a name
server that answers for every name makes as many of them as it likes. A folder of a host that has brought very many
URLs is put off: further ones come last, and none is dropped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from periplus.urls.domains import registrable_domain
from periplus.urls.marks import MarkCounter
from periplus.urls.outline import outline

__all__ = ["MAX_STEPS", "TrapBudget", "link_steps"]

NUMBERS = re.compile(r"\d+")
FURTHER_PAGE = re.compile(
    r"(?:start|offset|skip|limitstart|st|pg|paged?|c(?:urrent_?)?page|page_?(?:no|num|number|index)|"
    r"seite|pagina|p[aá]gina|strana|stranica|sivu|sayfa|side|oldal)=\d{1,7}",
    re.IGNORECASE,
)
"""Parameters that number the pages of one list or thread."""
NO_LETTERS = re.compile(r"[\d/._~-]+")
NAMES_LOOKED_AT, NAMESAKES = 3, 2
"""Three, since many menus do not link to the page that they are on."""
SHRINK = 4
SECOND_DIMENSION = 5
EARNED = 20
"""URLs that a page with a text of its own earns its pattern; some pages are read before others are found."""
ALIKE_AMONG = 10
"""Where one page in so many says what another has said, the pattern earns nothing."""
MAX_STEPS = 255
"""Steps are stored in a byte."""


def link_steps(page_url: str, links: Sequence[str], depth_limit: int, found: Iterable[str] | None = None) -> list[int]:
    """How many steps of depth each link of a page counts: one, or more if it combines the page's address further.

    `found` is all that the page links to, also what no rule lets in; by default the links.

    It does if it keeps the page's parameters and adds to them; another value of one (`index.php?id=`) is another page.
    What adds to one free dimension costs a fifth of the way that the crawl goes at all, to two the whole way; but a
    further page of a list or thread (`viewtopic.php?f=1&t=2&start=15`) never costs more than a fifth.
    """
    steps = [1] * len(links)
    if folder := _repeated_folder(page_url, links if found is None else found):
        far = min(MAX_STEPS, max(1, depth_limit))
        steps = [far if _below(folder, link) else 1 for link in links]
    origin, letters, free = _shape(page_url)
    parameters = _parameters(page_url)
    if not free:
        return steps
    for at, link in enumerate(links):
        if link.startswith(origin) and outline(link)[2] > free:  # few are, and the others need no closer look
            _, link_letters, _ = _shape(link)
            if link_letters == letters and parameters <= _parameters(link):
                few = free == 1 or _is_further_page(parameters, link)
                steps[at] = max(steps[at], min(MAX_STEPS, depth_limit // SECOND_DIMENSION if few else depth_limit))
    return steps


def _repeated_folder(page_url: str, found: Iterable[str]) -> str:
    """The page's folder, if two of the last three of its path are met again: in the path, or in what the page leads to.

    So does `/news/about/` with `<a href="news/">` and `<a href="about/">`, of which the site makes `/news/about/news/`.
    Else it is empty: one folder may well have a namesake below it (`/new-york/new-york/`).
    """
    address = page_url.partition("?")[0]
    folder = address[: address.rfind("/") + 1]
    names = [name for name in folder.split("/")[3:] if name][-NAMES_LOOKED_AT:]
    if len(names) < NAMESAKES:
        return ""
    below = {_below(folder, link) for link in found}
    met_again = sum(name in below for name in names) + (names[0] == names[-1] != names[1])
    return folder if met_again >= NAMESAKES else ""


def _below(folder: str, url: str) -> str:
    """The name of the folder in the given one by which a URL goes on; empty if it is in none."""
    if not url.startswith(folder):
        return ""
    name, slash, _ = url[len(folder) :].partition("?")[0].partition("/")
    return name if slash else ""


def _is_further_page(parameters: frozenset[str], link: str) -> bool:
    """Whether all that a link adds to the page's parameters is the number of a page."""
    added = _parameters(link) - parameters
    return len(added) == 1 and FURTHER_PAGE.fullmatch(next(iter(added))) is not None


def _parameters(url: str) -> frozenset[str]:
    """The parameters of a URL, each with its value."""
    return frozenset(url.partition("?")[2].split("&")) - {""}


def _shape(url: str) -> tuple[str, str, int]:
    """Origin, the letters of the path, and the number of free dimensions."""
    address, _, query = url.partition("?")
    scheme, _, rest = address.partition("://")
    host, _, path = rest.partition("/")
    free = len(NUMBERS.findall(path)) + (query.count("&") + 1 if query else 0)
    return f"{scheme}://{host}/", NO_LETTERS.sub("", path), free


class TrapBudget:
    """Counts accepted URLs by host, by folder and by pattern, and hosts by domain.

    Rebuilt from the frontier when a crawl resumes.
    """

    def __init__(
        self, host_limit: int, pattern_limit: int, prefix_limit: int = 2**31, domain_limit: int = 2**31
    ) -> None:
        self._host_limit = host_limit
        self._domain_limit = domain_limit
        self._domains: Counter[str] = Counter()
        self._prefix_limit = prefix_limit
        self._prefixes = MarkCounter()
        self._any_crowded = False
        self._pattern_limit = pattern_limit
        self._hosts: Counter[str] = Counter()
        self._patterns = MarkCounter()
        self._new = MarkCounter()  # pages by pattern: with a text of their own, and like another one
        self._alike = MarkCounter()
        self._aside = MarkCounter()

    def refusal(self, host: str, url: str, *, listed: bool = False) -> str | None:
        """The reason why the budget refuses the canonical URL; None, and one unit spent, if it does not.

        `listed`: a sitemap names it; a list has an end, so only the host's quota holds.
        """
        reason = self._quota_refusal(host) or ("trap" if not listed and self._is_trap(url) else None)
        if reason is None:
            self.spend(host, url)
        return reason

    def host_refusal(self, host: str) -> str | None:
        """The same for a URL that another node fetches: its pattern counts there."""
        reason = self._quota_refusal(host)
        if reason is None:
            self.spend_host(host)
        return reason

    def pattern_refusal(self, url: str) -> str | None:
        """The same for a URL whose host counts at another node, which has let it through."""
        if self._is_trap(url):
            return "trap"
        self.spend_pattern(url)
        return None

    def _quota_refusal(self, host: str) -> str | None:
        known = self._hosts[host]
        if known >= self._host_limit:
            return "host_quota"
        domain = "" if known else _domain_above(host)
        return "domain_quota" if domain and self._domains[domain] >= self._domain_limit else None

    def _is_trap(self, url: str) -> bool:
        _, pattern, dimensions = outline(url)
        return bool(dimensions) and self._is_spent(pattern, dimensions)

    def _is_spent(self, pattern: int, dimensions: int) -> bool:
        """Whether a pattern has brought what it was given and has earned."""
        given = max(1, self._pattern_limit // SHRINK ** (dimensions - 1))
        count = self._patterns[pattern]
        if count < given:
            return False
        new = self._new[pattern]
        return self._alike[pattern] * ALIKE_AMONG > new or count >= given + EARNED * new

    def learn(self, url: str, *, is_new: bool) -> None:
        """A page was read: whether its text is one of its own."""
        _, pattern, dimensions = outline(url)
        if dimensions:
            (self._new if is_new else self._alike).add(pattern)

    def may_wait(self, url: str) -> bool:
        """Whether a URL that was refused may wait for its pattern to earn more: as many as a host may have in all."""
        return self._aside.add(outline(url)[1]) <= self._host_limit

    def is_crowded(self, url: str) -> bool:
        """Whether the folder of the URL has brought its share already, so that further ones come last."""
        return self._any_crowded and self._prefixes[outline(url)[0]] >= self._prefix_limit

    def spend(self, host: str, url: str) -> None:
        """Count a URL that is in the frontier already."""
        self.spend_host(host)
        self.spend_pattern(url)

    def spend_host(self, host: str) -> None:
        """Count a URL of the host."""
        if not self._hosts[host] and (domain := _domain_above(host)):
            self._domains[domain] += 1
        self._hosts[host] += 1

    def spend_pattern(self, url: str) -> None:
        """Count a URL of its pattern and folder."""
        folder, pattern, dimensions = outline(url)
        if self._prefixes.add(folder) >= self._prefix_limit:
            self._any_crowded = True
        if dimensions:
            self._patterns.add(pattern)


def _domain_above(host: str) -> str:
    """The registrable domain that a host is one of many of; empty for the domain itself and its www."""
    domain = registrable_domain(host)
    return "" if host in (domain, f"www.{domain}") else domain
