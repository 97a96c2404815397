"""Scope: an ordered list of rules, of which the first that fits decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import ConfigError
from periplus.urls import canonicalize, drop_reason
from periplus.urls.scope import in_scope


def inside(raw: str, *rules: str) -> bool:
    url = canonicalize(raw)
    assert url is not None
    return in_scope(url, rules)


@pytest.mark.parametrize(
    ("raw", "rule", "fits"),
    [
        ("http://example.com/", "host example.com", True),
        ("http://www.example.com/", "host example.com", False),
        ("http://www.example.com/", "domain Example.COM", True),
        ("http://example.com/", "domain example.com", True),
        ("http://notexample.com/", "domain example.com", False),
        ("http://m\u00fcnchen.de/", "domain m\u00fcnchen.de", True),
        ("http://example.com/news/1", "prefix http://example.com/news/", True),
        ("http://example.com/newsletter", "prefix http://example.com/news/", False),
        ("http://example.com/a/print/b", "path */print/*", True),
        ("http://example.com/print", "path */print/*", False),
        ("http://example.com/a.php", "path *.php", True),
        ("http://example.com/a.php/b", "path *.php", False),
        ("http://example.com/ab", "path /ab*ab", False),
        ("http://example.com/abab", "path /ab*ab", True),
        ("http://example.com/x", "path /x", True),
        ("http://example.com/xy", "path /x", False),
        ("http://example.com/?a=1&replytocom=2", "query replytocom", True),
        ("http://example.com/?a=replytocom", "query replytocom", False),
        ("http://example.com/", "all", True),
    ],
)
def test_rules(raw: str, rule: str, fits: bool) -> None:
    assert inside(raw, f"reject {rule}") is not fits
    assert inside(raw, f"accept {rule}", "reject all") is fits


def test_the_first_rule_that_fits_decides_and_what_none_fits_is_accepted() -> None:
    rules = ("reject path /private/*", "accept domain example.com", "reject all")
    assert inside("http://example.com/open", *rules)
    assert not inside("http://example.com/private/x", *rules)
    assert not inside("http://elsewhere.org/open", *rules)
    assert inside("http://elsewhere.org/open", *rules[:2])
    assert inside("http://elsewhere.org/")


def test_what_is_out_of_scope_has_its_reason() -> None:
    url = canonicalize("http://elsewhere.org/")
    assert url is not None
    assert drop_reason(url, max_length=2_000, ports=(80,), scope=("reject all",)) == "scope"
    assert drop_reason(url, max_length=2_000, ports=(80,), scope=("accept all",)) is None


@pytest.mark.parametrize(
    "rule", ["", "accept", "allow all", "reject everything", "reject host", "reject all of it", "accept host a b",
             "accept prefix ftp://x/", "accept host http://a/", "reject domain a:99"],
)  # fmt: skip
def test_a_rule_that_cannot_be_understood_is_named(rule: str) -> None:
    with pytest.raises(ConfigError, match=r"crawl\.scope"):
        inside("http://example.com/", rule)


@given(st.text("ab*", max_size=12), st.text("ab", max_size=20))
def test_patterns_are_what_a_slow_and_simple_matcher_says(pattern: str, text: str) -> None:
    def matches(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return matches(pattern[1:], text) or (bool(text) and matches(pattern, text[1:]))
        return bool(text) and text[0] == pattern[0] and matches(pattern[1:], text[1:])

    assert inside(f"http://x.com/{text}", f"accept path /{pattern}", "reject all") is matches(pattern, text)
