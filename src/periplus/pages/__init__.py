"""Room `pages`: from bytes to a `Page`, and the guarded processes in which that is done.

`fetch` comes before it, `places` after. Reading is a pure function; `workers` bounds what a hostile page can cost.
"""

from periplus.pages.dates import searched_date
from periplus.pages.encoding import decode_html
from periplus.pages.html import HTML_SUFFIXES, is_html, read_page
from periplus.pages.workers import Workers

__all__ = ["HTML_SUFFIXES", "Workers", "decode_html", "is_html", "read_page", "searched_date"]
