"""`periplus miniweb` and the job file it writes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from periplus.errors import UsageError
from periplus.miniweb import generate, job_toml
from periplus.miniweb.commands import app
from periplus.settings import load_job

SMALL = ["--hosts", "60", "--pages", "300"]


def test_the_job_file_is_a_valid_job(tmp_path: Path) -> None:
    web = generate(1, hosts=60, pages=300)
    path = tmp_path / "mini.toml"
    path.write_text(
        job_toml(8480, web.seeds(), pages=77, delay_seconds=0.5, keywords={'a "b"': 1.0}, places={"Houston, TX": 0.5}),
        "utf-8",
    )
    job = load_job(path)
    assert job.seeds == web.seeds()
    assert job.targets == "us100"
    assert job.crawl.resolve == {"*.mini.test": "127.0.0.1:8480"}
    assert job.crawl.allow_private == ["127.0.0.0/8"]
    assert (job.crawl.pages, job.crawl.delay_seconds, job.crawl.keep) == (77, 0.5, "all")
    assert job.topic.keywords == {'a "b"': 1.0}
    assert job.topic.places == {"Houston, TX": 0.5}


def test_generate_writes_pages_truth_and_seeds(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["generate", "-o", str(tmp_path / "web"), *SMALL])
    assert done.exit_code == 0
    assert "300 pages" in done.output
    files = [path for path in (tmp_path / "web" / "pages").rglob("*") if path.is_file()]
    assert len(files) == 300
    web = generate(1, hosts=60, pages=300)
    assert (tmp_path / "web/pages/webatlas.mini.test/index").read_bytes() == web.respond("webatlas.mini.test", "/").body
    assert (tmp_path / "web/seeds.txt").read_text().splitlines() == web.seeds()
    first = (tmp_path / "web/truth.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(first)["url"] == web.seeds()[0]


def test_generate_into_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    done = CliRunner().invoke(app, ["generate", "-o", str(tmp_path / "taken"), *SMALL])
    assert isinstance(done.exception, UsageError)
    assert "is a file, not a folder" in str(done.exception)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_where_it_is_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    job, truth, log = tmp_path / "mini.toml", tmp_path / "truth.jsonl", tmp_path / "log.jsonl"
    command = ["serve", "--port", "0", *SMALL, "--job", str(job), "--truth", str(truth), "--log", str(log)]
    code = "from periplus.miniweb.commands import app; app()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *command],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    assert lines[0].startswith("The miniature web: 300 pages on 60 hosts at http://127.0.0.1:")
    port = lines[0].rstrip("/\n").rpartition(":")[2]
    assert lines[1] == f"Crawl it with: periplus crawl {job}\n"
    assert load_job(job).crawl.resolve == {"*.mini.test": f"127.0.0.1:{port}"}
    assert len(truth.read_text("utf-8").splitlines()) > 300
    assert log.read_text() == ""


@pytest.mark.parametrize("command", [[], ["serve"], ["generate"]])
def test_help_shows_an_example(command: list[str]) -> None:
    done = CliRunner().invoke(app, [*command, "--help"])
    assert done.exit_code == 0
    assert not command or "Example:" in done.output
