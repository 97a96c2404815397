"""The commands `periplus score` and `periplus topic learn|judge`: topics from samples, crawls and judgements."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from periplus.analysis import judged
from periplus.content import content_of
from periplus.errors import UsageError
from periplus.files import read_input
from periplus.model import Page, Score
from periplus.options import refuse
from periplus.places import Gazetteer
from periplus.places.commands import open_with_progress
from periplus.printing import Console
from periplus.settings import load_job
from periplus.tasks.lessons import MAX_SAMPLES, check_count, crawl_documents, learnt_topic, located_in, readings
from periplus.topics.learning import Learnt
from periplus.topics.samples import Document, page_of, read_documents, read_lines
from periplus.topics.topic import Topic, make_topic
from periplus.topics.topic_file import (
    Memory,
    load_memory,
    memory_path,
    save_memory,
    surface_forms,
    topic_settings,
    write_topic,
)
from periplus.wording import counted

__all__ = ["score", "topic_app"]

MAX_BACKGROUND = 1_000

topic_app = typer.Typer(help="Topics: learn one from samples, teach it by judging pages.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TopicFile = Annotated[Path, typer.Argument(metavar="TOPIC.toml", help="A topic file or job file.")]


# -- score -------------------------------------------------------------------------------------------


def score(
    context: typer.Context,
    topic_file: TopicFile,
    file: Annotated[str, typer.Argument(help="Text or HTML file, or - for standard input.")] = "-",
    *,
    html: Annotated[
        bool, typer.Option("--html", help="The input is an HTML page, though it does not look like one.")
    ] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help='One {"id", "text", "url"?} a line in, one result a line out.')
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Relevance of texts to a topic. Example: periplus score topic.toml page.txt --json"""
    if jsonl:
        refuse(context, "html", because="is not possible with --jsonl: it holds texts")
    settings = load_job(topic_file)
    if not settings.topic.keywords and not settings.topic.places:
        raise UsageError(f"{topic_file}: the topic is empty: give [topic] keywords, places or both")
    gazetteer = open_with_progress()
    topic = make_topic(settings.topic, topic_file.stem, gazetteer)
    data = read_input(file)
    if jsonl:
        for document in read_lines(data.decode("utf-8", "replace"), file):
            print(json.dumps(_as_dict(document.id, _judged(document.page, topic, gazetteer)), ensure_ascii=False))
        return
    found = _judged(page_of(data, file, html=html), topic, gazetteer)
    if as_json:
        print(json.dumps(_as_dict(None if file == "-" else file, found), ensure_ascii=False))
    else:
        _show_score(found, topic)


def _judged(page: Page, topic: Topic, gazetteer: Gazetteer) -> Score:
    located = located_in(page, gazetteer)
    return judged(page, located, content_of(page, located), (topic,))[0]


def _as_dict(document_id: Any, found: Score) -> dict[str, Any]:
    return {
        "id": document_id,
        "keyword_relevance": round(found.keyword_relevance, 4),
        "place_relevance": round(found.place_relevance, 4),
        "relevant": found.relevant,
        "evidence": {"keywords": found.keyword_evidence, "places": found.place_evidence},
    }


def _show_score(found: Score, topic: Topic) -> None:
    console = Console()
    console.print(f"{'relevant' if found.relevant else 'not relevant'} to {topic.name}", highlight=False)
    console.print(f"keywords {found.keyword_relevance:.3f} (at least {topic.keyword_threshold})", highlight=False)
    console.print(f"places   {found.place_relevance:.3f} (at least {topic.place_threshold})", highlight=False)
    for title, evidence in (("keyword", found.keyword_evidence), ("place", found.place_evidence)):
        for name, value in sorted(evidence.items(), key=lambda item: -item[1])[:10]:
            console.print(f"  {title} {name}: {value:g}", highlight=False, markup=False)


# -- topic learn -------------------------------------------------------------------------------------


@topic_app.command("learn")
def topic_learn(
    sources: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR|FILE…", help="Samples: text, HTML, JSONL, folders, crawls.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The topic file to write.")],
    place: Annotated[
        list[str] | None, typer.Option("--place", help="A target place, instead of what the samples suggest.")
    ] = None,
    background: Annotated[
        list[Path] | None,
        typer.Option("--background", help="Other pages to tell the samples from: files, folders, folders of crawls."),
    ] = None,
    more_like: Annotated[
        list[Path] | None, typer.Option("--more-like", help="Further samples for a topic learnt before.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the topic; default: the file's.")] = "",
    language: Annotated[str, typer.Option("--language", help="Language of the samples, as a code.")] = "en",
    paper: Annotated[bool, typer.Option("--paper", help="Learn by frequency (tf / max tf) for the paper's rule.")] = (
        False
    ),
    as_json: AsJson = False,
) -> None:
    """Learn keywords and places from sample documents. Example: periplus topic learn samples/ -o topic.toml"""
    gazetteer = open_with_progress()
    documents = list(islice(_documents([*(sources or []), *(more_like or [])]), MAX_SAMPLES + 1))
    if more_like and memory_path(out).exists():
        memory = load_memory(memory_path(out), gazetteer)
        language = memory.language
    else:
        memory = Memory(language=language)
    memory.samples += readings(documents, gazetteer, language, plain=paper)
    check_count(len(memory.samples))
    if background:
        others = islice(_documents(background), MAX_BACKGROUND)
        memory.background = readings(others, gazetteer, language, plain=paper)
    memory.forms = surface_forms([f"{d.page.title} {d.page.text}" for d in documents], language) | memory.forms
    targets = [gazetteer.resolve(text) for text in place or []]
    found = learnt_topic(memory, gazetteer, targets, paper=paper)
    write_topic(out, topic_settings(found, memory.forms, name or out.stem, paper=paper), gazetteer)
    save_memory(memory_path(out), memory)
    _report(found, memory, out, as_json=as_json)


def _documents(paths: Iterable[Path]) -> Iterator[Document]:
    """The documents of files, folders, and crawls."""
    for path in paths:
        yield from crawl_documents(path) if (path / "crawl.toml").is_file() else read_documents([path])


def _judged_pages(values: Iterable[str], crawl: Path | None) -> Iterator[Document]:
    """Files and folders, or URLs of a crawl's pages."""
    for value in values:
        if "://" not in value:
            yield from _documents([Path(value)])
            continue
        if crawl is None:
            raise UsageError(f"{value}: say with --crawl DIR which crawl has the page")
        found = list(crawl_documents(crawl, value))
        if not found:
            raise UsageError(f"{value}: the crawl in {crawl} has kept no such page")
        yield from found[:1]


def _report(found: Learnt, memory: Memory, out: Path, *, as_json: bool) -> None:
    if as_json:
        data = {
            "topic": str(out),
            "samples": len(memory.samples),
            "keywords": [
                {"word": memory.forms.get(t, t), "weight": round(w, 3), "samples": found.counts.get(t, 0)}
                for t, w in found.keywords.items()
            ],
            "places": [{"id": p.id, "name": p.name, "weight": round(w, 3)} for p, w in found.places.items()],
            "candidates": [
                {"id": c.place.id, "name": c.place.name, "share": round(c.share, 3), "samples": c.samples}
                for c in found.candidates
            ],
        }
        print(json.dumps(data, ensure_ascii=False))
        return
    console = Console()
    table = Table("keyword", "weight", "samples", title=counted(len(memory.samples), "sample"))
    for term, weight in list(found.keywords.items())[:20]:
        word = " ".join(memory.forms.get(stem, stem) for stem in term.split(" "))
        table.add_row(word, f"{weight:.3f}", str(found.counts.get(term, 0)))
    console.print(table)
    table = Table("place", "mean share", "samples", "target", title="Places")
    chosen = {place.id for place in found.places}
    for candidate in found.candidates:
        mark = "yes" if candidate.place.id in chosen else ""
        table.add_row(candidate.place.name, f"{candidate.share:.2f}", str(candidate.samples), mark)
    console.print(table)
    targets = ", ".join(" / ".join(place.path[1:]) for place in found.places) or "none"
    console.print(f"{out}: target {targets}; another one: --place NAME", highlight=False, markup=False)


# -- topic judge -------------------------------------------------------------------------------------


@topic_app.command("judge")
def topic_judge(
    topic_file: TopicFile,
    judged: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE…", help='JSONL with {"id", "text", "relevant": true or false} a line.'),
    ] = None,
    *,
    good: Annotated[
        list[str] | None, typer.Option("--good", help="Pages that belong: files, folders, URLs of a crawl's pages.")
    ] = None,
    bad: Annotated[list[str] | None, typer.Option("--bad", help="Pages that do not belong.")] = None,
    crawl: Annotated[
        Path | None, typer.Option("--crawl", metavar="DIR", help="The crawl whose pages are judged by URL.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Teach a learnt topic with judged pages. Example: periplus topic judge topic.toml --good a.txt --bad b.txt"""
    settings = load_job(topic_file).topic
    gazetteer = open_with_progress()
    memory = load_memory(memory_path(topic_file), gazetteer)
    rows = list(read_documents(judged or []))
    if any(row.relevant is None for row in rows):
        raise UsageError('every judged document needs "relevant": true or false')
    right = [row for row in rows if row.relevant] + list(_judged_pages(good or [], crawl))
    wrong = [row for row in rows if row.relevant is False] + list(_judged_pages(bad or [], crawl))
    if not right and not wrong:
        raise UsageError("nothing judged: give JSONL with judgements, --good FILE or --bad FILE")
    paper = settings.judge == "paper"
    memory.samples += readings(right, gazetteer, memory.language, plain=paper)
    memory.rejected += readings(wrong, gazetteer, memory.language, plain=paper)
    memory.forms = surface_forms([row.page.text for row in right], memory.language) | memory.forms
    targets = [gazetteer.resolve(text) for text in settings.places]
    found = learnt_topic(memory, gazetteer, targets, paper=paper)
    name = settings.name or topic_file.stem
    write_topic(topic_file, topic_settings(found, memory.forms, name, paper=paper), gazetteer)
    save_memory(memory_path(topic_file), memory)
    _report(found, memory, topic_file, as_json=as_json)
