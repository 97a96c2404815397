"""What the strategies `classifier` and `ip` need in `make experiments`, made from other pages and for made addresses.

The classifier of a miniature web is trained on another one. For WebKB and wikispeedia there is no other web with the
same owners, so one half of their own pages, by a hash of the URL, trains it: what it shows there is more than it would
on a web that it has never met. A page's label is the truth that the experiment goes by: its label, else the owner of
its first address.

None of these webs has the addresses of its servers. Hosts get made ones, and a geofeed (RFC 8805) says where they are:
universities at home; of the hosts of a miniature web one half at home, the others in the cities of three data centers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import xxhash

from periplus.analysis import Lens, examine
from periplus.errors import BadContent
from periplus.model import Fetched
from periplus.strategies.classifier import NOT_GEOGRAPHIC, ClassifierStrategy, load_model, train
from periplus.strategies.hash import host_of
from periplus.strategies.ip import IpStrategy

__all__ = ["City", "addressed", "classifier", "half", "located_servers"]

City = tuple[str, str]
"""State and name."""

DATA_CENTERS: tuple[City, ...] = (("VA", "Ashburn"), ("TX", "Dallas"), ("CA", "San Jose"))


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


def half(responses: Iterator[Fetched]) -> Iterator[Fetched]:
    """Every second response, always the same ones."""
    return (fetched for fetched in responses if _digest(fetched.url) % 2)


def classifier(
    file: Path, responses: Iterator[Fetched], lens: Lens, labels: Mapping[str, int] | None
) -> ClassifierStrategy:
    """The strategy, trained on these pages if the file of its model is not there yet."""
    if not file.exists():
        train(_samples(responses, lens, labels), lens.ownership).save(file)
    return ClassifierStrategy(lens.ownership, lens.gazetteer, load_model(file))


def _samples(responses: Iterator[Fetched], lens: Lens, labels: Mapping[str, int] | None) -> Iterator[tuple[str, str]]:
    owners = lens.ownership
    for fetched in responses:
        if fetched.status != 200 or not fetched.content_type.startswith("text/html"):
            continue
        try:
            found = examine(fetched, lens)
        except BadContent:
            continue
        if labels is not None:
            owner = owners.owner_by_place.get(labels.get(fetched.url, 0))
        else:
            places = (lens.gazetteer.place(address.place_id) for address in found.located.addresses)
            owner = next((owned[0] for place in places if (owned := owners.owner(place))), None)
        yield owner or NOT_GEOGRAPHIC, f"{found.page.title}\n{found.page.text}"


def address_of(host: str) -> str:
    """A made address of a host, the same each time."""
    number = _digest(host)
    return f"20.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def addressed(responses: Iterator[Fetched]) -> Iterator[Fetched]:
    """The responses, each from the made address of its host."""
    return (replace(fetched, address=address_of(host_of(fetched.url))) for fetched in responses)


def located_servers(file: Path, homes: Mapping[str, City], lens: Lens, *, at_home: bool) -> IpStrategy:
    """The strategy `ip` with a geofeed of the hosts' made addresses."""
    rows = []
    for host, home in sorted(homes.items()):
        number = _digest(f"server of {host}")
        state, city = home if at_home or number % 2 else DATA_CENTERS[number // 2 % len(DATA_CENTERS)]
        rows.append(f"{address_of(host)}/32,US,US-{state},{city},")
    file.write_text("\n".join(dict.fromkeys(rows)) + "\n", "utf-8")
    return IpStrategy(lens.ownership, lens.gazetteer, None, [file])
