"""What the strategies `classifier` and `ip` need in `make experiments`, made from other pages and for made addresses.

The classifier is trained on a miniature web that no experiment crawls. A page's label is the owner of its first
address, for the experiments on miniature webs; else, as `periplus classifier train` has it for pages of a crawl, the
owner of its main place, since few addresses there are of WebKB's cities and none of wikispeedia's regions.

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
from periplus.places import main_place
from periplus.strategies.classifier import NOT_GEOGRAPHIC, ClassifierStrategy, load_model, train
from periplus.strategies.hash import host_of
from periplus.strategies.ip import IpStrategy

__all__ = ["City", "addressed", "classifier", "located_servers"]

City = tuple[str, str]
"""State and name."""

DATA_CENTERS: tuple[City, ...] = (("VA", "Ashburn"), ("TX", "Dallas"), ("CA", "San Jose"))


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


def classifier(file: Path, responses: Iterator[Fetched], lens: Lens, *, by_address: bool) -> ClassifierStrategy:
    """The strategy, trained on these pages if the file of its model is not there yet."""
    if not file.exists():
        train(_samples(responses, lens, by_address=by_address), lens.ownership).save(file)
    return ClassifierStrategy(lens.ownership, lens.gazetteer, load_model(file))


def _samples(responses: Iterator[Fetched], lens: Lens, *, by_address: bool) -> Iterator[tuple[str, str]]:
    """The pages with the nodes that they belong to."""
    for fetched in responses:
        if fetched.status != 200 or not fetched.content_type.startswith("text/html"):
            continue
        try:
            examined = examine(fetched, lens)
        except BadContent:
            continue
        page, located = examined.page, examined.located
        if by_address:
            places = [lens.gazetteer.place(address.place_id) for address in located.addresses]
        else:
            main = main_place(located, page.text, page.title)
            places = [main] if main else []
        owner = next((owned[0] for place in places if (owned := lens.ownership.owner(place))), NOT_GEOGRAPHIC)
        yield owner, f"{page.title}\n{page.text}"


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
