"""Hits made ready to be shown: snippet, marks, places, and where asked the parts of the score."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from periplus.content import said_in
from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.question import Question
from periplus.search.ranker import Candidate
from periplus.search.ranking import relation
from periplus.search.results import Hit
from periplus.search.shard import PageRecord, PageText, Shard
from periplus.search.snippets import Marker, Snippet

__all__ = ["HitBuilder"]

OTHER_PLACES = 5


class HitBuilder:
    """Builds the hits of one question."""

    def __init__(self, question: Question, atlas: Atlas, languages: frozenset[str], *, explain: bool) -> None:
        self._question = question
        self._atlas = atlas
        self._explain = explain
        place = question.where.place
        self._marker = Marker(question.words_looked_for, [place.name] if place else [], languages)

    def hits(self, found: Sequence[tuple[Candidate, PageRecord]], first_rank: int, relation_to_place: str) -> list[Hit]:
        """Results as they are shown, numbered from `first_rank`."""
        by_shard: dict[Shard, list[int]] = {}
        for candidate, record in found:
            by_shard.setdefault(candidate.shard, []).append(record.id)
        footprints = {shard: shard.footprints(pages) for shard, pages in by_shard.items()}
        texts = {shard: shard.texts(pages) for shard, pages in by_shard.items()}
        return [
            replace(
                self._hit(
                    candidate,
                    record,
                    footprints[candidate.shard].get(record.id, []),
                    texts[candidate.shard].get(record.id, ("", [])),
                ),
                rank=rank,
                relation=relation_to_place,
            )
            for rank, (candidate, record) in enumerate(found, first_rank)
        ]

    def _hit(
        self,
        candidate: Candidate,
        record: PageRecord,
        footprint: Sequence[tuple[int, float]],
        read: PageText,
    ) -> Hit:
        """The hit, without its rank."""
        text, mentions = read
        inside = [(start, end) for start, end, place_id, _ in mentions if self._is_where(place_id)]
        snippet = self._snippet(record, text, inside)
        main = record.main_place if record.main_place is not None else next((place for place, _ in footprint), None)
        others = [
            (place, weight)
            for place_id, weight in footprint
            if place_id != main and (place := self._atlas.get(place_id)) is not None
        ]
        return Hit(
            rank=0,
            node=candidate.shard.key,
            page=record.id,
            url=record.url,
            title=record.title,
            title_marks=tuple(self._marker.marks(record.title, record.language)),
            snippet=snippet.text,
            marks=snippet.marks,
            score=candidate.score,
            published=record.published,
            fetched=record.fetched_at,
            language=record.language,
            topics=tuple(record.topic.splitlines()),
            place=self._atlas.get(main) if main is not None else None,
            other_places=tuple(others[:OTHER_PLACES]),
            reason=self._reason(candidate),
            alike=candidate.alike,
            explanation=self._explanation(candidate) if self._explain else None,
        )

    def _snippet(self, record: PageRecord, text: str, mentions: Sequence[tuple[int, int]]) -> Snippet:
        """Out of what the page says; where that has none of the words, of its description or of what stands aside."""
        said = said_in(text)
        snippet = self._marker.snippet(said, mentions, language=record.language, title=record.title)
        if snippet.marks:
            return snippet
        others = list(filter(None, (record.description, text[len(said) :].strip())))
        found = [self._marker.snippet(other, language=record.language, title=record.title) for other in others]
        if not record.description:
            found.insert(0, snippet)
        return next((one for one in found if one.marks), found[0] if found else snippet)

    def _is_where(self, place_id: int) -> bool:
        place = self._atlas.get(place_id)
        return place is not None and relation(place, self._question.where) > 0

    def _reason(self, candidate: Candidate) -> str:
        """How the place that made the page a hit relates to the one asked for; empty where it is that place."""
        where = self._question.where
        found = self._atlas.get(candidate.geo.place_id) if candidate.geo.place_id is not None else None
        asked = next((place for place in where.places if found and found.is_inside(place)), where.place)
        asked = asked or _nearest((*where.candidates[:1], *where.others), found)
        if found is None or (asked is not None and found.id == asked.id):
            return ""
        if asked is not None and asked.id in found.ancestors and where.circle is None:
            return f"{found.name} is in {asked.name}"
        center = asked.point if asked and not where.zip_code else None
        if center is None:
            center = where.circle.center if where.circle else None
        if center is None or found.point is None:
            return ""
        name = f"ZIP code {where.zip_code}" if where.zip_code else asked.name if asked else "the point"
        return f"{found.name} is {found.point.distance_km(center):.0f} km from {name}"

    def _explanation(self, candidate: Candidate) -> dict[str, Any]:
        geo = candidate.geo
        place = self._atlas.get(geo.place_id) if geo.place_id is not None else None
        return {
            "formula": "score = text × geo × fresh; geo = relation × (0.05 + 0.95 × weight)",
            "text": round(candidate.text_score, 6),
            "geo": round(geo.value, 6),
            "place": place.label if place else None,
            "relation": round(geo.relation, 6),
            "weight": round(geo.weight, 6),
            "fresh": round(candidate.fresh, 6),
        }


def _nearest(places: Sequence[KnownPlace], found: KnownPlace | None) -> KnownPlace | None:
    """Of the places asked for the one that is nearest to what was found."""

    def distance(place: KnownPlace) -> float:
        return place.point.distance_km(found.point) if place.point and found and found.point else 0.0

    return min(places, key=distance, default=None)
