"""Room `urls`: the canonical form of a URL, the rules that keep one out, and its registrable domain.

Next room: `frontier`, which only ever sees canonical URLs that passed every rule.
"""

from periplus.urls.canonical import CanonicalUrl, canonical_links, canonicalize, fingerprint
from periplus.urls.domains import registrable_domain
from periplus.urls.filters import Checked, drop_reason, url_rules
from periplus.urls.marks import MarkCounter, MarkSet
from periplus.urls.outline import outline
from periplus.urls.traps import TrapBudget, link_steps

__all__ = [
    "CanonicalUrl",
    "Checked",
    "MarkCounter",
    "MarkSet",
    "TrapBudget",
    "canonical_links",
    "canonicalize",
    "drop_reason",
    "fingerprint",
    "link_steps",
    "outline",
    "registrable_domain",
    "url_rules",
]
