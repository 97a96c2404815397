"""The default judge: two steps that must both hold, each scaled so that 0.5 is the balanced decision.

Keywords, learnt:   p = sigmoid(bias + scale · (Σ weight·x − Σ against·x) / norm), x = 1 + log count, norm over all
                    stems of the page; relevance = p / (p + half). Without other pages to learn against, p is the
                    same sum without the sigmoid.
Keywords, by hand:  each keyword that occurs is evidence of strength weight · n / (n + 1 + words / 400); strengths
                    add up as independent evidence, and so does the share of the keywords' weight that occurs.
Places:             the share of the page's place mentions that lie in a target place, at any depth; relevance =
                    share / (share + half). Targets are the topic's places with at least half the largest weight;
                    the lesser ones support a target that is there and cannot replace it.
"""

import itertools
import math

from periplus.model import Place
from periplus.topics.keywords import count_keywords
from periplus.topics.reading import TITLE_BOOST, Reading
from periplus.topics.topic import Topic
from periplus.topics.words import is_unspaced, stem_phrase

__all__ = ["keyword_score", "keyword_step", "place_share", "place_step", "terms_found"]

HAND_PLACE_HALF = 0.3
LONG_TEXT_WORDS = 400
"""Words after which one more mention of a hand-given keyword is needed for the same strength."""

PLACE_WORDS = 250
"""Words that weigh as much as one mention of another place: a long text with one place name is hardly about it."""

CROWD = 20
"""With more keywords than this, each single one says less."""


def keyword_step(
    reading: Reading, topic: Topic, language: str, text: str, title: str
) -> tuple[float, dict[str, float]]:
    """Relevance 0..1 of the page's words, and the keywords found with their counts."""
    if not topic.keywords:
        return 1.0, {}
    if topic.learnt.form == "none":
        found = _hand_found(topic, language, text, title)
        return _by_hand(found, topic, reading), {word: float(count) for word, _, count in found}
    found = terms_found(reading, topic.keywords, language, text)
    evidence = {word: float(count) for word, _, count in found}
    score = keyword_score(found, terms_found(reading, topic.against, language, text), reading, topic)
    return _scaled(score, topic.learnt.keyword_half), evidence


def keyword_score(
    found: list[tuple[str, float, int]], against: list[tuple[str, float, int]], reading: Reading, topic: Topic
) -> float:
    """The learnt score of a page, before it is scaled."""
    norm = reading.norm
    linear = sum(w * (1.0 + math.log(n)) for _, w, n in found) - sum(w * (1.0 + math.log(n)) for _, w, n in against)
    linear = linear / norm if norm else 0.0
    if topic.learnt.form == "cosine":
        return max(0.0, topic.learnt.scale * linear)
    return _sigmoid(topic.learnt.bias + topic.learnt.scale * linear)


def terms_found(
    reading: Reading, keywords: tuple[tuple[str, float], ...], language: str, text: str
) -> list[tuple[str, float, int]]:
    """The keywords that occur: (keyword, weight, count)."""
    found = []
    folded = ""
    for word, weight in keywords:
        if is_unspaced(word):
            folded = folded or text.casefold()
            count = folded.count(word.casefold())
        else:
            count = _count(reading, stem_phrase(word, language))
        if count:
            found.append((word, weight, count))
    return found


def place_step(reading: Reading, topic: Topic) -> tuple[float, dict[str, float]]:
    """Relevance 0..1 of the page's places, and the mass found for each of the topic's places."""
    if not topic.places:
        return 1.0, {}
    share, evidence = place_share(reading, topic.places)
    half = topic.learnt.place_half or HAND_PLACE_HALF
    return _scaled(share, half), evidence


def place_share(reading: Reading, places: tuple[tuple[Place, float], ...]) -> tuple[float, dict[str, float]]:
    """The share of the page's places that lie in the topic's, 0..1, with what counted for which."""
    largest = max(weight for _, weight in places)
    weights = {place.id: weight / largest for place, weight in places}
    around = {ancestor for place, _ in places for ancestor in place.ancestors} - weights.keys()
    names = {place.id: place.name for place, _ in places}
    target = support = 0.0
    total = 1.0 + reading.words / PLACE_WORDS if reading.places else 1.0
    evidence: dict[str, float] = {}
    for place, mass in _with_home(reading, places):
        if place.id in around:
            continue  # a place around the target says neither yes nor no
        total += mass
        hit, weight = place.id, weights.get(place.id, 0.0)
        for above in place.ancestors:
            if weights.get(above, 0.0) > weight:
                hit, weight = above, weights[above]
        if weight >= 0.5:
            target += mass
        else:
            support += weight * mass
        if weight:
            evidence[names[hit]] = evidence.get(names[hit], 0.0) + mass
    return (target + min(target, support)) / total, evidence


def _with_home(reading: Reading, places: tuple[tuple[Place, float], ...]) -> list[tuple[Place, float]]:
    """The page's places; the site's country counts as one mention of those of the topic's places that are in it."""
    masses = list(reading.places.items())
    if reading.country:
        masses += [(place, 1.0) for place, _ in places if place.country == reading.country][:1]
    return masses


def _hand_found(topic: Topic, language: str, text: str, title: str) -> list[tuple[str, float, int]]:
    """Hand-given keywords are counted in the whole text, stop words and place names included; a title counts more."""
    words = tuple(word for word, _ in topic.keywords)
    counts = count_keywords(text, words, language)
    if title:
        more = count_keywords(title, words, language)
        counts = [count + (1 + TITLE_BOOST) * extra for count, extra in zip(counts, more, strict=True)]
    return [(word, weight, n) for (word, weight), n in zip(topic.keywords, counts, strict=True) if n]


def _by_hand(found: list[tuple[str, float, int]], topic: Topic, reading: Reading) -> float:
    """Evidence of hand-given keywords: how strongly each occurs, and how many of them."""
    crowd = min(1.0, CROWD / len(topic.keywords))
    long = 1.0 + reading.words / LONG_TEXT_WORDS
    miss = 1.0
    for _, weight, count in found:
        miss *= 1.0 - crowd * weight * count / (count + long)
    total = sum(weight for _, weight in topic.keywords)
    covered = sum(weight for _, weight, _ in found) / total * (1.0 - 1.0 / len(found)) if found and total else 0.0
    return 1.0 - miss * (1.0 - covered)


def _count(reading: Reading, stemmed: str) -> int:
    """How often a stemmed word or phrase occurs; of a long phrase its rarest pair counts."""
    if " " not in stemmed:
        return reading.stems.get(stemmed, 0)
    words = stemmed.split(" ")
    return min(reading.pairs.get(f"{a} {b}", 0) for a, b in itertools.pairwise(words))


def _scaled(score: float, half: float) -> float:
    """0..1 with 0.5 where the score reaches `half`."""
    return score / (score + half) if score > 0.0 and half > 0.0 else float(score > 0.0)


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
