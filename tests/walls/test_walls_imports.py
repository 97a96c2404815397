"""The rooms import downwards only, and the pure ones touch neither clock, network nor disk."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "periplus"

ROOMS = [
    "errors", "wording", "printing", "options", "clock", "files", "memory", "model", "network_settings",
    "cluster_settings",
    "topic_settings", "settings", "explaining", "urls", "frontier", "fetch", "pages", "content", "places", "topics",
    "strategies",
    "network", "exchange", "cluster", "store", "index", "search", "export", "running", "tasks", "web", "evaluate",
    "miniweb", "analysis", "registering", "reaching", "shared", "node", "job", "resume", "report", "equipment",
    "indexing", "crawl", "verify", "relocation", "world", "replay", "ceilings", "compare", "experiments", "sampling",
    "assignments", "teaching", "rebuilding", "clustering", "commands", "shortening", "member", "attending", "hosting",
    "cli",
]  # fmt: skip
"""The order of the flow, as ARCHITECTURE.md has it. A room may import rooms before it."""

IMPURE = {"aiohttp", "asyncio", "random", "socket", "sqlite3", "subprocess", "threading", "time", "urllib.request"}
PURE = [
    "topics",
    "strategies",
    "evaluate/measures.py",
    "urls",
    "pages/flow.py",
    "pages/html.py",
    "pages/linked_data.py",
    "pages/metadata.py",
    "pages/titles.py",
    "pages/dates.py",
]


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "periplus":
                yield from (f"periplus.{alias.name}" for alias in node.names)
            else:
                yield node.module


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.name != "__init__.py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_rooms_before_them(path: Path) -> None:
    room = room_of(path)
    assert room in ROOMS, f"{room} is not a room of the design"
    for name in imported_modules(path):
        other = name.split(".")[1] if name.startswith("periplus.") else None
        if other is None or other.startswith("_"):
            continue
        assert ROOMS.index(other) <= ROOMS.index(room), f"{room} imports {other}, which comes after it"


@pytest.mark.parametrize("place", PURE)
def test_pure_rooms_know_no_clock_network_or_threads(place: str) -> None:
    path = SOURCE / place
    for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        used = IMPURE & set(imported_modules(module))
        assert not used, f"{module.relative_to(SOURCE)} imports {used}"


def test_one_room_talks_to_the_network() -> None:
    """Every outbound request goes through fetch/transport.py, so every one passes the address guard."""
    clients = {"aiohttp", "httpx", "requests", "urllib.request", "http.client", "pycurl"}
    talkers = {path.relative_to(SOURCE) for path in modules() if clients & set(imported_modules(path))}
    assert all(path.parts[0] == "fetch" for path in talkers), talkers
