"""Every case of docs/reliability.md names tests, and the tests exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text("utf-8")
CASES = {"R": 12, "P": 9, "S": 10, "H": 12, "U": 9, "C": 6, "X": 9, "K": 12, "E": 9, "Z": 5}
ROWS = dict(re.findall(r"^\| ([A-Z]\d+) \| [^|]+ \| (.+) \|$", PAGE, re.MULTILINE))
NAMED = re.compile(r"`(\w+)::(\w+)`")


def functions_of(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


FILES = {path.stem.removeprefix("test_"): functions_of(path) for path in (ROOT / "tests").rglob("test_*.py")}


def test_no_case_is_left_out() -> None:
    wanted = {f"{letter}{number}" for letter, count in CASES.items() for number in range(1, count + 1)}
    assert set(ROWS) == wanted


@pytest.mark.parametrize("case", ROWS)
def test_every_case_names_tests_that_exist(case: str) -> None:
    named = NAMED.findall(ROWS[case])
    assert named, "no test holds this case"
    for file, test in named:
        assert f"test_{test}" in FILES.get(file, set()), f"{case}: there is no test {file}::{test}"


def test_tests_that_name_a_case_are_in_its_row() -> None:
    for file, tests in FILES.items():
        for test in tests:
            for case in re.findall(r"(?:^test_|_)([A-Z]\d+)(?=_)", test):
                assert f"`{file}::{test.removeprefix('test_')}`" in ROWS[case], f"{case} does not name {file}::{test}"


def test_every_promise_names_tests_that_exist() -> None:
    promises = re.findall(r"^\| (P\d) [^|]*\|.*\| (.+) \|$", SECURITY, re.MULTILINE)
    assert [number for number, _ in promises] == [f"P{number}" for number in range(1, 10)]
    for number, held in promises:
        named = NAMED.findall(held)
        assert named, f"{number} names no test"
        for file, test in named:
            assert f"test_{test}" in FILES.get(file, set()), f"{number}: there is no test {file}::{test}"
