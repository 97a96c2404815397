"""How long the two steps of relevance take a page once its places are located; processor time, part of `make bench`.

Pages are 400 of the miniature web, or, where PERIPLUS_DATA has them, articles of Reuters-21578. Topics have 50 keywords
and 50 places, taken from the pages so that they occur; one has 10,000 keywords.
"""

import json
import os
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from periplus.model import Located, Page
from periplus.pages import read_page
from periplus.places import Gazetteer, locate, open_gazetteer
from periplus.settings import LearntSettings, TopicSettings
from periplus.topics import Topic, judge, make_topic
from periplus.topics.words import WORD, content_stems

SAMPLE = 400
ROUNDS = 20
MANY = 10_000


def reuters_pages(folder: Path) -> list[Page]:
    """Articles as pages."""
    with (folder / "topics" / "reuters-a.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for _, line in zip(range(SAMPLE), lines, strict=False)]
    return [Page("http://wire.test/", row["title"], f"{row['dateline']} {row['body']}", (), "en") for row in rows]


def miniweb_pages() -> list[Page]:
    """Pages of the miniature web."""
    from bench import sample_pages  # noqa: PLC0415  the same sample

    return [read_page(page) for page in sample_pages()]


def topics_of(pages: list[Page], located: list[Located], gazetteer: Gazetteer) -> dict[str, Topic]:
    """Topics of every kind, with words and places that the pages have."""
    words = Counter(word for page in pages for word in WORD.findall(page.text.lower()) if content_stems(word, "en")[0])
    places = Counter(m.place for one in located for m in one.mentions if m.place)
    keywords = {word: 1.0 for word, _ in words.most_common(50)}
    where = {str(place.id): 1.0 for place, _ in places.most_common(50)}
    hand = make_topic(TopicSettings(keywords=keywords, places=where), "by hand", gazetteer)
    learnt = LearntSettings(form="logistic", scale=5.0, bias=-2.0, keyword_half=0.3, place_half=0.12)
    many = {word: 1.0 for word, _ in words.most_common(MANY)}
    many |= {f"word{n}": 1.0 for n in range(MANY - len(many))}
    return {
        "default judge, by hand": hand,
        "default judge, learnt": replace(hand, learnt=learnt),
        "paper": make_topic(TopicSettings(judge="paper", keywords=keywords, places=where), "paper", gazetteer),
        "one vector": make_topic(TopicSettings(judge="one-vector", keywords=keywords, places=where), "one", gazetteer),
        "default judge, 10,000 keywords": make_topic(TopicSettings(keywords=many, places=where), "many", gazetteer),
    }


def main() -> None:
    """Print one table."""
    folder = os.environ.get("PERIPLUS_DATA")
    there = folder and (Path(folder) / "topics" / "reuters-a.jsonl").exists()
    pages = reuters_pages(Path(folder)) if folder and there else miniweb_pages()
    gazetteer = open_gazetteer()
    located = [locate(page.text, gazetteer, candidates=False) for page in pages]
    length = sum(page.text.count(" ") for page in pages) // len(pages)
    kind = "articles of Reuters-21578" if there else "pages of the miniature web"
    table = Table("relevance", "how fast", title=f"{len(pages)} {kind}, {length} words each", box=None)
    for name, topic in topics_of(pages, located, gazetteer).items():
        best = float("inf")
        for _ in range(ROUNDS + 1):  # the first one warms caches up
            started = time.process_time()
            for page, where in zip(pages, located, strict=True):
                judge(page, where, topic)
            best = min(best, (time.process_time() - started) / len(pages) * 1000)
        table.add_row(name, f"{best:.3f} ms a page")
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
