"""One gazetteer for all tests of the room."""

import pytest

from periplus.places import Gazetteer, open_gazetteer


@pytest.fixture(scope="session")
def gazetteer() -> Gazetteer:
    """The bundled gazetteer, compiled once per cache."""
    return open_gazetteer()
