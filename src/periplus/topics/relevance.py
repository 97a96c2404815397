"""How relevant a page is to a topic: the paper's two-step rule, the one-vector baseline, or the default judge.

Paper C, `judge = "paper"`: keywords first, then places; both must reach their thresholds.

    sim_K = cosine(T_K, D_K)                                   over the topic's keywords
    sim_P = Σ wT_i·x_i / (√Σ wT_i² · √Σ x_i²),  x_i = wD_i + Σ_j R(p_i, p_j)·wD_j

R(p_i, p_j) is 1 for the same place; for p_j inside p_i at hierarchy distance z = 1, 2, 3 it is 0.2·(4−z), for p_j
around p_i at z = 1, 2 it is 0.2·(3−z), 0.4 where they overlap, and 0 otherwise. `Topic.related` holds all R > 0.
A part that the topic leaves out counts as fulfilled. `judge = "one-vector"` is the traditional single cosine over
keywords and places together, without R. The default judge is in `default.py`.
"""

import math
from collections import Counter
from dataclasses import replace
from datetime import date

from periplus.model import Located, Page, Score
from periplus.topics.default import hand_step, learnt_step, place_step
from periplus.topics.keywords import count_keywords
from periplus.topics.topic import Topic
from periplus.topics.view import View
from periplus.topics.when import time_relevance

__all__ = ["cosine", "judge", "judge_list", "judge_view", "one_vector", "two_step"]

EVERYTHING = Score(1.0, 1.0, relevant=True)
"""The judgement of a topic that says nothing."""


def judge(page: Page, located: Located, topic: Topic, today: date | None = None) -> Score:
    """How relevant a page is to a topic, with the evidence; `today` is the day from which its age counts."""
    return judge_view(View(page, located), topic, today)


def judge_view(view: View, topic: Topic, today: date | None = None) -> Score:
    """`judge` for a page that several topics look at."""
    if topic.is_empty:
        return EVERYTHING
    page = view.page
    if topic.judge == "default":
        score = _by_default(view, topic)
    else:
        counts = count_keywords(f"{page.title}\n{page.text}", tuple(word for word, _ in topic.keywords), page.language)
        mentioned = Counter(mention.place.id for mention in view.located.mentions if mention.place is not None)
        score = (two_step if topic.judge == "paper" else one_vector)(counts, mentioned, topic)
    time = time_relevance(view, topic, today)
    if time == 1.0:
        return score
    relevant = score.relevant and time > 0.0 and time >= topic.time_threshold
    return replace(score, relevant=relevant, time_relevance=time)


def judge_list(score: Score, own: View, topic: Topic) -> Score:
    """The judgement of a list of links: where it is about by all that it has, what about by its own words only.

    What a link says is what another page is about. `score` is that of the whole page, `own` is it without its links.
    """
    if not (score.relevant and topic.keywords and topic.judge == "default"):
        return score
    keywords, _ = _keyword_step(own, topic)
    return score if keywords >= topic.keyword_threshold else replace(score, relevant=False, leads=True)


def two_step(counts: list[int], mentioned: dict[int, int], topic: Topic) -> Score:
    """The paper's rule on counts: of the topic's keywords, in order, and of the page's places by id."""
    sim_k = cosine([weight for _, weight in topic.keywords], counts)
    x = [0.0] * len(topic.places)
    for place_id, count in mentioned.items():
        for position, worth in topic.related.get(place_id, ()):
            x[position] += worth * count
    sim_p = cosine([weight for _, weight in topic.places], x)
    relevant = sim_k >= topic.keyword_threshold and sim_p >= topic.place_threshold
    return Score(sim_k, sim_p, relevant, _keyword_evidence(topic, counts), _place_evidence(topic, x))


def one_vector(counts: list[int], mentioned: dict[int, int], topic: Topic) -> Score:
    """The traditional baseline: one cosine over keywords and places; both relevances are that one value."""
    x = [float(mentioned.get(place.id, 0)) for place, _ in topic.places]
    weights = [weight for _, weight in (*topic.keywords, *topic.places)]
    sim = cosine(weights, [*counts, *x])
    relevant = sim >= topic.keyword_threshold
    return Score(sim, sim, relevant, _keyword_evidence(topic, counts), _place_evidence(topic, x))


def cosine(topic: list[float], page: list[float] | list[int]) -> float:
    """Cosine of two vectors of one length; 1 for a topic without this part, 0 for a page without any of it."""
    if not topic:
        return 1.0
    norm = math.sqrt(sum(t * t for t in topic)) * math.sqrt(sum(p * p for p in page))
    return min(1.0, sum(t * p for t, p in zip(topic, page, strict=True)) / norm) if norm else 0.0


def _by_default(view: View, topic: Topic) -> Score:
    words = 0
    keywords, keyword_evidence = 1.0, dict[str, float]()
    if topic.keywords:
        keywords, keyword_evidence = _keyword_step(view, topic)
        words = view.content(_language(view, topic)).words if topic.learnt.form != "none" else 0
    places, place_evidence = place_step(view.masses, topic, words or view.words, view.country, view.page.url)
    relevant = keywords >= topic.keyword_threshold and places >= topic.place_threshold
    return Score(keywords, places, relevant, keyword_evidence, place_evidence)


def _keyword_step(view: View, topic: Topic) -> tuple[float, dict[str, float]]:
    step = hand_step if topic.learnt.form == "none" else learnt_step
    return step(view, topic, _language(view, topic))


def _language(view: View, topic: Topic) -> str:
    return view.page.language or topic.learnt.language


def _keyword_evidence(topic: Topic, counts: list[int]) -> dict[str, float]:
    return {word: float(count) for (word, _), count in zip(topic.keywords, counts, strict=True) if count}


def _place_evidence(topic: Topic, x: list[float]) -> dict[str, float]:
    return {place.name: value for (place, _), value in zip(topic.places, x, strict=True) if value}
