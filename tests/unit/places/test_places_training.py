"""The learnt weights, how they are learnt, and how the result is scored."""

import json
from importlib import resources
from pathlib import Path

import pytest

from periplus.errors import UsageError
from periplus.model import Located, LonLat, Mention
from periplus.places import Gazetteer, locate
from periplus.places.context import GROUPS
from periplus.places.model_weights import weights_from
from periplus.places.rank import FEATURES
from periplus.places.scoring import Document, Gold, match, read_corpus, score_documents
from periplus.places.support import SUPPORT
from periplus.places.training import Recipe, fit_recipe, prepare_all


def document(number: int, text: str, *names: tuple[str, float, float]) -> Document:
    gold = tuple(Gold(text.index(n), text.index(n) + len(n), n, LonLat(lon, lat)) for n, lat, lon in names)
    return Document(str(number), text, gold)


def corpus() -> list[Document]:
    lisbon, porto = ("Lisbon", 38.72, -9.15), ("Porto", 41.15, -8.61)
    return [
        document(1, "Police in Lisbon, Portugal, closed the road to Porto.", lisbon, ("Portugal", 39.5, -8.0), porto),
        document(2, "A fire in Porto was put out by crews from Lisbon.", porto, lisbon),
        document(3, "Mr. Jordan said that Reading books helps."),
        document(4, "Trains from Lisbon to Porto are late in winter.", lisbon, porto),
    ]


def test_the_weights_file_names_only_what_exists() -> None:
    data = json.loads(resources.files("periplus.places").joinpath("weights.json").read_text(encoding="utf-8"))
    assert data["screening"]["groups"].keys() == GROUPS.keys()
    assert data["acceptance"]["groups"].keys() == GROUPS.keys() | SUPPORT.keys()
    for group, names in GROUPS.items():
        assert data["acceptance"]["groups"][group].keys() == set(names)
    assert data["ranking"]["weights"].keys() == set(FEATURES)
    assert {"date", "corpora", "what"} <= data["about"].keys()


def test_training_is_deterministic_and_learns(gazetteer: Gazetteer) -> None:
    recipe = Recipe(recognition=("tiny",), importance=(), no_demonyms=())
    first, second = (
        fit_recipe(prepare_all({"tiny": corpus()}, gazetteer, recipe), gazetteer, recipe) for _ in range(2)
    )
    assert first == second
    weights = weights_from(first)
    found = score_documents(corpus(), lambda d: locate(d.text, gazetteer, weights=weights))
    assert found.recall > 0.8
    assert found.accuracy == 1.0


def test_a_council_teaches_the_place_that_it_governs(gazetteer: Gazetteer) -> None:
    """What is found of "Leeds City Council" is Leeds, so that is what was marked: it counted as wrong."""
    text = "Leeds City Council met."
    ((example,),) = prepare_all({"a": [document(1, text, ("Leeds", 53.8, -1.5))]}, gazetteer, Recipe())["a"]
    assert len(example.gold) == example.label.sum() == 2


def test_matches_are_by_start_and_phrase() -> None:
    gold = [Gold(10, 15, "Paris", None), Gold(30, 35, "Paris", None)]
    mentions = [
        Mention(12, 17, "Paris", None, 1.0), Mention(12, 17, "Paris", None, 1.0),
        Mention(30, 41, "Paris Texas", None, 1.0),
    ]  # fmt: skip
    assert [m.start for m, _ in match(mentions, gold)] == [12]
    scores = score_documents([Document("1", "", tuple(gold))], lambda _d: Located(tuple(mentions)))
    assert (scores.matched, scores.found, scores.gold) == (1, 3, 2)
    assert scores.f1 == pytest.approx(0.4)


def test_a_missing_corpus_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PERIPLUS_DATA"):
        read_corpus(tmp_path / "none.jsonl")
