"""The main text of each kind of page: articles, listings, news, items, regions, the directory.

Used by `rendering`. Functions append to a list of HTML parts; the draft keeps the truth as it goes.
"""

from calendar import month_abbr, month_name
from dataclasses import dataclass
from datetime import date

from periplus.miniweb.blueprint import BUSINESSES_PER_TOWN, Blueprint, Business, Host, PagePlan
from periplus.miniweb.linking import Canvas, anchor_for, children, cross_targets
from periplus.miniweb.places import towns
from periplus.miniweb.prose import Scribe, Sentence, pick, vocabulary

__all__ = ["Draft", "main_sections"]


@dataclass(slots=True)
class Draft:
    """A page while it is being written. `addresses` are the ones in its text; the flag says "with ZIP"."""

    blueprint: Blueprint
    page: PagePlan
    host: Host
    canvas: Canvas
    scribe: Scribe
    addresses: list[tuple[Business, bool]]

    def own_business(self) -> Business:
        """The business whose site this is."""
        return self.blueprint.business(self.host.town, self.host.business)

    def address(self, business: Business, separator: str = ", ") -> str:
        """The postal address as text, noted as true; one in ten lacks its ZIP."""
        random, town = self.scribe.random, business.town
        self.scribe.name(town.index)
        with_zip = random() < 0.9
        self.addresses.append((business, with_zip))
        state = town.admin1 if random() < 0.85 or town.admin1 == "DC" else town.region
        tail = f" {business.zip}" if with_zip else ""
        return f"{business.line}{separator}{town.name}, {state}{tail}"


def main_sections(draft: Draft) -> str:
    """Everything between the heading and the footer."""
    parts: list[str] = []
    _KINDS.get(draft.page.kind, _article)(draft, parts)
    _below(draft, parts)
    return "\n".join(parts)


def _sentences(draft: Draft) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """The page's own sentences, and the ones it shares with pages on other subjects."""
    if draft.page.kind == "foreign":
        language = vocabulary().languages[draft.host.language]
        own = language.sentences if draft.page.towns else language.plain
        return own, language.plain
    topic = vocabulary().topics[draft.page.topic]
    if draft.host.kind == "brand" and not draft.page.towns:
        return topic.own, topic.brand
    return topic.own, topic.shared


def _paragraphs(draft: Draft, parts: list[str], count: int) -> None:
    """Paragraphs, some with a link inside the text."""
    random, scribe, blueprint = draft.scribe.random, draft.scribe, draft.blueprint
    own, shared = _sentences(draft)
    targets = cross_targets(blueprint, draft.page, random, count // 2)
    plain = not draft.page.towns and draft.host.language == "en"
    for number in range(count):
        text = scribe.paragraph(own, shared, 4 + int(random() * 4))
        if number < len(targets):
            target = blueprint.pages[targets[number]]
            link = draft.canvas.link(target.index, anchor_for(target, random))
            text += f" See {link} for more." if draft.host.language == "en" else f" ({link})"
        elif plain and random() < 0.12:
            text += f" {pick(random, vocabulary().confusers)}"
        parts.append(f"<p>{text}</p>")


def _article(draft: Draft, parts: list[str]) -> None:
    _dateline(draft, parts)
    random = draft.scribe.random
    _paragraphs(draft, parts, 6 + int(random() * 9))
    if draft.page.towns and random() < 0.35:
        _one_address(draft, parts)


def _dateline(draft: Draft, parts: list[str]) -> None:
    page = draft.page
    if not page.published:
        return
    day = date.fromordinal(page.published)
    if draft.host.language != "en":
        parts.append(f'<p class="byline"><time datetime="{day.isoformat()}">{day.isoformat()}</time></p>')
        return
    person = pick(draft.scribe.random, vocabulary().words["person"])
    stamp = f'<time datetime="{day.isoformat()}">{month_name[day.month]} {day.day}, {day.year}</time>'
    parts.append(f'<p class="byline">By {person}, {stamp}</p>')


def _news(draft: Draft, parts: list[str]) -> None:
    _dateline(draft, parts)
    page, scribe = draft.page, draft.scribe
    if page.towns:
        town = towns()[page.towns[0]]
        scribe.name(town.index)
        day = date.fromordinal(page.published)
        opening = scribe.sentence(_sentences(draft)[0])
        parts.append(
            f"<p>{town.name.upper()}, {town.region} ({month_abbr[day.month]}. {day.day}) &mdash; {opening}</p>"
        )
    _paragraphs(draft, parts, 5 + int(scribe.random() * 6))
    if page.towns and scribe.random() < 0.2:
        _one_address(draft, parts)


def _one_address(draft: Draft, parts: list[str]) -> None:
    town = draft.page.towns[0]
    if not towns()[town].zips:
        return
    business = draft.blueprint.business(town, int(draft.scribe.random() * BUSINESSES_PER_TOWN))
    parts.append(f"<p>Meet us at {business.name}, {draft.address(business)}, on {_weekday(draft)}.</p>")


def _weekday(draft: Draft) -> str:
    return pick(draft.scribe.random, vocabulary().words["weekday"])


def _home(draft: Draft, parts: list[str]) -> None:
    _paragraphs(draft, parts, 4 + int(draft.scribe.random() * 4))
    if draft.host.kind == "portal":
        _region_list(draft, parts)


def _listing(draft: Draft, parts: list[str]) -> None:
    random, town = draft.scribe.random, draft.page.towns[0]
    _paragraphs(draft, parts, 3 + int(random() * 4))
    start = int(random() * BUSINESSES_PER_TOWN)
    chosen = [draft.blueprint.business(town, start + i * 7) for i in range(3 + int(random() * 5))]
    _LISTINGS[int(random() * len(_LISTINGS))](draft, parts, chosen)
    _paragraphs(draft, parts, 2)


def _listing_table(draft: Draft, parts: list[str], chosen: list[Business]) -> None:
    parts.append("<table><tr><th>Name</th><th>Address</th><th>Telephone</th></tr>")
    parts += [f"<tr><td>{b.name}</td><td>{draft.address(b)}</td><td>{b.phone}</td></tr>" for b in chosen]
    parts.append("</table>")


def _listing_microdata(draft: Draft, parts: list[str], chosen: list[Business]) -> None:
    for b in chosen:
        draft.scribe.name(b.town.index)
        draft.addresses.append((b, True))
        parts.append(
            f'<div itemscope itemtype="http://schema.org/LocalBusiness"><h3 itemprop="name">{b.name}</h3>'
            f'<p itemprop="address" itemscope itemtype="http://schema.org/PostalAddress">'
            f'<span itemprop="streetAddress">{b.line}</span>, <span itemprop="addressLocality">{b.town.name}</span>, '
            f'<span itemprop="addressRegion">{b.town.admin1}</span> <span itemprop="postalCode">{b.zip}</span></p>'
            "</div>"
        )


def _listing_blocks(draft: Draft, parts: list[str], chosen: list[Business]) -> None:
    for b in chosen:
        text = draft.scribe.sentence(_sentences(draft)[0])
        parts.append(f"<h3>{b.name}</h3>\n<address>{draft.address(b, '<br>')}</address>\n<p>{text}</p>")


def _listing_lines(draft: Draft, parts: list[str], chosen: list[Business]) -> None:
    items = "\n".join(f"<li><b>{b.name}</b> &ndash; {draft.address(b)} (tel. {b.phone})</li>" for b in chosen)
    parts.append(f"<ul>\n{items}\n</ul>")


_LISTINGS = (_listing_table, _listing_microdata, _listing_blocks, _listing_lines)


def _business(draft: Draft, parts: list[str]) -> None:
    business = draft.own_business()
    _paragraphs(draft, parts, 3 + int(draft.scribe.random() * 3))
    parts.append(f"<h2>Find us</h2>\n<p>{draft.address(business, '<br>')}<br>Tel. {business.phone}</p>")
    rows = "".join(f"<tr><td>{_weekday(draft)}</td><td>9 am to 6 pm</td></tr>" for _ in range(4))
    parts.append(f"<table><tr><th>Day</th><th>Open</th></tr>{rows}</table>")


def _contact(draft: Draft, parts: list[str]) -> None:
    """A brand's office: its name says one town, its address another."""
    business = draft.own_business()
    parts.append(f"<p>Write to {draft.host.title} or come to our office.</p>")
    parts.append(f"<p>{draft.host.title}, {draft.address(business)}</p>")
    topic = vocabulary().topics[draft.page.topic]
    parts += [f"<p>{draft.scribe.paragraph(topic.own, topic.brand, 5)}</p>" for _ in range(4)]


def _item(draft: Draft, parts: list[str]) -> None:
    words = vocabulary().words
    random = draft.scribe.random
    _paragraphs(draft, parts, 5)
    rows = "".join(
        f"<tr><td>{pick(random, vocabulary().topics[draft.page.topic].things)}</td><td>${pick(random, words['price'])}"
        f"</td><td>{pick(random, words['quality'])}</td></tr>"
        for _ in range(6)
    )
    parts.append(f"<table><tr><th>Part</th><th>Price</th><th>Remark</th></tr>{rows}</table>")
    _paragraphs(draft, parts, 2)


def _region(draft: Draft, parts: list[str]) -> None:
    _paragraphs(draft, parts, 5)
    _region_list(draft, parts)


def _region_list(draft: Draft, parts: list[str]) -> None:
    """A portal's list: every town it covers here, with the sites about it."""
    parts.append("<dl>")
    for town in draft.page.towns:
        parts.append(f"<dt>{draft.scribe.name_in_full(town)}</dt>")
        for home in draft.blueprint.homes_by_town.get(town, [])[:4]:
            site = draft.blueprint.hosts[draft.blueprint.pages[home].host]
            parts.append(f"<dd>{draft.canvas.link(home, site.title)}: {site.topic}</dd>")
    parts.append("</dl>")


def _directory(draft: Draft, parts: list[str]) -> None:
    blueprint, page = draft.blueprint, draft.page
    members = blueprint.listings.get(page.index)
    if members is None:
        host = draft.host
        parts.append("<p>Every site by region and by subject.</p>\n<ul>")
        own = range(host.first + 1, host.first + host.count)
        parts += [f"<li>{draft.canvas.link(index, blueprint.pages[index].title)}</li>" for index in own]
    else:
        parts.append("<ul>")
        for number in members:
            site = blueprint.hosts[number]
            parts.append(f"<li>{draft.canvas.raw(site.url, site.title)} &ndash; {_blurb(site)}</li>")
    parts.append("</ul>")


def _blurb(site: Host) -> str:
    if site.town >= 0 and site.kind in ("guide", "business", "news"):
        town = towns()[site.town]
        return f"{site.kind} from {town.name}, {town.region}"
    return f"a {site.kind} site"


_KINDS = {
    "home": _home,
    "listing": _listing,
    "news": _news,
    "business": _business,
    "contact": _contact,
    "item": _item,
    "region": _region,
    "directory": _directory,
}


def _below(draft: Draft, parts: list[str]) -> None:
    """The pages under this one, then pages elsewhere."""
    blueprint, page, canvas, random = draft.blueprint, draft.page, draft.canvas, draft.scribe.random
    if page.kind == "directory":
        return
    below = [blueprint.pages[index] for index in children(blueprint, page)]
    items = [f"<li>{canvas.link(p.index, p.title)}</li>" for p in below if p.quirk != "orphan"]
    if items:
        parts.append(f'<ul class="pages">{"".join(items)}</ul>')
    if draft.host.language == "en":
        heading = pick(random, vocabulary().closings)
    else:
        heading = vocabulary().languages[draft.host.language].more
    extra = ' rel="nofollow"' if random() < 0.03 else ""
    targets = cross_targets(blueprint, page, random, 6 + int(random() ** 2 * 24))
    links = [f"<li>{canvas.link(index, anchor_for(blueprint.pages[index], random), extra)}</li>" for index in targets]
    parts.append(f"<h2>{heading}</h2>\n<ul>{''.join(links)}</ul>")
