"""Names as the languages of pages have them: declined, in their own form, and words that are none."""

import pytest

from periplus.places import Gazetteer, locate


def found(text: str, gazetteer: Gazetteer, language: str) -> dict[str, str]:
    mentions = locate(text, gazetteer, language=language, candidates=False).mentions
    return {m.text: m.place.name for m in mentions if m.place is not None}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fi", "Helsingissä ja Turussa satoi lunta.", {"Helsingissä": "Helsinki", "Turussa": "Turku"}),
        ("fi", "Hän muutti Tampereelle ja sieltä Kuopioon.", {"Tampereelle": "Tampere", "Kuopioon": "Kuopio"}),
        ("fi", "Suomen hallitus oli Lahdessa, Venäjän Kiinassa.", {"Suomen": "Finland", "Kiinassa": "China"}),
        ("fi", "Lontoossa ja Washingtonissa tavattiin.", {"Lontoossa": "London", "Washingtonissa": "Washington"}),
        ("hu", "Budapesten és Debrecenben is esett.", {"Budapesten": "Budapest", "Debrecenben": "Debrecen"}),
        ("hu", "A vonat Bécsből Pozsonyba ment.", {"Bécsből": "Vienna", "Pozsonyba": "Bratislava"}),
        ("de", "Der Norden Deutschlands und Berlins Mieten.", {"Deutschlands": "Germany", "Berlins": "Berlin"}),
        ("sv", "Sveriges regering och Stockholms tingsrätt.", {"Sveriges": "Sweden", "Stockholms": "Stockholm"}),
        ("pl", "Wczoraj mieszkańcy Poznania i władze Łodzi.", {"Poznania": "Poznań", "Łodzi": "Łódź"}),
        ("bn", "সিলেটে ও চট্টগ্রামের পথে বন্যা, ঢাকায় বৃষ্টি।", {"সিলেট": "Sylhet", "চট্টগ্রাম": "Chattogram", "ঢাকা": "Dhaka"}),
    ],
)
def test_names_lose_the_endings_of_the_texts_language(
    gazetteer: Gazetteer, language: str, text: str, expected: dict[str, str]
) -> None:
    result = found(text, gazetteer, language)
    assert {name: result.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("language", "text", "none"),
    [
        ("de", "Der Sprecher der Hamas und Frau Jacobs vom Rat des Bundes.", {"Hamas", "Jacobs", "Bundes"}),
        ("en", "Melissa met Helsen in a bar.", {"Melissa", "Helsen"}),
        ("fi", "Tämä on paras aika. Minä en tiedä.", {"Tämä"}),
        ("pl", "Ludzie ci żyją w kulturze, a brak czasu nie jest dla nich.", {"Ludzie"}),
    ],
)
def test_what_only_looks_like_an_ending_is_none(gazetteer: Gazetteer, language: str, text: str, none: set[str]) -> None:
    assert none.isdisjoint(found(text, gazetteer, language))


@pytest.mark.parametrize(
    ("language", "name", "place"),
    [
        ("de", "in Niedersachsen", "Lower Saxony"), ("de", "in NRW", "North Rhine-Westphalia"),
        ("de", "in Sachsen", "Saxony"), ("de", "in Kärnten", "Carinthia"), ("it", "in Lombardia", "Lombardy"),
        ("it", "in Sardegna", "Sardinia"), ("es", "en Castilla y León", "Castille and León"),
        ("fr", "en Bretagne", "Brittany"), ("nl", "in Noord-Brabant", "North Brabant"),
        ("fi", "Lapissa", "Lapland"), ("ru", "в Татарстане", "Tatarstan Republic"), ("hi", "बिहार", "Bihar"),
        ("zh", "四川省", "Sichuan"), ("ja", "北海道", "Hokkaido"), ("en", "in North Darfur", "Northern Darfur"),
    ],
)  # fmt: skip
def test_states_are_found_by_what_they_are_called_at_home(
    gazetteer: Gazetteer, language: str, name: str, place: str
) -> None:
    assert found(f"{name}.", gazetteer, language) == {name.partition(" ")[2] or name: place}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Nach dem Erdbeben in der Türkei half die Schweiz.", {"Türkei": "Turkey", "Schweiz": "Switzerland"}),
        ("fr", "Séisme au Maroc, et la Chine aide.", {"Maroc": "Morocco", "Chine": "China"}),
        ("it", "Il sindaco di Venezia ha parlato.", {"Venezia": "Venice"}),
        ("de", "Mit Oma und Malte am Herd sprach Siri.", {}),
    ],
)
def test_countries_and_cities_are_known_by_the_texts_own_names(
    gazetteer: Gazetteer, language: str, text: str, expected: dict[str, str]
) -> None:
    assert found(text, gazetteer, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("fr", "Nice a battu Marseille hier soir.", ("Nice", "Nice", "FR")),
        ("fr", "À Nice, il a plu.", ("Nice", "Nice", "FR")),
        ("fr", "Elle habite à Nice depuis dix ans.", ("Nice", "Nice", "FR")),
        ("it", "Roma è la capitale.", ("Roma", "Rome", "IT")),
        ("es", "Las inundaciones en Valencia dejaron muchos muertos.", ("Valencia", "Valencia", "ES")),
        ("es", "Valencia y Caracas sufrieron apagones.", ("Valencia", "Valencia", "VE")),
        ("es", "El alcalde de San José firmó un acuerdo.", ("San José", "San José", "CR")),
        ("nl", "De burgemeester van Hoorn tekende een akkoord.", ("Hoorn", "Hoorn", "NL")),
    ],
)
def test_a_town_is_no_foreign_word_where_its_language_is_spoken(
    gazetteer: Gazetteer, language: str, text: str, place: tuple[str, str, str]
) -> None:
    """Nice was an English word, Roma a first name, and Valencia in Venezuela."""
    mentions = locate(text, gazetteer, language=language).mentions
    assert place in [(m.text, m.place.name, m.place.country) for m in mentions if m.place]


def test_a_page_of_another_country_means_its_own_town(gazetteer: Gazetteer) -> None:
    text = "El alcalde de Valencia firmó un acuerdo."
    place = locate(text, gazetteer, language="es", url="https://example.com.ve/").mentions[0].place
    assert place is not None
    assert place.country == "VE"


def test_english_words_stay_words_in_english(gazetteer: Gazetteer) -> None:
    assert found("Nice people live here. It was Nice of them.", gazetteer, "en") == {}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Starke Hitze gab es nur in der Mitte, kein Regen, und die Kita hat ein neues Gerät mit Holz."),
        ("es", "Puntos de Vista"),
        ("es", "Tenis de Mesa"),
        ("es", "La Iglesia y la Universidad no son el Registro."),
        ("pt", "O presidente da República e o Congresso Nacional."),
        ("fr", "Cela est juste. Seul un enfant le sait."),
        ("ja", "会社やグループなどの名前"),
        ("bn", "এ ঘটনা ঘটতে পারে।"),
        ("ar", "موجة جديدة من الحراك في البلاد يوم الجمعة"),
        ("en", "The North won the war. Summer annual up North, in the South too."),
        ("en", "Waves crash over the wall\nPA\nShoppers queue outside\nPA\nThe text is CC-BY-SA."),
    ],
)
def test_words_are_no_places(gazetteer: Gazetteer, language: str, text: str) -> None:
    assert found(text, gazetteer, language) == {}


def test_letters_of_states_count_where_they_belong_to_something(gazetteer: Gazetteer) -> None:
    text = "He lives in Scranton, PA, and the senator (R-SC) came from TX to see him."
    assert {"PA", "TX"} <= set(found(text, gazetteer, "en"))


@pytest.mark.parametrize(
    ("text", "name", "path"),
    [
        ("Candidatos en Medellín, Cali y Bogotá - Colombia", "Colombia", ("World", "South America", "Colombia")),
        ("Guatemala sube los precios en Amatitlán.", "Guatemala", ("World", "North America", "Guatemala")),
        ("Neve in Molise, a Campobasso e Isernia.", "Molise", ("World", "Europe", "Italy", "Molise")),
    ],
)
def test_a_country_is_no_village_of_its_name(gazetteer: Gazetteer, text: str, name: str, path: tuple[str, ...]) -> None:
    mentions = {m.text: m.place for m in locate(text, gazetteer).mentions}
    place = mentions[name]
    assert place is not None
    assert place.path == path


@pytest.mark.parametrize(
    ("text", "name", "country"),
    [
        ("A flight from Kraków to Dublin diverted to Leeds Bradford Airport.", "Kraków", "PL"),
        ("Teams in Cox's Bazar treat refugees from Rakhine State.", "Cox's Bazar", "BD"),
        ("He moved from Texas to Paris.", "Paris", "FR"),
        ("In Halle (Saale) und Frankfurt (Oder) regnete es.", "Frankfurt (Oder)", "DE"),
    ],
)
def test_large_cities_lie_where_they_are(gazetteer: Gazetteer, text: str, name: str, country: str) -> None:
    mentions = {m.text: m for m in locate(text, gazetteer).mentions}
    place = mentions[name].place
    assert place is not None
    assert (place.country, place.kind, mentions[name].within) == (country, "city", False)
