"""`nearest` over a recorded web: the table of round trips decides, whether addresses were recorded or not."""

import csv
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

from command_line import periplus

from periplus.store.recorded import RecordedWeb

NODES = ("here", "there")


def crawl(folder: Path, network: str = "") -> Path:
    """A job file for the recorded web in a folder, from every page that it has."""
    seeds = [
        found.url
        for found in RecordedWeb(folder / "web.wacz").responses()
        if found.status == 200 and found.url.endswith("/")
    ]
    (folder / "seeds.txt").write_text("\n".join(seeds), "utf-8")
    (folder / "job.toml").write_text(
        'seeds = ["seeds.txt"]\n[crawl]\nstrategy = "nearest"\nkeep = "all"\nreplay = "web.wacz"\ndelay_seconds = 0.0\n'
        f"workers = 1\n[network]\n{network}\n[nodes.here]\n[nodes.there]\n",
        "utf-8",
    )
    return folder / "job.toml"


def test_hosts_of_a_recorded_web_go_where_the_table_says(tmp_path: Path) -> None:
    assert periplus("record", "miniweb", "--hosts", 60, "--pages", 300, "-o", tmp_path / "web.wacz").code == 0
    job = crawl(tmp_path, 'round_trips = "trips.csv"\nmethod = "hierarchy"')
    seeds = (tmp_path / "seeds.txt").read_text("utf-8").split()
    hosts = sorted({urlsplit(url).netloc for url in seeds})
    with (tmp_path / "trips.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["site", "crawler", "ms"])
        for number, host in enumerate(hosts):
            rows.writerows([host, node, 10 if node == NODES[number % 3 > 0] else 200] for node in NODES)
    done = periplus("crawl", job, "--out", tmp_path / "crawl", "--json")
    assert done.code == 0, done.err
    for node in NODES:
        db = sqlite3.connect(tmp_path / "crawl" / "nodes" / node / "node.db")
        fetched = {urlsplit(url).netloc for (url,) in db.execute("SELECT url FROM page") if url in seeds}
        db.close()
        mine = {host for number, host in enumerate(hosts) if node == NODES[number % 3 > 0]}
        assert fetched <= mine  # but for the targets of redirects, which stay where they were met
        assert len(fetched) > 10


def test_a_recorded_web_cannot_be_probed(tmp_path: Path) -> None:
    assert periplus("record", "miniweb", "--hosts", 60, "--pages", 300, "-o", tmp_path / "web.wacz").code == 0
    job = crawl(tmp_path)
    words = ("network.round_trips", "crawl.replay")
    periplus("crawl", job, "--out", tmp_path / "crawl").assert_one_line_error(2, *words)
    node = periplus("node", "here", "--cluster", "nats://127.0.0.1:1", "--job", job, "--out", tmp_path / "crawl")
    node.assert_one_line_error(2, *words)
