"""Room `exchange`: links on their way from one node to another. `strategies` comes before it, `store` after."""

from periplus.exchange.local import LocalExchange, Shipment, sent_mark

__all__ = ["LocalExchange", "Shipment", "sent_mark"]
