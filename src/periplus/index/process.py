"""The indexes of a crawl, kept up to date in a process of their own: a crawl has more to do than one interpreter can.

`python -m periplus.index.process` reads what is to be done, a JSON object a line, and answers each with one. It ends
when its input does, so it does not outlive the crawl, and may be killed at any time: an index is always at its last
commit.
"""

import contextlib
import gc
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from periplus import errors
from periplus.errors import Corrupt, EnvironmentFailure, FolderInUse, PeriplusError
from periplus.index.node_index import NodeIndex
from periplus.memory import give_memory_back, keep_memory_together
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder

__all__ = ["IndexProcess", "Indexes"]

DEATHS_BEFORE_ANEW, MOST_DEATHS = 2, 3
"""Deaths of the process over one index after which that is built anew, since a damaged one may be what ends it, and
after which the crawl ends as well."""

NICENESS = 3
"""The crawl comes first, since hosts wait for nobody. With more, a crawl that needs all of the processor would leave so
little that its index falls ever further behind: on two cores this is about what a page's share of indexing takes."""

COLLECT_AFTER = 50_000
"""Objects after which the collector of cycles runs; there are hardly any."""


class Indexes:
    """The indexes of the nodes of a crawl, written by this process."""

    def __init__(self) -> None:
        self._open: dict[str, NodeIndex] = {}

    def start(self) -> None:
        """Nothing needs to be made ready here."""

    def close(self) -> None:
        """Nothing is under way between two updates."""

    def update(self, node: NodeFolder, *, again: bool) -> str:
        """Bring a node's index up to what is committed; says why if it had to be built anew.

        `again`: also pages that were indexed before most links to them were known; for the end of a crawl.
        """
        try:
            self._update(node, again=again)
        except Corrupt as error:  # it holds nothing that the database has not: once more from the beginning
            self._open.pop(node.name, None)
            shutil.rmtree(node.index, ignore_errors=True)
            self._update(node, again=again)
            return str(error)
        return ""

    def _update(self, node: NodeFolder, *, again: bool) -> None:
        index = self._open.get(node.name)
        if index is None:
            index = self._open[node.name] = NodeIndex.open(node.index, create=True)
        # Somebody who searches meanwhile brings the index up to date as well; then it is not our turn.
        with contextlib.closing(open_reader(node.database)) as db, contextlib.suppress(FolderInUse):
            if index.update(db, again=again):
                give_memory_back()
            if again:
                index.gather(db)


class IndexProcess:
    """The same in another process, which is made anew when it dies. One thread asks; any may close."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def start(self) -> None:
        """Have the process made, so that it is ready when there is something to do."""
        # It finds our modules where we did, and nothing in the folder that somebody happens to be in (-P).
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "periplus.index.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            process_group=0,  # out of reach of Ctrl-C before it ignores it, too
        )
        if self._closed:  # meanwhile, by another thread
            self._bury()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._bury()

    def update(self, node: NodeFolder, *, again: bool) -> str:
        """As `Indexes.update`, with the same errors; EnvironmentFailure if the process dies of it again and again."""
        anew = ""
        for deaths in range(MOST_DEATHS):
            if deaths == DEATHS_BEFORE_ANEW:
                anew = f"{node.index}: the process that indexes died of it {deaths} times"
                shutil.rmtree(node.index, ignore_errors=True)
            answer = self._ask({"name": node.name, "path": str(node.path.absolute()), "again": again})
            if self._closed:
                break
            if answer is not None:
                return _told(answer) or anew
        raise EnvironmentFailure(f"{node.index}: the process that indexes has died; run the same command again")

    def _ask(self, question: dict[str, Any]) -> dict[str, str] | None:
        """The answer of the process, which is made if there is none; None if it died."""
        if self._process is None and not self._closed:
            self.start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        with contextlib.suppress(OSError, ValueError):  # it is dead, what it said is torn, or somebody closed it
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            answer: dict[str, str] = json.loads(process.stdout.readline())
            return answer
        self._bury()
        return None

    def _bury(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for end in (process.stdin, process.stdout):
                if end is not None:
                    with contextlib.suppress(OSError):  # what was not sent yet
                        end.close()


def _told(answer: dict[str, str]) -> str:
    """What an answer says: why an index was built anew, or the error that it is."""
    if "error" in answer:
        kind = getattr(errors, answer["error"], EnvironmentFailure)
        raise kind(answer["text"])
    return answer["anew"]


def serve() -> None:
    """Do what is asked for until the input ends; then end at once, whatever is under way."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # they are meant for the crawl, which ends in order
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    keep_memory_together()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    questions: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    indexes = Indexes()
    while True:
        question = json.loads(questions.get())
        node = NodeFolder(question["name"], Path(question["path"]))
        try:
            answer = {"anew": indexes.update(node, again=question["again"])}
        except PeriplusError as error:
            answer = {"error": type(error).__name__, "text": str(error)}
        print(json.dumps(answer), flush=True)


def _listen(questions: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        questions.put(line)
    os._exit(0)


if __name__ == "__main__":
    serve()
