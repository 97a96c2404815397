"""Measure the strategy `url` on labelled web sites in the folder that PERIPLUS_DATA names (url-labels).

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/eval_strategies.py [--json] [--check] [--errors N]

Every municipal site is one link; all places of the United States are targets. "Right" means: sent to the place
itself. `unique` are the sites whose municipality shares its name with no other of the set, `shared` the rest; both
again with and without the state in the URL. Precision is right / sent. `--check` fails below the goals.

Newspapers (LocalNewsDataset/data/usnpl.tsv) are labelled with their state only: right means sent to a place there.
"""

import argparse
import csv
import json
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from periplus.model import Link, Located, Page, Place
from periplus.places import Gazetteer, glue, open_gazetteer
from periplus.strategies import STRATEGIES, Ownership, load_targets
from periplus.strategies.conventions import STATES

GOALS = {"unique": 0.85, "shared": 0.60, "precision": 0.90}
LEGAL = re.compile(r"( Town| city \(balance\)|[- ][^ ]+ (metropolitan|unified).*\(balance\)| \(balance\))$")
NEARBY_KM = 15.0
"""The gazetteer may have a town twice (the place and its township); either is right."""


@dataclass(frozen=True, slots=True)
class Site:
    """One labelled site."""

    url: str
    name: str
    state: str
    gold: Place
    unique: bool
    says_state: bool


def read_sites(path: Path, gazetteer: Gazetteer) -> tuple[list[Site], int]:
    """The sites whose municipality the gazetteer knows, and how many it does not."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["WEBSITE_AVAILABLE"] == "1"]
    count = Counter(row["MUNICIPALITY"] for row in rows)
    sites, unknown = [], 0
    for row in rows:
        gold = gold_place(row["MUNICIPALITY"], row["STATE"], gazetteer)
        if gold is None:
            unknown += 1
            continue
        url, state = row["WEBSITE_URL"], row["STATE"]
        says = says_state(url, state, row["MUNICIPALITY"])
        sites.append(Site(url, row["MUNICIPALITY"], state, gold, count[row["MUNICIPALITY"]] == 1, says))
    return sites, unknown


def gold_place(name: str, state: str, gazetteer: Gazetteer) -> Place | None:
    """The labelled municipality in the gazetteer."""
    plain = LEGAL.sub("", name)
    for written in (plain, plain.partition("-")[0]):
        found = [p for p in gazetteer.find(f"{written}, {state}") if p.kind == "city" and bears(p, written, gazetteer)]
        if found:
            return max(found, key=lambda place: (place.name.casefold() == written.casefold(), place.population))
    return None


def bears(place: Place, name: str, gazetteer: Gazetteer) -> bool:
    """Whether it is the place's own name: `find` also answers with the post office that serves a town."""
    return glue(name) in {glue(known) for known in (place.name, *gazetteer.other_names(place.id))}


def says_state(url: str, state: str, name: str) -> bool:
    """Whether the URL names the state, by name or by code next to the name or as a label."""
    text = re.sub(r"[^a-z]", "", url.lower().partition("://")[2])
    glued, town = re.sub(r"[^a-z]", "", state.lower()), re.sub(r"[^a-z]", "", name.lower())
    code = next((code for code, full in STATES.items() if full == glued), "??")
    labels = re.split(r"[^a-z]+", url.lower().partition("://")[2].partition("/")[0])[:-1]
    return glued in text or code in labels or f"{town}{code}" in text


def measure(sites: list[Site], gazetteer: Gazetteer, errors: int) -> dict[str, float]:
    """Shares of sites sent to the right place, and precision."""
    ownership = Ownership.of(load_targets("all:US", Path(), gazetteer), gazetteer)
    strategy = STRATEGIES["url"](ownership, gazetteer)
    links = [Link(site.url, "") for site in sites]
    started = time.perf_counter()
    claims = strategy.route(links, Page("", "", "", ()), Located())
    seconds = time.perf_counter() - started
    groups: dict[str, list[int]] = {}
    sent = right = 0
    for site, claim in zip(sites, claims, strict=True):
        target = claim[0].target_id
        ok = target is not None and is_gold(target, site.gold, gazetteer)
        sent += target is not None
        right += ok
        group = "unique" if site.unique else "shared"
        for name in (group, f"{group}, state {'in URL' if site.says_state else 'not in URL'}"):
            groups.setdefault(name, []).append(ok)
        if errors and not ok:
            errors -= 1
            sent_to = gazetteer.place(target).path[2:] if target is not None else "none"
            print(f"  {site.url}: {site.name}, {site.state} -> {sent_to}")
    result = {name: round(sum(hits) / len(hits), 4) for name, hits in sorted(groups.items())}
    result |= {f"sites: {name}": len(hits) for name, hits in sorted(groups.items())}
    return result | {
        "precision": round(right / max(1, sent), 4),
        "sent": sent,
        "right": right,
        "microseconds a link": round(seconds / len(sites) * 1e6, 1),
    }


def measure_newspapers(path: Path, gazetteer: Gazetteer) -> dict[str, float]:
    """How many newspapers' sites are sent to a place in their state."""
    with path.open(encoding="utf-8", newline="") as file:
        states = {row["Website"]: row["Geography"] for row in csv.DictReader(file, delimiter="\t")}
    sites = sorted(url for url in states if url.startswith("http"))
    strategy = STRATEGIES["url"](Ownership.of(load_targets("all:US", Path(), gazetteer), gazetteer), gazetteer)
    claims = strategy.route([Link(url, "") for url in sites], Page("", "", "", ()), Located())
    nodes = {url: claim[0].node for url, claim in zip(sites, claims, strict=True) if claim[0].target_id is not None}
    right = sum(states[url] == node for url, node in nodes.items())
    return {
        "newspapers": len(sites),
        "newspapers, sent": len(nodes),
        "newspapers, right": right,
        "newspapers, precision": round(right / max(1, len(nodes)), 4),
    }


def is_gold(target: int, gold: Place, gazetteer: Gazetteer) -> bool:
    """The place itself, or its double in the same state a few kilometres away."""
    if target == gold.id:
        return True
    place = gazetteer.place(target)
    near = place.point.distance_km(gold.point) <= NEARBY_KM
    return near and place.admin1 == gold.admin1 and place.name.split()[0] == gold.name.split()[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    folder = os.environ.get("PERIPLUS_DATA")
    path = Path(folder or "") / "url-labels" / "uscityurl.csv"
    if not folder or not path.is_file():
        sys.exit("set PERIPLUS_DATA to the folder with the unpacked corpora (url-labels/uscityurl.csv)")
    gazetteer = open_gazetteer()
    sites, unknown = read_sites(path, gazetteer)
    result = measure(sites, gazetteer, options.errors) | {"sites not in the gazetteer": unknown}
    newspapers = path.parent / "LocalNewsDataset/data/usnpl.tsv"
    result |= measure_newspapers(newspapers, gazetteer) if newspapers.is_file() else {}
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print("strategy url, all places of the US as targets")
        for name, value in result.items():
            print(f"  {name:36} {value}")
    low = [f"{name} {result[name]} < {goal}" for name, goal in GOALS.items() if result[name] < goal]
    if options.check and low:
        sys.exit("below the goal: " + "; ".join(low))


if __name__ == "__main__":
    main()
