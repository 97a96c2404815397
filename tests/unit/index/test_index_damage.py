"""What was gathered of links holds nothing of its own: damaged, as the loss of power may leave it, it is made anew."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sample_collection import add_pages, build_collection, make_page

from periplus.index import IndexQuery, NodeIndex, TextUnit
from periplus.index.reading import Cursor, read_changes
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder

TARGETS = 300


def linking(number: int, word: str) -> object:
    """A page that says this word, with the number, of each of many pages."""
    links = tuple((f"http://site{n % 7}.example/story-{n}", f"{word} number{n}", "all") for n in range(TARGETS))
    return make_page(number, links=links)


@pytest.fixture
def node(tmp_path: Path) -> NodeFolder:
    pages = [*(make_page(number) for number in range(TARGETS)), linking(900, "harbour")]
    return build_collection(tmp_path / "crawl", pages, nodes=("all",)).node("all")  # type: ignore[arg-type]


def update(index: NodeIndex, node: NodeFolder) -> None:
    with closing(open_reader(node.database)) as db:
        index.update(db)


def found(index: NodeIndex, word: str) -> int:
    return index.count(IndexQuery(required=((TextUnit(word),),)))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil_header(file: Path) -> None:
    file.write_bytes(b"\xa5" * 100 + file.read_bytes()[100:])


def spoil_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)  # everything behind the first page of the file
    file.write_bytes(data)


def spoil_texts(file: Path) -> None:
    data = file.read_bytes()
    assert b"harbour" in data
    file.write_bytes(data.replace(b"harbour", b"h\xff\xff\xff\xff\xff\xff"))


def other_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE source (other)")
        db.execute("CREATE TABLE anchor (other)")


def empty(file: Path) -> None:
    file.write_bytes(b"")


DAMAGES = [cut, spoil_header, spoil_middle, spoil_texts, other_tables, empty, Path.unlink]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("opened_anew", [True, False])
def test_damaged_texts_of_links_are_gathered_anew(
    node: NodeFolder, damage: Callable[[Path], None], opened_anew: bool
) -> None:
    index = NodeIndex.open(node.index)
    update(index, node)
    assert found(index, "harbour") == TARGETS
    damage(node.index / "anchors.db")
    add_pages(node.database, [linking(number, f"word{number}") for number in range(901, 905)])  # type: ignore[misc]
    index = NodeIndex.open(node.index) if opened_anew else index
    update(index, node)
    assert found(index, "harbour") == TARGETS
    assert [found(index, f"word{number}") for number in range(901, 905)] == [TARGETS] * 4
    assert index.count(IndexQuery()) == TARGETS + 5
    with closing(sqlite3.connect(node.index / "anchors.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with closing(open_reader(node.database)) as db:
        assert index.update(db) == 0


def test_rebuild_and_gather_need_no_sound_file_either(node: NodeFolder) -> None:
    index = NodeIndex.open(node.index)
    with closing(open_reader(node.database)) as db:
        for number in range(5):
            add_pages(node.database, [make_page(1000 + number)])
            index.update(db)
        spoil_header(node.index / "anchors.db")
        index.gather(db)
        spoil_middle(node.index / "anchors.db")
        assert index.rebuild(db) == len(read_changes(db, Cursor(), 10_000))
    assert found(index, "harbour") == TARGETS


def test_a_node_whose_database_cannot_be_read_keeps_no_other_from_being_indexed(node: NodeFolder) -> None:
    broken = node.path.parent / "broken"
    broken.mkdir()
    (broken / "node.db").touch()  # as the loss of power may leave what was just made
    index = NodeIndex.open(node.index)
    update(index, node)
    assert found(index, "harbour") == TARGETS
    with closing(open_reader(node.database)) as db:
        assert index.update(db) == 0
