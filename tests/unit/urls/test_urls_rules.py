"""What keeps a URL out of the frontier: the ordered rules and the budgets against endless sites."""

from functools import partial

import pytest
from effort import FOURFOLD, least_seconds

from periplus.urls import (
    CanonicalUrl,
    TrapBudget,
    canonicalize,
    drop_reason,
    fingerprint,
    link_steps,
    outline,
    url_rules,
)
from periplus.urls.filters import DROP_REASONS, RULES

PORTS = (80, 443, 8080, 8443)


def made(raw: str) -> CanonicalUrl:
    url = canonicalize(raw)
    assert url is not None
    return url


def reason(raw: str, max_length: int = 2_048) -> str | None:
    return drop_reason(made(raw), max_length=max_length, ports=PORTS)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("http://example.com/", None),
        ("http://example.com/a/b/c.html?x=1&y=2", None),
        ("http://example.com/download.php?file=a.zip", None),
        ("http://example.com/report.pdf", "file_kind"),
        ("http://example.com/Photo.JPEG", "file_kind"),
        ("http://example.com/feed.xml", "file_kind"),
        ("http://example.com/a.tar.gz?x=1", "file_kind"),
        ("http://example.com/a.pdf/about", None),
        ("http://example.com/pdf", None),
        ("http://example.com/mp3", None),
        ("http://example.com:22/", "port"),
        ("http://example.com:25/", "port"),
        ("http://example.com:6379/", "port"),
        ("http://example.com:9200/", "port"),
        ("http://example.com:0/", "port"),
        ("http://example.com:8080/", None),
        ("https://example.com:8443/", None),
        ("http://example.com" + "".join(f"/s{n}" for n in range(20)), None),
        ("http://example.com" + "".join(f"/s{n}" for n in range(21)), "path_depth"),
        ("http://example.com/a/b/a/b/", None),
        ("http://example.com/a/b/a/b/a/", "path_repeats"),
        ("http://example.com/a//b///c", None),
        ("http://example.com/?" + "&".join(f"p{n}=1" for n in range(10)), None),
        ("http://example.com/?" + "&".join(f"p{n}=1" for n in range(11)), "query_parameters"),
        ("http://example.com/" + "a" * 2_029, None),
        ("http://example.com/" + "a" * 2_030, "too_long"),
    ],
)
def test_rules(raw: str, expected: str | None) -> None:
    assert reason(raw) == expected


def test_every_reason_is_explained() -> None:
    for raw in ("http://a.com/x.zip", "http://a.com:1/", "http://a.com/" + "b" * 3_000, "http://a.com/a/a/a"):
        assert reason(raw) in DROP_REASONS
    assert len(RULES) <= len(DROP_REASONS)
    assert all(text and not text.endswith(".") for text in DROP_REASONS.values())


@pytest.mark.parametrize("piece", ["a/", ".", "%2", "%2e/", "/../", ";sid", ";sid=1", "(S(", "&a", "?a=1&", "-", "1/"])
def test_rules_are_fast_on_adversarial_urls(piece: str) -> None:
    """U9: of 2,048 characters in 5 ms, and linear in their number."""

    def work(length: int) -> None:
        for _ in range(10):
            url = canonicalize("http://a.com/" + piece * (length // len(piece)))
            if url is not None:
                drop_reason(url, max_length=8_192, ports=PORTS)
                outline(url.href)

    short, long = (least_seconds(partial(work, length)) / 10 for length in (2_000, 8_000))
    assert short <= 0.005
    assert long <= FOURFOLD * short


def test_patterns_leave_out_what_can_be_counted_through() -> None:
    assert outline("http://a.com/cal/2026/03")[1] == outline("http://a.com/cal/1999/12")[1]
    assert outline("http://a.com/?b=1&a=2")[1] == outline("http://a.com/?a=9&b=8")[1]
    assert outline("http://a.com/news/flood")[1] != outline("http://a.com/news/storm")[1]
    assert outline("http://a.com/1")[1] != outline("http://b.com/1")[1]
    assert outline("http://a1.com/x")[2] == 0  # digits of the host are a name
    assert outline("http://a.com/about")[2] == 0
    assert outline("http://a.com/item/7")[2] == 1
    assert outline("http://a.com/cal/2026/03?view=week")[2] == 3


def test_a_calendar_is_stopped_and_the_rest_of_the_site_is_not() -> None:
    budget = TrapBudget(host_limit=10_000, pattern_limit=500)
    calendar = [
        budget.refusal("a.com", f"http://a.com/cal/{year}/{month}") for year in range(1000) for month in range(12)
    ]
    assert calendar.count(None) == 500 // 4
    assert set(calendar) == {None, "trap"}
    assert budget.refusal("a.com", "http://a.com/about") is None
    assert budget.refusal("b.com", "http://b.com/cal/2026/1") is None


def test_facets_get_less_the_more_of_them_combine() -> None:
    budget = TrapBudget(host_limit=100_000, pattern_limit=500)
    one = sum(budget.refusal("a.com", f"http://a.com/?color={n}") is None for n in range(2_000))
    two = sum(budget.refusal("a.com", f"http://a.com/?color={n}&size={n}") is None for n in range(2_000))
    five = sum(
        budget.refusal("a.com", f"http://a.com/?a={n}&b={n}&c={n}&d={n}&e={n}&f={n}") is None for n in range(2_000)
    )
    assert (one, two, five) == (500, 125, 1)


def test_plain_ids_of_a_real_site_fit_and_names_are_not_counted() -> None:
    budget = TrapBudget(host_limit=10_000, pattern_limit=500)
    assert all(budget.refusal("a.com", f"http://a.com/story/{n}") is None for n in range(500))
    words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij"]
    assert all(budget.refusal("a.com", f"http://a.com/{word}") is None for word in words)


def test_pages_with_texts_of_their_own_earn_their_pattern_more_and_others_do_not() -> None:
    budget = TrapBudget(host_limit=10_000, pattern_limit=4)
    for number in range(4):
        assert budget.refusal("a.com", f"http://a.com/a/{number}") is None
    assert budget.refusal("a.com", "http://a.com/a/5") == "trap"
    budget.learn("http://a.com/a/1", is_new=True)
    earned = [budget.refusal("a.com", f"http://a.com/a/{number}") for number in range(100, 130)]
    assert (earned.count(None), earned.count("trap")) == (20, 10)
    assert budget.refusal("a.com", "http://a.com/b/1/2") is None, "another pattern has its own"
    assert budget.refusal("a.com", "http://a.com/b/1/3") == "trap"
    for number in range(20):
        budget.learn(f"http://a.com/a/{number}", is_new=True)
    assert budget.refusal("a.com", "http://a.com/a/200") is None
    for number in range(3):
        budget.learn(f"http://a.com/a/{number}", is_new=False)  # now more than one in ten
    assert budget.refusal("a.com", "http://a.com/a/201") == "trap"


def test_what_a_sitemap_lists_is_held_by_the_quota_of_its_host_alone() -> None:
    budget = TrapBudget(host_limit=10, pattern_limit=4)
    listed = [budget.refusal("a.com", f"http://a.com/a/{number}", listed=True) for number in range(12)]
    assert listed == [None] * 10 + ["host_quota"] * 2


@pytest.mark.parametrize(
    ("page", "link", "steps"),
    [
        ("http://a.com/", "http://a.com/?color=red", 1),
        ("http://a.com/shop?color=red", "http://a.com/shop?color=red&size=s", 4),
        ("http://a.com/shop?color=red", "http://a.com/shop?color=blue", 1),
        ("http://a.com/shop?color=red&size=s", "http://a.com/shop?color=red&size=s&sort=new", 20),
        ("http://a.com/calendar/2026/11/", "http://a.com/calendar/2026/12/", 1),
        ("http://a.com/calendar/2026/11/", "http://a.com/calendar/2026/11/3", 20),
        ("http://a.com/calendar/2026/11/3", "http://a.com/calendar/2026/12/", 1),
        ("http://a.com/2026/11/", "http://a.com/2026/11/15/flood-in-the-north", 1),
        ("http://a.com/2026/11/14/storm", "http://a.com/2026/11/15/flood", 1),
        ("http://a.com/forum/3", "http://a.com/forum/3?page=2", 4),
        ("http://a.com/forum/3?page=2", "http://a.com/forum/3?page=3", 1),
        ("http://a.com/forum/3/topic/4567/", "http://a.com/forum/3/topic/4567/page/2", 1),
        ("http://a.com/viewtopic.php?f=1&t=5", "http://a.com/viewtopic.php?f=1&t=5&start=15", 4),
        ("http://a.com/viewtopic.php?f=1&t=5", "http://a.com/viewtopic.php?start=15&f=1&t=5", 4),
        ("http://a.com/viewtopic.php?f=1&t=5&start=15", "http://a.com/viewtopic.php?f=1&t=5&start=30", 1),
        ("http://a.com/viewtopic.php?f=1&t=5", "http://a.com/viewtopic.php?f=1&t=5&start=15&view=print", 20),
        ("http://a.com/viewtopic.php?f=1&t=5", "http://a.com/viewtopic.php?f=1&t=5&start=latest", 20),
        ("http://a.com/index.php?id=12", "http://a.com/index.php?id=13&news=55&hash=ab", 1),
        ("http://a.com/index.php?id=12", "http://a.com/index.php?id=12&news=55&hash=ab", 4),
        ("http://a.com/index.php?page=news&view=list", "http://a.com/index.php?page=news&view=story&id=5", 1),
        ("http://a.com/shop?color=red", "http://b.com/shop?color=red&size=s", 1),
        ("http://a.com/shop?color=red", "http://a.com.evil.net/shop?color=red&size=s", 1),
    ],
)
def test_a_link_that_combines_an_address_further_leads_deeper(page: str, link: str, steps: int) -> None:
    assert link_steps(page, [link], depth_limit=20) == [steps]
    assert link_steps(page, ["http://a.com/about", link], depth_limit=2)[0] == 1
    assert link_steps(page, [link], depth_limit=0) == [1]


@pytest.mark.parametrize(
    ("page", "below", "steps"),
    [
        ("http://a.com/news/about/", ["news/", "about/", "people/"], [20, 20, 20]),
        ("http://a.com/news/about/", ["news/index.html", "about/index.html", "map.html"], [20, 20, 1]),
        ("http://a.com/news/about/?a=b", ["news/", "about/"], [20, 20]),
        ("http://a.com/x/news/about/people/", ["news/", "about/", "events/"], [20, 20, 20]),
        ("http://a.com/news/news/", ["news/", "about/"], [20, 20]),
        ("http://a.com/news/about/news/", ["about/", "people/"], [20, 20]),
        ("http://a.com/us/new-york/new-york/art/", ["art/", "food/"], [1, 1]),
        ("http://a.com/new-york/", ["new-york/", "albany/"], [1, 1]),
        ("http://a.com/new-york/new-york/", ["hotels/", "museums/"], [1, 1]),
        ("http://a.com/info/projects/zeno/", ["projects/", "people/"], [1, 1]),
        ("http://a.com/4/news/about/", ["news/7/", "about/"], [20, 20]),
        ("http://a.com//info//projects/", ["projects/", "people/"], [1, 1]),
        ("http://a.com/news/about", ["news/", "about/"], [1, 1]),
        ("http://a.com/fruit/apples/", ["fruit.html", "apples.html", "?of=fruit/&in=apples/"], [1, 1, 1]),
    ],
)
def test_U6_folders_in_which_a_page_lists_again_what_led_to_it_are_far_away(
    page: str, below: list[str], steps: list[int]
) -> None:
    """A menu of relative links, on a site that answers every path; one name that is met again is none."""
    folder = page.partition("?")[0].rpartition("/")[0]
    links = [f"{folder}/{name}" for name in below]
    elsewhere = ["http://a.com/", "http://a.com/news/", "http://b.com/news/about/news/"]
    assert link_steps(page, [*links, *elsewhere], depth_limit=20) == [*steps, 1, 1, 1]


def test_U6_what_no_rule_lets_in_says_too_that_a_page_lists_what_led_to_it() -> None:
    found = ["http://a.com/news/news/news/", "http://a.com/news/news/about/"]
    assert link_steps("http://a.com/news/news/", found[1:], 20, found) == [20]


def test_host_quota() -> None:
    budget = TrapBudget(host_limit=10, pattern_limit=500)
    refusals = [budget.refusal("a.com", f"http://a.com/{chr(97 + n)}") for n in range(12)]
    assert refusals == [None] * 10 + ["host_quota"] * 2
    assert budget.refusal("b.com", "http://b.com/") is None


def test_U6_a_domain_has_so_many_hosts_and_its_own_name_is_none_of_them() -> None:
    """A name server that answers for every name: the domain itself, other domains and known hosts are not touched."""
    budget, resumed = TrapBudget(50, 500, domain_limit=10), TrapBudget(50, 500, domain_limit=10)
    refusals = [budget.refusal(f"h{n}.trap.com", f"http://h{n}.trap.com/") for n in range(12)]
    assert refusals == [None] * 10 + ["domain_quota"] * 2
    for number in range(10):
        resumed.spend(f"h{number}.trap.com", f"http://h{number}.trap.com/")
    for one in (budget, resumed):
        assert one.refusal("h77.trap.com", "http://h77.trap.com/") == "domain_quota"
        assert one.refusal("h3.trap.com", "http://h3.trap.com/more") is None
        for host in ("trap.com", "www.trap.com", "h1.other.com", "one.github.io", "two.github.io"):
            assert one.refusal(host, f"http://{host}/") is None


def test_a_resumed_budget_is_the_same_budget() -> None:
    live, resumed = TrapBudget(50, 8), TrapBudget(50, 8)
    urls = [f"http://a.com/{n % 3}/x?p={n}" for n in range(40)] + [f"http://a.com/{n}" for n in range(40)]
    for url in (url for url in urls if live.refusal("a.com", url) is None):
        resumed.spend("a.com", url)
    for url in (f"http://a.com/{n}/y" for n in range(100)):
        assert live.refusal("a.com", url) == resumed.refusal("a.com", url)


def test_a_full_folder_is_put_off_and_its_neighbours_are_not() -> None:
    budget, resumed = TrapBudget(10_000, 10_000, 5), TrapBudget(10_000, 10_000, 5)
    for number in range(5):
        assert not budget.is_crowded("http://a.com/shop/shoes/next")
        assert budget.refusal("a.com", f"http://a.com/shop/shoes/{number}") is None
        resumed.spend("a.com", f"http://a.com/shop/shoes/{number}")
    for one in (budget, resumed):
        assert one.is_crowded("http://a.com/shop/shoes/next?size=4")
        assert one.is_crowded("http://a.com/shop/shoes/deep/below")
        assert not one.is_crowded("http://a.com/shop/hats/next")
        assert not one.is_crowded("http://a.com/shop/shoes")
        assert not one.is_crowded("http://b.com/shop/shoes/next")
        assert one.refusal("a.com", "http://a.com/shop/shoes/next") is None, "it is not dropped"


def test_what_the_rules_of_a_crawl_say_is_remembered_and_the_same() -> None:
    rules = url_rules(60, (80, 443), ("reject path */print/*",))
    for href in (
        "http://a.test/x",
        "http://a.test:81/x",
        "http://a.test/print/x",
        f"http://a.test/{'x' * 80}",
        "ftp:x",
    ):
        url = canonicalize(href)
        reason = (
            drop_reason(url, max_length=60, ports=(80, 443), scope=("reject path */print/*",)) if url else "not_http"
        )
        for _ in range(2):
            found = rules.check(href)
            assert found.reason == (reason or "")
            assert url is None or (found.host, found.fingerprint) == (url.host, fingerprint(href))
