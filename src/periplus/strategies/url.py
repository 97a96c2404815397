"""Strategy `url` of paper A: a target's name in the extracted URL itself decides.

Host labels, path and query are read as words; names are found as words (`new-york`, `new_york`, `new%20york`) and
glued (`newyork`, `visitnewyork`, `newyorkcity`, `losangelesca`). Several places may share a name, targets or not: a
state or country elsewhere in the URL decides between them, else the largest population does. Only if that winner is
a target does its owner get the link. A name that says too little (a small place's in a path, one that many places
share alike) is no answer at all: unknown is "none", not a guess.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer, glue
from periplus.strategies.conventions import ENDINGS, PAPERS, STATE_WORDS, TOWN_PEOPLE
from periplus.strategies.general import general_claims
from periplus.strategies.hash import host_of
from periplus.strategies.names import Candidate, NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.strategies.urlwords import Sighting, UrlWords

__all__ = ["UrlFinding", "UrlStrategy"]

CLEAR_SHARE = 0.4
"""Without a state in the URL the winner must hold this share of all people in places of the name, ..."""

CLEAR_SMALL_SHARE = 0.5
WELL_KNOWN = 100_000
"""... and more than that if it is not well known itself."""

KNOWN_IN_PATHS = 50_000
"""In a path or query, where any word may stand, a lone word is a place only from this population on."""

USUAL_AFTER = frozenset(ENDINGS) | STATE_WORDS
EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")
MEMO_HOSTS = MEMO_URLS = 50_000
NEXT_TO, ELSEWHERE, COUNTRY, NOTHING = 3, 2, 1, 0


@dataclass(frozen=True, slots=True)
class UrlFinding:
    """A place that a URL names: how sure its region is (0 to 3, see above), whether the host names it, whether the
    last part of the path is nothing but its name (and its region), and whether in the host a word follows that no
    place's site is usually called by (`phoenix-software`)."""

    candidate: Candidate
    region: int
    in_host: bool
    key: str
    alone: bool = False
    before_a_word: bool = False


class UrlStrategy(Strategy):
    """Finds target names in URLs: one scan over all links of a page, then look-ups for what was found."""

    by_url_alone = True

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer, table: NameTable | None = None) -> None:
        self._ownership = ownership
        self._table = table or NameTable(ownership, gazetteer)
        self._words = UrlWords(self._table)
        self._hosts: dict[str, tuple[UrlFinding, ...]] = {}
        self._urls: dict[str, tuple[UrlFinding, ...]] = {}  # the links of one page are mostly those of the next
        self._claimed: dict[str, Claims] = {}

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """Owners of the targets that each URL names, the surest first; else a general node."""
        urls = [link.url for link in links]
        claims = [self._claimed.get(url) for url in urls]
        if None in claims:
            findings = self.findings(urls)  # may clear what was remembered
            for url, found in zip(urls, findings, strict=True):
                if url not in self._claimed:
                    self._claimed[url] = _claims_of(found)
            claims = [self._claimed[url] for url in urls]
        return [own or none for own, none in zip(claims, general_claims(self._ownership, links), strict=True)]

    def findings(self, urls: Sequence[str]) -> list[tuple[UrlFinding, ...]]:
        """The places that each of the URLs names, targets or not, the surest first."""
        new = [url for url in dict.fromkeys(urls) if url not in self._urls]
        if new:
            if len(self._urls) + len(new) > MEMO_URLS:
                self._urls.clear()
                self._claimed.clear()
                new = list(dict.fromkeys(urls))
            self._learn_urls(new)
        return [self._urls[url] for url in urls]

    def _learn_urls(self, urls: list[str]) -> None:
        """What URLs say; they come again on the next pages, so it is remembered."""
        hosts = [host_of(url) for url in urls]
        self._learn_hosts({host for host in hosts if host not in self._hosts})
        found: list[tuple[UrlFinding, ...]] = [self._hosts[host] for host in hosts]
        tails = [url.partition("://")[2][len(host) :] for url, host in zip(urls, hosts, strict=True)]
        for link, finding in self._settled(tails, urls, in_host=False):
            found[link] = (*found[link], _as_in_host(finding, self._hosts[hosts[link]]))
        for url, items in zip(urls, found, strict=True):
            self._urls[url] = tuple(sorted(items, key=_surest_first)) if len(items) > 1 else items

    def _learn_hosts(self, hosts: set[str]) -> None:
        """What the names of hosts say; they come again and again, so it is remembered."""
        if len(self._hosts) + len(hosts) > MEMO_HOSTS:
            self._hosts.clear()
        ordered = sorted(hosts)
        self._hosts.update((host, ()) for host in ordered)
        for i, finding in self._settled(ordered, [f"http://{host}/" for host in ordered], in_host=True):
            self._hosts[ordered[i]] = (*self._hosts[ordered[i]], finding)

    def _settled(self, texts: Sequence[str], urls: Sequence[str], *, in_host: bool) -> list[tuple[int, UrlFinding]]:
        """The places that parts of URLs name, with their positions."""
        sightings = self._words.sightings(texts, urls, in_host=in_host)
        return [(s.link, finding) for s in sightings if (finding := self._settle(s, urls[s.link])) is not None]

    def _settle(self, sighting: Sighting, url: str) -> UrlFinding | None:
        """Which of the places that share the name is meant, if that can be said."""
        candidates = self._table.candidates[sighting.key]
        region, meant = _in_region(candidates, sighting)
        winner = meant[0]
        finding = UrlFinding(
            winner,
            region,
            sighting.in_host,
            sighting.key,
            _stands_alone(sighting, url),
            _before_a_word(sighting, url),
        )
        if region >= ELSEWHERE:
            return finding
        if sighting.region_unknown or sighting.of_county or sighting.key in PAPERS:
            return None  # it is in a state where the table knows no such place, a county, or a newspaper
        share = winner.weight / sum(candidate.weight for candidate in meant)
        if share < (CLEAR_SHARE if winner.place.population >= WELL_KNOWN else CLEAR_SMALL_SHARE):
            return None
        lone_word = not sighting.in_host and not sighting.many_words
        if lone_word and winner.place.population < KNOWN_IN_PATHS:
            return None
        return finding


def _stands_alone(sighting: Sighting, url: str) -> bool:
    """Whether the last part of the path says nothing but the name: `/Texas`, `/houston-tx/`, `/boston.html`."""
    last = url.partition("://")[2].partition("?")[0].rstrip("/").rpartition("/")[2]
    return not sighting.in_host and glue(unquote(EXTENSION.sub("", last))) in {
        sighting.key,
        sighting.key + sighting.region_next,
    }


def _before_a_word(sighting: Sighting, url: str) -> bool:
    """Whether in the host's label other words follow the name: a company's or a person's as often as a town's."""
    if not sighting.in_host:
        return False
    for label in host_of(url).split("."):
        words = label.split("-")
        for first, last in itertools.combinations(range(len(words)), 2):
            if "".join(words[first:last]) == sighting.key:
                return not (words[last].isdigit() or words[last] in USUAL_AFTER)
    return False


def _as_in_host(finding: UrlFinding, host: tuple[UrlFinding, ...]) -> UrlFinding:
    """A name in a path is the one that the host says with its state: `portland-me-guide.example/portland-food`."""
    for one in host:
        if one.key == finding.key and one.region > finding.region:
            return replace(finding, candidate=one.candidate, region=one.region)
    return finding


def _claims_of(findings: tuple[UrlFinding, ...]) -> Claims:
    """The owners of what is found; none if the surest is nobody's."""
    nodes: dict[str, Assignment] = {}
    for finding in findings:
        candidate = finding.candidate
        if candidate.node is None:
            if not nodes:
                return ()
            continue
        nodes.setdefault(candidate.node, Assignment(candidate.node, candidate.place.id, "url"))
    return tuple(nodes.values())


def _in_region(candidates: tuple[Candidate, ...], sighting: Sighting) -> tuple[int, tuple[Candidate, ...]]:
    """The candidates that agree best with the regions the URL names, and how well."""
    levels = [_agreement(candidate, sighting) for candidate in candidates]
    best = max(levels)
    agreeing = tuple(candidate for candidate, level in zip(candidates, levels, strict=True) if level == best)
    if best < ELSEWHERE and sighting.town_states:
        return best, _small_towns(agreeing, sighting.town_states) or agreeing
    return best, agreeing


def _small_towns(candidates: tuple[Candidate, ...], states: frozenset[str]) -> tuple[Candidate, ...]:
    """The candidates that may call themselves town, village or borough, whichever the host does."""
    return tuple(
        c for c in candidates if c.place.population < TOWN_PEOPLE and (c.country != "us" or c.division in states)
    )


def _agreement(candidate: Candidate, sighting: Sighting) -> int:
    if sighting.region_next:
        names = (candidate.division, candidate.division_name, candidate.country_name)
        if sighting.region_next in names:
            return NEXT_TO
    division = candidate.division_name
    if division and division in sighting.words and division not in sighting.key:  # `kansas-city` says no state
        return ELSEWHERE
    if candidate.division in sighting.codes and candidate.division:
        return ELSEWHERE
    if candidate.country in sighting.countries or candidate.country_name in sighting.words:
        return COUNTRY
    return NOTHING


def _surest_first(finding: UrlFinding) -> tuple[int, bool, int, int, int]:
    place = finding.candidate.place
    return (-finding.region, not finding.in_host, -len(finding.key), -place.population, place.id)
