"""What the processes of a command cost: processor time and memory of all of them, while they live.

The workers of a crawl are children of its children and nobody waits for them, so the system adds up nothing itself.
"""

import os
import threading
from pathlib import Path

__all__ = ["Watch"]


class Watch:
    """Memory (proportional set size) and processor time of a process and all its children, looked at again and again.

    Memory takes the kernel milliseconds to add up: `with_memory=False` leaves it out.
    """

    def __init__(self, pid: int, *, pause_seconds: float = 0.5, with_memory: bool = True) -> None:
        self._pid = pid
        self._pause_seconds, self._with_memory = pause_seconds, with_memory
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._spent: dict[int, float] = {}
        self.kilobytes: list[int] = []
        self._thread.start()

    def close(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """What all of them have spent, up to the last look."""
        return sum(self._spent.values())

    def _watch(self) -> None:
        while not self._over.wait(self._pause_seconds):
            family = _family(self._pid)
            if self._with_memory:
                self.kilobytes.append(sum(_pss(pid) for pid in family))
            self._spent.update((pid, spent) for pid in family if (spent := _cpu_seconds(pid)))


def _family(pid: int) -> list[int]:
    found, queue = [], [pid]
    while queue:
        found.append(queue.pop())
        for task in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            try:
                queue.extend(int(child) for child in task.read_text().split())
            except OSError:
                continue
    return found


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
