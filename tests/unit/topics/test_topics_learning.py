"""Topics learnt from samples: the targets, the words, the file, and the commands around it."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from periplus.cli import assemble
from periplus.errors import PlaceError, UsageError
from periplus.places import Gazetteer, locate
from periplus.topics.learning import learn, learn_paper
from periplus.topics.logistic import fit_logistic
from periplus.topics.reading import Reading, read_document

FLOODS = [
    "Floods in Bangladesh\nHeavy rain flooded villages near Sylhet in Bangladesh. Rescue boats carried families away.",
    "River bursts its banks\nThe flooded river in Bangladesh rose again. Boats reached Dhaka with rescued families.",
    "Rain goes on\nRain and flood warnings for Bangladesh: rivers rise near Sylhet, rescue teams wait in Dhaka.",
    "Rescue after the flood\nRescue boats were sent to flooded villages of Bangladesh as the river rose.",
    "Flood water falls\nFlood water fell near Dhaka, Bangladesh, after a week of rain; families returned by boat.",
]
OTHERS = [
    f"{subject} in {place}\nThe {subject} in {place} drew many people. The minister spoke about the {subject}."
    for subject in ("election", "football match", "trade fair", "concert")
    for place in ("Bangladesh", "India", "Germany", "Kenya", "Brazil")
]


def readings(texts: list[str], gazetteer: Gazetteer) -> list[Reading]:
    return [read_document(text, locate(text, gazetteer), language="en") for text in texts]


def test_one_country_gives_one_target_and_its_words(gazetteer: Gazetteer) -> None:
    for others in ([], readings(OTHERS, gazetteer)):
        found = learn(readings(FLOODS, gazetteer), others, place_of=gazetteer.place)
        assert [place.name for place in found.places] == ["Bangladesh"]
        assert {"flood", "rescu", "boat"} <= set(list(found.keywords)[:12])
        assert found.settings.form == ("logistic" if others else "cosine")
        assert 0 < found.settings.keyword_half < 1


def test_several_places_are_all_found(gazetteer: Gazetteer) -> None:
    texts = [f"Floods in {place}\nRain flooded {place} and rivers rose." for place in ("Portugal", "Spain")] * 4
    found = learn(readings(texts, gazetteer), place_of=gazetteer.place)
    assert {place.name for place in found.places} == {"Portugal", "Spain"}


def test_samples_of_one_city_narrow_the_target(gazetteer: Gazetteer) -> None:
    texts = ["New trams\nBoston, Massachusetts, has new trams. Boston likes them."] * 2
    texts += ["Old trams\nBoston, Massachusetts, sells its old trams."] * 2
    found = learn(readings(texts, gazetteer), place_of=gazetteer.place)
    assert [place.name for place in found.places] != ["United States"]


def test_rejected_pages_change_the_judgement(gazetteer: Gazetteer) -> None:
    samples, others = readings(FLOODS, gazetteer), readings(OTHERS, gazetteer)
    rejected = readings(["Boat race\nRescue boats won the boat race in Bangladesh."] * 3, gazetteer)
    before = learn(samples, others, place_of=gazetteer.place).keywords["boat"]
    after = learn(samples, others, rejected=rejected, place_of=gazetteer.place)
    assert after.keywords.get("boat", -after.against.get("boat", 0.0)) < before


def test_paper_learns_by_frequency(gazetteer: Gazetteer) -> None:
    found = learn_paper(readings(FLOODS, gazetteer), place_of=gazetteer.place)
    assert max(found.keywords.values()) == 1.0
    assert max(found.places.values()) == 1.0
    assert len(found.keywords) == 10


def test_the_papers_weights_are_frequencies_by_the_highest(gazetteer: Gazetteer) -> None:
    texts = ["Rain, rain, rain and flood in Peru, Peru.", "Rain and flood in Chile.", "Flood, flood. Dam."]
    plain = [read_document(text, locate(text, gazetteer), language="en", plain=True) for text in texts]
    found = learn_paper(plain, place_of=gazetteer.place)
    assert found.keywords == {"rain": 1.0, "flood": 1.0, "dam": 0.25}
    assert {place.name: weight for place, weight in found.places.items()} == {"Peru": 1.0, "Chile": 0.5}


def test_phrases_are_words_that_belong_together(gazetteer: Gazetteer) -> None:
    fill = "market day price week report trader buyer seller office figure"
    words = fill.split()
    texts = [
        f"Crude oil rose. {' '.join(words[i:] + words[:i])} oil tanker, crude oil. {fill} oil price crude oil."
        for i in range(6)
    ]
    others = readings(OTHERS, gazetteer)
    for background in ([], others):
        found = learn(readings(texts, gazetteer), background, place_of=gazetteer.place)
        assert "crude oil" in found.keywords
    alternating = ["red blue red green blue red green red blue green blue red " * 4] * 4
    found = learn(readings(alternating, gazetteer), others, place_of=gazetteer.place)
    assert not [term for term in found.keywords if " " in term], "neighbours by chance are no phrase"


def test_candidates_for_the_target_are_listed_with_their_shares(gazetteer: Gazetteer) -> None:
    found = learn(readings([*FLOODS, "Floods\nIndia sent boats to Bangladesh."], gazetteer), place_of=gazetteer.place)
    names = [candidate.place.name for candidate in found.candidates]
    assert names[0] == "Bangladesh"
    assert "India" in names
    assert found.candidates[0].samples == 6
    assert found.candidates[0].share > found.candidates[names.index("India")].share


def test_learning_is_deterministic(gazetteer: Gazetteer) -> None:
    samples, others = readings(FLOODS, gazetteer), readings(OTHERS, gazetteer)
    assert learn(samples, others, place_of=gazetteer.place) == learn(samples, others, place_of=gazetteer.place)


def test_logistic_survives_one_class_and_equal_documents() -> None:
    import numpy as np

    gram = np.ones((4, 4))
    dual, bias = fit_logistic(gram, np.array([1.0, 1.0, 1.0, 1.0]), np.ones(4))
    assert not dual.any()
    assert bias == 0.0
    dual, bias = fit_logistic(gram, np.array([1.0, 0.0, 1.0, 0.0]), np.ones(4))
    assert np.isfinite(dual).all()
    assert np.isfinite(bias)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    folder.mkdir()
    for i, text in enumerate(FLOODS[:3]):
        (folder / f"{i}.txt").write_text(text)
    title, body = FLOODS[3].split("\n")
    (folder / "3.html").write_text(f"<!doctype html><html lang=en><title>{title}</title><p>{body}</p>")
    (folder / "4.jsonl").write_text(json.dumps({"id": 4, "text": FLOODS[4]}) + "\n")
    return folder


def run(*arguments: str | Path, text: str | None = None) -> str:
    result = CliRunner().invoke(
        assemble(str(arguments[0])), [str(a) for a in arguments], input=text, catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_learn_then_score_then_judge(samples: Path, tmp_path: Path) -> None:
    others = tmp_path / "others.jsonl"
    others.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(OTHERS)))
    topic = tmp_path / "floods.toml"
    shown = json.loads(run("topic", "learn", samples, "-o", topic, "--background", others, "--json"))
    assert shown["samples"] == 5
    assert shown["places"][0]["name"] == "Bangladesh"
    table = tomllib.loads(topic.read_text())["topic"]
    assert table["places"] == {"Bangladesh": 1.0}
    assert "flooded" in table["keywords"] or "flood" in table["keywords"]

    page = {"id": "a", "text": "Villages flooded\nRescue boats in Bangladesh: the river rose near Dhaka after rain."}
    elsewhere = {"id": "b", "text": "Villages flooded\nRescue boats in Kenya: the river rose near Nairobi after rain."}
    off = {"id": "c", "text": "Election in Bangladesh\nThe minister spoke about the election in Dhaka."}
    lines = "".join(json.dumps(row) + "\n" for row in (page, elsewhere, off))
    scores = [json.loads(line) for line in run("score", topic, "-", "--jsonl", text=lines).splitlines()]
    assert [row["id"] for row in scores] == ["a", "b", "c"]
    assert [row["relevant"] for row in scores] == [True, False, False]
    assert set(scores[0]) == {"id", "keyword_relevance", "place_relevance", "relevant", "evidence"}

    judged = tmp_path / "judged.jsonl"
    judged.write_text(json.dumps(page | {"relevant": True}) + "\n" + json.dumps(off | {"relevant": False}) + "\n")
    again = json.loads(run("topic", "judge", topic, judged, "--json"))
    assert again["samples"] == 6


def test_more_samples_extend_a_topic(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    run("topic", "learn", samples, "-o", topic)
    more = tmp_path / "more.txt"
    more.write_text("Flood again\nAnother flood in Bangladesh swept over the embankment.")
    assert json.loads(run("topic", "learn", "--more-like", more, "-o", topic, "--json"))["samples"] == 6


def test_the_preview_shows_counts_candidates_and_how_to_take_another_target(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    shown = run("topic", "learn", samples, "-o", topic)
    assert "5 samples" in shown
    assert all(word in shown for word in ("keyword", "weight", "samples", "flood", "mean share", "target"))
    assert "target Asia / Bangladesh; another one: --place NAME" in " ".join(shown.split())
    run("topic", "learn", samples, "-o", topic, "--place", "India")
    assert list(tomllib.loads(topic.read_text())["topic"]["places"]) == ["India"]


def test_a_topic_file_can_be_edited_by_hand(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    run("topic", "learn", samples, "-o", topic)
    plain = topic.read_text()
    assert plain.startswith("# A topic of Periplus")
    data = tomllib.loads(plain)["topic"]
    assert all(0 < weight <= 1 for weight in data["keywords"].values())
    topic.write_text(plain.replace("\n[topic]\n", '\n[topic]\npoint = "strict"\nplace_threshold = 1.0\n'))
    assert not json.loads(run("score", topic, samples / "0.txt", "--json"))["relevant"]


def test_more_samples_may_be_a_folder(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    run("topic", "learn", samples, "-o", topic)
    more = tmp_path / "more"
    more.mkdir()
    for number in range(3):
        (more / f"{number}.txt").write_text(f"Embankment {number}\nThe embankment in Bangladesh broke in the flood.")
    again = json.loads(run("topic", "learn", "--more-like", more, "-o", topic, "--json"))
    assert again["samples"] == 8
    assert "embankment" in {row["word"] for row in again["keywords"]}


def test_paper_topic_is_judged_by_the_paper(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    run("topic", "learn", samples, "-o", topic, "--paper")
    assert tomllib.loads(topic.read_text())["topic"]["judge"] == "paper"
    found = json.loads(run("score", topic, samples / "0.txt", "--json"))
    assert found["relevant"]


def test_bad_input_is_one_clear_line(samples: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.toml"
    one = tmp_path / "one.txt"
    one.write_text("Only one sample about a flood.")
    empty = tmp_path / "empty.toml"
    empty.write_text("[topic]\n")
    for arguments, message in [
        (("topic", "learn", one, "-o", out), "3 to 100"),
        (("topic", "learn", tmp_path / "absent", "-o", out), "cannot read"),
        (("score", empty, one), "empty"),
        (("topic", "judge", empty), "learn the topic first"),
        (("topic", "learn", samples, "-o", out, "--place", "Springfield"), "may be Springfield, MO"),
        (("topic", "learn", samples, "-o", out, "--background", tmp_path / "absent"), "cannot read"),
    ]:
        with pytest.raises((UsageError, PlaceError), match=message):
            run(*arguments)


def test_a_page_is_judged_by_its_url_only_with_its_crawl(samples: Path, tmp_path: Path) -> None:
    topic = tmp_path / "floods.toml"
    run("topic", "learn", samples, "-o", topic)
    with pytest.raises(UsageError, match="say with --crawl DIR which crawl has the page"):
        run("topic", "judge", topic, "--good", "http://a.test/")
