"""Room `frontier`: which URL may be asked next. `urls` comes before it, `fetch` after.

`state` has the life of a URL; `intake` lets URLs in; `seen` remembers every URL once accepted; `queue` keeps a node's
URLs, best first within a host; `schedule` takes turns over hosts, politely, for all nodes of the process; `order` lets
a host's pages take effect one after the other; `revisit` says when a page is looked at again.
"""

from periplus.frontier.detours import Detours
from periplus.frontier.homes import HomeIntake, home_of
from periplus.frontier.intake import Accepted, Intake
from periplus.frontier.order import HostOrder
from periplus.frontier.queue import LEASE_SECONDS, UrlQueue
from periplus.frontier.revisit import Earlier, Revisit, Revisits
from periplus.frontier.schedule import Schedule, Turn
from periplus.frontier.seen import SeenSet
from periplus.frontier.state import UrlState, state_after

__all__ = [
    "LEASE_SECONDS",
    "Accepted",
    "Detours",
    "Earlier",
    "HomeIntake",
    "HostOrder",
    "Intake",
    "Revisit",
    "Revisits",
    "Schedule",
    "SeenSet",
    "Turn",
    "UrlQueue",
    "UrlState",
    "home_of",
    "state_after",
]
