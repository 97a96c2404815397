"""Delegation on tables small enough to work out by hand."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from periplus.network import BruteForce, Geographic, Hierarchy, Host, Learning, Probing, Random, Split, replay
from periplus.network.delegation import Asking, decide
from periplus.network.matrix import kilometres

PARIS = Host("paris", 48.86, 2.35, "France", "Paris")
TOKYO = Host("tokyo", 35.68, 139.77, "Japan", "Tokyo")


def table(sites: list[Host], crawlers: list[Host], ms: list[list[float]]) -> Split:
    return Split(tuple(sites), tuple(crawlers), np.array(ms, dtype=float), 0)


def world(count: int, seed: int) -> Split:
    """Hosts all over the globe whose round trips follow the distance, with detours of their own."""
    random = np.random.default_rng(seed)
    points = zip(np.degrees(np.arcsin(random.uniform(-0.6, 0.9, count))), random.uniform(-180, 180, count), strict=True)
    hosts = tuple(Host(str(i), lat, lon) for i, (lat, lon) in enumerate(points))
    crawlers, sites = hosts[:8], hosts[8:]
    km = kilometres(sites, crawlers)
    return Split(sites, crawlers, 2 + km * 0.018 * random.lognormal(0, 0.15, km.shape), 0)


def test_brute_force_is_always_right_and_asks_everybody() -> None:
    done = replay(table([PARIS, TOKYO], [PARIS, TOKYO], [[1, 200], [220, 3]]), 0, BruteForce()).as_dict()
    assert done["optimal"] == 2
    assert done["probes"] == done["brute_force_probes"] == 4
    assert done["mean_excess_ms"] == 0
    assert done["mean_ms"] == 2


def test_figures_by_hand() -> None:
    """Nearest on the map, the excesses are 0, 4 and 40 ms; the second is near-optimal because it is within 5 ms."""
    ms: list[list[float]] = [[10, 100], [14, 10], [50, 10]]
    done = replay(table([PARIS] * 3, [PARIS, TOKYO], ms), 0, Geographic([PARIS, TOKYO]))
    assert (done.optimal, done.near_optimal, done.probes) == (1, 2, 0)
    assert done.mean_excess_ms == pytest.approx(44 / 3)
    assert done.p95_excess_ms == pytest.approx(4 + 0.9 * 36)


def test_near_optimal_is_also_within_a_tenth() -> None:
    split = table([PARIS, PARIS], [PARIS, TOKYO], [[110, 100], [111, 100]])
    assert replay(split, 0, Geographic(split.crawlers)).near_optimal == 1


def test_the_warm_up_is_not_measured() -> None:
    split = table([PARIS, PARIS, PARIS], [PARIS, TOKYO], [[50, 10], [5, 10], [5, 10]])
    done = replay(split, 1, BruteForce())
    assert (done.sites, done.probes, done.warmup_sites, done.warmup_probes) == (2, 4, 1, 2)
    assert replay(split, 1, Geographic(split.crawlers)).optimal == 2


def test_geographic_is_nearest_across_the_date_line() -> None:
    fiji, samoa = Host("fiji", -18.0, 178.0), Host("samoa", -13.8, -171.8)
    split = table([fiji], [Host("brisbane", -27.5, 153.0), samoa], [[40, 20]])
    assert decide(Geographic(split.crawlers).delegate(fiji, [0, 1]), split.ms[0], {}) == 1


def test_crawlers_that_do_not_reach_a_site_are_never_chosen() -> None:
    split = table([PARIS] * 4, [PARIS, TOKYO], [[math.nan, 200]] * 4)
    for method in (
        BruteForce(),
        Random(1),
        Geographic(split.crawlers),
        Hierarchy.over(split),
        Learning(split.crawlers),
    ):
        assert replay(split, 0, method).optimal == 4


def test_random_repeats_with_its_seed_and_uses_all_crawlers() -> None:
    split = table([PARIS] * 40, [PARIS, TOKYO], [[10, 200]] * 40)
    first, again = replay(split, 0, Random(3)), replay(split, 0, Random(3))
    assert first == again
    assert 5 < first.optimal < 35
    assert first.probes == 0


def test_asking_twice_costs_once() -> None:
    probing = Probing((0, 1, 2))

    def asking() -> Asking:
        for crawler, ms in ((0, 7.0), (0, 7.0), (1, 3.0), (2, math.inf), (2, math.inf)):
            assert (yield from probing.ask(crawler)) == ms
        return probing.fastest()

    deciding, said = asking(), iter([7.0, 3.0, None])
    assert [next(deciding), deciding.send(next(said)), deciding.send(next(said))] == [0, 1, 2]
    with pytest.raises(StopIteration) as end:
        deciding.send(next(said))
    assert end.value.value == 1
    assert probing.asked == 3


def test_hierarchy_a_crawlers_own_city_costs_nothing() -> None:
    split = table([Host("site", 48.9, 2.3, "France", "Paris")], [TOKYO, PARIS], [[250, 2]])
    done = replay(split, 0, Hierarchy.over(split))
    assert (done.optimal, done.probes) == (1, 0)


def test_hierarchy_same_organisation_of_one_crawler_costs_nothing() -> None:
    crawlers = [Host("a", country="FR", subnet="192.0.2.0/26", org="X"), Host("b", country="JP", subnet="n2", org="Y")]
    split = table([Host("s", country="JP", subnet="198.51.100.0/24", org="X")], crawlers, [[80, 90]])
    done = replay(split, 0, Hierarchy.over(split))
    assert (done.optimal, done.probes) == (1, 0)


def test_hierarchy_same_organisation_of_several_probes_until_one_is_under_the_threshold() -> None:
    crawlers = [Host(name, subnet=name, org="X") for name in "abc"]
    under = table([Host("s", subnet="s", org="X")], crawlers, [[60, 40, 10]])
    done = replay(under, 0, Hierarchy.over(under, 50))
    assert (done.mean_ms, done.probes) == (40, 2)
    over = table([Host("s", subnet="s", org="X")], crawlers, [[80, 60, 70]])
    done = replay(over, 0, Hierarchy.over(over, 50))
    assert (done.mean_ms, done.probes) == (60, 3)


def test_hierarchy_climbs_from_country_to_continent_to_world() -> None:
    crawlers = [Host("jp", country="JP", city="Tokyo"), Host("de", country="DE", city="Berlin"), PARIS]
    lyon = Host("lyon", country="France", city="Lyon")
    near = table([lyon], crawlers, [[240, 30, 8]])
    assert replay(near, 0, Hierarchy.over(near, 50)).probes == 1  # Paris, of the same country, will do
    wider = table([lyon], crawlers, [[240, 30, 80]])
    done = replay(wider, 0, Hierarchy.over(wider, 50))
    assert (done.mean_ms, done.probes) == (30, 2)  # then Berlin, of the same continent
    nobody = table([lyon], crawlers, [[240, 70, 80]])
    done = replay(nobody, 0, Hierarchy.over(nobody, 50))
    assert (done.mean_ms, done.probes) == (70, 3)  # all asked: the lowest


def test_hierarchy_remembers_the_subnet_not_the_site() -> None:
    crawlers = [Host("a", subnet="a"), Host("b", subnet="b")]
    split = table([Host("s1", subnet="n"), Host("s2", subnet="n"), Host("s3", subnet="m")], crawlers, [[90, 20]] * 3)
    done = replay(split, 0, Hierarchy.over(split, 50))
    assert done.optimal == 3
    assert done.probes == 2 + 0 + 1  # b has two subnets by now, so it is asked first


def test_learning_beats_the_map_with_few_probes_and_repeats_itself() -> None:
    split = world(108, 5)
    learnt, again = replay(split, 50, Learning(split.crawlers)), replay(split, 50, Learning(split.crawlers))
    geographic = replay(split, 50, Geographic(split.crawlers))
    assert learnt == again
    assert learnt.probes < 2 * learnt.sites
    assert learnt.optimal > geographic.optimal
    assert learnt.optimal >= 0.85 * learnt.sites


def test_learning_spends_more_where_more_certainty_is_wanted() -> None:
    split = world(68, 6)
    unsure, sure, certain = (replay(split, 20, Learning(split.crawlers, c)) for c in (0.5, 0.9, 1.0))
    assert unsure.probes < sure.probes < certain.probes
    assert unsure.optimal <= sure.optimal <= certain.optimal


def test_learning_keeps_to_the_probes_it_may_cost() -> None:
    split = world(118, 8)
    noise = np.random.default_rng(3).lognormal(0, 0.5, split.ms.shape)
    hard = Split(split.sites, split.crawlers, split.ms * noise, 0)
    fixed = replay(hard, 50, Learning(hard.crawlers, 0.82))
    half, much = (replay(hard, 50, Learning(hard.crawlers, probes=n * fixed.probes / fixed.sites)) for n in (0.5, 2.0))
    assert half.probes <= 0.8 * fixed.probes < 1.3 * fixed.probes <= much.probes
    assert half.optimal < much.optimal


def test_learning_needs_no_probe_where_the_crawler_is_next_door() -> None:
    split = table([Host("site", 48.9, 2.3)], [PARIS, TOKYO], [[2, 250]])
    done = replay(split, 0, Learning(split.crawlers))
    assert (done.optimal, done.probes) == (1, 0)


def test_learning_without_coordinates_recognises_sites_like_those_it_knows() -> None:
    """Two kinds of sites; at first nearly everybody probes, later one answer tells which kind it is."""
    random = np.random.default_rng(2)
    kinds = np.array([[10, 80, 150, 90], [150, 90, 20, 200]])
    ms = kinds[random.integers(0, 2, 60)] * random.lognormal(0, 0.03, (60, 4))
    split = table([Host(str(i)) for i in range(60)], [Host(c) for c in "abcd"], ms.tolist())
    start, later = replay(split, 0, Learning(split.crawlers)), replay(split, 30, Learning(split.crawlers))
    assert later.optimal == later.sites
    assert later.probes <= 1.5 * later.sites
    assert start.probes - later.probes > later.probes * 1.05


def test_learning_sees_only_what_it_probed_or_fetched() -> None:
    """Round trips that were never asked for may change without a change of the choices."""
    split = world(48, 7)
    asked = []

    class Noting(Learning):
        def learn(self, site: Host, answers: Mapping[int, float]) -> None:
            asked.append(set(answers))
            super().learn(site, answers)

    first = replay(split, 0, Noting(split.crawlers))
    changed = split.ms * 3
    for site, crawlers in enumerate(asked):
        changed[site, list(crawlers)] = split.ms[site, list(crawlers)]
    second = replay(Split(split.sites, split.crawlers, changed, 0), 0, Learning(split.crawlers))
    assert (second.probes, second.mean_ms) == (first.probes, first.mean_ms)
