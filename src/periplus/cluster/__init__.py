"""Room `cluster`: what the machines of one crawl know of each other, in NATS. `running` comes before it, `tasks` after.

`records` has what is stored there and how; `members` who runs which node, and who takes over; `hosts` whose turn it is
at a host that several nodes want; `ending` when everything is done everywhere; `control` what people ask and order.
"""

from periplus.cluster.ending import Report, is_over
from periplus.cluster.hosts import HostLeases
from periplus.cluster.members import Fenced, Membership
from periplus.cluster.records import Board, CrawlRecord, NodeRecord

__all__ = ["Board", "CrawlRecord", "Fenced", "HostLeases", "Membership", "NodeRecord", "Report", "is_over"]
