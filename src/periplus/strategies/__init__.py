"""Room `strategies`: which node gets a link. `topics` comes before it, `exchange` after.

Each strategy is one file with one class behind the `Strategy` protocol; `STRATEGIES` finds them by name.
All are pure and give the same answer on every machine.
"""

from collections.abc import Callable

from periplus.places import Gazetteer
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import HashStrategy, HostHashStrategy
from periplus.strategies.ownership import Ownership, load_targets
from periplus.strategies.protocol import Known, Strategy, choose
from periplus.strategies.url import UrlStrategy

__all__ = ["STRATEGIES", "Known", "Ownership", "Strategy", "choose", "load_targets"]

STRATEGIES: dict[str, Callable[[Ownership, Gazetteer], Strategy]] = {
    "hash": HashStrategy,
    "hash-host": HostHashStrategy,
    "url": UrlStrategy,
    "anchor": AnchorStrategy,
    "content": ContentStrategy,
}
