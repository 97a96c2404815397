"""Words are counted the same compiled and as plain Python, also when there are more than the table begins with."""

import random
from pathlib import Path

import pytest
from plain_python import SOURCE, run, uncompiled

PROGRAM = """
import json, sys
from periplus.topics import tally
from periplus.topics.words import content_stems
texts = json.load(sys.stdin)
table = tally.ChunkTable()
cut = [tally.cut(table, text, [(3, 5)] if len(text) > 9 else []) for text in texts]
print(tally.__file__)
print(json.dumps([*(content_stems(text, "en") for text in texts), *(one.count for one in cut), table.chunks]))
"""


@pytest.mark.needs("gcc")
@pytest.mark.needs("python headers")
def test_compiled_and_plain_python_count_the_same_words(tmp_path: Path) -> None:
    chance = random.Random(7)
    letters, blanks = "abcdeé\u4e2d0'-\U0001d11e", [" ", "\n", "\u00a0", "\u3000", "  "]
    words = ["".join(chance.choices(letters, k=chance.randrange(1, 50))) for _ in range(6_000)]
    given = ["".join(chance.choice(words) + chance.choice(blanks) for _ in range(k)) for k in (0, 1, 300, 9_000, 9_000)]
    where, plain = run(PROGRAM, uncompiled(tmp_path), given)
    assert where.endswith(".py")
    where, compiled = run(PROGRAM, SOURCE.parent, given)
    assert not where.endswith(".py")
    assert compiled == plain
