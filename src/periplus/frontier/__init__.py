"""Room `frontier`: which URL may be asked next. `urls` comes before it, `fetch` after.

`state` has the life of a URL; `intake` lets URLs in; `seen` remembers every URL once accepted; `queue` keeps a node's
URLs, best first within a host; `schedule` takes turns over hosts, politely, for all nodes of the process; `order` lets
a host's pages take effect one after the other.
"""

from periplus.frontier.intake import Accepted, Intake
from periplus.frontier.order import HostOrder
from periplus.frontier.queue import UrlQueue
from periplus.frontier.schedule import Schedule, Turn
from periplus.frontier.seen import SeenSet
from periplus.frontier.state import UrlState, state_after

__all__ = ["Accepted", "HostOrder", "Intake", "Schedule", "SeenSet", "Turn", "UrlQueue", "UrlState", "state_after"]
