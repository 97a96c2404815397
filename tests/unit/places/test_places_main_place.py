"""What a page is about, against what it merely mentions."""

from periplus.places import Gazetteer, locate, main_place

FILLER = "The committee met again and talked about nothing in particular for a long while. " * 60


def test_a_page_that_names_a_town_once_is_not_about_it(gazetteer: Gazetteer) -> None:
    text = FILLER + "One member had once lived in Houston, Texas. " + FILLER
    located = locate(text, gazetteer)
    assert located.footprint.main is not None
    assert main_place(located, text) is None


def test_a_short_notice_about_a_town_is(gazetteer: Gazetteer) -> None:
    text = "Floods hit Houston on Monday. The mayor of Houston said that all of Texas was ready to help."
    place = main_place(locate(text, gazetteer), text)
    assert place is not None
    assert place.name == "Houston"


def test_an_address_or_the_title_settles_it(gazetteer: Gazetteer) -> None:
    text = FILLER + "Visit us at 1200 Main Street, Houston, TX 77002. " + FILLER
    place = main_place(locate(text, gazetteer), text)
    assert place is not None
    assert place.name == "Houston"
    text = FILLER + "One member had once lived in Houston, Texas. " + FILLER
    titled = main_place(locate(text, gazetteer), text, title="Meetings of the Houston club")
    assert titled is not None


def test_no_places_no_main_place(gazetteer: Gazetteer) -> None:
    assert main_place(locate("", gazetteer), "") is None
