"""The default judge: two steps that must both hold, each scaled so that 0.5 is the balanced decision.

Keywords, learnt:   p = sigmoid(bias + scale · (Σ weight·x − Σ against·x) / norm), x = 1 + log count, norm over all
                    stems of the page; relevance = p / (p + half). Without other pages to learn against, p is the
                    same sum without the sigmoid.
Keywords, by hand:  each keyword that occurs is evidence of strength weight · n / (n + 1 + words / 400), a little more
                    in a brief; strengths add up as independent evidence, and so does the share of the keywords'
                    weight that occurs.
Places:             the share of the page's place mentions that lie in a target place, at any depth; relevance =
                    share / (share + half). Targets are the topic's places with at least half the largest weight;
                    the lesser ones support a target that is there and cannot replace it.
"""

import math
from collections.abc import Sequence

from periplus.model import Place
from periplus.topics.topic import Topic
from periplus.topics.view import View
from periplus.topics.words import TITLE_BOOST

__all__ = ["hand_step", "learnt_step", "place_share", "place_step"]

HAND_PLACE_HALF = 0.3
LONG_TEXT_WORDS = 400
"""Words after which one more mention of a hand-given keyword is needed for the same strength."""

BRIEF_WORDS = 50
"""Words of a brief, a few sentences, in which a keyword need not be named twice."""

BRIEF_START = 0.75

PLACE_WORDS = 250
"""Words that weigh as much as one mention of another place: a long text with one place name is hardly about it."""

CROWD = 20
"""With more keywords than this, each single one says less."""

Found = dict[int, int]
"""Counts by the keyword's position in the topic."""


def learnt_step(view: View, topic: Topic, language: str) -> tuple[float, dict[str, float]]:
    """Relevance 0..1 of the page's words by learnt weights, and the keywords found with their counts."""
    counts, text = view.content(language), view.page.text
    found = topic.lexicon(language).count_content(counts, text)
    linear = _weighted(found, topic.keywords)
    if topic.against:
        linear -= _weighted(topic.lexicon(language, against=True).count_content(counts, text), topic.against)
    linear = linear / counts.norm if counts.norm else 0.0
    if topic.learnt.form == "cosine":
        score = max(0.0, topic.learnt.scale * linear)
    else:
        score = _sigmoid(topic.learnt.bias + topic.learnt.scale * linear)
    return _scaled(score, topic.learnt.keyword_half), _evidence(found, topic)


def _weighted(found: Found, keywords: tuple[tuple[str, float], ...]) -> float:
    return sum([keywords[i][1] * _ONE_PLUS_LOG[n] for i, n in found.items()])


class _OnePlusLog(dict[int, float]):
    """1 + log count, by count."""

    def __missing__(self, count: int) -> float:
        found = 1.0 + math.log(count)
        if count < 4096:
            self[count] = found
        return found


_ONE_PLUS_LOG = _OnePlusLog()


def _evidence(found: Found, topic: Topic) -> dict[str, float]:
    keywords = topic.keywords
    return {keywords[i][0]: float(found[i]) for i in sorted(found)}


def hand_step(view: View, topic: Topic, language: str) -> tuple[float, dict[str, float]]:
    """Relevance 0..1 of the page's words by keywords given by hand, and the keywords found with their counts.

    They are counted in the whole text, stop words and place names included; a title counts more.
    """
    lexicon = topic.lexicon(language)
    found = lexicon.count_text(view.page.text, view.chunks)
    if title := view.page.title:
        for number, count in lexicon.count_text(title, view.title).items():
            found[number] = found.get(number, 0) + (1 + TITLE_BOOST) * count
    return _by_hand(found, topic, view.chunks.count), _evidence(found, topic)


def _by_hand(found: Found, topic: Topic, words: int) -> float:
    """Evidence of hand-given keywords: how strongly each occurs, and how many of them."""
    crowd = min(1.0, CROWD / len(topic.keywords))
    brief = BRIEF_START + (1.0 - BRIEF_START) * words / BRIEF_WORDS
    long = min(brief, 1.0 + words / LONG_TEXT_WORDS)
    miss, covered = 1.0, 0.0
    for number, count in found.items():
        weight = topic.keywords[number][1]
        covered += weight
        miss *= 1.0 - crowd * weight * count / (count + long)
    covered = covered / topic.keyword_mass * (1.0 - 1.0 / len(found)) if found and topic.keyword_mass else 0.0
    return 1.0 - miss * (1.0 - covered)


def place_step(
    masses: Sequence[tuple[Place, float]], topic: Topic, words: int, country: str = "", url: str = ""
) -> tuple[float, dict[str, float]]:
    """Relevance 0..1 of the page's places, and the mass found for each of the topic's places."""
    if not topic.places:
        return 1.0, {}
    share, evidence = place_share(masses, topic, words, country, url)
    half = topic.learnt.place_half or HAND_PLACE_HALF
    return _scaled(share, half), evidence


def place_share(
    masses: Sequence[tuple[Place, float]], topic: Topic, words: int, country: str = "", url: str = ""
) -> tuple[float, dict[str, float]]:
    """The share of the page's places that lie in the topic's, 0..1, with what counted for which.

    The country of the page's site counts as one mention of the topic's place that is in it, and so does a place that
    the page's URL names.
    """
    table = topic.table
    target = support = 0.0
    total = 1.0 + words / PLACE_WORDS if masses else 1.0
    by_position: dict[int, float] = {}
    for place, mass in masses:
        position, weight, counts = table.worth(place)
        if not counts:
            continue  # a place around the target says neither yes nor no
        total += mass
        if position >= 0:
            by_position[position] = by_position.get(position, 0.0) + mass
            if weight >= 0.5:
                target += mass
            else:
                support += weight * mass
    in_url = topic.url_names.find(url)[:1]
    for home in (table.countries.get(country, -1) if country else -1, *(table.worth(one).position for one in in_url)):
        if home < 0:
            continue
        total += 1.0
        by_position[home] = by_position.get(home, 0.0) + 1.0
        if table.weight_of(home) >= 0.5:
            target += 1.0
        else:
            support += table.weight_of(home)
    evidence = {table.names[position]: mass for position, mass in by_position.items()}
    return (target + min(target, support)) / total, evidence


def _scaled(score: float, half: float) -> float:
    """0..1 with 0.5 where the score reaches `half`."""
    return score / (score + half) if score > 0.0 and half > 0.0 else float(score > 0.0)


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
