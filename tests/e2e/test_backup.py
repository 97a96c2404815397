"""A copy of a crawl that is made while it runs can be taken up, and ends with the same pages as the original."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

from command_line import miniweb, periplus, start


def pages_of(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.glob("nodes/*/node.db"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            found |= {row[0] for row in db.execute("SELECT url FROM page")}
    return found


def test_a_copy_made_while_it_runs_is_as_good_as_the_original(tmp_path: Path) -> None:
    """The process is held (SIGSTOP), copied and let go: to the copy it is as if the process had died just then."""
    with miniweb(tmp_path, "--hosts", 60, "--pages", 320, "--slow", 0.05) as web:
        text = web.job.read_text("utf-8").replace("pages = 3000", "pages = 0")
        web.job.write_text(text.replace("retry_seconds = 1.0", "retry_seconds = 0.1"), "utf-8")
        original, copy = tmp_path / "original", tmp_path / "copy"
        process = start("crawl", web.job, "--out", original, "--json")
        while len(web.requests()) < 60 and process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.05)
        assert process.poll() is None, "it was still running"
        os.kill(process.pid, signal.SIGSTOP)
        shutil.copytree(original, copy)
        os.kill(process.pid, signal.SIGCONT)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        before = pages_of(copy)
        restored = periplus("crawl", web.job, "--out", copy, "--json")
        assert restored.code == 0, restored.err
    assert before < pages_of(copy), "something was left to do"
    assert pages_of(copy) == pages_of(original)
    for folder in (original, copy):
        assert periplus("verify", folder).code == 0
