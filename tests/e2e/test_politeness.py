"""Politeness with the server's own log as the judge, also across kill -9 and restart."""

import contextlib
import itertools
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from command_line import miniweb, periplus, start

DELAY = 0.4
SLACK = 0.995  # the server's clock ticks when it reads a request, ours when the answer before it was complete


def gaps_by_host(requests: list[dict[str, Any]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for row in requests:
        times[row["host"]].append(row["time"])
    return {host: [b - a for a, b in itertools.pairwise(at)] for host, at in times.items()}


def test_one_request_at_a_time_and_never_too_early_even_after_a_kill(tmp_path: Path) -> None:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 300, "--slow", 0.1) as web:
        text = web.job.read_text("utf-8").replace("delay_seconds = 0.0", f"delay_seconds = {DELAY}")
        web.job.write_text(text, "utf-8")
        folder = tmp_path / "crawl"
        first = start("crawl", web.job, "--out", folder, "--pages", 250, "--json")
        while len(web.requests()) < 60:
            assert first.poll() is None, "it ended before it could be killed"
            with contextlib.suppress(subprocess.TimeoutExpired):
                first.wait(timeout=0.05)
        first.kill()
        first.communicate()
        killed_after = len(web.requests())
        done = periplus("crawl", web.job, "--out", folder, "--pages", 250, "--json")
        assert done.code == 3, done.err
        requests = web.requests()
    assert 0 < killed_after < len(requests), "it was killed in the middle"
    assert max(row["in_flight"] for row in requests) == 1, "never two requests to a host at once"
    gaps = gaps_by_host(requests)
    assert sum(len(values) for values in gaps.values()) > 100
    early = [(host, gap) for host, values in gaps.items() for gap in values if gap < SLACK * DELAY]
    assert not early, early[:5]
