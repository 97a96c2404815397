"""Who links to whom, and how the link is written: site trees, geographic locality, redirects, session ids.

Between the plan and `rendering`. Every choice comes from the page's own random stream.
"""

from dataclasses import dataclass

from periplus.miniweb.blueprint import Blueprint, Host, PagePlan
from periplus.miniweb.places import towns
from periplus.miniweb.prose import Random, pick

__all__ = ["BRANCHES", "Canvas", "anchor_for", "children", "cross_targets", "navigation", "odd_links", "parent"]

BRANCHES = 10
"""Children of a page in its site's tree: a site of 10,000 pages is five links deep."""

_VAGUE = ("read more", "here", "this page", "details", "next story", "continue")


@dataclass(slots=True)
class Canvas:
    """Where a page's links are written; it remembers every link in document order.

    `links` are absolute URLs as a browser would resolve them.
    """

    blueprint: Blueprint
    page: PagePlan
    host: Host
    random: Random
    links: list[str]

    def link(self, target: int, text: str, extra: str = "") -> str:
        """An `<a>` to a page of the plan, in the host's own way of writing links."""
        blueprint = self.blueprint
        page = blueprint.pages[target]
        if page.host != self.host.index:
            return self._foreign_link(page, text, extra)
        path = _with_session(self.host, page.path, self.page.index) if self.host.session else page.path
        self.links.append(f"http://{self.host.name}{path}")
        return f'<a href="{self._own(path)}"{extra}>{text}</a>'

    def raw(self, url: str, text: str, extra: str = "") -> str:
        """An `<a>` to any absolute URL, or to a path of this host."""
        if url.startswith("/"):
            self.links.append(f"http://{self.host.name}{url}")
            href = self._own(url)
        else:
            self.links.append(url)
            href = url.replace("&", "&amp;")
        return f'<a href="{href}"{extra}>{text}</a>'

    def _own(self, path: str) -> str:
        href = path.replace("&", "&amp;")
        if self.host.links == "absolute":
            return f"http://{self.host.name}{href}"
        if self.host.links == "folder":
            folder = self.page.path.partition("?")[0].rpartition("/")[0] + "/"
            rest = href[len(folder) :]
            if href.startswith(folder) and rest and not rest.startswith("?"):
                return rest
        return href

    def _foreign_link(self, page: PagePlan, text: str, extra: str) -> str:
        url = self.blueprint.url(page)
        chance = self.random()
        if chance < 0.008:
            url = f"http://{self.host.name}/go/{page.index}"
        elif chance < 0.02 and "?" not in url:
            url = f"{url}?utm_source={self.host.name.partition('.')[0]}&utm_medium=link"
        self.links.append(url)
        return f'<a href="{url.replace("&", "&amp;")}"{extra}>{text}</a>'


def _with_session(host: Host, path: str, page_index: int) -> str:
    # The id changes with the page that links, so the same item is offered under ever new addresses.
    token = f"{(page_index * 2654435761 + 97) % 2**32:08X}"
    if host.session == "path":
        before, question, query = path.partition("?")
        return f"{before};jsessionid={token}{question}{query}"
    return f"{path}{'&' if '?' in path else '?'}sid={token}"


# -- Inside a site ---------------------------------------------------------------------------------


def children(blueprint: Blueprint, page: PagePlan) -> range:
    """The pages under this one in its site's tree (orphans included; callers leave them out)."""
    host = blueprint.hosts[page.host]
    number = page.index - host.first
    start = number * BRANCHES + 1
    return range(host.first + min(start, host.count), host.first + min(start + BRANCHES, host.count))


def parent(blueprint: Blueprint, page: PagePlan) -> int:
    """The page above this one; the home page is its own parent."""
    host = blueprint.hosts[page.host]
    number = page.index - host.first
    return host.first + (number - 1) // BRANCHES if number else page.index


def navigation(host: Host) -> range:
    """The pages that every page of the site links to: home and the first few sections."""
    return range(host.first, host.first + min(6, host.count))


# -- Between sites ---------------------------------------------------------------------------------


def cross_targets(blueprint: Blueprint, page: PagePlan, random: Random, count: int) -> list[int]:
    """Pages elsewhere that this page points to.

    A page about a town points, with the probability `locality`, to a page about the same town, else to any
    page of the web. A page without a town keeps to its subject nine times out of ten.
    """
    result: list[int] = []
    everything = len(blueprint.pages)
    local = blueprint.pages_by_town[page.towns[0]] if page.towns else blueprint.pages_by_topic[page.topic]
    strength = blueprint.locality if page.towns else 0.9
    for _ in range(count):
        near = local and random() < strength
        target = local[int(random() * len(local))] if near else int(random() * everything)
        if near and blueprint.pages[target].host == page.host:  # one more try: these are links to elsewhere
            target = local[int(random() * len(local))]
        if target != page.index and blueprint.pages[target].quirk not in ("orphan", "private"):
            result.append(target)
    return result


def anchor_for(target: PagePlan, random: Random) -> str:
    """The words of a link: mostly the title, sometimes town and subject, sometimes nothing telling."""
    chance = random()
    if chance < 0.12:
        return pick(random, _VAGUE)
    if chance < 0.4 and target.towns and target.kind != "foreign":
        town = towns()[target.towns[0]]
        return f"{town.name} {target.topic}" if chance < 0.25 else f"{target.topic} in {town.name}, {town.short_region}"
    return target.title


def odd_links(canvas: Canvas) -> list[str]:
    """Links that lead to something other than a page: files, dead ends, old addresses, print versions."""
    random, page, index = canvas.random, canvas.page, canvas.page.index
    result = []
    if random() < 0.02:
        result.append(canvas.raw(f"/files/brochure-{index}.pdf", "Brochure (PDF)"))
    if random() < 0.02:
        result.append(canvas.raw(f"/images/photo-{index}.jpg", "Photo"))
    if random() < 0.02:
        result.append(canvas.raw(f"/missing/{index}.html", "An older article"))
    if random() < 0.03:
        result.append(canvas.raw(f"/old{page.path}", "Permanent address"))
    # Links relative to the folder would open a second site under /print/.
    if random() < 0.03 and "?" not in page.path and canvas.host.links != "folder":
        result.append(canvas.raw(f"/print{page.path}", "Printer friendly version"))
    if random() < 0.02:
        result.append(canvas.raw(f"http://{canvas.host.name}/#top", "Back to top"))
        canvas.links[-1] = f"http://{canvas.host.name}/"
    if random() < 0.03:
        result.append('<a href="mailto:editor@example.org">Write to us</a>')
    if random() < 0.02:
        result.append('<a href="javascript:history.back()">Back</a>')
    return result
