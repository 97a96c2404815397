"""Uploaded samples are read in a process of their own, with limits on time and memory.

They come from anywhere, as pages do: what crashes, hangs or bloats the process that reads them costs the samples, never
the server. `python -m periplus.tasks.sample_process OUT` reads them as JSON and writes a topic's memory.
"""

import contextlib
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from periplus.errors import UsageError
from periplus.places import Gazetteer, open_gazetteer
from periplus.tasks.lessons import readings
from periplus.topics.samples import Document, page_of
from periplus.topics.topic_file import Memory, load_memory, save_memory, surface_forms

__all__ = ["read_samples"]

MODULE = "periplus.tasks.sample_process"
CPU_SECONDS = 60
SECONDS = 120.0
MEMORY_BYTES = 2 * 2**30


def read_samples(samples: Sequence[tuple[str, str]], gazetteer: Gazetteer) -> Memory:
    """What samples (name and text or HTML) hold, for learning. UsageError if they cannot be read."""
    given = json.dumps(samples).encode("ascii")
    with tempfile.TemporaryDirectory(prefix="periplus-samples-") as folder:
        out = Path(folder) / "memory.json"
        try:
            ended = subprocess.run(  # noqa: S603  # our own module; what is untrusted comes over stdin
                [sys.executable, "-m", MODULE, str(out)],
                input=given,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError("the samples took too long to read; give fewer or shorter ones") from None
        if ended.returncode:
            raise UsageError("one of the samples broke the process that read it; leave out what is no text or HTML")
        return load_memory(out, gazetteer)


def _limit() -> None:
    """No sample outlives its time or takes the machine's memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    with contextlib.suppress(ValueError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _main() -> None:
    _limit()
    documents = [
        Document(name, page_of(text.encode("utf-8", "replace"), name)) for name, text in json.load(sys.stdin.buffer)
    ]
    memory = Memory(samples=readings(documents, open_gazetteer(), "en"))
    memory.forms = surface_forms([f"{d.page.title} {d.page.text}" for d in documents], memory.language)
    save_memory(Path(sys.argv[1]), memory)


if __name__ == "__main__":
    _main()
