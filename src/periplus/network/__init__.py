"""Room network: which crawler is near a site (paper D). `strategies` comes before it, `exchange` after.

`ranges`, `registries`, `organisations` and `build` are the hierarchy of addresses; `probes` measures; `delegation`,
`hierarchy` and `learning` decide; `memory` remembers; `nearest` does all of it for a crawl. `matrix` and `commands`
replay methods over a table of round trips.
"""

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
