"""Room `running`: what a crawl tells while it runs and how it notices trouble: log, metrics, progress, disk, watchdog.

It knows nothing of pages; `crawl` hands it numbers and events.
"""

from periplus.running.causes import cause_of
from periplus.running.disk import DiskRoom
from periplus.running.journal import Journal
from periplus.running.metrics import Sample, exposition, serve_metrics
from periplus.running.pace import Pace
from periplus.running.progress import Progress, ProgressFile, Rate, errors_among, time_left, why_empty, why_silent
from periplus.running.watchdog import Watchdog

__all__ = [
    "DiskRoom",
    "Journal",
    "Pace",
    "Progress",
    "ProgressFile",
    "Rate",
    "Sample",
    "Watchdog",
    "cause_of",
    "errors_among",
    "exposition",
    "serve_metrics",
    "time_left",
    "why_empty",
    "why_silent",
]
