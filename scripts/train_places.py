"""Learn `src/periplus/places/weights.json` from the labelled texts in the folder that PERIPLUS_DATA names.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/train_places.py

The folder holds `geoparsing/*.jsonl` (unpack geoparsing.tar.xz there). No text of it goes into the weights file.
"""

import datetime as dt
import hashlib
import json
import os
import sys
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.places import open_gazetteer
from periplus.places.scoring import read_corpus
from periplus.places.training import fit, prepare

OUT = Path(__file__).resolve().parent.parent / "src" / "periplus" / "places" / "weights.json"
RECOGNITION = {"lgl-even": 1.0, "geovirus": 1.0, "geocorpora": 0.5}
PLACED = {"lgl-even": 1.0, "geovirus": 1.0, "geocorpora": 1.0, "wiktor-1000": 0.3}


def main() -> None:
    """Train on everything and write the file."""
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder:
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (geoparsing/*.jsonl)")
    gazetteer = open_gazetteer()
    paths = {name: Path(folder) / "geoparsing" / f"{name}.jsonl" for name in PLACED}
    try:
        examples = {name: prepare(read_corpus(path), gazetteer) for name, path in paths.items()}
    except PeriplusError as error:
        sys.exit(str(error))
    accept = [e for name in RECOGNITION for e in examples[name]]
    placed = [e for name in PLACED for e in examples[name]]
    weights = fit(accept, placed, gazetteer, 0.45)
    weights["about"] = {
        "what": "Weights of the place models; written by scripts/train_places.py, see docs/places.md.",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "gazetteer": gazetteer.digest,
        "corpora": {name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in paths.items()},
    }
    OUT.write_text(json.dumps(weights, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {OUT.name} from {len(accept)} and {len(placed)} texts")


if __name__ == "__main__":
    main()
