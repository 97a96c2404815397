"""A crawl of a site on a port of its own, by a job that names nothing: what it is called, and what is not shown."""

import asyncio
from pathlib import Path

from command_line import periplus
from raw_server import http, serve

STORY = "<p>A flood has closed two schools in Sylhet, and the river is still rising, the council of Sylhet said.</p>"
PAGES = {
    "/": f"<title>Flood in Sylhet</title>{STORY}<a href=/empty>more</a> <a href=/frames>and more</a>",
    "/empty": "<body><div id=app></div>",
    "/frames": "<frameset><frame src=/inside></frameset>",
    "/inside": "<title>The flood in Sylhet goes on</title><p>Boats brought rice to Sylhet, where the flood goes on."
    " Many people wait on roofs.",
}
JOB = """
[topic]
keywords = { levee = 0.4, dam = 0.9, flood = 1.0, rain = 0.8 }
places = { Sylhet = 1.0 }
[crawl]
workers = 1
keep = "all"
delay_seconds = 0.0
allow_private = ["127.0.0.0/8"]
[archive]
disk_reserve_bytes = 0
"""


async def reply(target: str, writer: asyncio.StreamWriter) -> None:
    html = PAGES.get(target)
    writer.write(http((html or "").encode(), "Content-Type: text/html", status="200 OK" if html else "404 Not Found"))


def crawl(folder: Path) -> Path:
    async def run() -> None:
        async with serve(reply, keep=True) as log:
            job, seed = folder / "job.toml", f"http://127.0.0.1:{log.port}/"
            job.write_text(JOB, "utf-8")
            for _ in range(2):  # the second run goes on with the first, on the same port
                done = await asyncio.to_thread(
                    periplus, "crawl", job, "--seed", seed, "--out", folder / "crawl", "--json"
                )
                assert done.code == 0, done.err
                assert done.json["outcomes"] == {"kept": 2, "empty": 2}
                assert (done.json["kept"], done.json["pages"]) == (2, 4)

    asyncio.run(run())
    return folder / "crawl"


def test_the_port_of_a_seed_is_crawled_and_empty_pages_are_not_kept_but_lead_on(tmp_path: Path) -> None:
    folder = crawl(tmp_path)
    found = periplus("search", folder, "", "--json").json
    assert sorted(hit["title"] for hit in found["hits"]) == ["Flood in Sylhet", "The flood in Sylhet goes on"]
    assert {tuple(hit["topics"]) for hit in found["hits"]} == {("flood, dam, rain in Sylhet",)}
    assert periplus("search", folder, 'inclass:"flood, dam, rain in Sylhet"', "--json").json["total"] == 2
    assert periplus("verify", folder).code == 0
    empty = next(hit["url"] for hit in found["hits"] if hit["url"].endswith("/")) + "empty"
    assert "neither a title nor a text" in periplus("why", folder, empty).out
