"""The miniature web as a function: what it holds, and that its truth agrees with its bytes."""

import pytest

from periplus.errors import UsageError
from periplus.miniweb import Miniweb, generate


@pytest.fixture(scope="module")
def web() -> Miniweb:
    return generate(1)


def test_the_default_web_has_at_least_300_hosts_and_5000_pages(web: Miniweb) -> None:
    assert len(web.blueprint.hosts) >= 300
    assert len(web.blueprint.pages) >= 5000
    assert len(set(web.urls())) == len(web.blueprint.pages)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hosts": 10}, "10 hosts are too few"),
        ({"hosts": 100, "pages": 200}, "ask for at least 500"),
        ({"locality": 1.5}, "not between 0 and 1"),
        ({"slow_seconds": -1}, "not between 0 and 60"),
    ],
)
def test_numbers_that_cannot_work_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        generate(1, **arguments)  # type: ignore[arg-type]  # the table mixes ints and floats
