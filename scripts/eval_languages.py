"""How often a large city is found in a sentence that is not English, and is the right one (part of `make eval`).

    python scripts/eval_languages.py [--check]

Every city stands in every sentence of its language, in the form that the language gives it: prepositions, articles and
words for towns before it, at the beginning of a sentence and inside. Nothing was learnt from these sentences, but words
before names were looked for with them. `--check` fails below the goal.
"""

import argparse
import sys

from periplus.places import Gazetteer, locate, open_gazetteer

GOAL = 0.92
"""Of all sentences."""

CITIES = {
    "Antwerp": 2803138, "Athens": 264371, "Beijing": 1816670, "Bergen": 3161732, "Berlin": 2950159, "Brussels": 2800866,
    "Budapest": 3054643, "Coimbra": 2740637, "Cologne": 2886242, "Copenhagen": 2618425, "Debrecen": 721472,
    "Faro": 2268339, "Florence": 3176959, "Geneva": 2660646, "Gothenburg": 2711537, "Groningen": 2755251,
    "Helsinki": 658225, "Kazan": 551487, "Krakow": 3094802, "Kyiv": 703448, "La Paz": 3911925, "Larisa": 258576,
    "Lille": 2998324, "Lisbon": 2267057, "Lodz": 3093133, "London": 2643743, "Luanda": 2240449, "Lviv": 702550,
    "Lyon": 2996944, "Malmo": 2692969, "Milan": 3173435, "Moscow": 524901, "Naples": 3172394, "New York": 5128581,
    "Nizhny Tagil": 520494, "Oslo": 3143244, "Oulu": 643492, "Paris": 2988507, "Patras": 255683, "Poznan": 3088171,
    "Quito": 3652462, "Rome": 3169070, "Seville": 2510911, "Stavanger": 3137115, "Stockholm": 2673730, "Szeged": 715429,
    "Tampere": 634963, "Thessaloniki": 734077, "Tromso": 3133895, "Trondheim": 3133880, "Turin": 3165524,
    "Turku": 633679, "Umea": 602150, "Utrecht": 2745912, "Venice": 3164603, "Vienna": 2761369, "Zurich": 2657896,
}  # fmt: skip
"""By their English names, with their GeoNames ids."""

ALSO_RIGHT = {5128581: 5128638}
"""The state of New York, where nothing tells it from the city."""

SENTENCES = {
    "pt": [
        "A cidade de {} é bonita e tem muitos turistas.",
        "O presidente da Câmara Municipal de {} assinou um acordo.",
        "Moradores de {} protestaram ontem.",
        "O avião partiu de {} para Madrid.",
        "Em {} choveu muito ontem.",
    ],
    "es": [
        "La ciudad de {} es bonita y tiene muchos turistas.",
        "El alcalde de {} firmó un acuerdo.",
        "Vecinos de {} protestaron ayer.",
        "El avión salió de {} hacia Lima.",
        "En {} llovió mucho ayer.",
    ],
    "it": [
        "La città di {} è bella e ha molti turisti.",
        "Il sindaco di {} ha firmato un accordo.",
        "I residenti di {} hanno protestato ieri.",
        "L'aereo è partito da {} per Lima.",
        "A {} è piovuto molto ieri.",
    ],
    "fr": [
        "La ville de {} est belle et a beaucoup de touristes.",
        "Le maire de {} a signé un accord.",
        "Les habitants de {} ont protesté hier.",
        "L'avion est parti de {} pour Lima.",
        "À {} il a beaucoup plu hier.",
    ],
    "de": [
        "Die Stadt {} ist schön und hat viele Touristen.",
        "Der Bürgermeister von {} unterzeichnete ein Abkommen.",
        "Einwohner von {} protestierten gestern.",
        "Das Flugzeug flog von {} nach Lima.",
        "In {} hat es gestern viel geregnet.",
    ],
    "sv": [
        "Staden {} är vacker och har många turister.",
        "Borgmästaren i {} skrev under ett avtal.",
        "Invånare i {} protesterade i går.",
        "Planet flög från {} till Lima.",
        "I {} regnade det mycket i går.",
    ],
    "no": [
        "Byen {} er vakker og har mange turister.",
        "Ordføreren i {} signerte en avtale.",
        "Innbyggere i {} protesterte i går.",
        "Flyet gikk fra {} til Lima.",
        "I {} regnet det mye i går.",
    ],
    "nl": [
        "De stad {} is mooi en heeft veel toeristen.",
        "De burgemeester van {} tekende een akkoord.",
        "Inwoners van {} protesteerden gisteren.",
        "Het vliegtuig vloog van {} naar Lima.",
        "In {} heeft het gisteren veel geregend.",
    ],
    "pl": ["Miasto {} jest piękne i ma wielu turystów."],
    "el": ["Η πόλη {} είναι όμορφη.", "Στην {} έβρεξε χθες.", "Ο δήμαρχος της {} υπέγραψε συμφωνία."],
    "ru": ["Город {} очень красивый.", "{} — большой город."],
    "fi": ["{} satoi eilen paljon.", "Poliisin mukaan {} osoitettiin mieltä."],
    "hu": ["{} sok eső esett tegnap.", "A rendőrség szerint {} tüntettek tegnap."],
}

NAMES = {
    "pt": "Lisboa=Lisbon Londres=London Genebra=Geneva Moscou=Moscow Nova_York=New_York Paris Roma=Rome "
    "Bruxelas=Brussels Berlim=Berlin Milão=Milan Pequim=Beijing Coimbra Faro Luanda",
    "es": "Londres=London Ginebra=Geneva Moscú=Moscow Nueva_York=New_York París=Paris Roma=Rome Bruselas=Brussels "
    "Berlín=Berlin Milán=Milan Pekín=Beijing Sevilla=Seville Quito La_Paz Lisboa=Lisbon",
    "it": "Londra=London Ginevra=Geneva Mosca=Moscow New_York Parigi=Paris Roma=Rome Bruxelles=Brussels "
    "Berlino=Berlin Milano=Milan Pechino=Beijing Firenze=Florence Torino=Turin Napoli=Naples Venezia=Venice",
    "fr": "Londres=London Genève=Geneva Moscou=Moscow New_York Paris Rome Bruxelles=Brussels Berlin Milan "
    "Pékin=Beijing Florence Turin Lyon Lille",
    "de": "London Genf=Geneva Moskau=Moscow New_York Paris Rom=Rome Brüssel=Brussels Berlin Mailand=Milan "
    "Peking=Beijing Florenz=Florence Köln=Cologne Wien=Vienna Zürich=Zurich",
    "sv": "London Genève=Geneva Moskva=Moscow New_York Paris Rom=Rome Bryssel=Brussels Berlin Göteborg=Gothenburg "
    "Malmö=Malmo Köpenhamn=Copenhagen Oslo Umeå=Umea Stockholm",
    "no": "London Moskva=Moscow New_York Paris Roma=Rome Brussel=Brussels Berlin Tromsø=Tromso Bergen "
    "København=Copenhagen Oslo Trondheim Stavanger",
    "nl": "Londen=London Genève=Geneva Moskou=Moscow New_York Parijs=Paris Rome Brussel=Brussels Berlijn=Berlin "
    "Milaan=Milan Peking=Beijing Antwerpen=Antwerp Utrecht Groningen Keulen=Cologne",
    "pl": "Londyn=London Genewa=Geneva Moskwa=Moscow Nowy_Jork=New_York Paryż=Paris Rzym=Rome Bruksela=Brussels Berlin "
    "Mediolan=Milan Pekin=Beijing Kraków=Krakow Łódź=Lodz Poznań=Poznan",
    "el": "Αθήνα=Athens Θεσσαλονίκη=Thessaloniki Πάτρα=Patras Λάρισα=Larisa Ρώμη=Rome Μόσχα=Moscow",
    "ru": "Киев=Kyiv Москва=Moscow Лондон=London Париж=Paris Рим=Rome Казань=Kazan Львов=Lviv "
    "Нижний_Тагил=Nizhny_Tagil",
    "fi": "Helsingissä=Helsinki Turussa=Turku Tampereella=Tampere Oulussa=Oulu Lontoossa=London Pariisissa=Paris "
    "Roomassa=Rome Moskovassa=Moscow Berliinissä=Berlin Tukholmassa=Stockholm Brysselissä=Brussels Pekingissä=Beijing "
    "Genevessä=Geneva",
    "hu": "Budapesten=Budapest Debrecenben=Debrecen Szegeden=Szeged Londonban=London Párizsban=Paris Rómában=Rome "
    "Moszkvában=Moscow Berlinben=Berlin Bécsben=Vienna Brüsszelben=Brussels Pekingben=Beijing Genfben=Geneva",
}
"""What each language calls the cities; the name alone where it is the English one."""


def is_right(gazetteer: Gazetteer, language: str, sentence: str, name: str, city: int) -> bool:
    """Whether the city is found where it is named."""
    text = sentence.format(name)
    mentions = locate(text, gazetteer, language=language, candidates=False).mentions
    found = {mention.place.id for mention in mentions if mention.text == name and mention.place}
    return not found.isdisjoint({city, ALSO_RIGHT.get(city, city)})


def measured(gazetteer: Gazetteer, language: str) -> tuple[int, int, list[str]]:
    """Sentences of a language that are read right, all of them, and the names that are not in some."""
    pairs = [one.replace("_", " ").partition("=")[::2] for one in NAMES[language].split()]
    right, missed = 0, []
    for name, english in pairs:
        wrong = [
            one for one in SENTENCES[language] if not is_right(gazetteer, language, one, name, CITIES[english or name])
        ]
        right += len(SENTENCES[language]) - len(wrong)
        missed += [f"{name} ({len(wrong)})"] if wrong else []
    return right, len(pairs) * len(SENTENCES[language]), missed


def main() -> None:
    """Print a line for each language, and all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    gazetteer = open_gazetteer()
    results = {language: measured(gazetteer, language) for language in SENTENCES}
    for language, (right, of, missed) in results.items():
        print(f"  {language}  {right:3d} of {of:3d}  {'not always: ' + ', '.join(missed) if missed else ''}")
    right, of = sum(one[0] for one in results.values()), sum(one[1] for one in results.values())
    print(f"large cities in other languages: {right} of {of}, {right / of:.3f} (goal {GOAL})")
    if check and right / of < GOAL:
        sys.exit(1)


if __name__ == "__main__":
    main()
