"""A page of the plan becomes HTML, and the truth about it: links, addresses, towns named.

After `linking`, before `web`. One page takes about a sixth of a millisecond.
"""

import json
from dataclasses import dataclass
from datetime import date

from periplus.miniweb.blueprint import Blueprint, Business, Host, PagePlan, page_stream
from periplus.miniweb.linking import Canvas, navigation, odd_links, parent
from periplus.miniweb.places import towns
from periplus.miniweb.prose import Scribe, vocabulary
from periplus.miniweb.sections import Draft, main_sections

__all__ = ["Rendered", "html_page", "render"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's HTML and what is true about it. `named` counts the towns in its text; addresses as written."""

    html: str
    links: list[str]
    addresses: list[tuple[Business, bool]]
    named: dict[int, int]


def render(blueprint: Blueprint, page: PagePlan) -> Rendered:
    """Write the page. The same plan gives the same result every time, in any order."""
    host = blueprint.hosts[page.host]
    random = page_stream(blueprint.seed, page.index)
    canvas = Canvas(blueprint, page, host, random, [])
    scribe = Scribe(
        random,
        page.towns,
        local=host.language != "en",
        spread=host.kind == "portal",
        brand=host.title if host.kind == "brand" else "",
    )
    draft = Draft(blueprint, page, host, canvas, scribe, [])
    head = _head(blueprint, host, page, draft)
    menu = _menu(canvas, blueprint, host, page)
    main = main_sections(draft)
    foot = _foot(draft)
    html = _LOOKS[host.look](_Parts(host.title, host.language, page.title, head, menu, main, foot))
    return Rendered(html, canvas.links, draft.addresses, scribe.named)


def html_page(title: str, body: str, *, head: str = "") -> str:
    """A small page outside the plan: errors, traps, odd places."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>\n'
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )


# -- Head ------------------------------------------------------------------------------------------


def _head(blueprint: Blueprint, host: Host, page: PagePlan, draft: Draft) -> str:
    charset = "" if host.charset_by == "header" else f'<meta charset="{host.charset}">'
    if host.charset_by == "meta" and host.look == 2:
        charset = f'<meta http-equiv="Content-Type" content="text/html; charset={host.charset}">'
    parts = [charset, f"<title>{_page_title(host, page)}</title>", '<link rel="stylesheet" href="/style.css">']
    if page.quirk == "noindex" and page.index % 2 == 0:  # the others say it in a header
        parts.append('<meta name="robots" content="noindex">')
    elif page.quirk == "nofollow":
        parts.append('<meta name="robots" content="nofollow">')
    if host.look == 1:
        parts.append(f'<link rel="canonical" href="{blueprint.url(page).replace("&", "&amp;")}">')
    if page.published:
        parts.append(_date_markup(host, page))
    if page.towns and page.kind in ("home", "business") and host.look != 2:
        town = towns()[page.towns[0]]
        parts.append(f'<meta name="geo.position" content="{town.lat:.4f};{town.lon:.4f}">')
    if page.kind == "business" and host.look == 1:
        parts.append(_business_markup(draft.own_business()))
    return "\n".join(parts)


def _page_title(host: Host, page: PagePlan) -> str:
    return page.title if page.title.startswith(host.title) else f"{page.title} - {host.title}"


def _date_markup(host: Host, page: PagePlan) -> str:
    day = date.fromordinal(page.published).isoformat()
    if host.look == 0:
        data = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": page.title, "datePublished": day}
        return f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=True)}</script>'
    if host.look == 1:
        return f'<meta property="article:published_time" content="{day}T08:00:00Z">'
    return f'<meta name="date" content="{day}">'


def _business_markup(business: Business) -> str:
    data = {
        "@context": "https://schema.org",
        "@type": "LocalBusiness",
        "name": business.name,
        "telephone": business.phone,
        "address": {
            "@type": "PostalAddress",
            "streetAddress": business.line,
            "addressLocality": business.town.name,
            "addressRegion": business.town.admin1,
            "postalCode": business.zip,
            "addressCountry": "US",
        },
    }
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


# -- Around the text -------------------------------------------------------------------------------


def _menu(canvas: Canvas, blueprint: Blueprint, host: Host, page: PagePlan) -> str:
    home = vocabulary().languages[host.language].home if host.language != "en" else "Home"
    items = []
    for index in navigation(host):
        target = blueprint.pages[index]
        if target.quirk in ("orphan", "private"):
            continue
        items.append(f"<li>{canvas.link(index, home if index == host.first else target.title)}</li>")
    if host.kind == "calendar":
        items.append(f"<li>{canvas.raw('/calendar/2026/11/', 'Calendar')}</li>")
    if host.kind == "redirects":
        items += [f"<li>{canvas.raw(path, 'Moved')}</li>" for path in ("/loop/a", "/chain/3", "/chain/9")]
    if host.kind == "folders":
        items.append(f"<li>{canvas.raw('/deeper/', 'Deeper')}</li>")
    if host.has_facets:
        items.append(f"<li>{canvas.raw('/browse?color=red', 'Browse')}</li>")
    above = parent(blueprint, page)
    trail = canvas.link(above, blueprint.pages[above].title) if above != host.first else host.title
    return f'<ul class="menu">{"".join(items)}</ul>\n<p class="trail">{trail} &rsaquo; {page.title}</p>'


def _foot(draft: Draft) -> str:
    host = draft.host
    lines = [f"<p>&copy; 2026 {host.title}. All rights reserved.</p>"]
    if host.address_in_footer and host.town >= 0:
        business = draft.own_business() if host.kind == "business" else draft.blueprint.business(host.town, 0)
        lines.append(f"<p>{business.name}: {draft.address(business)}</p>")
    odd = odd_links(draft.canvas)
    if odd:
        lines.append(f"<p>{' | '.join(odd)}</p>")
    return "\n".join(lines)


# -- Looks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parts:
    """The pieces that a look puts together."""

    site: str
    language: str
    title: str
    head: str
    menu: str
    main: str
    foot: str


def _modern(p: _Parts) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="{p.language}">\n<head>\n{p.head}\n</head>\n<body>\n'
        f"<header><h2>{p.site}</h2></header>\n<nav>{p.menu}</nav>\n"
        f"<main>\n<h1>{p.title}</h1>\n{p.main}\n</main>\n<footer>{p.foot}</footer>\n</body>\n</html>\n"
    )


def _plain(p: _Parts) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="{p.language}">\n<head>\n{p.head}\n</head>\n<body class="site">\n'
        f'<div id="top">{p.site}</div>\n<div id="menu">{p.menu}</div>\n'
        f'<div id="content"><h1>{p.title}</h1>\n{p.main}\n</div>\n<div id="footer">{p.foot}</div>\n</body>\n</html>\n'
    )


def _tabular(p: _Parts) -> str:
    return (
        f"<html>\n<head>\n{p.head}\n</head>\n<body>\n<table width=100%><tr><td colspan=2><font size=5>{p.site}</font>"
        f"<tr><td valign=top width=180>{p.menu}<td valign=top><h1>{p.title}</h1>\n{p.main}\n"
        f"<tr><td colspan=2>{p.foot}\n</table>\n</body>\n</html>\n"
    )


_LOOKS = (_modern, _plain, _tabular)
