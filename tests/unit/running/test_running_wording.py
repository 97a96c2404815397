"""Numbers and their nouns."""

from periplus.wording import counted


def test_one_is_one_and_others_are_several() -> None:
    assert [counted(number, "page") for number in (0, 1, 2, 1_000)] == ["0 pages", "1 page", "2 pages", "1,000 pages"]
    assert counted(2, "entry", "entries") == "2 entries"
