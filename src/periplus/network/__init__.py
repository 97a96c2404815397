"""Room network: which crawler is near a site. So far the replay of delegation over a table of round trips (paper D)."""

from periplus.network.delegation import BruteForce, Delegator, Geographic, Probing, Random, Replayed, replay
from periplus.network.hierarchy import Hierarchy
from periplus.network.learning import Learning
from periplus.network.matrix import Host, RoundTrips, Split, read_round_trips, split

__all__ = [
    "BruteForce",
    "Delegator",
    "Geographic",
    "Hierarchy",
    "Host",
    "Learning",
    "Probing",
    "Random",
    "Replayed",
    "RoundTrips",
    "Split",
    "read_round_trips",
    "replay",
    "split",
]
