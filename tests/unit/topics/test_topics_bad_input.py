"""Topics that cannot be meant: refused in one line that says what to do, or harmless."""

import itertools
import math
import string
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from typer.testing import CliRunner

from periplus.cli import assemble
from periplus.errors import ConfigError, UsageError
from periplus.model import Link, Located, Mention, Page
from periplus.places import Gazetteer
from periplus.settings import LearntSettings, TopicSettings, job_from_dict
from periplus.topics import LinkScorer, judge, make_topic
from periplus.topics.keywords import count_keywords
from periplus.topics.learning import learn, learn_paper
from periplus.topics.reading import Reading
from periplus.topics.tally import LONGEST, MOST
from periplus.topics.words import content_stems

NUMBERED = [a + b for a in string.ascii_lowercase for b in "kqxz"]
"""Syllables of words that are no words, so that no two have one stem."""


def test_an_empty_topic_keeps_every_page_and_is_refused_for_scoring(gazetteer: Gazetteer, tmp_path: Path) -> None:
    topic = make_topic(TopicSettings(), "t", gazetteer)
    assert topic.is_empty
    assert judge(Page("", "", "anything", ()), Located(), topic).relevant
    file = tmp_path / "empty.toml"
    file.write_text("[topic]\n")
    with pytest.raises(UsageError, match=r"the topic is empty: give .* keywords, places or both"):
        CliRunner().invoke(assemble("score"), ["score", str(file), str(file)], catch_exceptions=False)


def test_an_ambiguous_place_is_refused_with_candidates_and_how_to_choose(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError) as caught:
        make_topic(TopicSettings(places={"Springfield": 1.0}), "t", gazetteer)
    message = str(caught.value)
    assert "\n" not in message
    assert "Springfield, IL, US (id 4250542)" in message
    assert "write it like the first of these, or give the id" in message


@pytest.mark.parametrize(
    ("name", "country", "above"),
    [("Lisbon", "PT", "Portugal"), ("Lisbon, NH", "US", "New Hampshire"), ("4250542", "US", "Illinois")],
)
def test_a_place_is_chosen_by_state_or_id(gazetteer: Gazetteer, name: str, country: str, above: str) -> None:
    place, _ = make_topic(TopicSettings(places={name: 1.0}), "t", gazetteer).places[0]
    assert place.country == country
    assert above in place.path


@pytest.mark.parametrize("name", ["Nowhereville Zzz", "999999999999", ""])
def test_an_unknown_place_is_refused(gazetteer: Gazetteer, name: str) -> None:
    with pytest.raises(ConfigError, match=r"topic\.places: no place is called"):
        make_topic(TopicSettings(places={name: 1.0}), "t", gazetteer)


@pytest.mark.parametrize("part", ["keywords", "places", "against"])
@pytest.mark.parametrize("weight", [0.0, -0.1, 1.01, math.nan, math.inf])
def test_weights_are_above_0_and_at_most_1(part: str, weight: float) -> None:
    with pytest.raises(ConfigError, match=rf"topic\.{part}"):
        job_from_dict({"topic": {part: {"Lisbon": weight}}}, "job.toml")


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": 1.5},
        {"threshold": math.nan},
        {"keyword_threshold": -0.1},
        {"relatedness": {"inside": [2.0]}},
        {"since": "2026-13-01"},
        {"since": "2026-05-01", "until": "2026-01-01"},
        {"judge": "nobody"},
        {"point": "narrow"},
        {"keywords": {"": 1.0}},
        {"keywords": {" ": 1.0}},
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(given: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as caught:
        job_from_dict({"topic": given}, "job.toml")
    assert str(caught.value).startswith("job.toml: topic.") or "topic." in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_keyword_without_a_word_is_refused(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError, match="holds no word"):
        make_topic(TopicSettings(keywords={"!!!": 1.0}), "t", gazetteer)


@pytest.mark.parametrize("kind", ["default", "paper", "one-vector"])
def test_zero_vectors_give_no_nan(gazetteer: Gazetteer, kind: Literal["default", "paper", "one-vector"]) -> None:
    topic = make_topic(TopicSettings(judge=kind, keywords={"flood": 1.0}, places={"Texas": 1.0}), "t", gazetteer)
    elsewhere = Located((Mention(0, 5, "Paris", gazetteer.resolve("Paris"), 1.0),))
    pages = [Page("", "", "", ()), Page("", "", "Paris", ()), Page("http://[bad", "", "the of and " * 50, (), "xx")]
    for page in pages:
        for located in (Located(), elsewhere):
            score = judge(page, located, topic)
            values = (score.keyword_relevance, score.place_relevance, score.time_relevance)
            assert all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)
            assert not score.relevant
            parts = LinkScorer(page, located, score, topic).parts(Link("http://a.test/", ""))
            assert all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in parts)


def test_samples_without_words_or_places_give_no_nan(gazetteer: Gazetteer) -> None:
    empty = [Reading({}, {}, 0, {})] * 3
    for found in (learn(empty, place_of=gazetteer.place), learn(empty, empty, place_of=gazetteer.place),
                  learn_paper(empty, place_of=gazetteer.place)):  # fmt: skip
        assert found.keywords == {}
        assert found.places == {}
        assert math.isfinite(found.settings.keyword_half)
        assert math.isfinite(found.settings.bias)


def test_ten_thousand_keywords_are_found_with_phrases_and_in_other_scripts(gazetteer: Gazetteer) -> None:
    words = {f"word{n}": 1.0 for n in range(9_998)} | {"storm surge": 1.0, "洪水": 1.0}
    topic = make_topic(TopicSettings(keywords=words), "t", gazetteer)
    page = Page("", "", "A storm surge, and word17 with word99. Storm, surge. 大洪水", (), "en")
    found = judge(page, Located(), topic).keyword_evidence
    assert found == {"storm surge": 2.0, "word17": 1.0, "word99": 1.0, "洪水": 1.0}


def test_more_different_words_than_are_remembered_are_all_counted(gazetteer: Gazetteer) -> None:
    made = (f"{a}{b}{c}" for a in NUMBERED for b in NUMBERED for c in NUMBERED)
    words = list(itertools.islice(made, MOST + 5_000))
    text = " ".join([*words, "flood", "a" * (LONGEST + 1), "flood", "x" * LONGEST, *words[-3:]])
    for _ in range(2):  # the second time, numbering begins anew
        assert count_keywords(text, ("flood", words[0], words[-1], words[MOST // 2]), "en") == [2, 1, 2, 1]
        stems = content_stems(text, "en")
        assert len(stems) == len(words) + 7
        assert stems[-7] == "flood"
    topic = make_topic(TopicSettings(keywords={"flood": 1.0}), "t", gazetteer)
    learnt = replace(topic, learnt=LearntSettings(form="logistic", scale=5.0, bias=-2.0, keyword_half=0.3))
    for one in (topic, learnt):
        assert judge(Page("", words[7], text, (), "en"), Located(()), one).keyword_evidence == {"flood": 2.0}
