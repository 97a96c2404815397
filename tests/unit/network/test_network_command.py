"""`periplus delegate`: the table it reads, what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from periplus.cli import assemble
from periplus.errors import UsageError
from periplus.network import read_round_trips, split

RUNNER = CliRunner()
HEAD = "site,crawler,ms\n"


def pairs(count: int) -> str:
    """Hosts on a line: the round trip is the difference of their numbers."""
    return HEAD + "".join(f"{a},{b},{abs(a - b)}\n" for a in range(count) for b in range(count) if a != b)


def written(folder: Path, text: str) -> Path:
    path = folder / "trips.csv"
    path.write_text(text, "utf-8")
    return path


def run(path: Path, *options: str) -> dict[str, object]:
    done = RUNNER.invoke(assemble("delegate"), ["delegate", "--rtt", str(path), "--json", *options])
    if done.exception:
        raise done.exception
    value: dict[str, object] = json.loads(done.stdout)
    return value


def test_contract_of_the_json(tmp_path: Path) -> None:
    path = written(tmp_path, pairs(20))
    got = run(path, "--crawlers", "4", "--seed", "3", "--warmup", "6", "--method", "brute-force")
    assert got["sites"] == got["optimal"] == 10
    assert got["optimal_share"] == 1
    assert got["probes"] == got["brute_force_probes"] == 40
    assert got["probes_per_site"] == 4
    assert got["mean_excess_ms"] == got["p95_excess_ms"] == 0
    assert got["near_optimal_share"] == 1


def test_all_methods_side_by_side_and_the_curve(tmp_path: Path) -> None:
    path = written(tmp_path, pairs(24))
    got = run(path, "--crawlers", "4", "--method", "all")
    assert list(got["methods"]) == ["brute-force", "random", "geographic", "hierarchy", "learn"]  # type: ignore[call-overload]
    probes = [point["probes"] for point in got["curve"]]  # type: ignore[attr-defined]
    assert probes[0] < probes[-1]
    assert got == run(path, "--crawlers", "4", "--method", "all")
    shown = RUNNER.invoke(assemble("delegate"), ["delegate", "--rtt", str(path), "--crawlers", "4"])
    assert "hierarchy" in shown.stdout
    assert "0.95" in shown.stdout


def test_a_square_of_numbers_is_a_table_too(tmp_path: Path) -> None:
    rows = ["\t".join(str(abs(a - b) * 1.5) for b in range(20)) for a in range(20)]
    square = written(tmp_path, "\n".join(rows) + "\n")
    got = run(square, "--crawlers", "4", "--method", "brute-force", "--warmup", "0")
    assert (got["sites"], got["optimal"]) == (16, 16)
    for broken, message in (("\n".join(rows[:-1]), "19 rows of 20"), ("0 0\n0 0\n", "no round trip")):
        with pytest.raises(UsageError, match=message):
            read_round_trips(written(tmp_path, broken))


def test_drawn_crawlers_are_no_sites_and_follow_the_seed(tmp_path: Path) -> None:
    trips = read_round_trips(written(tmp_path, pairs(30)))
    one, again, other = split(trips, 5, 1), split(trips, 5, 1), split(trips, 5, 2)
    assert one.sites == again.sites
    assert one.crawlers != other.crawlers
    assert {host.name for host in one.sites}.isdisjoint(host.name for host in one.crawlers)
    assert len(one.sites) == 25
    assert len(split(trips, None, 1).crawlers) == 7  # a quarter of a small table


def test_crawlers_apart_from_sites_are_all_used(tmp_path: Path) -> None:
    got = split(read_round_trips(written(tmp_path, HEAD + "s,a,5\ns,b,9\nt,a,4\n")), None, 0)
    assert [host.name for host in got.crawlers] == ["a", "b"]
    assert sorted(host.name for host in got.sites) == ["s", "t"]


def test_what_is_known_of_hosts_is_read(tmp_path: Path) -> None:
    text = "site,crawler,ms,site_lat,site_lon,site_country,site_org,crawler_lat,crawler_lon\ns,a,5,48,2,FR,X,99,2\n"
    trips = read_round_trips(written(tmp_path, text))
    assert (trips.sites["s"].lat, trips.sites["s"].country, trips.sites["s"].org) == (48.0, "FR", "X")
    assert not trips.crawlers["a"].located  # there is no latitude 99


def test_bad_rows_are_counted_and_the_smallest_of_repeated_times_counts(tmp_path: Path) -> None:
    rows = "s,a,5\ns,a,3\ns,a,nan\ns,b,-1\ns,b,inf\ns,b,soon\n,b,4\ns,,4\ns,b\ns,b,8\n"
    trips = read_round_trips(written(tmp_path, HEAD + rows))
    assert trips.bad_rows == 7
    assert trips.ms == {("s", "a"): 3.0, ("s", "b"): 8.0}


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("site,crawler\ns,a\n", [], "no column 'ms'"),
        ("", [], "no column 'site'"),
        (HEAD, [], "no row"),
        (HEAD + "s,a,nan\n", [], "no row"),
        (HEAD + "s,a,1\nt,a,nan\n", [], "no measurement of site 't'"),
        (HEAD + "s,a,1\nt,a,-4\nu,a,\n", [], "and 1 more"),
        (pairs(8), ["--crawlers", "9"], "8 crawlers"),
        (pairs(8), ["--crawlers", "0"], "1 to 8"),
        (pairs(8), ["--crawlers", "8"], "no site remains"),
        (pairs(8), ["--method", "nearest"], "brute-force, random"),
        (pairs(8), ["--crawlers", "2", "--warmup", "6"], "0 to 5"),
        (pairs(8), ["--crawlers", "2", "--warmup", "-1"], "0 to 5"),
        (pairs(8), ["--threshold", "nan"], "--threshold"),
        (pairs(8), ["--confidence", "1.5"], "--confidence"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path: Path, text: str, options: list[str], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(written(tmp_path, text), *options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        run(tmp_path / "nothing.csv")
    (tmp_path / "x.csv").write_bytes(b"site,crawler,ms\n\xff\xfe,a,1\n")
    with pytest.raises(UsageError, match="UTF-8"):
        run(tmp_path / "x.csv")
