"""When a page was published: what its metadata say, then its URL; for pages worth the time, what else it shows.

Days before 1990 and after tomorrow are nonsense, but for those that a page states of itself: archives have older ones.
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from periplus.pages.years import years_of_days

__all__ = ["META_DATE_NAMES", "names_a_day", "published_date", "searched_date"]

META_DATE_NAMES = (
    "article:published_time",
    "datepublished",
    "og:published_time",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.issued",
    "pubdate",
    "publishdate",
    "publish-date",
    "sailthru.date",
    "parsely-pub-date",
    "article:published",
    "article.published",
    "publication_date",
    "citation_publication_date",
    "citation_date",
    "cxenseparse:recs:publishtime",
    "bt:pubdate",
    "dc.date.created",
    "dcterms.date",
    "dc:date",
    "og:article:published_time",
    "rnews:datepublished",
    "shareaholic:article_published_time",
    "mediator_published_time",
    "bytedance:published_time",
    "weibo:article:create_at",
    "published_time",
    "publish_date",
    "published-date",
    "originalpublicationdate",
    "article_date_original",
    "dcsext.articlefirstpublished",
)
"""Names of meta tags that carry the day of publication, best first."""

ISO_DATE = re.compile(r"\b(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)")
COMPACT_DATE = re.compile(r"\b((?:19|20)\d{2})(\d{2})(\d{2})(?=\D|\d{4}\b|\d{6}\b|\Z)")
EASTERN_DATE = re.compile(r"(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日일]")
DOTTED_YEAR_FIRST = re.compile(r"\b((?:19|20)\d{2})\. ?(\d{1,2})\. ?(\d{1,2})(?!\d)")
UNIVERSAL_TIME = re.compile(r"\d\d:\d\d[\d:.]*(?:Z|[+-]00:?00| ?GMT| ?UTC)\s*$")
ONE_DAY = timedelta(days=1)
UNIX_TIME = re.compile(r"\s*(1\d{9})(?:\d{3})?\s*", re.ASCII)
"""Seconds or milliseconds since 1970, from 2001 to 2033."""

DOTTED_DATE = re.compile(r"\b(\d{1,2})\. ?(\d{1,2})\. ?((?:19|20)\d{2})\b")
SLASHED_DATE = re.compile(r"\b(\d{1,2})([/-])(\d{1,2})\2((?:19|20)\d{2})\b")
MONTHS = (
    "jan ene gen янв січ sty oca يناير", "feb fév fev фев лют lut şub فبراير", "mar mär maa мар бер مارس",
    "apr abr avr апр кві kwi nis أبريل", "may mai mei maj mag мая май тра مايو", "jun juin giu июн чер cze haz يونيو",
    "jul juil lug июл лип lip tem يوليو", "aug aoû aou ago авг сер sie ağu أغسطس",  # codespell:ignore
    "sep set сен вер wrz eyl سبتمبر",
    "oct okt out ott окт жов paź eki أكتوبر", "nov ноя лис lis kas نوفمبر", "dec dez déc dic дек гру gru ara ديسمبر",
)  # fmt: skip
"""How the names of months begin in some languages."""

MONTH_NUMBERS = {beginning: number for number, line in enumerate(MONTHS, 1) for beginning in line.split()}
_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
DAY_MONTH_YEAR = re.compile(
    rf"\b(\d{{1,2}})(?:\.|st|nd|rd|th|er)? (?:de )?({_MONTH})[^\W\d_]*\.?,?(?: del?)? (\d{{4}})\b", re.IGNORECASE
)
MONTH_DAY_YEAR = re.compile(rf"\b({_MONTH})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE)
URL_DATE = re.compile(
    rf"/(?P<year>(?:19|20)\d{{2}})[/-](?P<month>\d{{1,2}}|{_MONTH})[/-](?P<day>\d{{1,2}})(?=[/_.-]|$)", re.IGNORECASE
)
URL_COMPACT_DATE = re.compile(r"[/_-](?P<year>(?:19|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)(?=[/_.-]|$)")
SAYS_WHEN = re.compile(
    r"posted|published|publication|byline|updated|created|written|<time|\bdate|publica[dt]|publié|pubblicat|publicação|"
    r"gepubliceerd|geplaatst|veröffentlich|erstellt|aktualisiert|\bdatum|pressemitteilung vom|opublikowan|опубликован|"
    r"[发發]布|公開|掲載|등록|입력|"
    r"(?:class|id|name|itemprop)\s*=[^>]{0,60}(?:date|time|datum|fecha|meta|info|publi)",
    re.IGNORECASE,
)
"""What stands before a day of publication, in markup or text."""

SPEAKS_OF_TIME = (
    "date", "time", "publi", "posted", "meta", "info", "byline", "created", "written", "datum", "fecha", "pubblicat",
    "geplaatst", "erstellt", "aktualisiert", "pressemitteilung", "opublikowan",
)  # fmt: skip
"""One of these is in all that SAYS_WHEN fits; they are found far faster."""

SHORTLY_BEFORE = 160
LONGEST_DAY = 24
"""Characters of day and month before their year."""

EARLIEST, EARLIEST_STATED = date(1990, 1, 1), date(1600, 1, 2)
UNSET = {(1, 1), (12, 30), (12, 31)}
"""Month and day with which, before 1990, computers begin to count, or of a year that is all that is known."""

MOST_SEARCHED_CHARS = 500_000
"""How much of a document is looked through for a date."""


def published_date(stated: Iterable[str], url: str, fetched_on: date) -> date | None:
    """The first believable day among what the page states, else the one in its URL, else None.

    Of a moment in universal time the URL has the day as its publisher's calendar had it.
    """
    in_url = _day_of_url(url, fetched_on)
    for text in stated:
        day = _parse(text[:64], fetched_on, EARLIEST_STATED)
        if day is not None:
            is_same = in_url is not None and abs(day - in_url) <= ONE_DAY and UNIVERSAL_TIME.search(text[:64])
            return in_url if is_same else day
    return in_url


def _day_of_url(url: str, fetched_on: date) -> date | None:
    match = URL_DATE.search(url) or URL_COMPACT_DATE.search(url)
    if not match:
        return None
    month = match["month"] if match["month"].isdecimal() else _month(match["month"])
    return _believable((match["year"], month, match["day"]), fetched_on)


def searched_date(html: str, url: str, fetched_on: date) -> date | None:
    """A day found in the markup and text of a page that states none.

    Costs milliseconds: for kept pages that name a day at all.
    """
    from htmldate import find_date  # noqa: PLC0415  # a sixth of a second, of which most commands have no use
    from lxml import html as lxml_html  # noqa: PLC0415
    from lxml.etree import LxmlError  # noqa: PLC0415

    try:
        source = html[:MOST_SEARCHED_CHARS].encode("utf-8", "replace")
        tree = lxml_html.document_fromstring(source, parser=lxml_html.HTMLParser(encoding="utf-8"))
        found = find_date(
            tree,
            extensive_search=False,
            original_date=True,
            url=url,
            min_date=EARLIEST.isoformat(),
            max_date=(fetched_on + ONE_DAY).isoformat(),
        )
    except (LxmlError, ValueError):
        return None  # nothing in it that is a document, or a date
    return _clearer(_parse(found, fetched_on) if found else None, _shown_date(html, fetched_on))


def _clearer(found: date | None, shown: date | None) -> date | None:
    """The day that was found, or that which is shown if the first has day and month exchanged, or a year only."""
    if found is None or shown is None:
        return found or shown
    exchanged = (found.year, found.month, found.day) == (shown.year, shown.day, shown.month)
    return shown if exchanged or (found.month, found.day) == (1, 1) else found


def _shown_date(html: str, fetched_on: date) -> date | None:
    """The first day behind a word or mark-up for it, also in languages and forms that others do not read."""
    for year in years_of_days(html, MOST_SEARCHED_CHARS):
        if _says_when(html, year):
            day = _parse(html[max(0, year - LONGEST_DAY) : year + 12], fetched_on)
            if day is not None:
                return day
    return None


def names_a_day(text: str, html: str) -> bool:
    """Whether a day with its year stands in the text and, as the markup shows, behind a word or mark-up for it.

    Else there is none to be found.
    """
    if not years_of_days(text, MOST_SEARCHED_CHARS):
        return False
    return any(_says_when(html, year) for year in years_of_days(html, MOST_SEARCHED_CHARS))


def _says_when(html: str, year: int) -> bool:
    """Whether a word or mark-up for a day of publication stands shortly before a year."""
    start = max(0, year - SHORTLY_BEFORE)
    near = html[start:year]
    if near.isascii():  # else other letters count as these too
        near = near.lower()
        if not any(word in near for word in SPEAKS_OF_TIME):
            return False
    return SAYS_WHEN.search(html, start, year) is not None


def _parse(text: str, fetched_on: date, earliest: date = EARLIEST) -> date | None:
    """The day that a text names, in one of the forms that leave no doubt which number is the month.

    Days before 1990, from the earliest on, are believed as 1987-02-26 only.
    """
    if match := ISO_DATE.search(text):
        return _believable((match[1], match[3], match[4]), fetched_on, earliest)
    if match := UNIX_TIME.fullmatch(text):
        day = date.fromordinal(date(1970, 1, 1).toordinal() + int(match[1]) // 86_400)
        return _believable((str(day.year), str(day.month), str(day.day)), fetched_on)
    if match := COMPACT_DATE.search(text) or EASTERN_DATE.search(text) or DOTTED_YEAR_FIRST.search(text):
        return _believable(match.groups(), fetched_on)
    if match := DAY_MONTH_YEAR.search(text):
        return _believable((match[3], _month(match[2]), match[1]), fetched_on)
    if match := MONTH_DAY_YEAR.search(text):
        return _believable((match[3], _month(match[1]), match[2]), fetched_on)
    if match := DOTTED_DATE.search(text):
        return _believable((match[3], match[2], match[1]), fetched_on)
    return _slashed(text, fetched_on)


def _slashed(text: str, fetched_on: date) -> date | None:
    """`23/02/2025` and `02/23/2025`; which number is the month must be plain."""
    match = SLASHED_DATE.search(text)
    if match is None:
        return None
    one, two, year = match[1], match[3], match[4]
    days = {_believable((year, month, day), fetched_on) for month, day in ((one, two), (two, one))} - {None}
    return days.pop() if len(days) == 1 else None


def _month(name: str) -> str:
    return str(MONTH_NUMBERS[name.lower()])


def _believable(parts: tuple[str | None, ...], fetched_on: date, earliest: date = EARLIEST) -> date | None:
    year, month, day = (int(part or 0) for part in parts)
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    if found < EARLIEST and (found.month, found.day) in UNSET:
        return None
    return found if earliest <= found <= fetched_on + ONE_DAY else None
