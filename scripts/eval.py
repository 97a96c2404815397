"""`make eval`: accuracy on the corpora in the folder that PERIPLUS_DATA names, unpacked or as NAME.tar.xz archives."""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

EVALUATIONS = {
    "geoparsing": ["eval_places.py", "eval_languages.py"],
    "addresses": ["eval_addresses.py"],
    "topics": ["eval_topics.py --plots docs/images", "eval_search.py"],
    "url-labels": ["eval_strategies.py --check"],
    "network": ["eval_delegation.py"],
    "html": ["eval_content.py"],
}
"""Corpus: the scripts that measure on it."""

ALSO = {"addresses": ("webkb", "html"), "topics": ("wikispeedia",)}
"""Further corpora that a script reads where they are."""


def unpacked(data: Path, name: str, scratch: Path) -> Path | None:
    """The folder that holds the corpus as a subfolder; archives are unpacked into `scratch`."""
    if (data / name).is_dir():
        return data
    archive = data / f"{name}.tar.xz"
    if not archive.is_file():
        return None
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
    return scratch


def main() -> None:
    """Run every evaluation whose corpus is there; say which are not."""
    folder = os.environ.get("PERIPLUS_DATA")
    if not folder or not Path(folder).is_dir():
        sys.exit("eval: set PERIPLUS_DATA to the folder with the corpora (unpacked, or NAME.tar.xz)")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, scripts in EVALUATIONS.items():
            data = unpacked(Path(folder), name, Path(scratch))
            if data is None:
                print(f"NOT MEASURED: {name} is not in {folder}")
                continue
            for also in ALSO.get(name, ()):
                unpacked(Path(folder), also, Path(scratch))
            for script in scripts:
                file, *options = script.split()
                command = [sys.executable, str(Path(__file__).parent / file), "--check", *options]
                environment = os.environ | {"PERIPLUS_DATA": str(data)}
                failed += subprocess.run(command, env=environment, check=False).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
