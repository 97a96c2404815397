"""How well what a page says is told from its furniture (part of `make eval`).

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/eval_content.py [--check]

Editors noted of real pages (html/trafilatura/tests/evaldata.json) pieces of text that belong to the article and pieces
that do not. Of those that stand in the page's text at all, this counts how many are left when the furniture is cut off
(`pages/maintext.py`). `--check` fails below the goals.
"""

import argparse
import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from periplus.model import Fetched
from periplus.pages import read_page
from periplus.pages.maintext import without

LEAST_OF_ARTICLES, MOST_OF_OTHERS = 0.965, 0.42
"""What is to be left of what belongs to articles, and what may be left of what does not."""

LEFT = {"with": "belongs to the article", "without": "does not"}


def count(folder: Path) -> Counter[tuple[str, bool]]:
    """How many pieces of each sort are left (True) and cut off (False)."""
    found: Counter[tuple[str, bool]] = Counter()
    for url, noted in json.loads((folder / "evaldata.json").read_text("utf-8")).items():
        file = next((one for place in ("eval", "cache") if (one := folder / place / noted["file"]).is_file()), None)
        if file is None:
            continue
        page = read_page(Fetched(url, 200, (), file.read_bytes(), "text/html", datetime.now(UTC), 0.0, ""))
        whole, left = _words(page.text), _words(without(page.text, page.furniture))
        for sort in LEFT:
            found.update((sort, _words(piece) in left) for piece in noted.get(sort, ()) if _words(piece) in whole)
    return found


def _words(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    data = os.environ.get("PERIPLUS_DATA")
    folder = Path(data or ".") / "html" / "trafilatura" / "tests"
    if not data or not (folder / "evaldata.json").is_file():
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked pages (html/trafilatura/tests/evaldata.json)")
    found = count(folder)
    shares = {}
    for sort, words in LEFT.items():
        pieces = found[sort, True] + found[sort, False]
        shares[sort] = found[sort, True] / max(1, pieces)
        print(f"{words}: {found[sort, True]:,} of {pieces:,} pieces are left, {shares[sort]:.3f}")
    if options.check and (shares["with"] < LEAST_OF_ARTICLES or shares["without"] > MOST_OF_OTHERS):
        sys.exit(f"goals: at least {LEAST_OF_ARTICLES} and at most {MOST_OF_OTHERS}")


if __name__ == "__main__":
    main()
