"""Texts that have everything that the geoparser's loops tell apart."""

import random

from periplus.places import Gazetteer


def texts(gazetteer: Gazetteer) -> list[str]:
    """Prose with everything the loops tell apart, and word salad of names, marks and scripts."""
    chance = random.Random(7)
    towns = [place.name for place in gazetteer.cities_of("US")[:2000:7]]
    salad = [*towns, "Texas", "Lake", "River", "East", "County", "of", "in", "said", "Mr.", "the", "St.", "U.K.", "LA"]
    marks = [
        " ",
        " ",
        " ",
        ", ",
        ". ",
        "\n",
        "-",
        "'s ",
        "’",
        " 🙂 ",
        "東京",
        "Москва ",
        "US$5 ",
        "\u0301",
        "\ud800",
        "\x00",
    ]
    made = ["".join(chance.choice(salad) + chance.choice(marks) for _ in range(150)) for _ in range(8)]
    return [
        "Floods hit Sylhet in northern Bangladesh. The mayor of Portland, Ore., met Paris Hilton by Neches River.",
        "LISBON, Portugal (AP) — Police in Athens, Georgia, said East Texas and Lake Harriet rest. Mr. Jordan ran.",
        "日本の東京都と大阪。 В Москве и Киеве. القاهرة في مصر. d'Ivoire, Côte d’Ivoire; N.Y.; Paris's mayor.",
        "L'Allemagne, l'Espagne et dell'Umbria; St. John's, Newfoundland. İzmir'de, Ankara'nın. Don't. Дожди в Казани.",
        "서울과 부산에서, 인천시는. น้ำท่วมที่เชียงใหม่และกรุงเทพมหานคร",
        "",
        *made,
    ]
