"""What a page is called: its title element, unless that says nothing of the page and the page shows what does."""

import re
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

__all__ = ["MAX_TITLE_CHARS", "page_title"]

MAX_TITLE_CHARS = 500
MOST_HEADLINES = 10
_WORD: Final = re.compile(r"[^\W_]{3,}")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_BORDER: Final = re.compile(r"\s+(?:[|·•:»«›–—-]|::)\s+")
_HOME: Final = re.compile(r"/?(?:(?:index|home|default)\.\w{2,5})?")


def page_title(tree: LexborHTMLParser, shared_as: str, site_name: str, url: str) -> str:
    """The title element, else the name under which the page wants to be shared (`og:title`).

    Many sites give all their pages one title. Where it has no word of the name to be shared, and that is a headline of
    the page, it is the headline; where it is the site's name, the headline too, but for the site's first page.
    The site's name at either end goes: an article of the "Houston Chronicle" is not about Houston for that.
    """
    title, shared = _without_site(_title_element(tree), site_name, url), _one_line(shared_as)
    if not title:
        return shared
    if not shared and not _is_site(title, site_name, url):
        return title
    if shared and _words(shared) and _words(title).isdisjoint(_words(shared)) and shared in _headlines(tree):
        return shared
    return _headline(tree, shared, site_name, url) or title if _is_site(title, site_name, url) else title


def _without_site(title: str, site_name: str, url: str) -> str:
    """A title without the name of its site behind or before it: "Bridge opened | River News"."""
    borders = list(_BORDER.finditer(title))
    if not borders or _is_home(url):
        return title
    names = _site_names(site_name, url)
    first, last = borders[0], borders[-1]
    if _letters(title[last.end() :]) in names:
        title = title[: last.start()]
    elif _letters(title[: first.start()]) in names:
        title = title[first.end() :]
    return title.strip()


def _site_names(site_name: str, url: str) -> set[str]:
    """The letters of what a site is called: as the page gives it, and as its host spells it."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return {_letters(name) for name in (site_name, host, *host.split(".")[:-1])} - {""}


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text.casefold())


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return not parts.query and _HOME.fullmatch(parts.path.lower()) is not None


def _one_line(text: str) -> str:
    """A text as a title."""
    return " ".join(text.split())[:MAX_TITLE_CHARS]


def _title_element(tree: LexborHTMLParser) -> str:
    titles = tree.tags("title")
    in_head = (node for node in titles if node.parent and node.parent.tag == "head")  # drawings have titles too
    node = next(in_head, titles[0] if titles else None)
    return _one_line(node.text()) if node else ""


def _headline(tree: LexborHTMLParser, shared: str, site_name: str, url: str) -> str:
    """What the page is to be shared as or its one headline, if that is not the site's name again."""
    if shared and not _is_site(shared, site_name, url):
        return shared
    shown = _headlines(tree)
    return shown[0] if len(shown) == 1 and not _is_site(shown[0], site_name, url) else ""


def _headlines(tree: LexborHTMLParser) -> list[str]:
    texts = (_one_line(node.text()) for node in tree.css("h1")[:MOST_HEADLINES])
    return [text for text in texts if text]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _is_site(title: str, site_name: str, url: str) -> bool:
    """Whether a title is no more than the site's name, as the page gives it or as its host spells it."""
    if _is_home(url):
        return False
    said = _letters(title)
    return len(said) > 2 and (  # fewer letters are in most names
        said == _letters(site_name) or said in _letters(urlsplit(url).hostname or "")
    )
