"""Simulated crawls against what can be worked out by hand."""

import json
from collections.abc import Sequence

import numpy as np
import pytest
from command_line import periplus

from periplus.evaluate.simulation import Machine, simulate
from periplus.evaluate.webgraph import Shape, WebGraph, balanced, made_up, owners_by

INSTANT = Machine(delay=0.0, page_seconds=0.0, commit_seconds=0.0)


def web_of(
    links: Sequence[Sequence[int]],
    hosts: Sequence[int],
    *,
    latency: float = 1.0,
    labels: Sequence[int] = (),
    seeds: int = 1,
) -> WebGraph:
    size = len(hosts)
    return WebGraph(
        np.cumsum([0, *(len(row) for row in links)]),
        np.array([target for row in links for target in row], np.int32),
        np.array(hosts, np.int32),
        np.array(labels or [-1] * size, np.int32),
        np.ones(size, dtype=bool),
        np.arange(size, dtype=np.uint64),
        np.arange(max(hosts) + 1, dtype=np.uint64),
        np.full(max(hosts) + 1, latency),
        np.arange(seeds),
    )


def test_a_host_answers_one_request_at_a_time_and_rests() -> None:
    web = web_of([[1, 2], [0], [0, 2]], [0, 0, 0])
    done = simulate(web, owners_by(web, "hash", 1), Machine(delay=2.0, page_seconds=0.0, commit_seconds=0.0), nodes=1)
    # robots.txt 0..1, then pages at 3..4, 6..7 and 9..10
    assert (done["pages"], done["seconds"], done["queued"], done["sent"]) == (3, 10.0, 0, 0)


def test_hosts_answer_at_the_same_time_as_far_as_there_are_connections() -> None:
    web = web_of([[]] * 4, [0, 1, 2, 3], seeds=4)
    owners = owners_by(web, "hash", 1)
    assert simulate(web, owners, INSTANT, nodes=1)["seconds"] == 2.0
    narrow = Machine(delay=0.0, connections=2, page_seconds=0.0, commit_seconds=0.0)
    assert simulate(web, owners, narrow, nodes=1)["seconds"] == 4.0


def test_workers_are_a_bound_of_their_own() -> None:
    web = web_of([[]] * 4, [0, 1, 2, 3], seeds=4)
    busy = Machine(delay=0.0, workers=2, page_seconds=5.0, commit_seconds=0.0)
    assert simulate(web, owners_by(web, "hash", 1), busy, nodes=1)["seconds"] == 12.0
    assert simulate(web, owners_by(web, "hash", 4), busy, nodes=4, machines=2)["seconds"] == 7.0


def test_links_to_another_nodes_page_are_sent_once() -> None:
    web = web_of([[1, 2, 3], [0, 2], [1], [1, 1, 3]], [0, 1, 2, 3])
    done = simulate(web, owners_by(web, "hash", 2), INSTANT, nodes=2)
    assert done["sent"] == 2  # from page 0 to 1 and 3; 2 is of the same node
    assert [node["pages"] for node in done["nodes"]] == [2, 2]
    assert done["balance_gini"] == 0.0


def test_what_cannot_be_reached_is_not_crawled_and_a_limit_holds() -> None:
    web = web_of([[0], [2], []], [0, 1, 2])
    assert simulate(web, owners_by(web, "hash", 1), INSTANT, nodes=1)["pages"] == 1
    many = web_of([[1, 2], [], []], [0, 1, 2])
    assert simulate(many, owners_by(many, "hash", 1), INSTANT, nodes=1, pages=2)["pages"] == 2


def test_places_are_spread_evenly_and_the_rest_is_general() -> None:
    assert balanced(np.array([5, 4, 3, 2]), 2).tolist() == [0, 1, 1, 0]
    web = web_of([[]] * 4, [0, 1, 2, 3], labels=[0, 1, -1, 0])
    assert owners_by(web, "place", 3).tolist() == [0, 1, 2, 0]
    assert owners_by(web, "place", 1).tolist() == [0, 0, 0, 0]


def test_a_made_up_web_has_its_shape_and_is_the_same_twice() -> None:
    shape = Shape(2_000, 40_000, 50, seeds=5)
    web, again = made_up(shape), made_up(shape)
    assert web.size >= 2_000
    assert len(web.targets) == web.size * 20
    assert np.array_equal(web.targets, again.targets)
    assert web.targets.max() < web.size
    inside = np.mean(web.host[web.targets] == np.repeat(web.host, 20))
    assert 0.55 < inside < 0.8
    label = np.repeat(web.label, 20)
    placed = (label >= 0) & (web.host[web.targets] != np.repeat(web.host, 20))
    assert np.mean(web.label[web.targets][placed] == label[placed]) > 0.2


def test_the_command_prints_a_table_or_json_and_refuses_nonsense() -> None:
    options = ("simulate", "--web-pages", 500, "--web-hosts", 20, "--nodes", "1,3", "--strategy", "place")
    done = periplus(*options, "--json")
    assert done.code == 0, done.err
    assert set(json.loads(done.out)["nodes"]) == {"1", "3"}
    assert done.json["nodes"]["1"]["sent"] == 0 < done.json["nodes"]["3"]["sent"]
    assert "pages/s" in periplus(*options).out
    for wrong, said in (
        ("--nodes=x", "whole numbers"),
        ("--nodes=0", "from 1 to"),
        ("--strategy=magic", "choose hash"),
    ):
        refused = periplus("simulate", wrong)
        assert refused.code == 2
        assert said in refused.err


def test_a_folder_that_is_no_crawl_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    refused = periplus("simulate", tmp_path_factory.mktemp("none"))
    assert refused.code == 2
    assert "not a crawl" in refused.err
