"""House rules that a reader would miss slowly and a test notices at once."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "periplus"
MODULES = sorted(SOURCE.rglob("*.py"))
SUPERVISORS = {"pages/workers.py", "cli.py"}
"""Where `except Exception` is the purpose: the guard of hostile pages, and the end of every command."""

NAMES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "core", "misc", "manager"}


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 600, "split it"
    assert not NAMES_THAT_SAY_NOTHING & set(path.relative_to(SOURCE).with_suffix("").parts)
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module says which room and stage it is"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_dangerous_and_nothing_swallowed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            assert not {"pickle", "marshal", "shelve", "dill"} & set(names)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "yaml.load", "os.system", "os.popen"), called
            assert not any(keyword.arg == "shell" for keyword in node.keywords), "no shell"
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            if str(path.relative_to(SOURCE)) not in SUPERVISORS:
                assert caught not in ("Exception", "everything"), f"line {node.lineno} catches {caught}"


@pytest.mark.parametrize("name", ["requirements.lock", "fuzz.lock"])
def test_the_lock_is_exact_and_names_no_registry(name: str) -> None:
    lock = (ROOT / name).read_text("utf-8")
    assert "://" not in lock
    requirements = re.findall(r"^([A-Za-z0-9_.-]+)(.*?)(?:\\)?$", lock, re.MULTILINE)
    assert requirements
    assert all(rest.lstrip().startswith("==") for _, rest in requirements)
    assert lock.count("--hash=sha256:") > len(requirements)


def test_every_dependency_has_a_floor_and_is_locked() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text("utf-8").lower()
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    for requirement in [*project["dependencies"], *extras]:
        name, floor = re.fullmatch(r"([\w.-]+)(>=[\w.]+)?(?:\s*;.*)?", requirement).groups()  # type: ignore[union-attr]
        assert floor, f"{name} has no floor"
        assert re.search(rf"^{re.escape(name.lower())}==", lock, re.MULTILINE), f"{name} is not in the lock: make lock"


def test_every_import_is_a_declared_dependency() -> None:
    import sys
    import tomllib
    from importlib.metadata import packages_distributions

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [text for extra, texts in project["optional-dependencies"].items() if extra != "dev" for text in texts]
    declared = {re.split(r"[>=;\s]", text)[0].lower().replace("_", "-") for text in [*project["dependencies"], *extras]}
    owners = packages_distributions()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for module in {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"periplus"}:
                distributions = {name.lower().replace("_", "-") for name in owners.get(module, [module])}
                assert distributions & declared, f"{path.relative_to(ROOT)} imports {module}, which is not declared"


def test_files_name_no_registry_and_no_machine() -> None:
    hosts = re.compile(r"pypi\.org|registry\.npmjs\.org|files\.pythonhosted|deb\.debian\.org|/root/|/work/|/home/\w+/")
    for path in tracked_files():
        if path.name == Path(__file__).name or path.suffix in (".png", ".ico", ".woff2"):
            continue
        found = hosts.search(path.read_text("utf-8", "replace"))
        assert not found, f"{path.relative_to(ROOT)} says {found[0] if found else ''}"
