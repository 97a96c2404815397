"""The encyclopedia of wikispeedia as a crawl meets it: articles with their places, links where they stand, labels."""

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from periplus.model import Link, Mention, Page
from periplus.places import Gazetteer, locate

__all__ = ["Wiki", "read_articles", "read_wiki"]

TEXT_CHARS = 30_000
WINDOW = 25
_LABELS = re.compile(r"\d{4} Schools Wikipedia Selection\.(?:\s+Related\s+subjects:.*?)?(?=\n\s*\n)", re.DOTALL)
"""The line under the title that says to which subjects an article belongs: that is what is to be found out."""

_BRACKETS = re.compile(r" \(.*\)$")


@dataclass(frozen=True, slots=True)
class Wiki:
    """Articles with their places, links and categories."""

    pages: dict[str, Page]
    mentions: dict[str, tuple[Mention, ...]]
    links: dict[str, list[str]]
    categories: dict[str, set[str]]
    _anchors: dict[str, list[Link]] = field(default_factory=dict)

    def anchors(self, name: str) -> list[Link]:
        """The links of an article, where their targets' titles stand in it."""
        if name not in self._anchors:
            page = self.pages[name]
            lower = page.text.lower()
            lower = lower if len(lower) == len(page.text) else page.text
            self._anchors[name] = [_link(page.text, lower, self.pages[target]) for target in self.links[name]]
        return self._anchors[name]


def read_articles(folder: Path) -> Wiki:
    """The corpus as it is, without places."""
    pages = {}
    for file in sorted((folder / "plaintext_articles").glob("*.txt")):
        text = _text(file.read_text("utf-8", "replace"))
        title = unquote(file.stem).replace("_", " ")
        pages[file.stem] = Page(f"http://encyclopedia.test/{file.stem}", title, text, (), "en")
    links: dict[str, dict[str, None]] = {name: {} for name in pages}
    for source, target in _rows(folder / "links.tsv"):
        if source in pages and target in pages:
            links[source][target] = None
    categories: dict[str, set[str]] = {name: set() for name in pages}
    for name, category in _rows(folder / "categories.tsv"):
        if name in categories:
            categories[name].add(category)
    return Wiki(pages, {}, {name: list(targets) for name, targets in links.items()}, categories)


def read_wiki(folder: Path, gazetteer: Gazetteer) -> Wiki:
    """The corpus with places; PERIPLUS_LOCATED_WIKI names a file that keeps located articles between runs."""
    cache = Path(os.environ["PERIPLUS_LOCATED_WIKI"]) if "PERIPLUS_LOCATED_WIKI" in os.environ else None
    known = json.loads(cache.read_text("utf-8")) if cache and cache.exists() else {}
    wiki = read_articles(folder)
    for name, page in wiki.pages.items():
        if name not in known:
            found = locate(page.text, gazetteer, candidates=False).mentions
            known[name] = [[m.start, m.end, m.place.id, m.confidence, m.adjectival] for m in found if m.place]
        wiki.mentions[name] = tuple(
            Mention(start, end, page.text[start:end], gazetteer.place(place), sure, adjectival=adjectival)
            for start, end, place, sure, adjectival in known[name]
        )
    if cache and not cache.exists():
        cache.write_text(json.dumps(known), "utf-8")
    return wiki


def _text(raw: str) -> str:
    """The article without its labels, one paragraph a line as a page's text is."""
    plain = _LABELS.sub("", raw.replace("#copyright", ""), count=1)
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", plain) if part.strip())[:TEXT_CHARS]


def _rows(path: Path) -> list[tuple[str, str]]:
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [(a, b) for a, _, b in (line.partition("\t") for line in lines)]


def _link(text: str, lower: str, target: Page) -> Link:
    """A link to an article where its title, or what stands before the comma in it, first stands in the text."""
    plain = _BRACKETS.sub("", target.title)
    for name in dict.fromkeys((plain, plain.partition(",")[0])):
        for within, sought in ((text, name), (lower, name.lower())):
            at = _word_at(within, sought)
            if at >= 0:
                end = at + len(sought)
                before = " ".join(text[:at][-400:].split()[-WINDOW:])
                after = " ".join(text[end : end + 400].split()[:WINDOW])
                around = (max(0, at - len(before) - 1), end + len(after) + 1)
                return Link(target.url, text[at:end], before, after, at, end, *around)
    return Link(target.url, plain)


def _word_at(text: str, name: str) -> int:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return at
        at = text.find(name, at + 1)
    return -1
