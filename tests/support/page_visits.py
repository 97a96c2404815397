"""The web page in a real browser: launching it, and visits that notice what goes wrong.

`browser` and `visit` are fixtures of all tests in `tests/e2e`. A module that uses `visit` has a fixture `server`, and
may say in `WINDOW` what else its windows are like.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from periplus.web.server import STATIC

__all__ = ["IN_A_BROWSER", "NEEDS_AXE", "Visit", "browser", "launched", "serious_violations", "visit"]

AXE = STATIC.parent / "page" / "node_modules" / "axe-core" / "axe.min.js"
NEEDS_AXE = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run `make page`")
IN_A_BROWSER = [
    pytest.mark.needs("chromium"),
    pytest.mark.skipif(not (STATIC / "index.html").is_file(), reason="the page is not built: run `make page`"),
]
"""What a module of such tests is marked with."""

expect.set_options(timeout=45_000)  # a busy machine is slow, not wrong

_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def launched() -> Iterator[Browser]:
    """Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page under watch: what it asked for, and what went wrong in it."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server
        self.hosts: set[str] = set()
        self.troubles: list[str] = []
        self._expected = ""
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda message: self._log(message.text) if message.type == "error" else None)

    def expects(self, status: int) -> None:
        """The server will refuse with this status, as often as it is asked; the browser logs it at any later time."""
        self._expected = f"status of {status} "

    def _log(self, error: str) -> None:
        if not self._expected or self._expected not in error:
            self.troubles.append(error)

    def open(self, path: str) -> Page:
        self.page.goto(self.server + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.locator("body:not(.is-loading) main > *").first.wait_for()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module."""
    with launched() as one:
        yield one


@pytest.fixture
def visit(request: pytest.FixtureRequest, browser: Browser, server: str) -> Iterator[Visit]:
    """A large window; in the end nothing may have gone wrong in it, and it must have asked nobody but its server."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **getattr(request.module, "WINDOW", {}))
    visit = Visit(context.new_page(), server)
    yield visit
    context.close()
    assert visit.troubles == []
    assert visit.hosts - {""} <= {urlsplit(server).netloc}


def serious_violations(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds that keeps people out; the page's policy must be bypassed for it."""
    page.add_script_tag(path=AXE)
    violations = page.evaluate("axe.run().then(found => found.violations)")
    return [(v["id"], v["nodes"][0]["html"]) for v in violations if v["impact"] in ("serious", "critical")]
