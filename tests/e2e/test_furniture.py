"""What stands around an article is not what it is about: menus and lists of other articles, from crawl to search."""

import asyncio
from pathlib import Path

import pytest
from command_line import Finished, periplus
from raw_server import ServerLog, http, serve

TOWNS = ["Glasgow", "Edinburgh", "Aberdeen", "Dundee", "Inverness", "Stirling", "Perth, Scotland"]
ARTICLE = (
    "The town hall of Nairobi was closed on Tuesday after heavy rain had flooded its cellars, the city council said.",
    "Shops along the river in the centre of Nairobi stayed shut, and buses from Mombasa were turned round outside.",
    "Engineers from all over Kenya are expected to help with pumps, a spokeswoman said late in the evening.",
)
JOB = """
seeds = ["http://news.test/story"]
[topic]
places = {{ {place} = 1.0 }}
keywords = {{ flooded = 1.0, "{word}" = 1.0 }}
[crawl]
workers = 1
delay_seconds = 0.0
pages = 1
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.test" = "127.0.0.1:{port}" }}
[archive]
disk_reserve_bytes = 0
"""


def page() -> str:
    """The article with its menu, and the same list below."""
    menu = "".join(f'<li><a href="/{town[:4]}">Ferries from {town}</a></li>' for town in TOWNS)
    story = "".join(f"<p>{line}</p>" for line in ARTICLE)
    article = f"<title>Town hall closed</title><ul>{menu}</ul><h1>Town hall closed</h1>{story}"
    return f"{article}<h2>More</h2><ul>{menu}</ul><p>Imprint</p>"


async def reply(target: str, writer: asyncio.StreamWriter) -> None:
    if target == "/robots.txt":
        writer.write(http(status="404 Not Found"))
        return
    writer.write(http(page().encode(), "Content-Type: text/html; charset=utf-8"))


def crawl(folder: Path, place: str, word: str) -> Path:
    """The article, crawled for a topic."""

    async def run() -> None:
        async with serve(reply, keep=True) as log:
            job = folder / "job.toml"
            job.write_text(JOB.format(place=place, word=word, port=log.port), "utf-8")
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", folder / "crawl", "--json")
            assert done.code in (0, 3), done.err

    asyncio.run(run())
    return folder / "crawl"


def crawl_pages(folder: Path, pages: dict[str, str], settings: str) -> tuple[Finished, ServerLog]:
    """These pages, crawled for floods in Kenya."""
    log = ServerLog()

    async def answer(target: str, writer: asyncio.StreamWriter) -> None:
        html = pages.get(target, "")
        writer.write(http(html.encode(), "Content-Type: text/html", status="200 OK" if html else "404 Not Found"))

    async def run() -> Finished:
        nonlocal log
        async with serve(answer, keep=True) as log:
            job = folder / "job.toml"
            text = JOB.format(place="Kenya", word="rain", port=log.port).replace("pages = 1", settings)
            job.write_text(text, "utf-8")
            return await asyncio.to_thread(periplus, "crawl", job, "--out", folder / "crawl", "--json")

    return asyncio.run(run()), log


@pytest.mark.parametrize(
    ("place", "word", "kept"), [("Kenya", "rain", 1), ("Scotland", "rain", 0), ("Kenya", "ferry", 0)]
)
def test_a_page_is_judged_by_what_it_says(tmp_path: Path, place: str, word: str, kept: int) -> None:
    done = periplus("crawl", crawl(tmp_path, place, word), "--json")
    assert done.json["kept"] == kept


HEADLINES = ["Two killed on the road to Mombasa", "New market opens in Nairobi", "Nairobi town hall flooded",
             "Kenya wins again", "Heavy rain: cellars flooded in Nairobi", "School year begins in Kenya"]  # fmt: skip


TEASER = "<p>Heavy rain has flooded the centre of Nairobi for the third time, and shops … <a href=/1>more</a></p>"


@pytest.mark.parametrize(("title", "kept"), [("The Nairobi Gazette", 0), ("Flooded: all reports from Nairobi", 1)])
@pytest.mark.parametrize("entry", ["<li>{}</li>", f"<h2>{{}}</h2>{TEASER}"], ids=["links", "teasers"])
def test_a_list_of_other_pages_is_about_what_it_says_itself_and_leads_on(
    tmp_path: Path, title: str, kept: int, entry: str
) -> None:
    links = [f'<a href="/{number}">{line}</a>' for number, line in enumerate(HEADLINES)]
    front = f"<title>{title}</title><h1>{title}</h1><ul>{''.join(map(entry.format, links))}</ul><p>12 May</p>"
    done, log = crawl_pages(tmp_path, {"/story": front, "/2": page()}, 'follow = "relevant"')
    assert "/2" in log.paths, "its links are about the topic"
    assert done.json["kept"] == 1 + kept
    why = periplus("why", tmp_path / "crawl", "http://news.test/story")
    assert ("it is a list of other pages" in why.out) is not bool(kept)
    file, topic = tmp_path / "front.html", tmp_path / "topic.toml"
    file.write_text(front, "utf-8")
    topic.write_text('[topic]\nkeywords = { flooded = 1.0, "rain" = 1.0 }\nplaces = { Kenya = 1.0 }\n', "utf-8")
    assert periplus("score", topic, file, "--json").json["relevant"] is bool(kept)


def test_a_crawl_says_which_part_of_the_topic_its_pages_lack(tmp_path: Path) -> None:
    folder = crawl(tmp_path, "Scotland", "rain")
    assert periplus("crawl", folder, "--json").json["lacking"] == {"places": 1}
    shown = periplus("crawl", folder).out
    assert "Of 1 page not relevant to the topic 1 names none of its places" in shown
    assert shown.count("0.0%") == 2, "one line for one topic"


def test_places_and_snippets_are_those_of_the_article(tmp_path: Path) -> None:
    folder = crawl(tmp_path, "Kenya", "rain")
    found = periplus("search", folder, "town hall", "--json").json["hits"][0]
    others = {place["name"] for place in found["other_places"]}
    assert (found["place"]["name"], others) == ("Nairobi", {"Mombasa", "Kenya"})
    assert "Ferries" not in found["snippet"]
    assert periplus("search", folder, "town hall in Scotland", "--json").json["query"]["absent"] == "Scotland"
    assert periplus("search", folder, "ferries", "--json").json["total"] == 0
    assert periplus("search", folder, "imprint", "--json").json["total"] == 1, "what is no link is found"


def test_files_are_judged_by_what_they_say_as_pages_of_a_crawl_are(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    for number in range(3):
        (samples / f"{number}.htm").write_text(page(), "utf-8")
    file = samples / "0.htm"
    found = periplus("places", file, "--json").json
    assert {one["place"]["name"] for one in found["footprint"]} == {"Nairobi", "Mombasa", "Kenya"}
    assert {one["text"] for one in found["mentions"]} == {"Nairobi", "Mombasa", "Kenya"}

    topic = tmp_path / "topic.toml"
    topic.write_text("[topic]\nkeywords = { ferry = 1.0 }\nplaces = { Scotland = 1.0 }\n", "utf-8")
    judged = periplus("score", topic, file, "--json").json
    assert (judged["keyword_relevance"], judged["place_relevance"]) == (0.0, 0.0)

    learnt = periplus("topic", "learn", samples, "-o", tmp_path / "learnt.toml", "--json").json
    assert [place["name"] for place in learnt["places"]] == ["Kenya"]
    assert not {"ferry", "ferries"} & {keyword["word"] for keyword in learnt["keywords"]}
