"""Pages like a page, after many pages were written anew."""

from pathlib import Path

from sample_collection import add_pages, build_collection, make_page

from periplus.search import Collection


def test_pages_that_were_replaced_do_not_break_likeness(tmp_path: Path) -> None:
    """tantivy counts deleted documents in a word's frequency, and panicked at a word in more pages than there are."""
    crawl = build_collection(tmp_path / "crawl", [make_page(number) for number in range(40)], nodes=("main",))
    with Collection.open([crawl.path]) as collection:
        for turn in range(3):
            again = [make_page(number, title=f"Story of turn {turn}") for number in range(8)]
            add_pages(crawl.node("main").database, again)
            collection.refresh()
        hit = collection.search("story").hits[0]
        view = collection.page(hit.node, hit.page)
        assert view is not None
        assert view["title"] == hit.title
