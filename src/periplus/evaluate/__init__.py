"""Room `evaluate`: the measures of the papers over a crawl. After `web`, before `miniweb`.

`measures` and `graph` are pure; `crawl` reads them from a crawl's databases; `commands` prints them.
"""

from periplus.evaluate.crawl import evaluate_crawl
from periplus.evaluate.graph import LinkGraph
from periplus.evaluate.measures import Locality

__all__ = ["LinkGraph", "Locality", "evaluate_crawl"]
