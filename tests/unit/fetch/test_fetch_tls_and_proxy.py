"""Certificates are checked, and a proxy is used only if a job names one."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest
from raw_server import http, serve

from periplus.clock import SystemClock
from periplus.errors import Blocked, TlsError
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings

ANSWER = http(b"<p>Hello", "Content-Type: text/html")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for site.test that nobody but itself has signed, with its key."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=site.test"]
    command += ["-addext", "subjectAltName=DNS:site.test", "-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text("ascii") + path.with_suffix(".crt").read_text("ascii"), "ascii")
    return path


def ask(certificate: Path, url: str, **settings: object) -> Fetched:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER)
        writer.close()

    async def run() -> Fetched:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(greet, "127.0.0.1", 0, ssl=context) as server:
            port = server.sockets[0].getsockname()[1]
            resolver = Resolver({"*.test": f"127.0.0.1:{port}"}, guard, clock)
            options = FetchSettings(**settings)  # type: ignore[arg-type]  # free choice
            async with Transport(options, resolver, guard, clock, agent="Periplus/t") as transport:
                return await transport.get(url)

    return asyncio.run(run())


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("host", ["site.test", "other.test"])
def test_a_certificate_that_nobody_vouches_for_is_a_tls_error(certificate: Path, host: str) -> None:
    with pytest.raises(TlsError):
        ask(certificate, f"https://{host}/")


@pytest.mark.needs("openssl")
def test_certificates_are_taken_unchecked_only_if_a_job_says_so(certificate: Path) -> None:
    assert ask(certificate, "https://site.test/", tls_verify=False).body == b"<p>Hello"


def by_proxy(url: str) -> tuple[Fetched, list[str]]:
    """Fetch by a proxy on loopback, to which the guard would not let a page lead; and what the proxy was asked for."""

    async def run() -> tuple[Fetched, list[str]]:
        asked: list[str] = []

        async def reply(path: str, writer: asyncio.StreamWriter) -> None:
            asked.append(path)
            writer.write(ANSWER)

        async with serve(reply) as log:
            guard, clock = AddressGuard([]), SystemClock()
            resolver = Resolver({"site.test": "93.184.215.14:80", "inner.test": "10.0.0.1:80"}, guard, clock)
            options = FetchSettings(proxy=f"http://127.0.0.1:{log.port}")
            async with Transport(options, resolver, guard, clock, agent="Periplus/t") as transport:
                return await transport.get(url), asked

    return asyncio.run(run())


def test_a_proxy_that_the_job_names_is_asked_for_the_whole_url() -> None:
    answer, asked = by_proxy("http://site.test/page")
    assert answer.body == b"<p>Hello"
    assert asked == ["http://site.test/page"]


def test_what_the_guard_refuses_is_not_asked_of_a_proxy() -> None:
    with pytest.raises(Blocked):
        by_proxy("http://inner.test/")
