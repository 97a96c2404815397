"""Sheets are used again: what another text left on them, or the memory that they are made of, means nothing."""

from pathlib import Path

from place_texts import texts
from plain_python import run, uncompiled

from periplus.places import Gazetteer

PROGRAM = """
import json, sys
import numpy as np
from periplus.places import locate, open_gazetteer, recognise, scan

KEPT = {"text", "word_level", "area_at", "group_at"}  # of the text itself, or cleared by whoever has written there
describe = recognise.describe
gazetteer = open_gazetteer()


def over(left):
    def on_a_used_sheet(sheet, tables, text):
        for name, value in vars(sheet).items():
            if isinstance(value, memoryview) and name not in KEPT:
                np.frombuffer(value, dtype=np.uint8).fill(left)
        return describe(sheet, tables, text)

    return on_a_used_sheet


def found(text, language, left):
    recognise.describe = over(left)
    return repr(locate(text, gazetteer, language=language))


print(scan.__file__)
given = [(text, language) for text in json.load(sys.stdin) for language in ("", "en", "fi", "de")]
print(json.dumps([[found(text, language, left) for left in (0x00, 0x55, 0xFF)] for text, language in given]))
"""

PEOPLE = [
    f"{name} and his wife were there to see it all again that day."
    for name in ("Bush", "Linden", "Clinton", "Jackson", "Houston", "Lincoln", "Marina del Rey", "Berlin")
]


def test_a_text_means_the_same_on_every_sheet(gazetteer: Gazetteer, tmp_path: Path) -> None:
    """As plain Python, where reading beyond a table is an error: compiled it read whatever lay there, or died of it."""
    where, answers = run(PROGRAM, uncompiled(tmp_path), [*PEOPLE, *texts(gazetteer)])
    assert where.endswith(".py")
    assert all(zeros == halves == ones for zeros, halves, ones in answers)
    assert any("Mention(" in answer[0] for answer in answers)
