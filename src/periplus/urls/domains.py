"""Registrable domains: what somebody registered, by the public suffix list."""

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

__all__ = ["registrable_domain"]

# Below mini.test the miniature web gives out names as a registry does, so each host there is a site of its own.
EXTRA_SUFFIXES = ("mini.test",)


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The registrable domain of a host; the host itself where there is none (addresses, bare suffixes)."""
    for suffix in EXTRA_SUFFIXES:
        if host.endswith("." + suffix):
            label = host[: -len(suffix) - 1].rpartition(".")[2]
            return f"{label}.{suffix}"
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    return _suffixes().privatesuffix(host) or host
