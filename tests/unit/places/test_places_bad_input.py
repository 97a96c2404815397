"""What no text should do: bytes, nothing, too much, odd characters, other scripts, broken gazetteers."""

from pathlib import Path

import pytest
from effort import bounded_effort

from periplus.errors import GazetteerMissing
from periplus.model import PageHints
from periplus.places import Gazetteer, locate, open_gazetteer


@pytest.mark.parametrize("given", [b"Paris", 7, None, ["Paris"]])
def test_what_is_no_text_is_refused_by_name(gazetteer: Gazetteer, given: object) -> None:
    with pytest.raises(TypeError, match="text"):
        locate(given, gazetteer)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    "noise", ["\x00", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "\u200b", "\U0001f600", "\r", "\x1b[31m"]
)
def test_odd_characters_do_not_hide_names(gazetteer: Gazetteer, noise: str) -> None:
    text = f"Floods hit Sylhet, Bangladesh. {noise} {noise}Officials in Lisbon, Portugal, helped.{noise}"
    located = locate(text, gazetteer)
    assert {"Sylhet", "Bangladesh", "Lisbon", "Portugal"} <= {m.text for m in located.mentions}
    assert all(text[m.start : m.end] == m.text for m in located.mentions)


@pytest.mark.parametrize(
    ("text", "name", "country"),
    [
        ("وقع الزلزال في القاهرة مساء أمس", "القاهرة", "EG"),
        ("הרכבת יצאה מירושלים אל תל אביב בבוקר", "תל אביב", "IL"),
        ("The mayor of القاهرة met the mayor of Lisbon, Portugal.", "القاهرة", "EG"),
        ("В Москве и Киеве шёл снег, а в городе Москва светило солнце.", "Москва", "RU"),
        ("昨日、東京で地震がありました。Lisbon は無事です。", "東京", "JP"),
        ("서울 시장이 부산을 방문했다.", "서울", "KR"),
    ],
)
def test_other_scripts_alone_and_mixed(gazetteer: Gazetteer, text: str, name: str, country: str) -> None:
    found = {m.text: m.place for m in locate(text, gazetteer).mentions if m.place is not None}
    assert found[name].country == country


def test_a_long_text_is_linear_work(gazetteer: Gazetteer) -> None:
    page = "Floods hit Sylhet, Bangladesh, on Monday, and the river rose. nobody was hurt. " * 25_000
    with bounded_effort():
        assert len(locate(page, gazetteer, candidates=False).mentions) == 50_000  # two million characters


def test_endless_hints_are_bounded(gazetteer: Gazetteer) -> None:
    hints = PageHints(place_names=("Lisbon, Portugal",) * 10_000)
    assert locate("Nothing.", gazetteer, hints=hints).footprint.main is not None


def test_a_missing_gazetteer_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(GazetteerMissing, match="gazetteer build"):
        open_gazetteer(tmp_path / "none.bin")


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty"])
def test_a_broken_gazetteer_is_a_loud_error(gazetteer: Gazetteer, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "broken.bin"
    whole = gazetteer.path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "garbage": b"not a gazetteer" * 999, "empty": b""}[damage])
    with pytest.raises(GazetteerMissing, match="gazetteer build"):
        open_gazetteer(path)
