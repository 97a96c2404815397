"""Room `fetch`: from a lease to bytes. `frontier` comes before it, `pages` after.

`transport` is the one way out of the process; `addresses` and `resolver` decide where it may lead, `decode`
bounds what comes back, `robots` says what may be asked for, `outcomes` turns answers into outcomes.
"""

from periplus.fetch.addresses import AddressGuard
from periplus.fetch.fetcher import Answer, Fetcher
from periplus.fetch.resolver import Resolver
from periplus.fetch.robots import RobotsBook, RobotsRecord
from periplus.fetch.transport import Transport

__all__ = ["AddressGuard", "Answer", "Fetcher", "Resolver", "RobotsBook", "RobotsRecord", "Transport"]
