"""The seen-set: every URL that was ever accepted, by fingerprint."""

from collections.abc import Iterable

__all__ = ["SeenSet"]


class SeenSet:
    """64-bit fingerprints in memory, rebuilt from the databases when a crawl resumes.

    With `overlap = "forbid"` all nodes of the process share one, so that a URL is fetched once whoever got it;
    with "allow" each node has its own, as the paper's independent nodes do.
    """

    def __init__(self) -> None:
        self._fingerprints: set[int] = set()

    def add(self, fingerprint: int) -> bool:
        """Remember the URL; False if it was known."""
        before = len(self._fingerprints)
        self._fingerprints.add(fingerprint)
        return len(self._fingerprints) != before

    def update(self, fingerprints: Iterable[int]) -> None:
        """Remember many at once."""
        self._fingerprints.update(fingerprints)

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._fingerprints

    def __len__(self) -> int:
        return len(self._fingerprints)
