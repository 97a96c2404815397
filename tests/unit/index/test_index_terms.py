"""Texts written as terms: what is remembered of earlier texts changes nothing, compiled or not."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_python import plain

from periplus.index import terms
from periplus.index.terms import TermWriter, may_be_unspaced

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


PLAIN = plain("index/terms.py")


def analyse(chunk: str) -> list[str]:
    """Two terms of a chunk, longer than it is; none of one that begins with x."""
    return [] if chunk.startswith("x") else [f"<{chunk.lower()}>", "é"]


def expected(text: str) -> str:
    return "".join(f"{term} " for chunk in text.split() for term in analyse(chunk))


@given(st.lists(WORDS, max_size=8))
def test_a_text_becomes_the_terms_of_its_chunks(texts: list[str]) -> None:
    writers = (TermWriter(analyse), PLAIN.TermWriter(analyse))
    for text in [*texts, *texts]:
        for writer in writers:
            assert writer.write(text) == expected(text)


@given(WORDS)
def test_scripts_without_spaces_are_not_missed(text: str) -> None:
    assert may_be_unspaced(text) is PLAIN.may_be_unspaced(text)
    assert may_be_unspaced(f"{text}東")
    assert may_be_unspaced(f"{text}ไ")
    assert not may_be_unspaced("Zürich, Łódź, Москва")


@pytest.mark.parametrize("module", [terms, PLAIN])
def test_more_words_than_are_remembered(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    if module is PLAIN:
        monkeypatch.setattr(module, "_MOST", 5_000)
    writer = module.TermWriter(analyse)
    text = " ".join(f"word{number}" for number in range(12_000 if module is PLAIN else 120_000))
    for _ in range(2):
        assert writer.write(text) == expected(text)
    assert writer.write("one word1 two") == expected("one word1 two")
