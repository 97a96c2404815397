"""Room `strategies`: which node gets a link. `topics` comes before it, `exchange` after.

Each strategy is one file with one class behind the `Strategy` protocol; `make_strategy` makes them by name.
All are pure and give the same answer on every machine.
"""

from periplus.strategies.blend import BlendStrategy
from periplus.strategies.hosts import HostPlaces
from periplus.strategies.making import NAMES, STRATEGIES, make_strategy, naming_options
from periplus.strategies.ownership import Ownership, load_targets
from periplus.strategies.protocol import HostView, Known, Strategy, choose
from periplus.strategies.settling import Settling, Told

__all__ = [
    "NAMES",
    "STRATEGIES",
    "BlendStrategy",
    "HostPlaces",
    "HostView",
    "Known",
    "Ownership",
    "Settling",
    "Strategy",
    "Told",
    "choose",
    "load_targets",
    "make_strategy",
    "naming_options",
]
