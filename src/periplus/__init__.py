"""Periplus: a geographically focused web crawler with a place-aware search engine."""

__version__ = "0.1.0"
