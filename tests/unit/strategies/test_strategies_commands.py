"""The commands around strategies, where no crawl is needed: what they refuse, and what `nodes plan` proposes."""

import json
import tomllib
from itertools import product
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
import typer
from command_line import PERIPLUS
from effort import least_seconds
from mmdb_file import mmdb
from typer.testing import CliRunner, Result

from periplus.assignments import assign, nodes_app, train_command
from periplus.errors import UsageError
from periplus.places import open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import Ownership, load_targets
from periplus.strategies.planning import plan_nodes

TARGETS = '[nodes.east]\nplaces = ["Boston, MA"]\n[nodes.west]\nplaces = ["Seattle, WA"]\n[nodes.general]\n'
USA = 6252001


def refused(app: typer.Typer, *arguments: object) -> str:
    """The one line that a command ends with."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], input="")
    assert isinstance(result.exception, UsageError), (result.exception, result.output)
    assert "\n" not in str(result.exception)
    return str(result.exception)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("classifier",), "--strategy classifier needs --model: a file of"),
        (("classifier", "--model", "text.mmdb"), "--model: text.mmdb is not a model"),
        (
            ("ip",),
            "--strategy ip needs --ip-database: the path of a city database in MaxMind's format (.mmdb), or --geofeed",
        ),
        (("ip", "--geofeed", "text.mmdb"), "--geofeed: text.mmdb has no row of the form"),
        (("ip", "--geofeed", "none.csv"), "--geofeed: none.csv cannot be read: No such file"),
        (("url", "--geofeed", "feed.csv"), "--geofeed is for ip and blend; url would not look at it"),
        (("anchor", "--ip-database", "land.mmdb"), "--ip-database is for ip and blend; anchor would not look at it"),
        (("blend", "--model", "model.npz"), "--model is for the strategy classifier; blend would not look at it"),
        (("ip", "--ip-database", "text.mmdb"), "--ip-database: text.mmdb cannot be read"),
        (("ip", "--ip-database", "land.mmdb"), "--ip-database: land.mmdb knows countries but no cities"),
        (("ip", "--ip-database", "odd.mmdb"), "--ip-database: odd.mmdb knows no places"),
        (("zzz",), "choose one of hash, hash-host, url, anchor, content, blend, classifier, ip"),
    ],
)
def test_assign_speaks_of_its_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("targets.toml").write_text(TARGETS)
    Path("text.mmdb").write_text("no database\n")
    Path("land.mmdb").write_bytes(mmdb("192.0.2.0/24", USA))
    Path("odd.mmdb").write_bytes(mmdb("192.0.2.0/24", 999_999_999))
    app = typer.Typer()
    app.command()(assign)
    message = refused(app, "--targets", "targets.toml", "--strategy", *given)
    assert message.endswith(said) if given == ("ip",) else said in message, message
    assert "crawl." not in message


def assigned(tmp_path: Path, lines: str, *arguments: str) -> Result:
    (tmp_path / "targets.toml").write_text(TARGETS)
    (tmp_path / "links.jsonl").write_text(lines, "utf-8")
    app = typer.Typer()
    app.command()(assign)
    return CliRunner().invoke(app, ["--targets", f"{tmp_path}/targets.toml", *arguments, f"{tmp_path}/links.jsonl"])


def test_a_geofeed_says_where_addresses_are(tmp_path: Path) -> None:
    (tmp_path / "feed.csv").write_text("8.8.8.0/24,US,US-MA,Boston,\n9.9.9.0/24,US,US-WA,Seattle,\n")
    links = "".join(f'{{"id":"{ip}","url":"http://a.example/","ip":"{ip}"}}\n' for ip in ("8.8.8.8", "9.9.9.9", "junk"))
    done = assigned(tmp_path, links, "--strategy", "ip", "--geofeed", f"{tmp_path}/feed.csv")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row["node"]) for row in rows] == [("8.8.8.8", "east"), ("9.9.9.9", "west"), ("junk", "general")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", 'links.jsonl:2: not a JSON object with "url"'),
        ('{"id": 1}', 'links.jsonl:2: not a JSON object with "url"'),
        (
            '{"id": NaN, "url": "http://a.example/"}',
            'links.jsonl:2: not a JSON object with "url"',
        ),  # nor could it be printed
        ('{"url": "http://a.example/", "anchor": 3}', 'links.jsonl:2: "anchor" is a text'),
        ('{"url": "http://a.example/", "page_text": ["Boston"]}', 'links.jsonl:2: "page_text" is a text'),
        ('{"url": "http://a.example/", "ip": 8}', 'links.jsonl:2: "ip" is a text'),
        (
            '{"url": "http://a.example/", "x": "' + "x" * 2**24 + '"}',
            "links.jsonl:2: longer than 16,777,216 characters",
        ),
    ],
)
def test_a_line_that_is_no_link_is_named(tmp_path: Path, line: str, said: str) -> None:
    done = assigned(tmp_path, f'{{"id":1,"url":"http://boston.example/"}}\n{line}\n', "--strategy", "url")
    assert json.loads(done.stdout)["node"] == "east"  # what came before it is said
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


PAGES = ("Floods in Seattle, WA. The mayor of Seattle spoke.", "Boston, MA has a harbor.", "")
STRATEGIES = ("hash", "hash-host", "url", "anchor", "content", "blend")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_link_goes_where_it_would_go_alone(tmp_path: Path, strategy: str) -> None:
    urls = (
        "http://a.example/caf%C3%A9", "http://b.example/bost%6Fn", "ftp://c.example/", "http://boston.example/",
        "http://seattle-wa.example/x", "http://[", "http://a.example/new york\\u000aboston", "http://d.example/",
    )  # fmt: skip
    lines = [
        f'{{"id": [{n}, "ü"], "url": "{url}", "anchor": "{anchor}", "page_text": "{text}", "ip": "8.8.8.8"}}\n'
        for n, (text, url, anchor) in enumerate(product(PAGES, urls, ("", "Boston Ferries")))
    ]
    together = assigned(tmp_path, "\r\n".join(["", *lines]).rstrip("\n"), "--strategy", strategy)
    alone = [assigned(tmp_path, line, "--strategy", strategy).stdout for line in lines]
    assert together.exit_code == 0, together.exception
    assert together.stdout == "".join(alone)
    assert len({json.loads(line)["node"] for line in alone}) > 2  # what is compared differs
    assert "node is null: 12 links" in together.stderr


def test_a_page_is_read_once_for_all_its_links(tmp_path: Path) -> None:
    text = " ".join(f"Number {n}: the mayor of Seattle met the mayor of Boston." for n in range(400))

    def seconds(links: int) -> float:
        line = json.dumps({"url": "http://a.example/", "page_url": "http://b.example/", "page_text": text})
        return least_seconds(lambda: assigned(tmp_path, f"{line}\n" * links, "--strategy", "content"), rounds=3)

    assert seconds(100) < 4 * seconds(1)


def test_who_waits_for_an_answer_has_it_before_the_next_link(tmp_path: Path) -> None:
    (tmp_path / "targets.toml").write_text(TARGETS)
    command = [str(PERIPLUS), "assign", "--strategy", "url", "--targets", str(tmp_path / "targets.toml")]
    with Popen(command, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin
        assert process.stdout
        for half, rest, node in (
            (b'{"id": "', b'a", "url": "http://boston.example/"}\n', "east"),
            (b'{"id": "\xc3', b'\xbc", "url": "http://seattle.example/"}\n', "west"),
        ):
            for part in (half, rest):
                process.stdin.write(part)
                process.stdin.flush()
            assert json.loads(process.stdout.readline())["node"] == node
        process.stdin.write(b'{"id": 3, "url": "http://nowhere.example/"}')  # and no line break
        process.stdin.close()
        assert json.loads(process.stdout.readline()) == {
            "id": 3,
            "target": None,
            "node": "general",
            "reason": "no_place",
        }
        assert process.wait() == 0


def test_the_weights_of_content_can_be_set(tmp_path: Path) -> None:
    targets = tmp_path / "glendales.toml"
    targets.write_text(
        '[nodes.az]\nplaces = ["Glendale, AZ"]\n[nodes.ca]\nplaces = ["Glendale, CA"]\n'
        '[nodes.tx]\nplaces = ["El Paso, TX"]\n[nodes.general]\n'
    )
    text = f"El Paso, TX is far. Glendale is sunny, and California knows. {'Glendale grows. ' * 5}"
    line = json.dumps({"url": "http://a.example/", "page_text": text})
    app = typer.Typer()
    app.command()(assign)

    def node(*weights: str) -> str:
        command = ["--targets", str(targets), "--strategy", "content", *weights]
        found: str = json.loads(CliRunner().invoke(app, command, input=line).stdout)["node"]
        return found

    assert node() == node("--content-alpha", "0.7", "--content-beta", "0.5") == "ca"
    assert node("--content-alpha", "0.9") == "tx"  # what stands with its state
    assert node("--content-beta", "1") == "az"  # the larger one, whatever state is named
    unused = refused(app, "--targets", targets, "--strategy", "url", "--content-beta", "0.5")
    assert unused == "--content-beta is for the strategy content; url would not look at it"
    assert (
        CliRunner().invoke(app, ["--targets", "us100", "--strategy", "content", "--content-beta", "2"]).exit_code == 2
    )


def test_a_database_of_countries_will_do_for_nodes_that_own_countries(tmp_path: Path) -> None:
    (tmp_path / "targets.toml").write_text('[nodes.us]\nplaces = ["United States"]\n[nodes.general]\n')
    (tmp_path / "land.mmdb").write_bytes(mmdb("192.0.2.0/24", USA))
    app = typer.Typer()
    app.command()(assign)
    options = ["--strategy", "ip", "--targets", str(tmp_path / "targets.toml")]
    options += ["--ip-database", str(tmp_path / "land.mmdb")]
    result = CliRunner().invoke(app, options, input='{"url": "http://x.example/", "ip": "192.0.2.1"}\n')
    assert json.loads(result.output)["node"] == "us"


def test_polygons_of_a_target_list_lie_beside_it(tmp_path: Path) -> None:
    ring = [[-72, 42], [-70.5, 42], [-70.5, 43], [-72, 43], [-72, 42]]
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "bay.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    (tmp_path / "lists" / "bay.toml").write_text('[nodes.bay]\nplaces = ["polygon bay.geojson"]\n[nodes.general]\n')
    gazetteer = open_gazetteer()
    owned = Ownership.of(load_targets("lists/bay.toml", tmp_path, gazetteer), gazetteer)
    assert owned.owner(gazetteer.resolve("Boston, MA")) is not None


def test_training_says_what_it_did_not_understand(tmp_path: Path) -> None:
    (tmp_path / "targets.toml").write_text(TARGETS)
    lines = ["east\tharbor lobster", "Seattle, WA\train ferry", "\tcode", "general\tcode", "Bostn, MA\tclam", "no tab"]
    (tmp_path / "pages.tsv").write_text("\n".join([*lines, "Bostn, MA\tbay", ""]))
    app = typer.Typer()
    app.command()(train_command)
    options = [str(tmp_path / "pages.tsv"), "--targets", str(tmp_path / "targets.toml"), "-o", str(tmp_path / "m.npz")]
    shown = CliRunner().invoke(app, options)
    assert "1 line without a labelled page left out" in shown.output
    assert "2 pages taken as not geographic: no node and no one place is called 'Bostn, MA' 2" in shown.output
    counts = json.loads(CliRunner().invoke(app, [*options, "--json"]).output)
    assert (counts["unknown_labels"], counts["skipped_lines"]) == ({"Bostn, MA": 2}, 1)


def test_a_model_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(train_command)
    command = (tmp_path / "no.tsv", "--targets", tmp_path / "no.toml", "-o")  # neither is there: they come later
    assert refused(app, *command, tmp_path / "a" / "m.npz").endswith(f"m.npz: there is no folder {tmp_path / 'a'}")
    assert refused(app, *command, tmp_path) == f"{tmp_path} is a folder, not a file; name a file to write"


# -- nodes plan --------------------------------------------------------------------------------------


def planned(folder: Path, places: list[str], *options: object) -> dict[str, Any]:
    """The nodes that `nodes plan` proposes for what one node owns; they can be read again."""
    file = folder / "targets.toml"
    file.write_text(f"[nodes.all]\nplaces = {json.dumps(places)}\n[nodes.general]\n")
    result = CliRunner().invoke(nodes_app, ["--targets", str(file), *map(str, options)])
    assert result.exit_code == 0, (result.exception, result.output)
    nodes: dict[str, Any] = tomllib.loads(result.output)["nodes"]
    Ownership.of({name: NodeSettings(**node) for name, node in nodes.items()}, open_gazetteer())
    assert nodes.pop("general") == {}
    return nodes


@pytest.mark.parametrize("by", ["population", "timezone"])
@pytest.mark.parametrize("places", [["all of TX"], ["time zone America/Denver"], ["all of VT", "Montpelier, VT"]])
def test_what_is_one_target_is_split_by_its_cities(tmp_path: Path, places: list[str], by: str) -> None:
    nodes = planned(tmp_path, places, "--nodes", 4, "--by", by)
    assert len(nodes) == 4
    assert all(len(node["places"]) > 1 for node in nodes.values())


def test_countries_stay_whole_where_there_are_enough(tmp_path: Path) -> None:
    nodes = planned(tmp_path, ["all of France", "all of Spain", "all of Portugal"], "--nodes", 3)
    assert sorted(len(node["places"]) for node in nodes.values()) == [1, 1, 1]


@pytest.mark.parametrize("by", ["population", "timezone"])
def test_what_lies_around_the_date_line_stays_together(tmp_path: Path, by: str) -> None:
    islands = [str(open_gazetteer().resolve(name).id) for name in ("Fiji", "Samoa", "Tonga", "Vanuatu")]
    nodes = planned(tmp_path, [*islands, "Nicaragua"], "--nodes", 2, "--by", by)
    assert sorted(islands) in [sorted(node["places"]) for node in nodes.values()]


def test_a_plan_names_its_places_beside_their_ids() -> None:
    result = CliRunner().invoke(nodes_app, ["--nodes", "2"])
    assert '"4930956",  # Boston, Massachusetts, US' in result.output


def test_a_polygon_without_its_word_is_told_it(tmp_path: Path) -> None:
    file = tmp_path / "targets.toml"
    file.write_text('[nodes.all]\nplaces = ["area.geojson"]\n[nodes.general]\n')
    assert '"polygon area.geojson"' in refused(nodes_app, "--targets", file, "--nodes", 2)


def test_what_cannot_be_split_is_said(tmp_path: Path) -> None:
    file = tmp_path / "targets.toml"
    file.write_text('[nodes.all]\nplaces = ["Boston, MA"]\n[nodes.general]\n')
    assert "--nodes 2: give 1 to 1" in refused(nodes_app, "--targets", file, "--nodes", 2)
    file.write_text("[nodes.general]\n")
    assert "nothing to split" in refused(nodes_app, "--targets", file, "--nodes", 2)
    assert "--by links needs --crawl DIR" in refused(nodes_app, "--nodes", 2, "--by", "links")
    assert "--crawl is for --by links" in refused(nodes_app, "--nodes", 2, "--crawl", tmp_path)


def test_links_are_balanced_however_many_places_have_none() -> None:
    gazetteer = open_gazetteer()
    cities = gazetteer.cities_of("US", "TX")[:400]
    westward = sorted(cities, key=lambda place: place.point.lon)
    links = {westward[0].id: 30, westward[60].id: 30}
    groups = plan_nodes(cities, 2, "links", zone_of=gazetteer.timezone, links=links)
    assert [sum(links.get(place.id, 0) for place in group) for group in groups] == [30, 30]
