"""Learn the weights of the strategy `blend` from recorded webs (`make train-blend`).

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/train_blend.py [--webs FOLDER] [--check] [--out FILE]
                                                              [--only FEATURE]...

Reads the miniature web, WebKB and wikispeedia. Each collection is also left out once, and the others' weights are tried
on it: those surprises, beside the ones of the final weights, say how far the weights carry over; both are written into
weights.json with them. `--check` prints and writes nothing. `--only` learns the weights of these features and keeps the
others as they are in the file.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
from blend_lessons import Floats, Lessons, fit, lessons_of, surprise
from experiment_webs import Web, labels_of, miniature, read_world, webkb, wikispeedia

from periplus.places import Gazetteer, open_gazetteer
from periplus.strategies.weighing import FEATURES, learnt_weights

WEIGHTS = Path(__file__).parents[1] / "src/periplus/strategies/weights.json"
PRIOR = {
    "url with its region": 6.0,
    "url host": 5.5,
    "url path": 4.0,
    "anchor": 3.0,
    "around": 1.5,
    "content of the same host": 2.0,
    "content of another host": 1.0,
    "address, same host": 1.0,
    "address, another host": 0.3,
    "address, nobody's place": 0.5,
    "parent's node, same host": 0.5,
    "parent's node, another host": 0.3,
    "host's pages": 4.0,
    "host's pages, clearly": 1.0,
    "host's addresses": 2.0,
    "nowhere": 2.5,
    "url, nobody's place": 3.0,
    "anchor, nobody's place": 1.5,
    "content, nobody's place": 1.0,
    "host's pages, nobody's place": 3.0,
    "host's pages, no place": 2.0,
    "host's pages, no address": 0.5,
    "url, nothing else": 1.0,
    "anchor, nothing else": 1.0,
    "url host, before a word": 1.0,
}
"""What the weights are drawn to a little, so that evidence that the webs do not have (a server's address) counts."""


def prior() -> Floats:
    """The weights before anything is learnt; positions in a page all begin alike."""
    return np.array([PRIOR[name] if name in PRIOR else PRIOR[name.rpartition(", ")[0]] for name in FEATURES])


def kept_but(features: list[str]) -> tuple[Floats, Floats]:
    """The weights of the file, and which of them may change."""
    return np.array(learnt_weights()), np.array([name in features for name in FEATURES], dtype=float)


def lessons_from(web: Web, gazetteer: Gazetteer) -> Lessons:
    """The lessons of one web."""
    return lessons_of(read_world(web, gazetteer), labels_of(web))


def main() -> None:
    """Learn, cross-validate and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=Path, default=Path("experiments"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--only", action="append", default=[], choices=FEATURES, metavar="FEATURE")
    options = parser.parse_args()
    data = Path(os.environ.get("PERIPLUS_DATA", ""))
    if not (data / "webkb").is_dir() or not (data / "wikispeedia").is_dir():
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (webkb, wikispeedia)")
    options.webs.mkdir(parents=True, exist_ok=True)
    gazetteer = open_gazetteer()
    webs = [miniature(options.webs, 0.7), webkb(options.webs, data), wikispeedia(options.webs, data, gazetteer)]
    lessons = {web.name: lessons_from(web, gazetteer) for web in webs}
    start, free = kept_but(options.only) if options.only else (prior(), np.ones(len(FEATURES)))
    weights = fit(list(lessons.values()), start, free)
    tried = {}
    for name, own in lessons.items():
        others = fit([other for key, other in lessons.items() if key != name], start, free)
        tried[name] = {
            "lessons": len(own.begins),
            "surprise before": round(surprise(own, start), 4),
            "surprise, learnt on the others": round(surprise(own, others), 4),
            "surprise": round(surprise(own, weights), 4),
        }
        print(name, tried[name])
    learnt = {name: round(float(value), 3) for name, value in zip(FEATURES, weights, strict=True)}
    if not options.check:
        options.out.write_text(json.dumps({"learnt on": tried, "weights": learnt}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
