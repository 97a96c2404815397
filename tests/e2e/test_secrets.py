"""Passwords, tokens and keys of URLs, jobs and headers never reach logs, summaries, errors, databases or the screen."""

import asyncio
import re
from pathlib import Path

from command_line import periplus
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_server import http, serve

from periplus.clock import SystemClock
from periplus.errors import FetchError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.settings import FetchSettings
from periplus.urls import canonicalize

SECRET = "s3cr3t-Zq9"


@settings(max_examples=examples(100), deadline=None)
@given(
    user=st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=12),
    password=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12),
    path=st.text(st.characters(codec="ascii", categories=("L", "N")), max_size=8),
)
def test_Z3_user_and_password_do_not_survive_the_canonical_form(user: str, password: str, path: str) -> None:
    """Everything that is logged or stored is a canonical URL; so what it has not cannot leak."""
    secret = re.sub(r"[@/?#\\\[\]:]", "x", password)
    url = canonicalize(f"http://{user}QQ:{secret}QQ@example.com/{path}")
    if url is not None:
        assert url.href == f"http://example.com/{path}"


@settings(max_examples=examples(60), deadline=None)
@given(
    scheme=st.sampled_from(["http", "https", "HTTP", "ftp", "file", "nats", "http:/", "gopher"]),
    user=st.text(st.characters(codec="ascii", categories=("L", "N", "P"), exclude_characters="/?#\\"), max_size=8),
    rest=st.sampled_from(["127.0.0.1:9/x", "10.0.0.1/", "site.test:22/", "site.test:9/a?b=c#d", "[::1]/", "a b/", ""]),
    how=st.sampled_from(["get", "post", "head"]),
)
def test_Z3_no_error_of_the_way_out_repeats_a_password(scheme: str, user: str, rest: str, how: str) -> None:
    """Whatever is wrong with a URL or behind it: its scheme, address, port, name, or that nobody is there."""

    async def run() -> str:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        resolver = Resolver({"site.test": "127.0.0.1:9"}, guard, clock)
        options = FetchSettings(ports=(80, 443, 9), tls_verify=False)  # to read all certificates takes its time
        async with Transport(options, resolver, guard, clock, agent="P/t") as transport:
            url = f"{scheme}://{user}:{SECRET}@{rest}"
            try:
                if how == "post":
                    await transport.post(url, b"{}", content_type="application/json")
                else:
                    await (transport.get(url) if how == "get" else transport.head(url))
            except FetchError as error:
                return str(error)
        raise AssertionError("nobody listens there")

    assert SECRET not in asyncio.run(run())


def test_Z3_no_secret_of_a_url_or_a_job_reaches_logs_and_errors(tmp_path: Path) -> None:
    """Seeds, links, redirects, headers and a proxy with passwords: afterwards nothing in the folder knows them."""

    async def reply(path: str, writer: asyncio.StreamWriter) -> None:
        body = (
            f'<p>x <a href="http://bob:{SECRET}@site.test/linked">link</a> <a href="//x:{SECRET}@gone.test:22/">y</a>'
        )
        if path == "/moved":
            writer.write(http(b"", f"Location: http://eve:{SECRET}@site.test/target", status="302 Found"))
        elif path == "/robots.txt":
            writer.write(http(b"", status="404 Not Found"))
        elif path == "/broken":
            writer.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: " + SECRET.encode() + b"\0\r\n\r\n")
        else:
            writer.write(http(body.encode(), "Content-Type: text/html"))

    async def run() -> str:
        async with serve(reply) as log:
            job = tmp_path / "job.toml"
            job.write_text(
                f"""
seeds = ["http://ann:{SECRET}@site.test/", "http://ann:{SECRET}@site.test/moved", "http://site.test/broken"]
[crawl]
keep = "all"
workers = 1
retries = 0
delay_seconds = 0.0
allow_private = ["127.0.0.0/8"]
resolve = {{ "site.test" = "127.0.0.1:{log.port}" }}
[run]
log = "pages"
[archive]
disk_reserve_bytes = 0
""",
                "utf-8",
            )
            done = await asyncio.to_thread(periplus, "crawl", job, "--out", tmp_path / "crawl", "--json")
            assert done.code == 0, done.err
            assert not any(SECRET.encode() in request for request in log.requests)
            assert len(log.requests) >= 5
            return done.out + done.err

    assert SECRET not in asyncio.run(run())
    kept = [path for path in (tmp_path / "crawl").rglob("*") if path.is_file()]
    # The job as the operator wrote it is kept beside its results; texts are compressed, so pages are looked at apart.
    assert not [path for path in kept if path.name != "crawl.toml" and SECRET.encode() in path.read_bytes()]


def test_Z3_errors_about_a_job_repeat_no_password(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    for seed in (f"http://ann:{SECRET}@10.0.0.1:99/", f"ftp://ann:{SECRET}@site.test/"):
        job.write_text(f'seeds = ["{seed}"]\n', "utf-8")
        done = periplus("crawl", job, "--out", tmp_path / "crawl")
        assert done.code == 2
        assert SECRET not in done.out + done.err
    done = periplus("cluster", "status", "x", "--cluster", f"http://ann:{SECRET}@127.0.0.1:1")
    assert done.code == 2
    assert SECRET not in done.out + done.err
