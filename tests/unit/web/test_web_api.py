"""The HTTP API: answers, one error shape, and the guard before them."""

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from http_client import get
from running_server import running_server
from sample_collection import build_collection, make_page

from periplus.errors import NotACrawl, PortTaken, UsageError
from periplus.web.guard import is_loopback
from periplus.web.server import serve


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tmp_path_factory.mktemp("web") / "crawl").path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with running_server(folder) as address:
        yield address


def test_search_answers(server: str) -> None:
    answer = get(server, "/api/search?q=pizza+in+Lisbon&limit=3")
    assert answer.status == 200
    assert answer.json["total"] == 24
    assert len(answer.json["hits"]) == 3
    assert answer.json["query"]["where"][0]["name"] == "Lisbon"


def test_every_address_answers(server: str) -> None:
    assert get(server, "/api/info").json["pages"] == 84
    assert get(server, "/api/trend?q=pizza&every=year").json["buckets"] == [{"start": "2026-01-01", "count": 25}]
    points = get(server, "/api/points?q=pizza").json["points"]
    assert {point["label"] for point in points} == {
        "Lisbon, Lisbon District, Portugal",
        "Lisbon, New Hampshire, United States",
    }
    suggested = get(server, "/api/suggest?q=por").json["places"]
    assert [place["name"] for place in suggested] == ["Portugal", "Portland", "Porto", "Portland", "Porto District"]
    hit = get(server, "/api/search?q=pizza&limit=1").json["hits"][0]
    page = get(server, f"/api/page/{hit['node']}/{hit['page']}?q=pizza").json
    assert page["url"] == hit["url"]
    start, end, kind, _ = next(mark for mark in page["marks"] if mark[2] == "what")
    assert page["text"][start:end].lower() == "pizza"
    assert kind == "what"


WRONG = [
    ("/api/search?q=" + "x" * 5000, 400),
    ("/api/search?limit=0", 400),
    ("/api/search?limit=ten", 400),
    ("/api/search?limit=99999999999999999999", 400),
    ("/api/search?offset=999999999", 400),
    ("/api/search?bbox=nan,0,1,1", 400),
    ("/api/search?bbox=9,9", 400),
    ("/api/search?since=2026-02-31", 400),
    ("/api/search?place=nowhere-at-all", 400),
    ("/api/search?q=a&q=b", 400),
    ("/api/search?colour=red", 400),
    ("/api/trend?every=century", 400),
    ("/api/page/east/999999", 404),
    ("/api/page/east/99999999999999999999999", 404),
    ("/api/page/..%2f..%2fetc/1", 404),
    ("/api/nothing", 404),
    ("/nothing", 404),
    ("/assets/../../server.py", 404),
    ("/assets/%2e%2e/%2e%2e/server.py", 404),
]


@pytest.mark.parametrize(("path", "status"), WRONG)
def test_errors_have_one_shape(server: str, path: str, status: int) -> None:
    answer = get(server, path)
    assert answer.status == status
    assert set(answer.json) == {"ok", "error", "status"}
    assert answer.json["ok"] is False
    assert answer.json["status"] == status


@pytest.mark.parametrize("text", ['"', "((((", "\x00", "%", "é" * 300, "near:x", "place:", "-place:x", "💥" * 200])
def test_odd_text_is_never_a_server_error(server: str, text: str) -> None:
    for address in ("search", "trend", "points", "suggest"):
        assert get(server, f"/api/{address}?q={quote(text)}").status in (200, 400)


def test_a_huge_address_is_refused(server: str) -> None:
    with contextlib.suppress(ConnectionError):  # the server may hang up before all of it is sent
        assert get(server, "/api/search?q=" + "x" * 2**20).status in (400, 414, 431)
    assert get(server, "/api/info").status == 200


@pytest.mark.parametrize("path", ["/api/info", "/api/nothing", "/"])
def test_safety_headers_are_everywhere(server: str, path: str) -> None:
    headers = get(server, path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_X5_what_was_crawled_is_never_served_as_a_document(tmp_path: Path) -> None:
    """Whoever opens the address of a page, its record or an export in a browser gets nothing that it would run."""
    attack = "<html><script>alert(1)</script>"
    page = make_page(1, title=attack, text=f"{attack} bayou")
    with running_server(build_collection(tmp_path / "crawl", [page], nodes=("a",)).path) as address:
        hit = get(address, "/api/search?q=bayou").json["hits"][0]
        assert hit["title"] == attack
        one = f"/api/page/{hit['node']}/{hit['page']}"
        exports = [f"/api/export?to={form}&q=bayou" for form in ("geojson", "csv", "gpkg", "geoparquet")]
        for path in ("/api/search?q=bayou", one, f"{one}/details", f"{one}/record", "/api/suggest?q=ba", *exports):
            answer = get(address, path)
            assert "html" not in answer.headers["content-type"], path
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "'unsafe-inline'" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "127.0.0.2"])
def test_other_host_names_are_misdirected(server: str, host: str) -> None:
    answer = get(server, "/api/info", headers={"Host": host})
    assert answer.status == 421
    assert b"pages" not in answer.body


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1"])
def test_our_own_names_are_answered(server: str, host: str) -> None:
    assert get(server, "/api/info", headers={"Host": host}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(server: str, method: str) -> None:
    assert get(server, "/api/info", method=method).status == 405


def test_a_token_is_asked_for(folder: Path) -> None:
    with running_server(folder, token="correct horse") as address:
        assert get(address, "/api/info").status == 401
        assert get(address, "/api/info?token=wrong").status == 401
        assert get(address, "/api/info", headers={"Authorization": "Bearer correct horse"}).status == 200
        welcome = get(address, "/?token=correct%20horse")
        assert welcome.status == 303
        assert welcome.headers["location"] == "/"
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert get(address, "/api/info", headers={"Cookie": cookie.split(";")[0]}).status == 200
        for asked, shown in (
            ("/?q=a%26b&place=&token=correct+horse", "/?q=a%26b&place="),
            ("/api/info?token=correct+horse", "/api/info"),
            ("//evil.example/?token=correct+horse", "/evil.example/"),
        ):
            assert get(address, asked).headers["location"] == shown, "the rest of the address stays as it was"
        assert get(address, "/api/info?" + "&".join("abc" for _ in range(200))).status == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_the_open_network_needs_a_token(folder: Path, host: str) -> None:
    with pytest.raises(UsageError, match="--token"):
        serve([folder], host=host, port=0)
    with pytest.raises(UsageError, match="too short"):
        serve([folder], host=host, port=0, token="x")


def test_a_busy_port_is_one_line(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is taken"):
            serve([folder], port=port)


def test_a_folder_that_is_no_crawl(tmp_path: Path) -> None:
    with pytest.raises(NotACrawl):
        serve([tmp_path], port=0)


def test_interrupted_it_ends_cleanly(folder: Path) -> None:
    code = "import sys; from periplus.web.server import serve; serve([sys.argv[1]], port=0)"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("Periplus is at http://127.0.0.1:")
        address = line.split()[3].rstrip("/")
        assert get(address, "/api/info").status == 200
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_an_empty_collection_answers(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl", [], nodes=("a",))
    with running_server(folder.path) as address:
        assert get(address, "/api/info").json["pages"] == 0
        assert get(address, "/api/search?q=pizza+in+Lisbon").json["total"] == 0
        assert get(address, "/api/trend").json["buckets"] == []


def test_loopback_names() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", ""]))
