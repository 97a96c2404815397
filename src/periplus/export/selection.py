"""The pages that answer a question, as far as paging reaches."""

from dataclasses import replace

from periplus.search import Collection, Hit, SearchRequest
from periplus.search.request import LARGEST_PAGE, MOST_RESULTS

__all__ = ["chosen_pages"]


def chosen_pages(collection: Collection, request: SearchRequest) -> list[Hit]:
    """All hits of a question, without those that are only near the place asked for.

    A batch that is not full is not the last for that: what says the same as another is left out of it.
    """
    found: list[Hit] = []
    for offset in range(0, MOST_RESULTS, LARGEST_PAGE):
        result = collection.search(replace(request, limit=LARGEST_PAGE, offset=offset))
        hits = [hit for hit in result.hits if hit.relation != "near"]
        found += hits
        if not hits or offset + LARGEST_PAGE >= result.total:
            break
    return found
