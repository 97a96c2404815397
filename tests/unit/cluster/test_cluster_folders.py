"""Where a node may go on: in its own folder, in an empty one if its own is lost, and nowhere else."""

from contextlib import closing
from pathlib import Path

import pytest
from sample_collection import build_collection, make_page

from periplus.cluster import NodeRecord
from periplus.errors import ConfigError, EnvironmentFailure
from periplus.rebuilding import check_alone, check_folder
from periplus.store.database import open_writer
from periplus.store.folder import CrawlFolder


def who_ran_it(state: str, generation: str = "g1") -> NodeRecord:
    return NodeRecord(
        "east", "m", 1, 5, "1", "far/1", "/crawls/far", 99, generation=generation, state=state, pages=1_200
    )


@pytest.fixture
def crawled(tmp_path: Path) -> CrawlFolder:
    """What one process has crawled."""
    return build_collection(tmp_path / "crawl", [make_page(1), make_page(2)], nodes=("east", "west"))


def join_cluster(folder: CrawlFolder, node: str, generation: str) -> None:
    with closing(open_writer(folder.node(node).database)) as db:
        db.execute("INSERT INTO meta VALUES ('generation', ?)", (generation,))


def test_one_process_and_a_cluster_do_not_go_on_with_each_other(crawled: CrawlFolder) -> None:
    check_alone(crawled)
    with pytest.raises(ConfigError, match="crawled by one process"):
        check_folder(crawled.node("east"), None, rebuild=True)
    join_cluster(crawled, "west", "g1")
    with pytest.raises(ConfigError, match=r"a cluster's west .* `periplus node west --cluster … --job .*crawl\.toml`"):
        check_alone(crawled)


def test_a_node_goes_on_with_its_last_database_only(crawled: CrawlFolder) -> None:
    join_cluster(crawled, "east", "g1")
    for state in ("running", "left", "stopped", "ended"):
        assert check_folder(crawled.node("east"), who_ran_it(state), rebuild=False) == "g1"
        with pytest.raises(EnvironmentFailure, match="left behind when node east was taken over on far"):
            check_folder(crawled.node("east"), who_ran_it(state, "g2"), rebuild=True)


@pytest.mark.parametrize("there", [False, True], ids=["nothing", "an empty database, as a loss of power may leave it"])
def test_an_empty_folder_is_for_nodes_that_are_lost(tmp_path: Path, *, there: bool) -> None:
    folder = CrawlFolder(tmp_path)
    if there:
        folder.node("east").path.mkdir(parents=True)
        folder.node("east").database.touch()
    check_alone(folder)
    assert check_folder(folder.node("east"), None, rebuild=False) == ""
    for state in ("running", "left"):
        assert check_folder(folder.node("east"), who_ran_it(state), rebuild=False) == ""
    for state in ("stopped", "ended"):
        with pytest.raises(EnvironmentFailure, match=r"1,200 pages are in /crawls/far on far: .* --rebuild"):
            check_folder(folder.node("east"), who_ran_it(state), rebuild=False)
        assert check_folder(folder.node("east"), who_ran_it(state), rebuild=True) == ""
