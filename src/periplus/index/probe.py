"""Looking into an index from a process of its own: a damaged one can end the process that opens it.

`python -m periplus.index.probe DIR` prints what the index holds; `probe` runs that and believes only a whole answer.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from periplus.index.node_index import NodeIndex

__all__ = ["Holding", "probe"]

MOST_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Holding:
    """What an index says of itself: the revision it has read up to, its pages and the sum of their numbers."""

    revision: int
    pages: int
    sum_of_numbers: int


def probe(path: Path) -> Holding | None:
    """What the index in `path` holds; None if it cannot be opened."""
    try:
        answer = subprocess.run(  # noqa: S603 - our own interpreter and module; the path is an argument, not a command
            [sys.executable, "-m", "periplus.index.probe", str(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    words = answer.stdout.split()
    if answer.returncode != 0 or len(words) != 3:
        return None
    return Holding(*map(int, words))


if __name__ == "__main__":
    index = NodeIndex.open(Path(sys.argv[1]), create=False)
    print(index.revision, *index.tally())
