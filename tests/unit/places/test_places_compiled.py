"""The inner loops give the same results compiled and as plain Python; compiled ones belong to these sources."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from place_texts import texts
from plain_python import SOURCE, run, uncompiled

from periplus.places import Gazetteer

COMPILED = SOURCE / "compiled.txt"

PROGRAM = """
import json, sys
from periplus.places import locate, open_gazetteer, scan
from periplus.topics.keywords import count_keywords
from periplus.topics.reading import read_document
from periplus.topics import LinkScorer, judge, make_topic
from periplus.urls import MarkCounter, MarkSet, fingerprint, outline
from periplus.model import Link, Links, Page, RoutedLink
from periplus.settings import NodeSettings, TopicSettings
from periplus.strategies import Ownership, STRATEGIES
gazetteer = open_gazetteer()
texts = json.load(sys.stdin)
print(scan.__file__)
found = [locate(text, gazetteer, url="http://example.de/") for text in texts]
read = [read_document(text, one, language="en") for text, one in zip(texts, found)]
counted = [count_keywords(text, ("flood", "mayor", "river", "東京"), "en") for text in texts]
urls = [f"http://a1.org/x{n % 9}/{n}/y?b={n}&a" + text[:n % 60].replace(" ", "/") for n, text in enumerate(texts * 40)]
marks, outlines = MarkCounter(), [outline(url) for url in urls]
counted += [(one, [marks.add(mark) for mark in one], len(marks)) for one in outlines]
owners = {"all": NodeSettings(places=["all of TX", "Boston, MA", "Portland, OR", "Athens, GA"]), "g": NodeSettings()}
ownership = Ownership.of(owners, gazetteer)
wanted = TopicSettings(keywords={"flood": 1.0, "new river": 0.5}, places={"Texas": 1.0})
topic = make_topic(wanted, "t", gazetteer)
strategies = [STRATEGIES[name](ownership, gazetteer) for name in ("url", "anchor", "content", "blend")]
for text, one in zip(texts, found):
    links = tuple(Link(f"http://x.org/{text[n:n + 30]}", "", start=n, end=n + 9) for n in range(0, len(text) + 9, 40))
    page = Page("http://x.org/", "", text, links)
    counted += [strategy.route(links, page, one) for strategy in strategies]
    spans = [(n, n + 25, max(0, n - 90), min(len(text), n + 99)) for n in range(0, len(text), 30)]
    near = [Link(f"http://texas.org/{text[s:s + 20]}", text[s:e], "", "", s, e, low, high) for s, e, low, high in spans]
    near += [Link("http://a.org/boston", "Boston flood", "in", "x")]
    scorer = LinkScorer(page, one, judge(page, one, topic), topic)
    counted += [scorer.score(near), scorer.features(near)]
known = MarkSet()
known.update(map(fingerprint, urls[::3]))
counted.append(known.missing(Links.of([RoutedLink(url, "", fingerprint(url), "") for url in urls]).keys))
print(json.dumps([repr(one) for one in (*found, *read, *counted)]))
"""


@pytest.mark.needs("gcc")
@pytest.mark.needs("python headers")
def test_the_loops_are_compiled_where_they_can_be() -> None:
    assert COMPILED.exists(), "there is a C compiler, but nothing is compiled: run `make setup`"


@pytest.mark.needs("gcc")
@pytest.mark.needs("python headers")
def test_compiled_and_plain_python_agree(gazetteer: Gazetteer, tmp_path: Path) -> None:
    given = texts(gazetteer)
    where, plain = run(PROGRAM, uncompiled(tmp_path), given)
    assert where.endswith(".py")
    where, compiled = run(PROGRAM, SOURCE.parent, given)
    assert not where.endswith(".py")
    assert compiled == plain
    assert any("Mention(" in one for one in plain)


POISONED = """
import json, sys
from periplus.places import locate, open_gazetteer, scan, sheet
room = sheet._room
def poisoned(size, kind):
    one = room(1, kind)
    return memoryview(bytearray(b"\\x7f" * (size * one.itemsize))).cast(one.format)
sheet._room = poisoned
gazetteer = open_gazetteer()
print(scan.__file__)
print(json.dumps([repr(locate(text, gazetteer, url="http://example.de/")) for text in json.load(sys.stdin)]))
"""


def test_nothing_is_read_that_was_not_written(gazetteer: Gazetteer, tmp_path: Path) -> None:
    """Sheets are not cleared. Numbers that some other text or program left there led past the end of a table, which
    ends compiled code by a segmentation fault, and plain Python by an error."""
    people = ["Clinton and the others spoke.", "Bush and many more.", "Petersen and Bush, as Obama and his men did."]
    given = [*people, *texts(gazetteer)]
    folder = uncompiled(tmp_path)
    _, poisoned = run(POISONED, folder, given)
    _, clean = run(POISONED.replace("sheet._room =", "unused ="), folder, given)
    assert poisoned == clean


@pytest.mark.needs("gcc")
@pytest.mark.needs("python headers")
def test_what_is_compiled_is_what_is_written() -> None:
    script = SOURCE.parent.parent / "scripts" / "compile_kernel.py"
    told = subprocess.run(
        [sys.executable, "-c", f"import json, runpy; print(json.dumps(runpy.run_path({str(script)!r})['digests']()))"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    stamped = dict(line.split(" ") for line in COMPILED.read_text(encoding="utf-8").splitlines())
    assert stamped == json.loads(told), "run `make setup`: the sources changed since they were compiled"
