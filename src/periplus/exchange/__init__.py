"""Room `exchange`: links on their way from one node to another. `strategies` comes before it, `store` after.

`local` is for the nodes of one process; `nats` for those of several machines, with `envelope`, `connection` and
`streams`.
"""

from periplus.exchange.local import BATCH_LINKS, Exchange, LocalExchange, Shipment, sent_mark

__all__ = ["BATCH_LINKS", "Exchange", "LocalExchange", "Shipment", "sent_mark"]
