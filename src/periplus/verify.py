"""The command `verify`: database, archive, index and exchange of a crawl against each other, and their repair."""

import dataclasses
import json
import shutil
import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import Corrupt, EnvironmentFailure
from periplus.index import NodeIndex
from periplus.index.checksums import damaged_file
from periplus.index.probe import Holding, probe
from periplus.printing import say
from periplus.store.checks import Finding, check_archive, check_database, check_exchange, check_pages
from periplus.store.database import open_reader, open_writer
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.wording import counted

__all__ = ["NodeReport", "Report", "verify", "verify_crawl"]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What a node holds."""

    pages: int
    kept: int
    records: int
    indexed: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a verification; `ok`: nothing is wrong, or everything that was has been put right."""

    ok: bool
    nodes: dict[str, NodeReport]
    problems: list[Finding]


def verify_crawl(folder: CrawlFolder, *, repair: bool) -> Report:
    """Check a whole crawl. Holds its lock, so no crawl runs meanwhile (FolderInUse names who does)."""
    nodes: dict[str, NodeReport] = {}
    problems: list[Finding] = []
    with folder.locked(), ExitStack() as stack:
        databases: dict[str, sqlite3.Connection] = {}
        problems += [
            Finding(node.name, "database", "is missing; restore it from a copy", 1, str(node.database))
            for node in folder.lost_nodes()
        ]
        for node in folder.nodes():
            try:
                node.check_whole()
                db = stack.enter_context(closing(_open(node, repair=repair)))
            except Corrupt as error:
                problems.append(Finding(node.name, "database", "cannot be read; restore it from a copy", 1, str(error)))
                continue
            damaged = check_database(node, db)
            problems += damaged
            if damaged:  # nothing else can be believed, and nothing may be written
                continue
            databases[node.name] = db
            nodes[node.name], found = _check_node(node, db, repair=repair)
            problems += found
        problems += check_exchange(databases, repair=repair)
    return Report(all(problem.repaired for problem in problems), nodes, problems)


def _open(node: NodeFolder, *, repair: bool) -> sqlite3.Connection:
    return open_writer(node.database) if repair else open_reader(node.database)


def _check_node(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> tuple[NodeReport, list[Finding]]:
    found = check_pages(node, db, repair=repair)
    records, damaged = check_archive(node, db, repair=repair)
    pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
    indexed, wrong = _check_index(node, db, repair=repair)
    return NodeReport(pages, kept, records, indexed), [*found, *damaged, *wrong]


def _check_index(node: NodeFolder, db: sqlite3.Connection, *, repair: bool) -> tuple[int, list[Finding]]:
    """The index against the pages up to where it has read; with `repair` it is brought up to date or built anew."""
    holding = probe(node.index) if (node.index / "meta.json").is_file() else None
    wrong = ""
    if holding is None:
        if not _wants_index(db) and not node.index.exists():
            return 0, []
        wrong = f"{node.index}: missing or unreadable"
        holding = Holding(-1, 0, 0)
    else:
        wrong = _disagreement(holding, db)
        if not wrong and (damaged := damaged_file(node.index)):
            wrong = f"{node.index / damaged}: not as it was written"
    pages = holding.pages
    if repair:
        if wrong:
            shutil.rmtree(node.index, ignore_errors=True)
        try:
            pages = _brought_up(node, db)
        except Corrupt as error:  # what the probe did not look at, such as the texts of links
            wrong = str(error)
            shutil.rmtree(node.index, ignore_errors=True)
            pages = _brought_up(node, db)
    if not wrong:
        return pages, []
    return pages, [Finding(node.name, "index", "does not hold what was committed", 1, wrong, repaired=repair)]


def _brought_up(node: NodeFolder, db: sqlite3.Connection) -> int:
    index = NodeIndex.open(node.index)
    index.update(db)
    return index.tally()[0]


def _disagreement(holding: Holding, db: sqlite3.Connection) -> str:
    """How the index differs from the pages that it has read; what was written since may be in it as it was before."""
    kept, numbers = db.execute(
        "SELECT count(*), ifnull(sum(id), 0) FROM page WHERE kept = 1 AND revision <= ?", (holding.revision,)
    ).fetchone()
    later = db.execute("SELECT count(*) FROM page WHERE revision > ?", (holding.revision,)).fetchone()[0]
    exact = (kept, numbers) == (holding.pages, holding.sum_of_numbers)
    if exact or (later and kept <= holding.pages <= kept + later):
        return ""
    return f"{counted(holding.pages, 'page')}, the database has {kept:,} up to revision {holding.revision}"


def _wants_index(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM page WHERE kept = 1 LIMIT 1").fetchone())


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a crawl.", show_default=False)],
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Put right what can be put right.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check database, archive, index and exchange of a crawl against each other.

    Ends with 0 if all is well or was put right, with 4 if something is wrong and stays so.

    Example: periplus verify my-crawl --repair
    """
    report = verify_crawl(CrawlFolder.existing(folder), repair=repair)
    if as_json:
        say(json.dumps(dataclasses.asdict(report), ensure_ascii=False))
    else:
        _show(report)
    if not report.ok:
        left = sum(not problem.repaired for problem in report.problems)
        hint = (
            "restore what cannot be repaired from a copy" if repair else "`--repair` puts right what can be put right"
        )
        raise EnvironmentFailure(f"{folder}: {counted(left, 'kind')} of damage; {hint}")


def _show(report: Report) -> None:
    for name, node in report.nodes.items():
        say(
            f"{name}: {counted(node.pages, 'page')}, {node.kept:,} kept, {counted(node.records, 'archive record')}, "
            f"{counted(node.indexed, 'page')} in the index"
        )
    for problem in report.problems:
        state = "repaired" if problem.repaired else "wrong"
        say(f"{state}: {problem.node}, {problem.part}: {problem.what}: {problem.count:,}, e.g. {problem.example}")
    if not report.problems:
        say("All is well.")
