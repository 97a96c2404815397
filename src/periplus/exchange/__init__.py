"""Room `exchange`: links on their way from one node to another. `strategies` comes before it, `store` after.

`local` is for the nodes of one process; `nats` for those of several machines, with `envelope`, `connection` and
`streams`.
"""

from periplus.exchange.local import Exchange, LocalExchange, Shipment, sent_mark

__all__ = ["Exchange", "LocalExchange", "Shipment", "sent_mark"]
