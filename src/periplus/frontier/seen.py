"""The seen-set: every URL that was ever accepted, by fingerprint."""

from periplus.urls import MarkSet

__all__ = ["SeenSet"]


class SeenSet(MarkSet):
    """64-bit fingerprints in memory, 11 to 16 bytes each, rebuilt from the databases when a crawl resumes.

    With `overlap = "forbid"` all nodes of the process share one, so that a URL is fetched once whoever got it;
    with "allow" each node has its own, as the paper's independent nodes do.
    """
