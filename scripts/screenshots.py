"""`make screenshots`: pictures of the web page with the demo's collection, for the README and the docs."""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
CRAWL = ROOT / "demo-crawl" / "crawl"
PERIPLUS = Path(sys.executable).parent / "periplus"
SHOTS = {"map": "/", "search": "/?q=restaurant+in+Portland"}
"""Picture: the address it shows."""

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def main() -> None:
    """Serve the demo's collection on a free port and photograph it."""
    if not CRAWL.is_dir():
        sys.exit("screenshots: run `DEMO_SERVE=0 make demo` first")
    IMAGES.mkdir(parents=True, exist_ok=True)
    server = subprocess.Popen([PERIPLUS, "serve", CRAWL, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline() if server.stdout else ""
        address = next(word for word in line.split() if word.startswith("http://")).rstrip("/")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            for name, path in SHOTS.items():
                page.goto(address + path, wait_until="networkidle")
                page.wait_for_timeout(800)  # the map's fade-in
                page.screenshot(path=IMAGES / f"{name}.png")
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
