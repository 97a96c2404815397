"""`make demo`: crawl the miniature web with six nodes, print what was found, show it on a map.

It does what a person would type: `periplus miniweb serve`, `crawl`, `evaluate`, `serve`. DEMO_SERVE=0 stops after the
summary; DEMO_PAGES and DEMO_PORT change the number of pages and the port of the web page.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "demo-crawl"
PERIPLUS = str(Path(sys.executable).parent / "periplus")
STARTUP_SECONDS = 60
LIMIT_REACHED = 3


def start_miniweb(job: Path) -> subprocess.Popen[bytes]:
    """Start the miniature web on a free port; it writes the job file once it listens."""
    server = subprocess.Popen(
        [PERIPLUS, "miniweb", "serve", "--port", "0", "--job", job, "--truth", FOLDER / "truth.jsonl"],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + STARTUP_SECONDS
    while not job.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            server.terminate()
            raise SystemExit("demo: the miniature web did not start")
        time.sleep(0.1)
    return server


def main() -> None:
    """Run the demo."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    job, crawl = FOLDER / "job.toml", FOLDER / "crawl"
    print("1. The miniature web: 5,500 pages on 320 hosts, on this machine only", flush=True)
    server = start_miniweb(job)
    try:
        print("2. Six nodes crawl it: five own the paper's 100 US cities, one takes the rest\n", flush=True)
        pages = os.environ.get("DEMO_PAGES", "3000")
        crawled = subprocess.run(
            [
                PERIPLUS,
                "crawl",
                job,
                "--out",
                crawl,
                "--pages",
                pages,
                "--keep",
                "relevant",
                "--place",
                "United States",
            ],
            check=False,
        )
        if crawled.returncode not in (0, LIMIT_REACHED):
            raise SystemExit(crawled.returncode)
    finally:
        server.terminate()
        server.wait()
    print("\n3. What the papers measure\n", flush=True)
    subprocess.run([PERIPLUS, "evaluate", crawl], check=True)
    if os.environ.get("DEMO_SERVE", "1") == "0":
        return
    print("\n4. Search, map and trend (Ctrl-C ends it)\n", flush=True)
    port, tasks = os.environ.get("DEMO_PORT", "8400"), FOLDER / "tasks"
    done = subprocess.run([PERIPLUS, "serve", crawl, "--port", port, "--tasks", tasks], check=False)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print()
