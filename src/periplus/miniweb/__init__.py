"""The miniature web: a synthetic web of many hosts with known truth, for the demo, the tests and benchmarks.

In the order of the work: `places` and `prose` (what pages say), `hosts` and `planning` (what there is),
`linking`, `sections` and `rendering` (HTML), `web` and `odd` (responses), `truth` (what is true), `server`, `job`.
"""

from periplus.miniweb.job import job_toml
from periplus.miniweb.odd import TRAP_PREFIXES
from periplus.miniweb.response import Response
from periplus.miniweb.server import LogEntry, MiniwebServer, serve
from periplus.miniweb.web import Miniweb, generate

__all__ = [
    "TRAP_PREFIXES",
    "LogEntry",
    "Miniweb",
    "MiniwebServer",
    "Response",
    "generate",
    "job_toml",
    "serve",
]
