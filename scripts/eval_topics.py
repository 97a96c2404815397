"""Measure topic relevance on Reuters-21578 and focused crawling on wikispeedia, in the folder PERIPLUS_DATA names.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/eval_topics.py [--splits 3] [--every 1] [--check]

Pairs (topic, country) with 20 relevant articles or more; half of them (at most 100) are samples, the others are tested
with up to 150 of the same topic elsewhere and 150 of the same country on other topics. "hard" counts all those, "1:1"
weighs them down to the number of relevant ones. Figures are means over pairs, intervals are bootstraps over pairs.
PERIPLUS_LOCATED names a file that keeps located articles between runs. `--check` fails below the floors.
"""

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: many small systems, and threads only wait

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from eval_focus import measure_focus
from eval_several import CountryPair, country_pairs, draw_articles, targets_by_rule

from periplus.model import Located, Mention, Page, Place
from periplus.places import Gazetteer, locate, open_gazetteer
from periplus.settings import TopicSettings
from periplus.topics import Topic, make_topic
from periplus.topics.default import learnt_step, place_step
from periplus.topics.learning import Learnt, learn, learn_paper
from periplus.topics.reading import Reading, read_document
from periplus.topics.relevance import one_vector, two_step
from periplus.topics.topic import POINTS
from periplus.topics.topic_file import surface_forms
from periplus.topics.view import View
from periplus.topics.words import content_stems

FLOORS = {
    "hard F": 0.73,
    "1:1 F": 0.90,
    "precision 1:1, balanced": 0.94,
    "recall, balanced": 0.80,
    "gain": 0.15,
    "5 samples": 0.62,
    "20 judgements": 0.0,
    "two countries, hard F": 0.75,
    "two countries, learnt less given targets": -0.03,
    "focused crawl at 10 %, in-region seeds": 0.86,
    "focused crawl at 10 %, unrelated seed": 0.86,
    "focused crawl less Rank(u)": -0.02,
}


@dataclass(frozen=True, slots=True)
class Article:
    """One article, located and read."""

    topics: frozenset[str]
    countries: frozenset[str]
    text: str
    view: View
    reading: Reading


@dataclass(frozen=True, slots=True)
class Split:
    """Samples, tested articles (relevant ones first), and the rest."""

    samples: list[int]
    relevant: list[int]
    negative: list[int]
    rest: list[int]


Scores = npt.NDArray[np.float64]
"""Two columns: keyword and place relevance."""

Results = dict[str, dict[str, tuple[float, float, float]]]
"""Method → hard or 1:1 → precision, recall, F."""


def read_articles(folder: Path, gazetteer: Gazetteer, corpus: str) -> list[Article]:
    """All articles, with their places from the cache or located now."""
    cache = Path(os.environ["PERIPLUS_LOCATED"]) if "PERIPLUS_LOCATED" in os.environ else None
    rows = [json.loads(line) for line in (folder / "topics" / f"{corpus}.jsonl").open(encoding="utf-8")]
    known = [json.loads(line) for line in cache.open(encoding="utf-8")] if cache and cache.exists() else []
    if len(known) != len(rows):
        known = [_mentions(locate(_text(row), gazetteer, candidates=False)) for row in rows]
        if cache:
            cache.write_text("".join(json.dumps(item) + "\n" for item in known), "utf-8")
    articles = []
    for row, mentions in zip(rows, known, strict=True):
        text = _text(row)
        found = tuple(
            Mention(start, end, text[start:end], gazetteer.place(place), sure, adjectival=adjectival)
            for start, end, place, sure, adjectival in mentions
        )
        located = Located(found)
        reading = read_document(text, located, language="en")
        view = View(Page("", "", text, (), "en"), located)
        articles.append(Article(frozenset(row["topics"]), frozenset(row["places"]), text, view, reading))
    return articles


def _text(row: dict[str, str]) -> str:
    return f"{row['title']}\n{row['dateline']} {row['body']}"


def _mentions(located: Located) -> list[tuple[int, int, int, float, bool]]:
    return [(m.start, m.end, m.place.id, m.confidence, m.adjectival) for m in located.mentions if m.place]


def pairs_of(articles: list[Article], least: int) -> dict[tuple[str, str], list[int]]:
    """Pairs with enough relevant articles."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, article in enumerate(articles):
        for topic in article.topics:
            for country in article.countries:
                found[topic, country].append(i)
    return {pair: found[pair] for pair in sorted(found) if len(found[pair]) >= least}


def split_of(articles: list[Article], pair: tuple[str, str], relevant: list[int], seed: int) -> Split:
    """A random split of one pair."""
    topic, country = pair
    order = random.Random(f"{topic} {country} {seed}")
    relevant = order.sample(relevant, len(relevant))
    half = min(len(relevant) // 2, 100)
    elsewhere = [i for i, a in enumerate(articles) if topic in a.topics and country not in a.countries]
    others = [i for i, a in enumerate(articles) if country in a.countries and topic not in a.topics]
    negative = order.sample(elsewhere, min(150, len(elsewhere))) + order.sample(others, min(150, len(others)))
    samples, tested = relevant[:half], relevant[half : half + 150]
    used = {*samples, *tested, *negative}
    rest = [i for i in range(len(articles)) if i not in used]
    return Split(samples, tested, negative, order.sample(rest, len(rest)))


FORMS: dict[str, str] = {}
"""Stem → the commonest word for it, as in a topic file: a stem stemmed again may be another one."""


def readable(term: str) -> str:
    """A learnt term as the topic file has it."""
    return " ".join(FORMS.get(stem, stem) for stem in term.split(" "))


def topic_of(learnt: Learnt, gazetteer: Gazetteer, *, paper: bool = False, related: bool = True) -> Topic:
    """A topic ready to judge with, from stems and places as they were learnt."""
    settings = TopicSettings(learnt=learnt.settings)
    if paper and related:
        settings = TopicSettings(judge="paper", places={str(p.id): w for p, w in learnt.places.items()})
    topic = make_topic(settings, "eval", gazetteer)
    return replace(
        topic,
        keywords=tuple((term if paper else readable(term), weight) for term, weight in learnt.keywords.items()),
        against=tuple((readable(term), weight) for term, weight in learnt.against.items()),
        places=tuple(learnt.places.items()),
        related=topic.related or {p.id: ((i, 1.0),) for i, p in enumerate(learnt.places)},
    )


def by_default(articles: Iterable[Article], topic: Topic) -> Scores:
    """Both relevances of the default judge."""
    rows = []
    for article in articles:
        keywords = learnt_step(article.view, topic, "en")[0]
        rows.append((keywords, place_step(article.view.masses, topic, article.reading.words)[0]))
    return np.array(rows)


def by_paper(articles: Iterable[Article], topic: Topic) -> Scores:
    """Both relevances of the paper's rule."""
    rows = []
    for article in articles:
        counts = [article.reading.stems.get(word, 0) for word, _ in topic.keywords]
        score = two_step(counts, _counted(article), topic)
        rows.append((score.keyword_relevance, score.place_relevance))
    return np.array(rows)


def by_one_vector(articles: Iterable[Article], topic: Topic) -> Scores:
    """The one cosine, twice."""
    rows = []
    for article in articles:
        counts = [article.reading.stems.get(word, 0) for word, _ in topic.keywords]
        rows.append([one_vector(counts, _counted(article), topic).keyword_relevance] * 2)
    return np.array(rows)


def _counted(article: Article) -> dict[int, int]:
    return Counter(mention.place.id for mention in article.view.located.mentions if mention.place)


def most_frequent(learnt: Learnt, terms: int) -> Learnt:
    """The most frequent terms and places in one list."""
    both_kinds: list[tuple[str | Place, float]] = [*learnt.keywords.items(), *learnt.places.items()]
    ranked = sorted(both_kinds, key=lambda item: -item[1])[:terms]
    return replace(
        learnt,
        keywords={t: w for t, w in ranked if isinstance(t, str)},
        places={t: w for t, w in ranked if isinstance(t, Place)},
    )


def measures(accepted: npt.NDArray[np.bool_], relevant: int, weight: float) -> tuple[float, float, float]:
    """Precision, recall, F where the first `relevant` are right and the others count `weight` each."""
    good = float(accepted[:relevant].sum())
    wrong = float(accepted[relevant:].sum()) * weight
    precision = good / (good + wrong) if good else 0.0
    recall = good / relevant
    return precision, recall, 2 * precision * recall / (precision + recall) if good else 0.0


def both(scores: Scores, split: Split, keyword: float, place: float) -> dict[str, tuple[float, float, float]]:
    """Measures with all negatives and at 1:1."""
    accepted = (scores[:, 0] >= keyword) & (scores[:, 1] >= place)
    n = len(split.relevant)
    return {"hard": measures(accepted, n, 1.0), "1:1": measures(accepted, n, n / len(split.negative))}


def best_threshold(scores: Scores, split: Split) -> dict[str, tuple[float, float, float]]:
    """The best F that any threshold on the one cosine gives this pair, chosen with the answers."""
    tried = [both(scores, split, t, t) for t in np.arange(0.02, 1.0, 0.02)]
    return {kind: max((row[kind] for row in tried), key=lambda m: m[2]) for kind in ("hard", "1:1")}


def methods(articles: list[Article], split: Split, gazetteer: Gazetteer) -> Results:
    """Every method on one split."""
    samples = [articles[i].reading for i in split.samples]
    rest = [articles[i].reading for i in split.rest[:2000]]
    tested = [articles[i] for i in (*split.relevant, *split.negative)]
    raw = [replace(r, stems=_plain(articles[i])) for r, i in zip(samples, split.samples, strict=True)]
    paper = learn_paper(raw, place_of=gazetteer.place)
    wider = most_frequent(learn_paper(raw, place_of=gazetteer.place, terms=20), 20)
    one = by_one_vector(tested, topic_of(wider, gazetteer, paper=True, related=False))
    with_r = by_paper(tested, topic_of(paper, gazetteer, paper=True))
    without = by_paper(tested, topic_of(paper, gazetteer, paper=True, related=False))
    own = by_default(tested, topic_of(learn(samples, rest, place_of=gazetteer.place), gazetteer))
    alone = by_default(tested, topic_of(learn(samples, place_of=gazetteer.place), gazetteer))
    found = {
        "one-vector .65": both(one, split, 0.65, 0.65),
        "one-vector, best threshold per pair": best_threshold(one, split),
        "paper .5/.5": both(with_r, split, 0.5, 0.5),
        "paper .5/.5 without R": both(without, split, 0.5, 0.5),
        "default, samples only": both(alone, split, *POINTS["balanced"]),
        "default, samples only, wide": both(alone, split, *POINTS["wide"]),
    }
    for point, thresholds in POINTS.items():
        found[f"default, {point}"] = both(own, split, *thresholds)
    return found


def few(articles: list[Article], split: Split, gazetteer: Gazetteer, count: int = 5) -> Results:
    """The default judge from few samples."""
    samples = [articles[i].reading for i in split.samples[:count]]
    rest = [articles[i].reading for i in split.rest[:2000]]
    tested = [articles[i] for i in (*split.relevant, *split.negative)]
    alone = by_default(tested, topic_of(learn(samples, place_of=gazetteer.place), gazetteer))
    own = by_default(tested, topic_of(learn(samples, rest, place_of=gazetteer.place), gazetteer))
    return {
        f"default, {count} samples": both(own, split, *POINTS["balanced"]),
        f"default, {count} samples only": both(alone, split, *POINTS["balanced"]),
    }


def feedback(articles: list[Article], split: Split, gazetteer: Gazetteer, judgements: int = 20) -> Results:
    """The default judge before and after some accepted pages of one half were judged, tested on the other half."""
    samples = [articles[i].reading for i in split.samples]
    rest = [articles[i].reading for i in split.rest[:2000]]
    before = topic_of(learn(samples, rest, place_of=gazetteer.place), gazetteer)
    seen = [articles[i] for i in (*split.relevant[::2], *split.negative[::2])]
    scores = by_default(seen, before)
    keyword, place = POINTS["balanced"]
    accepted = [i for i in range(len(seen)) if scores[i, 0] >= keyword and scores[i, 1] >= place]
    judged = random.Random(0).sample(accepted, min(judgements, len(accepted)))
    good = [seen[i].reading for i in judged if i < len(split.relevant[::2])]
    bad = [seen[i].reading for i in judged if i >= len(split.relevant[::2])]
    learnt = learn(
        [*samples, *good], rest, rejected=bad, targets=[p for p, _ in before.places], place_of=gazetteer.place
    )
    other = replace(split, relevant=split.relevant[1::2], negative=split.negative[1::2])
    tested = [articles[i] for i in (*other.relevant, *other.negative)]
    return {
        "before judging": both(by_default(tested, before), other, keyword, place),
        f"after {judgements} judgements": both(by_default(tested, topic_of(learnt, gazetteer)), other, keyword, place),
    }


def several(articles: list[Article], pair: CountryPair, seed: int, gazetteer: Gazetteer) -> Results:
    """The default judge and the paper's on a topic in two countries, with targets by several rules."""
    split = Split(*draw_articles([(a.topics, a.countries) for a in articles], pair, seed))
    samples = [articles[i].reading for i in split.samples]
    rest = [articles[i].reading for i in split.rest[:2000]]
    tested = [articles[i] for i in (*split.relevant, *split.negative)]
    found: Results = {}
    for rule, targets in targets_by_rule(samples, rest, pair, gazetteer).items():
        learnt = learn(samples, rest, place_of=gazetteer.place, targets=targets)
        found[rule] = both(by_default(tested, topic_of(learnt, gazetteer)), split, *POINTS["balanced"])
    raw = [replace(r, stems=_plain(articles[i])) for r, i in zip(samples, split.samples, strict=True)]
    paper = topic_of(learn_paper(raw, place_of=gazetteer.place), gazetteer, paper=True)
    found["paper .5/.5"] = both(by_paper(tested, paper), split, 0.5, 0.5)
    return found


def _plain(article: Article) -> dict[str, int]:
    """Counts without the title's boost."""
    spans = [(m.start, m.end) for m in article.view.located.mentions]
    return Counter(stem for stem in content_stems(article.text, "en", spans) if stem)


def summary(rows: list[Results], kind: str, method: str) -> tuple[float, float, float, float, float]:
    """Mean P, R, F and the 95 % interval of F over pairs."""
    values = np.array([row[method][kind] for row in rows])
    means = values.mean(axis=0)
    draw = np.random.default_rng(1)
    resampled = values[draw.integers(0, len(values), (2000, len(values))), 2].mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(means[0]), float(means[1]), float(means[2]), float(low), float(high)


def gain(rows: list[Results], kind: str, better: str, worse: str) -> tuple[float, float, float]:
    """Mean difference in F with its 95 % interval."""
    values = np.array([row[better][kind][2] - row[worse][kind][2] for row in rows])
    draw = np.random.default_rng(1)
    resampled = values[draw.integers(0, len(values), (2000, len(values)))].mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def averaged(splits: list[Results]) -> Results:
    """One pair's results over its splits."""
    found: Results = {}
    for method in splits[0]:
        found[method] = {}
        for kind in ("hard", "1:1"):
            p, r, f = np.mean([split[method][kind] for split in splits], axis=0)
            found[method][kind] = (float(p), float(r), float(f))
    return found


def show(title: str, rows: list[Results]) -> None:
    """A table of all methods."""
    print(f"{title} ({len(rows)} pairs)")
    for kind in ("hard", "1:1"):
        print(f"  {kind:40} {'P':>6} {'R':>6} {'F':>6}   95 %")
        for method in rows[0]:
            p, r, f, low, high = summary(rows, kind, method)
            print(f"    {method:38} {p:6.3f} {r:6.3f} {f:6.3f}   {low:.3f}-{high:.3f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--every", type=int, default=1, help="Take every n-th pair only.")
    parser.add_argument("--corpus", default="reuters-a")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--plots", type=Path, help="Folder for plots of the focused crawls.")
    options = parser.parse_args()
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder or not (Path(folder) / "topics").is_dir():
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (topics/*.jsonl)")
    gazetteer = open_gazetteer()
    articles = read_articles(Path(folder), gazetteer, options.corpus)
    FORMS.update(surface_forms([article.text for article in articles], "en"))
    rows, rows_few, rows_judged = [], [], []
    for pair, relevant in list(pairs_of(articles, 20).items())[:: options.every]:
        splits = [split_of(articles, pair, relevant, seed) for seed in range(options.splits)]
        rows.append(averaged([methods(articles, split, gazetteer) for split in splits]))
        rows_judged.append(averaged([feedback(articles, split, gazetteer) for split in splits[:2]]))
        if len(relevant) >= 40:
            rows_few.append(averaged([few(articles, split, gazetteer) for split in splits]))
    show("Reuters-21578", rows)
    show("Five samples", rows_few)
    show("Feedback", rows_judged)
    taught = gain(rows_judged, "hard", "after 20 judgements", "before judging")
    print(f"20 judgements, hard, F: {taught[0]:+.3f} [{taught[1]:+.3f}, {taught[2]:+.3f}]")
    rows_two = [
        averaged([several(articles, pair, seed, gazetteer) for seed in range(options.splits)])
        for pair in country_pairs(pairs_of(articles, 20))[:: options.every]
    ]
    show("Topics in two countries", rows_two)
    apart = gain(rows_two, "hard", "targets as learnt", "targets given")
    print(f"targets as learnt against given ones, hard, F: {apart[0]:+.3f} [{apart[1]:+.3f}, {apart[2]:+.3f}]")
    claim = gain(rows, "1:1", "paper .5/.5", "one-vector .65")
    best = gain(rows, "hard", "default, balanced", "one-vector, best threshold per pair")
    print(f"paper against one vector, 1:1, F: {claim[0]:+.3f} [{claim[1]:+.3f}, {claim[2]:+.3f}] (the paper: +0.07)")
    print(f"default against one vector at its best, hard, F: {best[0]:+.3f} [{best[1]:+.3f}, {best[2]:+.3f}]")
    reached = {
        "hard F": summary(rows, "hard", "default, balanced")[2],
        "1:1 F": summary(rows, "1:1", "default, wide")[2],
        "precision 1:1, balanced": summary(rows, "1:1", "default, balanced")[0],
        "recall, balanced": summary(rows, "1:1", "default, balanced")[1],
        "gain": best[0],
        "5 samples": summary(rows_few, "hard", "default, 5 samples")[2],
        "20 judgements": taught[0],
        "two countries, hard F": summary(rows_two, "hard", "targets as learnt")[2],
        "two countries, learnt less given targets": apart[0],
    }
    if (Path(folder) / "wikispeedia").is_dir():
        focus = measure_focus(Path(folder) / "wikispeedia", gazetteer, options.plots)
        reached["focused crawl at 10 %, in-region seeds"] = focus["in-region"]
        reached["focused crawl at 10 %, unrelated seed"] = focus["unrelated"]
        reached["focused crawl less Rank(u)"] = focus["margin"]
    else:
        print(f"NOT MEASURED: wikispeedia is not in {folder}")
    low = [f"{name} {reached[name]:.3f} < {floor}" for name, floor in FLOORS.items() if reached.get(name, 1.0) < floor]
    print("below the floor: " + "; ".join(low) if low else "all floors held")
    if options.check and low:
        sys.exit(1)


if __name__ == "__main__":
    main()
