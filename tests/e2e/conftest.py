"""The fixtures that tests of the web page share."""

from page_visits import browser, visit

__all__ = ["browser", "visit"]
