"""Learn `src/periplus/places/weights.json` from the labelled texts in the folder that PERIPLUS_DATA names.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/train_places.py [--words]

The folder holds `geoparsing/*.jsonl` (unpack geoparsing.tar.xz there). No text of it goes into the weights file.
`--words` first learns anew which names are also common words, from `wikispeedia` and `topics`; the gazetteer is then
compiled again. `--words-of` learns only which names are words of other languages (`train_words.py`).
"""

import datetime as dt
import hashlib
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

from train_words import learn_words_of

from periplus.errors import PeriplusError
from periplus.places import Gazetteer, open_gazetteer
from periplus.places.folding import name_keys
from periplus.places.lexicon import commonness_level
from periplus.places.scoring import read_corpus
from periplus.places.training import Recipe, fit_recipe, prepare_all

OUT = Path(__file__).resolve().parent.parent / "src" / "periplus" / "places" / "weights.json"
CORPORA = ("lgl-even", "geovirus", "geocorpora", "wiktor-1000")


SMALL = re.compile(r"(?<![\w'’.@/-])[a-z][^\W\d_]*(?![\w@/-])")
CAPITAL = re.compile(r"(?<=[a-z,;] )([A-Z][^\W\d_]+)(?![\w-])")


def learn_words(folder: Path, gazetteer: Gazetteer) -> dict[str, str]:
    """Names that running text writes small, by level: from wikispeedia and Reuters, never from the labelled texts."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    texts = [
        p.read_text(encoding="utf-8") for p in sorted((folder / "wikispeedia" / "plaintext_articles").glob("*.txt"))
    ]
    with (folder / "topics" / "reuters-a.jsonl").open(encoding="utf-8") as lines:
        texts += [json.loads(line)["body"] or "" for line in lines]
    for text in texts:
        small.update(SMALL.findall(text))
        capital.update(word.lower() for word in CAPITAL.findall(text))
    words = sorted(w for w, n in small.items() if n >= 3 and len(w) > 1)
    known = gazetteer.name_index(name_keys(words)) >= 0
    levels: dict[str, list[str]] = {}
    for word, is_name in zip(words, known.tolist(), strict=True):
        if is_name:
            levels.setdefault(str(commonness_level(small[word], capital[word])), []).append(word)
    return {level: " ".join(found) for level, found in sorted(levels.items())}


def main() -> None:
    """Train on everything and write the file."""
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder:
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (geoparsing/*.jsonl)")
    gazetteer = open_gazetteer()
    shipped = json.loads(OUT.read_text(encoding="utf-8"))
    if "--words-of" in sys.argv:
        shipped["words_of"] = learn_words_of(Path(folder), gazetteer)
        OUT.write_text(json.dumps(shipped, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return
    if "--words" in sys.argv:
        words = learn_words(Path(folder), gazetteer)
        OUT.write_text(json.dumps({**shipped, "words": words}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        shipped["words"] = words
        gazetteer = open_gazetteer()
    paths = {name: Path(folder) / "geoparsing" / f"{name}.jsonl" for name in CORPORA}
    try:
        examples = prepare_all({name: read_corpus(path) for name, path in paths.items()}, gazetteer, Recipe())
    except PeriplusError as error:
        sys.exit(str(error))
    weights = fit_recipe(examples, gazetteer, Recipe())
    weights["words"], weights["words_of"] = shipped.get("words", {}), shipped.get("words_of", {})
    weights["about"] = {
        "what": "Weights of the place models; written by scripts/train_places.py, see docs/places.md.",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "gazetteer": gazetteer.digest,
        "corpora": {name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in paths.items()},
    }
    OUT.write_text(json.dumps(weights, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {OUT.name} from {sum(len(d) for d in examples.values())} texts")


if __name__ == "__main__":
    main()
