"""What a node answers to questions of other machines, whatever comes."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sample_collection import build_collection

from periplus.errors import ExchangeError
from periplus.index import IndexQuery, TextUnit
from periplus.search import wire
from periplus.search.answering import Answers
from periplus.search.deadline import answer_within, seconds_left
from periplus.search.shard import LocalShard, PageRecord


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    folder = build_collection(tmp_path_factory.mktemp("node") / "crawl", nodes=("east",)).node("east")
    shard = LocalShard.open("east", folder)
    shard.update()
    yield Answers(shard)
    shard.close()


def asked(answers: Answers, question: wire.Question, kind: type) -> object:
    parts: list[wire.Answer] = []
    while not parts or len(parts) < parts[0].parts:
        data = msgspec.msgpack.encode(msgspec.structs.replace(question, part=len(parts)))
        reply = answers.answer(data, time.monotonic())
        assert reply is not None
        parts.append(wire.open_part(reply))
    return wire.open_answer(parts, kind)


def query(text: str) -> IndexQuery:
    return IndexQuery(required=((TextUnit(text),),))


def test_answers_are_those_of_the_index(answers: Answers) -> None:
    index = answers.shard.index
    assert asked(answers, wire.AskCount(query=query("pizza")), int) == index.count(query("pizza")) > 0
    top = index.top(query("pizza"), 5)
    assert asked(answers, wire.AskTop(query=query("pizza"), most=5), type(top)) == top
    pages = tuple(hit.page for hit in top.hits)
    records = answers.shard.records(pages)
    assert asked(answers, wire.AskRecords(pages=pages), dict[int, PageRecord]) == records


def test_a_long_answer_comes_in_parts(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PART_BYTES", 100)
    pages = tuple(hit.page for hit in answers.shard.index.top(query("pizza"), 5).hits)
    found = asked(answers, wire.AskTexts(pages=pages), dict[int, tuple[str, list[tuple[int, int, int, float]]]])
    assert found == answers.shard.texts(pages)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 100,
        b"x" * 600_000,
        msgspec.msgpack.encode({"ask": "drop"}),
        msgspec.msgpack.encode({"ask": "count"}),
        msgspec.msgpack.encode({"ask": "top", "query": {}, "most": 10**9}),
        msgspec.msgpack.encode({"ask": "records", "pages": list(range(501))}),
        msgspec.msgpack.encode({"ask": "numbers", "query": {}, "field": "cursor_revision", "most": 5}),
        msgspec.msgpack.encode({"ask": "count", "query": {"required": [[{"text": "a"}] * 300]}}),
        msgspec.msgpack.encode({"ask": "count", "query": {"required": [[{"text": "a"}]], "fields": [["key", 1.0]]}}),
        msgspec.msgpack.encode({"ask": "state", "part": 9}),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(answers: Answers, data: bytes) -> None:
    reply = answers.answer(data, time.monotonic())
    assert reply is not None
    with pytest.raises(ExchangeError) as refused:
        wire.open_part(reply)
    assert "\n" not in str(refused.value)


def test_nobody_is_answered_who_has_given_up(answers: Answers) -> None:
    late = msgspec.msgpack.encode(wire.AskState(seconds=1.0))
    assert answers.answer(late, time.monotonic() - 2.0) is None


@pytest.mark.parametrize("data", [b"", b"\x93", msgspec.msgpack.encode(["", 1, b"no zstd"])])
def test_what_is_no_answer_is_told_apart(data: bytes) -> None:
    with pytest.raises(ExchangeError):
        wire.open_answer([wire.open_part(data)], int)


def test_time_runs_out_only_where_it_was_given() -> None:
    assert seconds_left() is None
    with answer_within(100.0):
        left = seconds_left()
        assert left is not None
        assert 90 < left <= 100
        with answer_within(None):
            assert seconds_left() is None
    assert seconds_left() is None


def test_a_folder_is_not_asked_for_by_name(answers: Answers, tmp_path: Path) -> None:
    """Nothing of a question is a path: an archive record is found by the page's number alone."""
    assert asked(answers, wire.AskArchive(page=10**9), bytes | None) is None  # type: ignore[arg-type]  # a union is a kind
