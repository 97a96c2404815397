"""The API's contract: its OpenAPI document, fuzzed; ETags, rate limit, CORS, jobs and metrics."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from http_client import get
from hypothesis import HealthCheck, Phase, given, settings
from running_server import running_server
from sample_collection import add_pages, build_collection, make_page
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from periplus.errors import UsageError
from periplus.search import Collection
from periplus.store.folder import CrawlFolder
from periplus.web.limits import MOST_VISITORS, RateLimit
from periplus.web.openapi import OPERATIONS, TASK_OPERATIONS, Operation, document
from periplus.web.server import serve

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tmp_path_factory.mktemp("contract") / "crawl").path


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    results = tmp_path_factory.mktemp("results") / "six-cities"
    results.mkdir()
    (results / "results.json").write_text('{"about": {"pages": 9}, "strategies": {"url": {"pages": 9}}}')
    home = tmp_path_factory.mktemp("home")
    with running_server(folder, tasks=home, comparisons=[results]) as address:
        yield address


# -- The document and the answers agree ------------------------------------------------------------


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
SCHEMA = schemathesis.openapi.from_dict(document(token=False, tasks=True))
ALL = [*OPERATIONS, *(operation for operation in TASK_OPERATIONS if operation.name != "events")]
"""All operations but the stream, which does not end by itself."""

PARAMETERS = [
    operation for operation in ALL if (operation.parameters or operation.body) and operation.name != "comparison"
]


def fuzz(server: str, operation: Operation, mode: GenerationMode, session: requests.Session) -> None:
    strategy = SCHEMA[operation.path][operation.method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=EXAMPLES if operation in OPERATIONS else EXAMPLES // 5,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def run(case: schemathesis.Case[Any]) -> None:
        response = case.call(base_url=server, session=session, timeout=20)
        case.validate_response(response, checks=CHECKS)

    run()


@pytest.mark.parametrize("operation", ALL, ids=lambda operation: operation.name)
def test_every_operation_keeps_its_promises(server: str, operation: Operation) -> None:
    with requests.Session() as session:
        fuzz(server, operation, GenerationMode.POSITIVE, session)


@pytest.mark.parametrize("operation", PARAMETERS, ids=lambda operation: operation.name)
def test_what_the_document_forbids_is_refused(server: str, operation: Operation) -> None:
    with requests.Session() as session:
        fuzz(server, operation, GenerationMode.NEGATIVE, session)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_other_methods_are_refused(server: str, operation: Operation, method: str) -> None:
    answer = get(server, operation.path.format(node="east", page="1", result="x"), method=method)
    assert (answer.status, answer.json["status"], answer.headers["allow"]) == (405, 405, "GET, HEAD")


def test_the_document_names_every_operation(server: str) -> None:
    document = get(server, "/api/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {operation.path for operation in (*OPERATIONS, *TASK_OPERATIONS)}
    assert "security" not in document
    for path in document["paths"].values():
        for operation in path.values():
            assert {"200", "400", "401", "429"} <= operation["responses"].keys()


# -- ETags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/search?q=pizza", "/api/trend?q=pizza", "/api/facets?q=x", "/api/info"])
def test_an_answer_that_is_known_is_not_sent_again(server: str, path: str) -> None:
    first = get(server, path)
    assert first.status == 200
    again = get(server, path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = get(server, path, headers={"If-None-Match": 'W/"something else"'})
    assert other.status == 200
    assert get(server, f"{path}&since=2025" if "?" in path else "/api/suggest").headers["etag"] != first.headers["etag"]


def test_an_etag_ends_with_what_it_stands_for(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    with Collection.open([crawl.path]) as collection:
        before = collection.version
        assert not collection.refresh()
        assert collection.version == before
        add_pages(crawl.node("a").database, [make_page(2)])
        collection.refresh()
        assert collection.version != before


@pytest.mark.parametrize("path", ["/api/search?q=pizza", "/api/points?q=pizza", "/api/info"])
def test_a_part_of_an_answer_is_not_kept(server: str, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    assert "etag" in get(server, path).headers
    monkeypatch.setattr(Collection, "missing", property(lambda _: ("west",)))
    part = get(server, path)
    assert part.status == 200
    assert "etag" not in part.headers
    assert part.headers["cache-control"] == "no-store"


def test_errors_have_no_etag(server: str) -> None:
    assert "etag" not in get(server, "/api/search?limit=0").headers


# -- Rate limit ------------------------------------------------------------------------------------


def test_a_visitor_who_asks_too_much_must_wait(folder: Path) -> None:
    with running_server(folder, rate=2.0) as address:
        answers = [get(address, "/api/suggest?q=por") for _ in range(12)]
        assert [answer.status for answer in answers[:4]] == [200] * 4
        refused = [answer for answer in answers if answer.status == 429]
        assert refused
        assert refused[0].json["ok"] is False
        assert int(refused[0].headers["retry-after"]) >= 1


def test_buckets_fill_again_and_are_kept_apart() -> None:
    now = [0.0]
    limit = RateLimit(10.0, clock=lambda: now[0])
    assert [limit.wait("a") for _ in range(20)] == [0.0] * 20
    assert limit.wait("a") == pytest.approx(0.1)
    assert limit.wait("b") == 0.0
    now[0] = 0.15
    assert limit.wait("a") == 0.0
    assert limit.wait("a") > 0.0
    for visitor in range(3 * MOST_VISITORS):
        limit.wait(f"v{visitor}")
    assert len(limit._visitors) <= MOST_VISITORS
    assert RateLimit(0.0).wait("a") == 0.0


# -- CORS ------------------------------------------------------------------------------------------


def test_other_sites_may_not_ask_unless_told(server: str, folder: Path) -> None:
    plain = get(server, "/api/info", headers={"Origin": "https://maps.example"})
    assert not [name for name in plain.headers if name.startswith("access-control")]
    with running_server(folder, origins=("https://maps.example",), token="long enough") as address:
        allowed = get(
            address, "/api/info", headers={"Origin": "https://maps.example", "Authorization": "Bearer long enough"}
        )
        assert allowed.headers["access-control-allow-origin"] == "https://maps.example"
        assert "origin" in allowed.headers["vary"].lower()
        preflight = get(address, "/api/info", method="OPTIONS", headers={"Origin": "https://maps.example"})
        assert preflight.status == 204
        assert "authorization" in preflight.headers["access-control-allow-headers"]
        stranger = get(address, "/api/info", headers={"Origin": "https://evil.example"})
        assert stranger.status == 401
        assert "access-control-allow-origin" not in stranger.headers
        assert get(address, "/api/openapi.json", headers={"Authorization": "Bearer long enough"}).json["security"]


@pytest.mark.parametrize("origin", ["*", "example.org", "https://a.example/path", "null"])
def test_origins_are_checked(folder: Path, origin: str) -> None:
    with pytest.raises(UsageError, match="is no origin"):
        serve([folder], port=0, origins=[origin])
    with pytest.raises(UsageError, match="--rate"):
        serve([folder], port=0, rate=-1.0)


# -- Jobs, metrics, facets, nearby -----------------------------------------------------------------


def test_jobs_say_how_far_they_are_and_whether_they_run(server: str, folder: Path) -> None:
    (job,) = get(server, "/api/jobs").json["jobs"]
    assert (job["name"], job["kept"], job["running"]) == ("sample", 84, False)
    assert [node["node"] for node in job["nodes"]] == ["east", "west"]
    assert str(folder) not in get(server, "/api/jobs").body.decode()
    with CrawlFolder(folder).locked():
        assert get(server, "/api/jobs").json["jobs"][0]["running"] is True
    assert get(server, "/api/jobs").json["jobs"][0]["running"] is False


def test_metrics_are_what_prometheus_reads(server: str) -> None:
    get(server, "/api/search?q=pizza")
    answer = get(server, "/api/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    assert "periplus_search_pages 84" in lines
    assert any(line.startswith('periplus_http_requests_total{operation="search"}') for line in lines)


def test_facets_and_nearby(server: str) -> None:
    answer = get(server, "/api/facets?q=inclass:food").json
    assert answer["facets"]["dates"] == [{"name": "2026", "count": 28}, {"name": "2025", "count": 1}]
    assert {facet["name"] for facet in answer["facets"]["places"]} >= {"Europe", "North America"}
    hit = get(server, "/api/search?q=lobster").json["hits"][0]
    near = get(server, f"/api/nearby/{hit['node']}/{hit['page']}").json
    assert [page["place"] for page in near["nearby"]] == ["Lisbon, New Hampshire, United States"]
    assert get(server, "/api/nearby/east/999999").status == 404
