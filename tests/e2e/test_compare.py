"""Recording and comparing from outside: the same numbers twice, and the numbers of a real crawl of the same pages."""

import csv
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from command_line import periplus, start

from periplus.store.recorded import RecordedWeb
from periplus.urls import canonicalize

TRAIN = ("classifier", "train", "--targets", "us100", "-o", "{tmp}/model.npz")
EQUAL = (
    "pages", "geo_coverage", "distinct_geo_coverage", "geo_focus", "entity_uniqueness", "geo_centrality", "overlap",
    "diversity", "communication_overhead", "links_assigned_away_per_page", "locality",
)  # fmt: skip


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "mini.wacz"
    done = periplus("record", "miniweb", "--hosts", 60, "--pages", 320, "-o", path, "--json")
    assert done.code == 0, done.err
    assert done.json["responses"] > 320
    return path


@contextmanager
def served(web: RecordedWeb) -> Iterator[int]:
    """The recorded web on a port of this machine, by Host header."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = canonicalize(f"http://{self.headers['Host']}{self.path}")
            found = web.get(url.href) if url else None
            body = found.body if found else b""
            self.send_response(found.status if found else 404)
            for name, value in found.headers if found else ():
                if name.lower() not in ("content-length", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    web.get("http://nowhere.test/")  # know where everything is before there are threads
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("strategy", ["url", "content"])
def test_a_replay_measures_what_a_real_crawl_of_the_same_pages_measures(
    web: Path, tmp_path: Path, strategy: str
) -> None:
    recorded = RecordedWeb(web)
    seeds = sorted(page.url for page in recorded.responses() if urlsplit(page.url).path == "/")[:12]
    (tmp_path / "seeds.txt").write_text("\n".join(seeds), "utf-8")
    replayed = periplus(
        "compare", web, "--strategies", strategy, "--seeds", tmp_path / "seeds.txt", "-o", tmp_path / "out", "--json"
    )
    assert replayed.code == 0, replayed.err
    with served(recorded) as port:
        (tmp_path / "job.toml").write_text(
            f"seeds = {json.dumps(seeds)}\ntargets = 'us100'\n[crawl]\nstrategy = '{strategy}'\nkeep = 'all'\n"
            "overlap = 'allow'\ndelay_seconds = 0.0\nallow_private = ['127.0.0.0/8']\n"
            f"[crawl.resolve]\n'*.test' = '127.0.0.1:{port}'\n",
            "utf-8",
        )
        crawled = periplus("crawl", tmp_path / "job.toml", "--out", tmp_path / "crawl", "--json")
    assert crawled.code == 0, crawled.err
    live = periplus("evaluate", tmp_path / "crawl", "--json").json
    played = replayed.json["strategies"][strategy]
    assert {name: played[name] for name in EQUAL} == {name: live[name] for name in EQUAL}


def test_a_crawl_of_a_recorded_web_needs_no_network_and_retries_what_is_made_to_fail(web: Path, tmp_path: Path) -> None:
    seeds = sorted(page.url for page in RecordedWeb(web).responses() if urlsplit(page.url).path == "/")[:3]
    (tmp_path / "job.toml").write_text(
        f"seeds = {json.dumps(seeds)}\n[crawl]\nreplay = {json.dumps(str(web))}\nreplay_failures = 0.2\npages = 30\n"
        "delay_seconds = 0.0\nretry_seconds = 0.01\n",
        "utf-8",
    )
    crawled = periplus("crawl", tmp_path / "job.toml", "--out", tmp_path / "crawl", "--json")
    assert crawled.code == 3, crawled.err
    assert crawled.json["pages"] == 30
    assert crawled.json["outcomes"]["retry"] > 0


def test_a_recorded_web_teaches_the_classifier_what_a_crawl_of_it_does(web: Path, tmp_path: Path) -> None:
    seeds = sorted(page.url for page in RecordedWeb(web).responses() if urlsplit(page.url).path == "/")[:12]
    (tmp_path / "job.toml").write_text(
        f"seeds = {json.dumps(seeds)}\n[crawl]\nreplay = {json.dumps(str(web))}\ndelay_seconds = 0.0\nkeep = 'all'\n",
        "utf-8",
    )
    crawled = periplus("crawl", tmp_path / "job.toml", "--out", tmp_path / "crawl", "--json")
    assert crawled.code == 0, crawled.err
    assert periplus("export", tmp_path / "crawl", "--to", "wacz", "-o", tmp_path / "kept.wacz").code == 0
    taught = {}
    for source in ("crawl", "kept.wacz", "crawl/nodes"):
        done = periplus(
            "classifier", "train", tmp_path / source, "--targets", "us100", "-o", tmp_path / "model.npz", "--json"
        )
        assert done.code == 0, done.err
        assert sum(done.json["pages"].values()) == crawled.json["kept"] > 200
        assert done.json["pages"]["central"] > 0 < done.json["pages"]["not geographic"]
        with np.load(tmp_path / "model.npz") as model:
            taught[source] = (done.json["pages"], model["likelihood"].tobytes(), model["prior"].tobytes())
    assert taught["crawl"] == taught["kept.wacz"] == taught["crawl/nodes"]


def test_the_same_question_twice_has_the_same_answer_and_is_not_worked_out_again(web: Path, tmp_path: Path) -> None:
    command = ("compare", web, "--strategies", "hash,url", "--pages", 80, "--draws", 2, "--json")
    first = periplus(*command, "-o", tmp_path / "a")
    second = periplus(*command, "-o", tmp_path / "b")
    assert first.code == second.code == 0, first.err
    assert first.json == second.json
    assert (tmp_path / "a" / "results.json").read_bytes() == (tmp_path / "b" / "results.json").read_bytes()
    runs = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a" / "runs").iterdir()}
    assert len(runs) == 12  # two strategies and the one that knows all, two draws, two orders
    again = periplus(*command, "-o", tmp_path / "a")
    assert again.json == first.json
    assert runs == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a" / "runs").iterdir()}
    report = (tmp_path / "a" / "report.html").read_text("utf-8")
    assert report.count("<svg ") - report.count('class="coast"') == 6  # four plots, and a map of each strategy
    assert set(first.json["best_first"]) == {"hash", "url"}
    head, *rows = csv.reader((tmp_path / "a" / "table-9-communication.csv").read_text("utf-8").splitlines())
    assert head == ["strategy", "value", "interval", "paper", "sent", "sent interval"]
    for name, value, _, paper, sent, _ in rows:  # the paper's figure stands beside what it counts
        row = first.json["strategies"][name]
        assert (float(value), float(sent)) == (row["links_assigned_away_per_page"], row["communication_overhead"])
        assert (float(paper), float(sent) < float(value)) == ({"hash": 13.89, "url": 25.72}[name], True)
    assert "Best first" in report
    assert "http-equiv" in report
    assert "src=" not in report
    assert "href=" not in report


def test_a_comparison_weighs_names_as_it_is_told(web: Path, tmp_path: Path) -> None:
    command = ("compare", web, "--strategies", "content", "--pages", 80, "--draws", 1, "-o", tmp_path / "out", "--json")
    usual, other = (periplus(*command, *more) for more in ((), ("--content-alpha", 0, "--content-beta", 1)))
    assert usual.code == other.code == 0, other.err
    assert usual.json["strategies"] != other.json["strategies"]
    unused = periplus("compare", web, "--strategies", "url", "--content-alpha", 0.5, "-o", tmp_path / "out")
    unused.assert_one_line_error(2, "--content-alpha is for the strategy content, which is not among url")


def test_what_is_possible_stands_beside_what_strategies_have(web: Path, tmp_path: Path) -> None:
    command = ("compare", web, "--strategies", "hash,content,url", "--pages", 80, "--draws", 2, "-o", tmp_path / "out")
    done = periplus(*command, "--json")
    assert done.code == 0, done.err
    for order, table in (("breadth", done.json["strategies"]), ("best", done.json["best_first"])):
        reachable, truth = done.json["ceiling"][order]["reachable"], done.json["ceiling"][order]["truth"]
        assert truth["geo_focus"] == 1.0
        assert truth["overlap"] == 0.0
        assert truth["geo_coverage"] <= reachable <= 1.0
        for row in table.values():
            assert row["distinct_geo_coverage"] <= min(row["geo_coverage"], reachable)
            assert row["own_target_pages_per_download"] < truth["own_target_pages_per_download"]
    assert table["content"]["overlap"] > 0
    assert table["content"]["distinct_geo_coverage"] < table["content"]["geo_coverage"]
    shown = periplus(*command)
    assert "truth knows what every link leads to." in shown.out
    assert "downloads nothing twice can have a geo-coverage above" in (tmp_path / "out" / "report.html").read_text()


def test_truth_may_stand_for_addresses_and_a_large_budget_is_said(web: Path, tmp_path: Path) -> None:
    urls = [page.url for page in RecordedWeb(web).responses()]
    rows = "".join(f'{url},"Houston, TX"\n' for url in urls[:5])
    (tmp_path / "labels.csv").write_text(f"url,place\n{rows}http://elsewhere.test/,5128581\n", "utf-8")
    done = periplus(
        "compare", web, "--strategies", "hash", "--pages", 100_000, "--draws", 1, "--labels", tmp_path / "labels.csv",
        "-o", tmp_path / "out", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "1 label of pages that are not in the recorded web" in done.err
    assert "larger than the web" in done.json["about"]["notes"]
    assert 0 < done.json["strategies"]["hash"]["geo_coverage"] < 0.05


@pytest.mark.parametrize("owned", ["all of TX", "time zone America/Chicago", "polygon texas.geojson"])
def test_owners_of_regions_zones_and_polygons_are_measured_like_those_of_cities(
    web: Path, tmp_path: Path, owned: str
) -> None:
    ring = [[-100, 26], [-94, 26], [-94, 34], [-100, 34], [-100, 26]]
    (tmp_path / "texas.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}), "utf-8")
    (tmp_path / "targets.toml").write_text(f"[nodes.texas]\nplaces = ['{owned}']\n[nodes.general]\n", "utf-8")
    urls = [page.url for page in RecordedWeb(web).responses() if page.status == 200]
    rows = [f'{url},"Houston, TX"\n' for url in urls[:40]] + [f"{url},Lisbon\n" for url in urls[40:80]]
    (tmp_path / "labels.csv").write_text(f"url,place\n{''.join(rows)}", "utf-8")
    command = ("compare", web, "--targets", tmp_path / "targets.toml", "--strategies", "hash", "--draws", 1, "--json")
    by_address = periplus(*command, "-o", tmp_path / "addresses")
    by_label = periplus(*command, "--labels", tmp_path / "labels.csv", "-o", tmp_path / "labels")
    for done in (by_address, by_label):
        assert done.code == 0, done.err
        assert 0 < done.json["strategies"]["hash"]["geo_focus"] <= 1
        truth = done.json["ceiling"]["breadth"]["truth"]
        assert truth["geo_focus"] == 1.0
        assert truth["own_target_pages_per_download"] == truth["geo_coverage"]  # nobody owns Lisbon
        assert 0 < truth["geo_coverage"] <= done.json["ceiling"]["breadth"]["reachable"]


def test_a_run_is_kept_for_its_own_question_only(web: Path, tmp_path: Path) -> None:
    def compared(zone: str, draws: int = 1) -> tuple[dict[str, object], set[str]]:
        (tmp_path / "targets.toml").write_text(
            f"[nodes.one]\nplaces = ['time zone {zone}']\n[nodes.general]\n", "utf-8"
        )
        done = periplus(
            "compare", web, "--targets", tmp_path / "targets.toml", "--strategies", "url", "--pages", 60,
            "--order", "best", "--draws", draws, "-o", tmp_path / "out", "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        return done.json["strategies"]["url"], {path.name for path in (tmp_path / "out" / "runs").iterdir()}

    east, first = compared("America/New_York")
    west, both = compared("America/Los_Angeles")
    assert east["geo_coverage"] != west["geo_coverage"]
    assert len(both - first) == 2  # the strategy and the one that knows all
    assert len(compared("America/New_York", draws=2)[1] - both) == 2  # the second draw alone


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_comparison_that_is_interrupted_says_what_is_kept_and_the_same_command_goes_on(
    web: Path, tmp_path: Path, number: int
) -> None:
    command = ("compare", web, "--strategies", "hash", "--draws", 60, "-o", tmp_path / "out", "--json")
    with start(*command) as process, ExitStack() as undo:
        undo.callback(process.kill)
        runs = tmp_path / "out" / "runs"
        while process.poll() is None and not any(runs.glob("*.json")):
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, "")
    kept = {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json")}
    wanted = f"periplus: interrupted, {len(kept)} of 240 runs kept in {runs}; the same command plays the others\n"
    assert err == wanted
    assert 0 < len(kept) < 240
    done = periplus(*command)
    assert done.code == 0, done.err
    after = {path.name: path.stat().st_mtime_ns for path in runs.glob("*.json")}
    assert len(after) == 240
    assert kept.items() <= after.items()
    assert done.json == periplus(*command[:-2], tmp_path / "whole", "--json").json


def test_a_comparison_that_is_interrupted_while_pages_are_read_says_so(web: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "labels.csv"
    os.mkfifo(pipe)  # labels are read when the pages are, and nobody writes any
    command = ("compare", web, "--strategies", "hash", "--labels", pipe, "-o", tmp_path / "out")
    with start(*command) as process, ExitStack() as undo:
        undo.callback(process.kill)
        writer = None
        while process.poll() is None and writer is None:
            with suppress(OSError):
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        os.close(writer or 0)
    assert (process.returncode, out) == (130, "")
    assert err == "periplus: interrupted before a run was played; the same command begins again\n"
    assert not (tmp_path / "out").exists()


def test_seeds_that_were_not_recorded_leave_nothing_behind(web: Path, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("http://nowhere.test/\n", "utf-8")
    done = periplus("compare", web, "--strategies", "hash", "--seeds", tmp_path / "seeds.txt", "-o", tmp_path / "out")
    done.assert_one_line_error(2, "http://nowhere.test/: this seed is not in the recorded web")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("compare", "{web}", "--strategies", "nonsense"),
            "choose one of hash, hash-host, url, anchor, content, blend, ",
        ),
        (("compare", "{web}", "--strategies", "ip"), "--strategies ip needs --ip-database"),
        (("compare", "{web}", "--seeds", "{tmp}/none.txt"), "none.txt: no URL is in it"),
        (("compare", "{web}", "--entities", "houses"), "choose street or postal"),
        (("compare", "{web}", "--order", "worst"), "choose breadth or best or both"),
        (("compare", "{tmp}"), "no WARC or WACZ file"),
        (("compare", "{tmp}/junk.warc"), "junk.warc: no HTML page in it"),
        (("compare", "{web}", "--strategies", "hash", "--labels", "{tmp}/wrong.csv"), "must name the columns url and"),
        (("compare", "{web}", "--strategies", "ip", "--ip-database", "{tmp}/none.mmdb"), "No such file or directory"),
        (("compare", "{tmp}/missing.wacz"), "missing.wacz"),
        (("compare", "{web}", "--strategies", "hash", "--labels", "{tmp}/none.csv"), "none.csv"),
        (("record", "{tmp}", "-o", "{tmp}/x.wacz"), "no WARC or WACZ file"),
        ((*TRAIN, "{tmp}/junk.warc"), "junk.warc: no HTML page in it; "),
        ((*TRAIN, "{tmp}/missing.wacz"), "missing.wacz: no such file or folder"),
        ((*TRAIN, "{tmp}/runs"), "runs: no WARC or WACZ file; make one with"),
        (
            (*TRAIN, "{tmp}/pages.csv"),
            "pages.csv: give a crawl's folder, a recorded web (.wacz, .warc or .warc.gz), or",
        ),
    ],
)
def test_wrong_input_gets_one_line(web: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "junk.warc").write_bytes(b"junk" * 100)
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n", "utf-8")
    (tmp_path / "none.txt").write_text("# no seed yet\n\n", "utf-8")
    if arguments[1] == "{tmp}":
        tmp_path = tmp_path / "empty"
        tmp_path.mkdir()
    done = periplus(*(part.format(web=web, tmp=tmp_path) for part in arguments))
    done.assert_one_line_error(4 if done.code == 4 else 2, message)
