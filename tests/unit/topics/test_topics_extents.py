"""Spatial extents in R: where polygons are loaded, relations are computed from them, once before the crawl."""

import json
from typing import Literal

import pytest

from periplus.model import Located, Mention, Page
from periplus.places import Gazetteer, open_gazetteer
from periplus.places.cache import build_from
from periplus.places.sources import Draft, Gathered
from periplus.settings import RelatednessSettings, TopicSettings
from periplus.topics import Topic, judge, make_topic

US, SPRINGFIELD, TEXAS = 6252001, 4250542, 4736286


def _base() -> Gathered:
    drafts = [
        Draft("world", 6295630, "World", "world", names=[("World", 0)]),
        Draft("+NA", 6255149, "North America", "continent", parent="world", names=[("North America", 0)]),
        Draft("US", US, "United States", "country", "US", "", 39.8, -98.5, 0, "+NA", names=[("United States", 0)]),
        Draft("US.IL", 4896861, "Illinois", "admin1", "US", "IL", 40.0, -89.2, parent="US", names=[("Illinois", 0)]),
        Draft("US.TX", TEXAS, "Texas", "admin1", "US", "TX", 31.2, -99.2, parent="US", names=[("Texas", 0)]),
        Draft(
            f"#{SPRINGFIELD}", SPRINGFIELD, "Springfield", "city", "US", "IL", 39.8, -89.64, 114394, "US.IL",
            "America/Chicago", [("Springfield", 0)],
        ),
    ]  # fmt: skip
    return Gathered({draft.key: draft for draft in drafts}, [])


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Gazetteer:
    """A region whose polygon holds Springfield, and one that overlaps the region; neither is in the other's chain."""
    folder = tmp_path_factory.mktemp("shapes")
    boxes = {"Lincolnland": (-90.0, 39.5, -89.0, 40.0), "Corn Country": (-89.5, 39.8, -88.0, 41.0)}
    features = [
        {
            "type": "Feature",
            "properties": {"name": name, "kind": "region", "parent": "United States"},
            "geometry": {"type": "Polygon", "coordinates": [[[w, s], [e, s], [e, n], [w, n], [w, s]]]},
        }
        for name, (w, s, e, n) in boxes.items()
    ]
    (folder / "own.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    build_from([folder / "own.geojson"], folder / "own.bin", base=_base())
    return open_gazetteer(folder / "own.bin")


def _topic(gazetteer: Gazetteer, kind: Literal["default", "paper"], overlap: float = 0.4) -> Topic:
    factors = RelatednessSettings(overlap=overlap)
    return make_topic(TopicSettings(judge=kind, places={"Lincolnland": 1.0}, relatedness=factors), "t", gazetteer)


def _relevance(topic: Topic, gazetteer: Gazetteer, *places: str | int) -> float:
    found = [gazetteer.place(p) if isinstance(p, int) else gazetteer.resolve(p) for p in places]
    mentions = tuple(Mention(50 * i, 50 * i + 5, place.name, place, 1.0) for i, place in enumerate(found, start=4))
    return judge(Page("", "", "x " * 400, ()), Located(mentions), topic).place_relevance


def test_a_place_inside_a_polygon_is_inside_for_the_papers_rule(shaped: Gazetteer) -> None:
    topic = _topic(shaped, "paper")
    assert topic.related[SPRINGFIELD] == ((0, 0.6),)
    assert topic.related[shaped.resolve("Corn Country").id] == ((0, 0.4),)
    assert TEXAS not in topic.related
    assert _relevance(topic, shaped, SPRINGFIELD) == 1.0
    assert _relevance(topic, shaped, TEXAS) == 0.0


def test_overlap_counts_as_much_as_it_is_set_to(shaped: Gazetteer) -> None:
    topic = _topic(shaped, "paper", overlap=0.1)
    assert topic.related[shaped.resolve("Corn Country").id] == ((0, 0.1),)


def test_the_default_judge_counts_places_by_their_outline(shaped: Gazetteer) -> None:
    topic = _topic(shaped, "default")
    inside = _relevance(topic, shaped, SPRINGFIELD, SPRINGFIELD, SPRINGFIELD)
    assert inside == _relevance(topic, shaped, "Lincolnland", "Lincolnland", "Lincolnland")
    overlapping = _relevance(topic, shaped, "Corn Country", "Lincolnland", "Lincolnland")
    elsewhere = _relevance(topic, shaped, TEXAS, "Lincolnland", "Lincolnland")
    assert inside > overlapping > elsewhere
    assert _relevance(topic, shaped, TEXAS) == 0.0
