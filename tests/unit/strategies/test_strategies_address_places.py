"""Where addresses are: databases and geofeeds, how sure they are, and what happens when they agree or are no use."""

import ipaddress
from functools import cache
from pathlib import Path

import pytest
from mmdb_file import mmdb, mmdb_of

from periplus.errors import ConfigError
from periplus.model import Link, Located, Page
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import Known, Ownership, make_strategy
from periplus.strategies.address_places import AddressPlaces

BLANK = Page("http://x.example/", "", "", ())
FEED = """# a feed of ours
2.16.0.0/13,NL,NL-NH,Amsterdam,1011
2.16.3.0/24,US,US-WA,Seattle,

2.17.0.0/24,US,US-TX,Paris,75460
2.18.0.0/24,FR,,Paris,
2.19.0.0/24,DE,,,
2a02:26f0::/32,JP,JP-13,Tokyo,
"""
BAD = """2.16.4.1/24,US,,Boston,
10.0.0.0/8,US,,Boston,
nonsense,US,,Boston,
2.20.0.0/24,USA,,Boston,
2.21.0.0/24,US,US-MA,Boston,
2.21.0.0/24,US,US-CA,Fresno,
2.22.0.0/24,US,US-MA,Xyzzyville,
2.23.0.0/24,ZZ,ZZ-1,Boston,
2.23.1.0/24,,,Boston,
"""


@cache
def gazetteer() -> Gazetteer:
    return open_gazetteer()


def place(name: str) -> int:
    return gazetteer().resolve(name).id


def places(folder: Path, *texts: str, databases: tuple[Path, ...] = ()) -> AddressPlaces:
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"feed{number}.csv")
        files[-1].write_text(text, "utf-8")
    return AddressPlaces(gazetteer(), databases, files)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("2.16.9.9", "Amsterdam, Netherlands"),
        ("2.16.3.9", "Seattle, WA"),  # the longer prefix
        ("2.17.0.9", "Paris, TX"),
        ("2.18.0.9", "Paris, France"),
        ("2.19.0.9", "Germany"),
        ("2a02:26f0:1::9", "Tokyo, Japan"),
    ],
)
def test_the_smallest_place_that_a_feed_names(tmp_path: Path, address: str, name: str) -> None:
    found = places(tmp_path, FEED).place_of(address)
    assert found is not None
    assert found.place.id == place(name)
    assert found.source == "geofeed"
    assert found.confidence >= 0.8


def test_the_levels_go_up_and_become_surer(tmp_path: Path) -> None:
    levels = places(tmp_path, FEED).levels("2.16.3.9")
    assert [level.place.name for level in levels] == ["Seattle", "Washington", "United States"]
    sure = [level.confidence for level in levels]
    assert sure == sorted(sure)
    assert places(tmp_path, FEED).place_of("2.16.3.9", 0.93).place.name == "Washington"  # type: ignore[union-attr]


def test_rows_that_are_none_are_counted(tmp_path: Path) -> None:
    known = places(tmp_path, BAD)
    assert known._feeds.counts == {"bad rows": 4, "prefixes": 4, "contradictions": 1}
    assert known.levels("2.21.0.1")[0].place.name == "Boston"
    assert [level.place.name for level in known.levels("2.22.0.1")] == ["Massachusetts", "United States"]
    for address in ("2.16.4.1", "10.0.0.1", "2.20.0.1", "2.23.0.1", "2.23.1.1", "nonsense", ""):
        assert known.levels(address) == ()


def test_a_database_is_as_sure_as_its_radius_is_small(tmp_path: Path) -> None:
    for name, radius in (("near", 5), ("far", 500), ("silent", None)):
        (tmp_path / name).write_bytes(mmdb("2.16.3.0/24", place("Seattle, WA"), radius=radius))
    sure = {
        name: places(tmp_path, databases=(tmp_path / name,)).levels("2.16.3.9")[0].confidence
        for name in ("near", "far", "silent")
    }
    assert sure["near"] > 0.9
    assert 0.4 > sure["silent"] > sure["far"]


def named(city: str, division: str, country: str, **location: float) -> dict[str, object]:
    """A record in MaxMind's form without ids, as DB-IP has them."""
    return {
        "city": {"names": {"en": city}},
        "subdivisions": [{"names": {"en": division}}],
        "country": {"iso_code": country},
        "location": location,
    }


@pytest.mark.parametrize(
    ("record", "levels"),
    [
        (named("Portland", "Maine", "US"), ["Portland", "Maine", "United States"]),
        (named("Portland", "", "US", latitude=43.66, longitude=-70.25), ["Portland", "United States"]),
        (named("Paris (15th Arr.)", "", "FR"), ["Paris", "France"]),
        (named("A Hamlet of No Name", "Oregon", "US", latitude=45.5, longitude=-122.7), ["Portland", "Oregon"]),
        (named("", "", "US", latitude=45.5, longitude=-122.7), ["United States"]),  # the middle of something
        ({"city": "Seattle", "region": "Washington", "country": "US", "lat": "47.6", "lng": "-122.3"}, ["Seattle"]),
        ({"city": "Seattle", "state1": "Washington", "country_code": "us"}, ["Seattle", "Washington"]),
        ({"city": {"geoname_id": 999_999_999, "names": {"en": "Seattle"}}, "country": {"iso_code": "US"}}, ["Seattle"]),
        ({"city": "5809844", "country": "US"}, ["United States"]),  # a text is a name and no id
        ({"city": 7, "subdivisions": [3, []], "country": [], "location": {"latitude": 1e9}}, []),
    ],
)
def test_a_database_without_ids_says_it_by_names_and_coordinates(
    tmp_path: Path, record: dict[str, object], levels: list[str]
) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb_of("2.16.3.0/24", record))
    found = places(tmp_path, databases=(tmp_path / "city.mmdb",)).levels("2.16.3.9")
    assert [level.place.name for level in found][: len(levels)] == levels
    assert bool(found) == bool(levels)
    if levels[:1] == ["Portland"]:
        assert found[0].place.admin1 == ("ME" if levels[-1] != "Oregon" else "OR")


def test_a_database_of_names_is_one_of_cities_for_the_strategy(tmp_path: Path) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb_of("2.16.3.0/24", named("Seattle", "Washington", "US")))
    ownership = Ownership.of({"west": NodeSettings(places=["Seattle, WA"]), "general": NodeSettings()}, gazetteer())
    strategy = make_strategy("ip", ownership, gazetteer(), base=tmp_path, ip_database="city.mmdb")
    link = Link("http://y.example/", "")
    assert strategy.claims(link, BLANK, Located(), Known(address="2.16.3.9"))[0].node == "west"


def test_two_that_agree_are_surer_than_each(tmp_path: Path) -> None:
    (tmp_path / "city.mmdb").write_bytes(mmdb("2.16.3.0/24", place("Seattle, WA"), radius=50))
    alone = places(tmp_path, databases=(tmp_path / "city.mmdb",)).levels("2.16.3.9")[0]
    both = places(tmp_path, FEED, databases=(tmp_path / "city.mmdb",)).levels("2.16.3.9")[0]
    assert (both.place.name, both.source) == ("Seattle", "geofeed+database")
    assert both.confidence > max(alone.confidence, 0.9)


def test_the_strategy_goes_by_feeds_and_by_what_is_sure_enough(tmp_path: Path) -> None:
    (tmp_path / "feed.csv").write_text(FEED, "utf-8")
    nodes = {
        "west": NodeSettings(places=["Seattle, WA"]),
        "rest": NodeSettings(places=["Tokyo, Japan"]),
        "general": NodeSettings(),
    }
    ownership = Ownership.of(nodes, gazetteer())
    link = Link("http://y.example/", "")
    for least, node in ((0.0, "west"), (0.93, "general")):  # of the division only, which nobody owns
        strategy = make_strategy(
            "ip", ownership, gazetteer(), base=tmp_path, geofeeds=["feed.csv"], ip_confidence=least
        )
        assert strategy.claims(link, BLANK, Located(), Known(address="2.16.3.9"))[0].node == node


def test_files_that_are_no_use_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("# nothing\n", "utf-8")
    (tmp_path / "own.csv").write_text("10.0.0.0/8,US,US-TX,Houston,\n", "utf-8")
    said = {"absent.csv": "cannot be read", "empty.csv": "has no row", "own.csv": "with a public prefix"}
    for path, message in ((tmp_path / name, message) for name, message in said.items()):
        with pytest.raises(ConfigError, match=message) as caught:
            AddressPlaces(gazetteer(), [], [path])
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match=r"ip_database: .* cannot be read"):
        AddressPlaces(gazetteer(), [tmp_path / "empty.csv"])


def test_several_sites_own_the_same_places_together() -> None:
    nodes = {
        "b": NodeSettings(places=["Seattle, WA", "Tokyo, Japan"]),
        "a": NodeSettings(places=["tokyo, japan ", "Seattle, WA"]),
        "c": NodeSettings(places=["Paris, France"]),
        "g2": NodeSettings(),
        "g1": NodeSettings(),
    }
    with pytest.raises(ConfigError, match="belongs to node"):
        Ownership.of(nodes, gazetteer())
    ownership = Ownership.of(nodes, gazetteer(), several_sites=True)
    assert ownership.sites == {"a": ("a", "b"), "c": ("c",), "g1": ("g1", "g2")}
    assert ownership.owner(gazetteer().resolve("Seattle, WA")) == ("a", place("Seattle, WA"))
    assert ownership.general == ("g1",)
    assert [ownership.spokesman(name) for name in ("a", "b", "c", "g2")] == ["a", "a", "c", "g1"]
    partly = nodes | {"b": NodeSettings(places=["Seattle, WA"])}
    with pytest.raises(ConfigError, match="belongs to node"):
        Ownership.of(partly, gazetteer(), several_sites=True)


def test_prefixes_of_a_feed_are_public() -> None:
    assert not ipaddress.ip_network("192.0.2.0/24").is_global  # which is why the feeds above are made of others
