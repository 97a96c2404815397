"""Measure the geoparser on the labelled texts in the folder that PERIPLUS_DATA names (geoparsing/*.jsonl).

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/eval_places.py [--json] [--shipped] [--leave-out] [--check]

Default: five-fold cross-validation by document over all corpora together. `--leave-out` trains without the corpus
that is measured; `--shipped` measures the weights of the package, which have seen these texts. `--check` fails if a
cross-validated figure is below its floor.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from periplus.errors import PeriplusError
from periplus.model import Located
from periplus.places import Gazetteer, HostPrior, locate, open_gazetteer
from periplus.places.memory import leave_one_out
from periplus.places.model_weights import Weights, weights_from
from periplus.places.scoring import Document, Scores, read_corpus, score_documents
from periplus.places.training import Recipe, fit_recipe, prepare_all

CORPORA = ("lgl-even", "geovirus", "geocorpora", "wiktor-1000")
FOLDS = 5
FLOORS = {  # F and share within 161 km, a little below what was measured when they were pinned
    "lgl-even": (0.874, 0.89), "lgl-even + site memory": (0.878, 0.93), "geovirus": (0.924, 0.92),
    "geocorpora": (0.812, 0.886), "wiktor-1000": (0.0, 0.855),
}  # fmt: skip
NO_DEMONYMS = frozenset({"geovirus", "geocorpora"})  # these corpora do not count adjectival forms


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--json", "--shipped", "--leave-out", "--check"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder:
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (geoparsing/*.jsonl)")
    gazetteer = open_gazetteer()
    try:
        corpora = {name: read_corpus(Path(folder) / "geoparsing" / f"{name}.jsonl") for name in CORPORA}
    except PeriplusError as error:
        sys.exit(str(error))
    report: dict[str, dict[str, dict[str, float]]] = {}
    if options.shipped:
        report["shipped weights"] = _measure(corpora, gazetteer, lambda _name, _i: None)
    else:
        report["cross-validated"] = _measure(corpora, gazetteer, _cross_validated(corpora, gazetteer))
    if options.leave_out:
        report["corpus left out"] = _measure(corpora, gazetteer, _left_out(corpora, gazetteer))
    _print(report, as_json=options.json)
    if options.check:
        _check(report.get("cross-validated", {}))


def _cross_validated(corpora: dict[str, list[Document]], gazetteer: Gazetteer) -> Callable[[str, int], Weights | None]:
    examples = prepare_all(corpora, gazetteer, Recipe())
    models: list[Weights] = []
    for fold in range(FOLDS):
        kept = {name: [e for i, e in enumerate(docs) if i % FOLDS != fold] for name, docs in examples.items()}
        models.append(weights_from(fit_recipe(kept, gazetteer, Recipe())))
    return lambda _name, i: models[i % FOLDS]


def _left_out(corpora: dict[str, list[Document]], gazetteer: Gazetteer) -> Callable[[str, int], Weights | None]:
    examples = prepare_all(corpora, gazetteer, Recipe())
    models = {
        out: weights_from(fit_recipe({n: d for n, d in examples.items() if n != out}, gazetteer, Recipe()))
        for out in corpora
    }
    return lambda name, _i: models[name]


def _measure(
    corpora: dict[str, list[Document]], gazetteer: Gazetteer, model: Callable[[str, int], Weights | None]
) -> dict[str, dict[str, float]]:
    """Scores of each corpus; LGL also with site memory, demonym-free corpora without demonyms."""
    results: dict[str, dict[str, float]] = {}
    for name, documents in corpora.items():
        position = {id(d): i for i, d in enumerate(documents)}

        def parse(
            d: Document, prior: HostPrior | None = None, name: str = name, at: dict[int, int] = position
        ) -> Located:
            weights = model(name, at[id(d)])
            return locate(
                d.text, gazetteer, prior=prior, weights=weights, demonyms=name not in NO_DEMONYMS, candidates=False
            )

        started = time.perf_counter()
        results[name] = score_documents(documents, parse).as_dict()
        results[name]["seconds"] = round(time.perf_counter() - started, 2)
        if any(d.site for d in documents):
            results[name + " + site memory"] = _with_memory(documents, parse).as_dict()
    return results


def _with_memory(documents: list[Document], parse: Callable[[Document, HostPrior | None], Located]) -> Scores:
    """The same with what the other documents of each site were about."""
    by_text = {d.text: d for d in documents}
    urls = [(d.text, f"http://{d.site}/") for d in documents]
    priors = leave_one_out(urls, lambda text, _url: parse(by_text[text], None))
    prior_of = {d.text: priors.get(i) for i, d in enumerate(documents)}
    return score_documents(documents, lambda d: parse(d, prior_of[d.text]))


def _print(report: dict[str, dict[str, dict[str, float]]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report, indent=1))
        return
    for title, rows in report.items():
        print(f"{title:32} {'P':>6} {'R':>6} {'F':>6} {'acc161':>7} {'AUC':>6} {'found':>6} {'gold':>6}")
        for name, row in rows.items():
            print(
                f"  {name:30} {row['precision']:6.3f} {row['recall']:6.3f} {row['f1']:6.3f} "
                f"{row['accuracy_161km']:7.3f} {row['auc']:6.3f} {row['found']:6} {row['gold']:6}"
            )


def _check(rows: dict[str, dict[str, float]]) -> None:
    """Exit with an error if a figure fell below its floor."""
    low = [
        f"{name}: F {rows[name]['f1']} acc {rows[name]['accuracy_161km']}, floors {floor}"
        for name, floor in FLOORS.items()
        if rows[name]["f1"] < floor[0] or rows[name]["accuracy_161km"] < floor[1]
    ]
    if low:
        sys.exit("below the floor: " + "; ".join(low))


if __name__ == "__main__":
    main()
