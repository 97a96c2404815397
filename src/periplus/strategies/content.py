"""Strategy `content` of paper A: the page's most probable place decides where all its links go.

    pr((c,s)|p) = α·#((c,s),p) + (1−α)·[β·S(s|c) + (1−β)·S̃(s|p)]·#(c,p)

#((c,s),p) counts the city with its state ("Portland, OR"), #(c,p) the city alone; S(s|c) is the population of (c,s)
among all cities named c; S̃(s|p) are the mentions of the state alone among those of all states with a city c. Cities
that nobody owns compete: if one of them wins, the links go to a general node.
"""

from collections.abc import Sequence

from periplus.model import Assignment, Link, Located, Page, Place
from periplus.places import Gazetteer, glue
from periplus.strategies.general import general_claims
from periplus.strategies.names import Candidate, NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.strategies.scoring import ALPHA, BETA, Bearers, count, probability, score

__all__ = ["ContentStrategy", "probability"]

MAX_MENTIONS = 5_000
MEMO_NAMES = 50_000


class ContentStrategy(Strategy):
    """Scores the places that a page names."""

    def __init__(
        self,
        ownership: Ownership,
        gazetteer: Gazetteer,
        table: NameTable | None = None,
        *,
        alpha: float = ALPHA,
        beta: float = BETA,
    ) -> None:
        self._ownership = ownership
        self._alpha, self._beta = alpha, beta
        self._table = table or NameTable(ownership, gazetteer)
        self._borne: dict[tuple[str, int], tuple[str, Bearers]] = {}
        self._known: dict[tuple[Candidate, ...], Bearers] = {}

    def route(self, links: Sequence[Link], page: Page, located: Located, _known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The same owners for all links: by the page's places, the most probable first; else a general node."""
        scores = self.scores(page, located)
        nodes: dict[str, Assignment] = {}
        for _, place in scores:
            owned = self._ownership.owner(place)
            if owned is None:
                if not nodes:
                    break  # the winner is nobody's
                continue
            nodes.setdefault(owned[0], Assignment(owned[0], place.id, "content"))
        if nodes:
            return [tuple(nodes.values())] * len(links)
        return general_claims(self._ownership, links)

    def scores(self, page: Page, located: Located) -> list[tuple[float, Place]]:
        """Every place that the page may be about with its score, best first."""
        mentions, owned = located.mentions[:MAX_MENTIONS], self._ownership.owner_by_place
        counts = count(mentions, page.text, owned, self._borne, self._bearers, self._joined)
        return score(*counts, self._alpha, self._beta)

    def _bearers(self, text: str, place: Place) -> tuple[str, Bearers]:
        """The name in a mention, and who bears it, the place itself among them; remembered."""
        name = glue(text.partition(",")[0])
        candidates = self._table.candidates.get(name) or (self._table.candidate(place),)
        if all(candidate.place.id != place.id for candidate in candidates):
            candidates = (*candidates, self._table.candidate(place))
        if len(self._borne) >= MEMO_NAMES:
            self._borne.clear()
        self._borne[text, place.id] = found = (name, self._made(candidates))
        return found

    def _made(self, candidates: tuple[Candidate, ...]) -> Bearers:
        """The same object for the same places, however the name is written."""
        found = self._known.get(candidates)
        if found is None:
            if len(self._known) >= MEMO_NAMES:
                self._known.clear()
            found = self._known[candidates] = Bearers(candidates)
        return found

    def _joined(self, known: Bearers, more: Bearers) -> Bearers:
        ids = {candidate.place.id for candidate in known.candidates}
        new = tuple(candidate for candidate in more.candidates if candidate.place.id not in ids)
        return self._made((*known.candidates, *new)) if new else known
