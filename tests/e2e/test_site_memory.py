"""Site memory on a real crawl: at its end if the job says so, or by `relocate` later, with the same result."""

from pathlib import Path

from command_line import miniweb, periplus


def test_a_crawl_with_site_memory_leaves_nothing_to_relocate(tmp_path: Path) -> None:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 600, "--slow", 0.0) as web:
        text = web.job.read_text("utf-8").replace("= 1.0", "= 0.1")
        web.job.write_text(text, "utf-8")
        plain = periplus("crawl", web.job, "--out", tmp_path / "plain", "--json")
        web.job.write_text(text.replace("[crawl]", "[crawl]\nsite_memory = true", 1), "utf-8")
        with_memory = periplus("crawl", web.job, "--out", tmp_path / "memory", "--json")
    assert (plain.code, with_memory.code) == (0, 0), (plain.err, with_memory.err)
    assert plain.json["kept"] == with_memory.json["kept"], "what is crawled and kept does not depend on it"
    later = periplus("relocate", tmp_path / "plain", "--json")
    assert later.code == 0, later.err
    assert later.json["changed"] > 0
    assert periplus("relocate", tmp_path / "memory", "--json").json["changed"] == 0
    assert periplus("verify", tmp_path / "memory").code == 0
