"""A crawl's folder that several processes make at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from periplus.errors import DiskFull
from periplus.store.folder import CrawlFolder

ANOTHER = """
import sys
from pathlib import Path
from periplus.errors import DiskFull
from periplus.store.folder import CrawlFolder
CrawlFolder(Path(sys.argv[1])).write_job("b")
"""


def test_nodes_that_start_at_once_in_one_folder_all_keep_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, replace = CrawlFolder(tmp_path / "crawl"), Path.replace

    def overtaken(draft: Path, target: Path) -> Path:
        subprocess.run([sys.executable, "-c", ANOTHER, str(folder.path)], check=True)
        assert folder.job_file.read_text("utf-8") == "b"
        return replace(draft, target)

    monkeypatch.setattr(Path, "replace", overtaken)
    folder.write_job("a")
    assert {path.name: path.read_text("utf-8") for path in folder.path.iterdir()} == {"crawl.toml": "a"}


def test_a_job_that_cannot_be_kept_leaves_the_old_one_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CrawlFolder(tmp_path)
    folder.write_job("a")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DiskFull):
        folder.write_job("b")
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {"crawl.toml": "a"}
