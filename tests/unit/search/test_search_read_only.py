"""A collection on a file system that cannot be written to can still be asked (K5)."""

import subprocess
import sys
from pathlib import Path

import pytest
from sample_collection import add_pages, build_collection, make_page

from periplus.search import Collection

ASK = """
import sys
from pathlib import Path
from periplus.search import Collection
with Collection.open([Path(sys.argv[1])]) as collection:
    print(collection.search("bayou").total, collection.search("bayou").hits[0].title)
"""
MOUNT = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && ! touch "$1/x" 2> /dev/null'


def asked_read_only(folder: Path) -> subprocess.CompletedProcess[str]:
    """Ask from a process that sees the folder on a file system that is mounted read-only."""
    script = f'{MOUNT} || exit 77; exec "$2" -c "$3" "$1"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(folder), sys.executable, ASK]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.needs("unshare")
@pytest.mark.parametrize("log", ["a log beside it", "no log"])
def test_K5_a_collection_that_cannot_be_written_to_can_be_asked(tmp_path: Path, log: str) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    with Collection.open([crawl.path]) as collection:
        assert collection.search("bayou").total == 1
        if log != "no log":
            add_pages(crawl.node("a").database, [make_page(2)])  # committed, and not in the index
            done = asked_read_only(crawl.path)
    if log == "no log":
        for name in ("node.db-wal", "node.db-shm"):
            (crawl.node("a").path / name).unlink(missing_ok=True)
        done = asked_read_only(crawl.path)
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("nothing can be mounted here")
    assert done.stdout.startswith("1 Story 1"), done.stderr[-2000:]
