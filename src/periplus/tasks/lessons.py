"""Topics from pages: what samples and judged pages teach, for the commands and for the web page."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import xxhash
import zstandard

from periplus.content import Content, content_of
from periplus.errors import UsageError
from periplus.model import Located, Page, Place
from periplus.places import Gazetteer, locate
from periplus.settings import TopicSettings
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder
from periplus.topics.learning import Learnt, learn, learn_paper
from periplus.topics.reading import Reading, read_document
from periplus.topics.samples import Document
from periplus.topics.topic_file import Memory, load_memory, memory_path, save_memory, surface_forms, topic_settings
from periplus.urls import canonicalize, fingerprint
from periplus.wording import counted

__all__ = [
    "MAX_SAMPLES",
    "MIN_SAMPLES",
    "Judgements",
    "check_count",
    "crawl_documents",
    "learnt_topic",
    "located_in",
    "read_content",
    "readings",
    "taught",
]

MIN_SAMPLES, MAX_SAMPLES = 3, 100
MAX_TEXT_BYTES = 32 * 2**20


def read_content(page: Page, gazetteer: Gazetteer) -> Content:
    """A page and its places as a crawl judges them, without furniture."""
    return content_of(page, located_in(page, gazetteer))


def located_in(page: Page, gazetteer: Gazetteer) -> Located:
    """The places of a page as a crawl finds them, without candidates, which nobody asks for here."""
    return locate(
        page.text,
        gazetteer,
        url=page.url or None,
        hints=page.hints,
        candidates=False,
        furniture=page.furniture,
        language=page.language,
    )


def learnt_topic(memory: Memory, gazetteer: Gazetteer, targets: list[Place], *, paper: bool) -> Learnt:
    """Learn from a memory; `paper`: by frequency, for the paper's rule."""
    if paper:
        return learn_paper(memory.samples, place_of=gazetteer.place)
    return learn(
        memory.samples,
        memory.background,
        rejected=memory.rejected,
        targets=targets,
        language=memory.language,
        place_of=gazetteer.place,
    )


def crawl_documents(crawl: Path, wanted: str | None = None) -> Iterator[Document]:
    """The pages of a crawl whose texts were kept, each node's in an order that has nothing to do with their contents.

    With `wanted`, the page of that URL only.
    """
    unpack = zstandard.ZstdDecompressor()
    canonical = canonicalize(wanted) if wanted is not None else None
    if wanted is not None and canonical is None:
        raise UsageError(f"{wanted!r} is not an http(s) URL")
    for node in CrawlFolder.existing(crawl).nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            for url, title, language, packed in _kept_pages(db, fingerprint(canonical.href) if canonical else None):
                text = unpack.decompress(packed, max_output_size=MAX_TEXT_BYTES).decode("utf-8", "replace")
                yield Document(url, Page(url, title, text, (), language))


def _kept_pages(db: sqlite3.Connection, mark: int | None) -> Iterator[tuple[str, str, str, bytes]]:
    """Of the fingerprint, or all: these are hashes, so their order is as good as random, and always the same."""
    which, values = ("WHERE p.fingerprint = ?", (mark,)) if mark is not None else ("ORDER BY p.fingerprint", ())
    yield from db.execute(
        f"SELECT p.url, p.title, p.language, t.text FROM page p JOIN page_text t ON t.page_id = p.id {which}",
        values,
    )


def readings(
    documents: Iterable[Document], gazetteer: Gazetteer, language: str, *, plain: bool = False
) -> list[Reading]:
    """Documents as counts of stems and places; those without a word are left out."""
    found = []
    for document in documents:
        page, located, _ = read_content(document.page, gazetteer)
        reading = read_document(
            page.text,
            located,
            title=page.title,
            language=page.language or language,
            url=page.url,
            plain=plain,
        )
        if reading.stems:
            found.append(reading)
    return found


def check_count(count: int) -> None:
    """UsageError if so many samples are too few or too many."""
    if not MIN_SAMPLES <= count <= MAX_SAMPLES:
        raise UsageError(f"{counted(count, 'sample')} with text; a topic is learnt from {MIN_SAMPLES} to {MAX_SAMPLES}")


# -- Judged pages --------------------------------------------------------------------------------------


class Judgements:
    """What people said about pages of a crawl, in its folder: the last word about each URL and topic counts.

    `topic`: the name of one of several topics of the crawl; empty where it has only one.
    """

    def __init__(self, folder: CrawlFolder, topic: str = "") -> None:
        self._folder = folder
        self._topic = topic
        self._path = folder.path / "judgements.jsonl"

    @property
    def topic_file(self) -> Path:
        """Where the topic's memory lies beside, if it was learnt from samples."""
        if not self._topic:
            return self._folder.path / "topic.toml"
        return self._folder.path / f"topic-{xxhash.xxh3_64_hexdigest(self._topic.encode('utf-8', 'replace'))}.toml"

    def add(self, url: str, good: bool | None) -> None:
        """Note a judgement; None takes it back."""
        row = {"url": url, "good": good} | ({"topic": self._topic} if self._topic else {})
        with storage_errors(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def all(self) -> dict[str, bool]:
        """Judged URLs of the topic in the order of their first judgement."""
        found: dict[str, bool | None] = {}
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except OSError:
            lines = []
        for line in lines:
            try:
                row = json.loads(line)
                if row.get("topic", "") == self._topic:
                    found[str(row["url"])] = row["good"]
            except (ValueError, KeyError, TypeError, AttributeError):  # torn by a crash
                continue
        return {url: good for url, good in found.items() if isinstance(good, bool)}

    def keep_memory(self, memory: Memory) -> None:
        """Remember what the topic was learnt from."""
        with storage_errors(self._folder.path):
            self._folder.path.mkdir(parents=True, exist_ok=True)
        save_memory(memory_path(self.topic_file), memory)


def taught(
    folder: CrawlFolder, topic: TopicSettings, gazetteer: Gazetteer, judgements: Judgements
) -> TopicSettings | None:
    """The topic learnt anew with the judged pages of a crawl; None while there are too few good ones to learn from.

    Samples are those it was learnt from before, if it was, and the pages judged good; pages judged bad speak against.
    """
    path = memory_path(judgements.topic_file)
    memory = load_memory(path, gazetteer) if path.exists() else Memory()
    good: list[Document] = []
    bad: list[Document] = []
    for url, is_good in judgements.all().items():
        found = next(crawl_documents(folder.path, url), None)
        if found is not None:
            (good if is_good else bad).append(found)
    memory.samples += readings(good, gazetteer, memory.language)
    memory.rejected += readings(bad, gazetteer, memory.language)
    if len(memory.samples) < MIN_SAMPLES:
        return None
    memory.forms = surface_forms([document.page.text for document in good], memory.language) | memory.forms
    targets = [gazetteer.resolve(text) for text in topic.places]
    learnt = learnt_topic(memory, gazetteer, targets, paper=topic.judge == "paper")
    return topic_settings(learnt, memory.forms, topic.name, paper=topic.judge == "paper")
