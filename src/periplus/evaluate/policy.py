"""What the paper's two policies cost, from what a crawl measured (paper A, Lemma 2).

With b for a page's bytes, c for a message's, l links a page and m nodes that claim a link: policy A costs at most
b + l·(c + b), policy B at least m·b + l·m·b. So A is the cheaper one as soon as m exceeds (b + l·(c + b)) / (b + l·b).
"""

from dataclasses import dataclass

__all__ = ["MESSAGE_OVERHEAD", "PolicyCosts"]

MESSAGE_OVERHEAD = 24
"""Bytes of a link in a batch beside its URL: priority, depth, redirects, sequence and their frame."""


@dataclass(frozen=True, slots=True)
class PolicyCosts:
    """The means that a crawl measured; `claims` is how many nodes a link was sent to (1 under policy A)."""

    page_bytes: float
    message_bytes: float
    links: float
    claims: float

    @property
    def cost_a(self) -> float:
        """Bytes for a page and its links under policy A, at most."""
        return self.page_bytes + self.links * (self.message_bytes + self.page_bytes)

    def cost_b(self, claims: float) -> float:
        """Bytes under policy B, at least, if so many nodes claim a page or link."""
        return claims * self.page_bytes + self.links * claims * self.page_bytes

    @property
    def break_even(self) -> float | None:
        """The claims from which on A is cheaper; None without pages."""
        whole = self.cost_b(1.0)
        return self.cost_a / whole if whole else None

    def as_dict(self) -> dict[str, float | None]:
        """For JSON. B's cost is for two claims, the fewest with which it is another policy, or for those measured."""
        claims = max(2.0, self.claims)
        return {
            "page_bytes": round(self.page_bytes, 1),
            "message_bytes": round(self.message_bytes, 1),
            "links_per_page": round(self.links, 3),
            "claims_per_link": round(self.claims, 4),
            "cost_a_bytes": round(self.cost_a, 1),
            "cost_b_bytes": round(self.cost_b(claims), 1),
            "cost_b_claims": round(claims, 4),
            "a_is_cheaper_above_claims": round(self.break_even, 6) if self.break_even is not None else None,
        }
