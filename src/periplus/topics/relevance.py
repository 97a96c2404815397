"""Two-step relevance (paper C): keywords first, then places; both must reach their thresholds.

    sim_K = cosine(T_K, D_K)                                   over the topic's keywords
    sim_P = Σ wT_i·x_i / (√Σ wT_i² · √Σ x_i²),  x_i = wD_i + Σ_j R(p_i, p_j)·wD_j

R(p_i, p_j) is 1 for the same place; for p_j inside p_i at hierarchy distance z = 1, 2, 3 it is 0.2·(4−z), for p_j
around p_i at z = 1, 2 it is 0.2·(3−z), and 0 otherwise. A part that the topic leaves out counts as fulfilled.
"""

import math
from collections import Counter

from periplus.model import Located, Page, Place, Score
from periplus.topics.keywords import count_keywords
from periplus.topics.topic import Topic

__all__ = ["judge", "link_priority", "relatedness"]


def judge(page: Page, located: Located, topic: Topic) -> Score:
    """How relevant a page is to a topic, with the evidence."""
    counts = count_keywords(f"{page.title}\n{page.text}", tuple(word for word, _ in topic.keywords), page.language)
    sim_k = _cosine([weight for _, weight in topic.keywords], [float(count) for count in counts])
    mentioned = Counter(mention.place for mention in located.mentions if mention.place is not None)
    weights = [_place_weight(place, mentioned) for place, _ in topic.places]
    sim_p = _cosine([weight for _, weight in topic.places], weights)
    relevant = sim_k >= topic.keyword_threshold and sim_p >= topic.place_threshold and _in_time(page, topic)
    return Score(
        keyword_relevance=sim_k,
        place_relevance=sim_p,
        relevant=relevant,
        keyword_evidence={word: count for (word, _), count in zip(topic.keywords, counts, strict=True) if count},
        place_evidence={place.name: x for (place, _), x in zip(topic.places, weights, strict=True) if x},
    )


def link_priority(score: Score) -> float:
    """Priority of a page's links, 0..1: both relevances of the page count (paper C)."""
    return (score.keyword_relevance + score.place_relevance) / 2


def relatedness(topic_place: Place, place: Place) -> float:
    """R(p_i, p_j) of paper C."""
    if topic_place.id == place.id:
        return 1.0
    if topic_place.id in place.ancestors:
        z = len(place.ancestors) - place.ancestors.index(topic_place.id)
        return max(0.0, 0.2 * (4 - z))
    if place.id in topic_place.ancestors:
        z = len(topic_place.ancestors) - topic_place.ancestors.index(place.id)
        return max(0.0, 0.2 * (3 - z))
    return 0.0


def _place_weight(topic_place: Place, mentioned: Counter[Place]) -> float:
    """x_i: mentions of the topic's place itself and, less, of places in and around it."""
    return sum(relatedness(topic_place, place) * count for place, count in mentioned.items())


def _cosine(topic: list[float], page: list[float]) -> float:
    """Cosine of two vectors of one length; 1 for a topic without this part, 0 for a page without any of it."""
    if not topic:
        return 1.0
    norm = math.sqrt(sum(t * t for t in topic)) * math.sqrt(sum(p * p for p in page))
    # min: rounding may put parallel vectors a hair above 1
    return min(1.0, sum(t * p for t, p in zip(topic, page, strict=True)) / norm) if norm else 0.0


def _in_time(page: Page, topic: Topic) -> bool:
    """Whether the page's day, if it is known, lies in the topic's span."""
    if page.published is None:
        return True
    return not (
        (topic.since is not None and page.published < topic.since)
        or (topic.until is not None and page.published > topic.until)
    )
