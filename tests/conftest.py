"""What every test gets: no network beyond loopback, and loud skips for programs that are not installed."""

import atexit
import ipaddress
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Small matrices: threads of the linear algebra library would get in each other's way. Before the first import of numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Commands that tests start in other folders find the same package.
if "PYTHONPATH" in os.environ:
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))

# A shell that runs the suite in the background has it ignore Ctrl-C, and so would every command that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that say nothing about it try so many examples; others name theirs for both (`effort.examples`).
settings.register_profile("ci", max_examples=200, deadline=None)
settings.register_profile("nightly", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

ROOT = Path(__file__).resolve().parent.parent
WANTING = " is not installed"


class LeftLoopback(BaseException):
    """A test tried to reach another machine. Not an Exception, so that no code under test can swallow it."""


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: sockets may lead to this machine only."""
    if event not in ("socket.connect", "socket.sendto"):
        return
    address = arguments[1]
    if not isinstance(address, tuple):  # a Unix socket
        return
    try:
        local = ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    except ValueError:
        local = address[0] == "localhost"
    if not local:
        raise LeftLoopback(f"a test tried to reach {address[0]}")


sys.addaudithook(_guard)


def _is_installed(name: str) -> bool:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from system_packages import PROGRAMS, is_present
    finally:
        sys.path.pop(0)
    return is_present(PROGRAMS[name][0]) if name in PROGRAMS else shutil.which(name) is not None


def pytest_configure() -> None:
    if "PERIPLUS_TASKS" not in os.environ:  # never the user's own
        os.environ["PERIPLUS_TASKS"] = tempfile.mkdtemp(prefix="periplus-tasks-")
        atexit.register(shutil.rmtree, os.environ["PERIPLUS_TASKS"], ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        name = marker.args[0]
        if not _is_installed(name):
            pytest.skip(name + WANTING)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly what was not run; from the reports, which come together here also from several processes."""
    reasons = (str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", []))
    wanting = Counter(reason.removeprefix("Skipped: ") for reason in reasons if reason.endswith(WANTING))
    for reason, count in wanting.items():
        terminalreporter.write_line(f"NOT RUN: {count} tests, because {reason}", yellow=True, bold=True)


@pytest.fixture(scope="session", autouse=True)
def _plain_environment() -> Iterator[None]:
    """Tests see neither the caller's token nor its terminal."""
    kept = dict(os.environ)
    for name in ("PERIPLUS_TOKEN", "PERIPLUS_DEBUG", "FORCE_COLOR", "COLUMNS"):
        os.environ.pop(name, None)
    yield
    os.environ.clear()
    os.environ.update(kept)
