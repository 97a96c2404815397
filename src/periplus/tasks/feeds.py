"""Feeds of a saved question: Atom (RFC 4287) and RSS 2.0. Pure: pages in, XML out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from xml.etree import ElementTree as ET  # only written here, never read

from periplus.tasks.records import FoundPage, Question

__all__ = ["atom_feed", "rss_feed"]

ATOM = "http://www.w3.org/2005/Atom"


def atom_feed(question: Question, task_name: str, pages: Sequence[FoundPage], address: str = "") -> bytes:
    """An Atom feed, newest first. `address`: the web page that shows the crawl, where one does."""
    feed = ET.Element("feed", xmlns=ATOM)
    _add(feed, "title", f"{question.text} — {task_name}")
    _add(feed, "id", _name(question))
    if address:
        ET.SubElement(feed, "link", href=_plain(address))
    _add(feed, "updated", _moment(pages[0].found if pages else question.created).isoformat())
    author = ET.SubElement(feed, "author")
    _add(author, "name", "Periplus")
    for page in pages:
        entry = ET.SubElement(feed, "entry")
        _add(entry, "title", page.title or page.url)
        _add(entry, "id", page.url)
        ET.SubElement(entry, "link", href=_plain(page.url))
        _add(entry, "updated", _moment(page.found).isoformat())
        _add(entry, "summary", page.snippet)
        if page.place:
            ET.SubElement(entry, "category", term=_plain(page.place))
    return _document(feed)


def rss_feed(question: Question, task_name: str, pages: Sequence[FoundPage], address: str = "") -> bytes:
    """An RSS 2.0 feed, newest first. `address`: the web page that shows the crawl, else its link is only a name."""
    feed = ET.Element("rss", version="2.0")
    channel = ET.SubElement(feed, "channel")
    _add(channel, "title", f"{question.text} — {task_name}")
    _add(channel, "link", address or _name(question))
    _add(channel, "description", f"New pages of {task_name} that answer {question.text}")
    for page in pages:
        item = ET.SubElement(channel, "item")
        _add(item, "title", page.title or page.url)
        _add(item, "link", page.url)
        _add(item, "guid", page.url)
        _add(item, "pubDate", format_datetime(_moment(page.found)))
        _add(item, "description", page.snippet)
        if page.place:
            _add(item, "category", page.place)
    return _document(feed)


def _name(question: Question) -> str:
    """What tells the feed from all others."""
    return f"urn:periplus:question:{question.id}:{question.created:.0f}"


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = _plain(text)


def _plain(text: str) -> str:
    """Without characters that XML 1.0 cannot say."""
    return "".join(
        c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
    )


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(round(at), UTC)


def _document(root: ET.Element) -> bytes:
    text: bytes = ET.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + text
