"""Sitemaps of the miniature web: pages that nothing links to are found, and every rule still counts."""

import json
from collections import Counter
from pathlib import Path

from command_line import miniweb, periplus


def test_sitemaps_are_read_where_robots_names_them(tmp_path: Path) -> None:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 600, "--slow", 0.0) as web:
        text = web.job.read_text("utf-8").replace("pages = 3000", "pages = 0").replace("= 1.0", "= 0.1")
        truth = [json.loads(line) for line in web.truth.read_text("utf-8").splitlines()]
        orphans = {row["url"] for row in truth if row["quirk"] == "orphan" and row["outcome"] == "kept"}
        forbidden = {row["url"] for row in truth if row["outcome"].startswith("robots")}
        assert orphans, "the miniature web has pages that only sitemaps name"
        web.job.write_text(text.replace("[crawl]", '[crawl]\nsitemaps = "robots"'), "utf-8")
        done = periplus("crawl", web.job, "--out", tmp_path / "with", "--json")
        assert done.code == 0, done.err
        assert done.json["stop_reason"].startswith("frontier empty")
        asked = Counter(f"http://{row['host']}{row['path']}" for row in web.requests() if row["status"] == 200)
        sitemaps = [url for url in asked if "/sitemap.xml" in url]
        assert done.json["outcomes"]["sitemap"] == len(sitemaps) > 3
        assert {url.rpartition(".")[2] for url in sitemaps} == {"xml", "gz"}
        assert set(asked.values()) == {1}, "a sitemap and a page once each"
        assert not forbidden & set(asked)
        # Some hosts are out of reach for other reasons; those that were reached have shown their orphans.
        reached = {url.split("/")[2] for url in sitemaps}
        expected = {url for url in orphans if url.split("/")[2] in reached}
        assert expected
        assert expected <= set(asked), sorted(expected - set(asked))

        web.job.write_text(text, "utf-8")
        before = len(web.requests())
        without = periplus("crawl", web.job, "--out", tmp_path / "without", "--json")
        assert without.code == 0
        asked = Counter(f"http://{row['host']}{row['path']}" for row in web.requests()[before:])
        assert not any("/sitemap.xml" in url for url in asked), "off unless a job asks for it"
        assert not orphans & set(asked)
