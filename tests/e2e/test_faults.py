"""A crawl that is killed, or runs out of disk, at any change of its files loses nothing and repeats nothing.

The whole enumeration is `make kill-all`; here is a sample of it. The judge is the server's own log.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SUPPORT = Path(__file__).resolve().parents[1] / "support"


def fault_runs(*arguments: str, program: str = "fault_runs.py") -> dict[str, Any]:
    command = [sys.executable, str(SUPPORT / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.stdout.strip(), done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert result["wrong"] == [], (result["wrong"][:10], done.stderr[-2000:])
    return result


@pytest.mark.needs("gcc")
def test_killed_at_two_hundred_changes_it_ends_as_if_nothing_had_happened() -> None:
    result = fault_runs("kill", "--pages", "40", "--chains", "3", "--deaths", "70", "--within", "100")
    assert result["points"] >= 200


@pytest.mark.needs("gcc")
def test_without_room_at_a_write_it_waits_and_goes_on() -> None:
    result = fault_runs("full", "--pages", "12", "--points", "20")
    assert result["points"] == 20


@pytest.mark.needs("gcc")
def test_an_error_of_the_disk_ends_it_with_one_line_and_loses_nothing() -> None:
    """EIO at a write: the crawl ends with code 4 or goes on, and when it is started again nothing is missing."""
    result = fault_runs("full", "--pages", "8", "--points", "7", "--error", "EIO")
    assert result["points"] == 7


@pytest.mark.needs("gcc")
def test_K5_a_file_system_that_becomes_read_only_ends_it_with_one_line_and_loses_nothing() -> None:
    """EROFS from a change on, for files and names: code 4, and when it can be written to again nothing is missing."""
    arguments = ("--pages", "8", "--points", "4", "--error", "EROFS", "--count", "1000000000")
    command = [sys.executable, str(SUPPORT / "fault_runs.py"), "full", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[-1]["wrong"] == [], done.stderr[-2000:]
    ended = sum("gave_up" in line for line in told)  # with code 4, to be resumed; the last may come behind all changes
    assert ended >= told[-1]["points"] - 1 == 3
    lines = done.stderr.splitlines()
    assert len(lines) == ended, lines
    assert all("the file system is read-only" in line for line in lines), lines


@pytest.mark.needs("gcc")
def test_K10_the_power_fails_and_any_part_of_what_was_not_synced_is_gone() -> None:
    """With durability "full" whatever was asked for is still known and nothing needs a repair."""
    result = fault_runs(*("power", "--pages", "8", "--losses", "8", "--durability", "full"), program="kill_points.py")
    assert result["losses"] == 8
    assert (result["forgotten_at_most"], result["lost_at_most"], result["repaired"]) == (0, 0, 0)


@pytest.mark.needs("gcc")
def test_K10_with_durability_normal_the_power_costs_the_last_commits_and_nothing_breaks() -> None:
    """Every folder opens, at most after a repair, is verified and brought to its end; what it kept is not wrong."""
    result = fault_runs(*("power", "--pages", "8", "--losses", "6", "--durability", "normal"), program="kill_points.py")
    assert result["losses"] == 6


@pytest.mark.needs("gcc")
def test_K1_K2_E2_killed_at_every_change_of_a_small_crawl() -> None:
    """Every write, truncation, renaming and removal of two nodes; a 500-page crawl is `make kill-all`."""
    result = fault_runs("deaths", "--pages", "2", program="kill_points.py")
    assert result["changes of its files"] > 200
    assert result["different states, each brought to its end by a crawl"] >= 4


@pytest.mark.needs("gcc")
def test_K3_every_start_from_one_state_ends_the_same() -> None:
    result = fault_runs("copies", "--pages", "12", "--chains", "20")
    assert result["crawls"] == 20


@pytest.mark.needs("gcc")
def test_a_crawl_ends_if_and_only_if_nothing_is_left() -> None:
    """Whatever fails: queue and outbox are empty at the end, and every lease has ended in one outcome (K12)."""
    result = fault_runs("chaos", "--pages", "40", "--chains", "4")
    assert result["crawls"] == 4
