"""Topics on the web page: learnt from uploaded samples with a preview, and taught by judging hits."""

import threading
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import tomli_w
import xxhash

from periplus.errors import UsageError
from periplus.places import Gazetteer
from periplus.search import Collection
from periplus.search.shard import LocalShard
from periplus.settings import Job, TopicSettings, job_from_dict, load_job
from periplus.store.folder import CrawlFolder
from periplus.tasks import Task, TaskBook
from periplus.tasks.lessons import MIN_SAMPLES, Judgements, check_count, learnt_topic, taught
from periplus.tasks.sample_process import read_samples
from periplus.topics.topic_file import Memory, topic_settings
from periplus.web.bodies import Judgement, Samples
from periplus.web.forms import place_json

__all__ = ["Lessons"]

MOST_REMEMBERED = 16
MOST_TEXT = 16 * 2**20
_ONE_AT_A_TIME = threading.Lock()
"""Learning takes seconds of a core; a second person waits."""


class Lessons:
    """Teaches topics. Any thread may ask."""

    def __init__(self, gazetteer: Callable[[], Gazetteer], book: TaskBook | None) -> None:
        self._gazetteer = gazetteer
        self._book = book
        self._memories: OrderedDict[str, Memory] = OrderedDict()

    def _remember(self, memory: Memory) -> str:
        """Keep what a preview was learnt from for a while: a task that is made of it takes it over by this key."""
        words = repr([sorted(sample.stems.items()) for sample in memory.samples])
        key = xxhash.xxh3_128_hexdigest(words.encode("utf-8", "replace"))
        self._memories[key] = memory
        while len(self._memories) > MOST_REMEMBERED:
            self._memories.popitem(last=False)
        return key

    def take_over(self, key: str, folder: CrawlFolder) -> None:
        """Put what was learnt from beside a new crawl, so that judgements add to it."""
        memory = self._memories.get(key)
        if memory is not None:
            Judgements(folder).keep_memory(memory)

    def learn(self, body: Samples) -> dict[str, Any]:
        """Keywords and places that samples suggest, for a person to change before they are used."""
        if sum(len(sample.text) for sample in body.samples) > MOST_TEXT:
            raise UsageError(f"the samples have more than {MOST_TEXT // 2**20} million characters; give fewer")
        with _ONE_AT_A_TIME:
            memory = read_samples([(sample.name, sample.text) for sample in body.samples], self._gazetteer())
            check_count(len(memory.samples))
            targets = [self._gazetteer().resolve(name) for name in body.places]
            found = learnt_topic(memory, self._gazetteer(), targets, paper=False)
        settings = topic_settings(found, memory.forms, "")
        return {
            "memory": self._remember(memory),
            "samples": len(memory.samples),
            "keywords": settings.keywords,
            "against": settings.against,
            "places": [place_json(place) | {"weight": round(weight, 3)} for place, weight in found.places.items()],
            "candidates": [
                place_json(one.place) | {"share": round(one.share, 3), "samples": one.samples}
                for one in found.candidates
            ],
            "learnt": msgspec.to_builtins(settings.learnt),
        }

    def judge(self, body: Judgement, collection: Collection) -> dict[str, Any] | None:
        """Note a judgement and learn the crawl's topic anew; None if there is no such page.

        The new topic goes into the crawl's job, and into its task if it has one: the next run judges by it.
        """
        view = collection.page(body.node, body.page)
        shard = collection.shard(body.node)
        if view is None or shard is None:
            return None
        if not isinstance(shard, LocalShard):
            raise UsageError("this page is on another machine of the cluster; judge it where it was crawled")
        folder = shard.crawl_folder
        job = load_job(folder.job_file)
        name = _topic_named(job, body.topic, view["topics"])
        judgements = Judgements(folder, name)
        with _ONE_AT_A_TIME:
            judgements.add(view["url"], body.good)
            said = judgements.all()
            before = job.topics[name] if name else job.topic
            topic = taught(folder, before, self._gazetteer(), judgements) if said else None
            if topic is not None:
                _keep(folder, topic, name, _task_of(folder, self._book), self._book)
        good = sum(said.values())
        return {
            "topic": name,
            "good": body.good,
            "judged": len(said),
            "retrained": topic is not None,
            "wanted": max(0, MIN_SAMPLES - good) if topic is None else 0,
            "keywords": dict(list(topic.keywords.items())[:12]) if topic else {},
        }


def _topic_named(job: Job, wanted: str, labels: Sequence[str]) -> str:
    """The name of the topic that is judged: empty if there is only one; else the wanted one, or the page's only one."""
    if not job.topics:
        return ""
    if wanted:
        if wanted not in job.topics:
            raise UsageError(f"the crawl has no topic {wanted!r}; it has {', '.join(job.topics)}")
        return wanted
    named = [label for label in labels if label in job.topics]
    if len(named) != 1:
        raise UsageError(f"the crawl has several topics; say which is meant: {', '.join(job.topics)}")
    return named[0]


def _task_of(folder: CrawlFolder, book: TaskBook | None) -> Task | None:
    path = folder.path.resolve()
    return next((task for task in book.tasks() if task.folder.resolve() == path), None) if book else None


def _keep(folder: CrawlFolder, topic: TopicSettings, name: str, task: Task | None, book: TaskBook | None) -> None:
    """Write the topic, one of several if it has a `name`, where the next run finds it."""
    learnt: dict[str, Any] = msgspec.to_builtins(topic)
    kept = {key: learnt[key] for key in ("keywords", "against", "places", "learnt")}
    if task is not None and book is not None:
        data = task.job_data
        _put(data, name, kept)
        job_from_dict(data, f"task {task.name}")
        book.change(task, data, task.schedule)
        return
    text = tomllib.loads(folder.job_file.read_text("utf-8"))
    _put(text, name, kept)
    job_from_dict(text, str(folder.job_file))
    folder.write_job(
        f"# The job as it was started, with its topic learnt anew from judged pages.\n{tomli_w.dumps(text)}"
    )


def _put(data: dict[str, Any], name: str, kept: dict[str, Any]) -> None:
    if name:
        topics = data.setdefault("topics", {})
        topics[name] = topics.get(name, {}) | kept
    else:
        data["topic"] = data.get("topic", {}) | kept
