"""What can be wrong with TLS is one outcome, and a crawl that verifies takes none of it."""

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from raw_server import http

from periplus.clock import SystemClock
from periplus.errors import TlsError, TooSlow
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings


class Certificate(NamedTuple):
    """Files of a certificate and its key."""

    certificate: Path
    key: Path


def signed(folder: Path, name: str, *options: str) -> Certificate:
    """A certificate that has signed itself."""
    made = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", *options]
    command += ["-addext", f"subjectAltName=DNS:{name}", "-keyout", str(made.key), "-out", str(made.certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def expired(folder: Path) -> Certificate:
    """A certificate of January 2020; only `openssl ca` lets one choose the days."""
    fresh = signed(folder, "site.test", "-days", "2")
    (folder / "index").touch()
    (folder / "ca.conf").write_text(
        f"""
[ca]
default_ca = here
[here]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
[names]
subjectAltName = DNS:site.test
""",
        "utf-8",
    )
    made = Certificate(folder / "old.crt", fresh.key)
    request = [
        "openssl",
        "req",
        "-new",
        "-key",
        str(fresh.key),
        "-subj",
        "/CN=site.test",
        "-out",
        str(folder / "old.csr"),
    ]
    sign = [
        "openssl",
        "ca",
        "-batch",
        "-selfsign",
        "-notext",
        "-config",
        str(folder / "ca.conf"),
        "-extensions",
        "names",
    ]
    sign += ["-keyfile", str(fresh.key), "-in", str(folder / "old.csr"), "-out", str(made.certificate)]
    sign += ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"]
    for command in (request, sign):
        subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return signed(tmp_path_factory.mktemp("tls"), "site.test", "-days", "2")


def ask(url: str, served: Certificate, *, context: ssl.SSLContext | None = None, stalls: bool = False) -> Fetched:
    """Ask a server with a certificate; with `stalls` it never says hello."""
    context = context or ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*served)

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError):
            if stalls:
                await left.wait()
                return
            writer.write(http(b"<p>Hello"))
            await writer.drain()

    async def run() -> Fetched:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        async with await asyncio.start_server(greet, "127.0.0.1", 0, ssl=None if stalls else context) as server:
            table = {"*.test": f"127.0.0.1:{server.sockets[0].getsockname()[1]}"}
            options = FetchSettings(total_seconds=0.5 if stalls else 20.0)
            try:
                async with Transport(options, Resolver(table, guard, clock), guard, clock, agent="P/t") as transport:
                    return await transport.get(url)
            finally:
                left.set()
                await asyncio.sleep(0)

    left = asyncio.Event()
    return asyncio.run(run())


def ask_refusing(url: str, served: Certificate, context: ssl.SSLContext) -> Fetched:
    """Ask a server whose handshake fails and which says so as servers do: an alert, then the end of the connection."""
    context.load_cert_chain(*served)

    def refuse(listening: socket.socket) -> None:
        plain, _ = listening.accept()
        with context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as one:
            with contextlib.suppress(ssl.SSLError):
                one.do_handshake()
            one.shutdown(socket.SHUT_WR)
            while one.recv(4096):
                pass

    async def run(port: int) -> Fetched:
        guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
        table = {"*.test": f"127.0.0.1:{port}"}
        async with Transport(FetchSettings(), Resolver(table, guard, clock), guard, clock, agent="P/t") as transport:
            return await transport.get(url)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=refuse, args=(listening,))
        server.start()
        try:
            return asyncio.run(run(listening.getsockname()[1]))
        finally:
            server.join()


@pytest.mark.needs("openssl")
def test_H9_what_is_wrong_with_a_certificate_is_a_tls_error(
    good: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate of site.test is trusted here, so everything else about it can be wrong one by one."""
    monkeypatch.setenv("SSL_CERT_FILE", str(good.certificate))
    assert ask("https://site.test/", good).body == b"<p>Hello"
    with pytest.raises(TlsError, match=r"^https://other\.test/: TLS failed: Hostname mismatch, [^()]*$"):
        ask("https://other.test/", good)  # of another host
    stranger = signed(tmp_path, "site.test", "-days", "2")
    with pytest.raises(TlsError):
        ask("https://site.test/", stranger)  # of nobody that is trusted
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asking.verify_mode = ssl.CERT_REQUIRED  # wants to see ours
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        asking.minimum_version = ssl.TLSVersion.TLSv1_2
        asking.maximum_version = version
        with pytest.raises(TlsError, match=r"(?i)alert"):
            ask_refusing("https://site.test/", good, asking)


@pytest.mark.needs("openssl")
def test_H9_old_tls_is_an_error_and_the_name_is_told_to_who_asks_for_it(
    good: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(good.certificate))
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1
    with pytest.raises(TlsError, match=r"(?i)alert"):
        ask_refusing("https://site.test/", good, old)
    told: list[str | None] = []

    def picky(_socket: object, name: str | None, _context: object) -> int | None:
        told.append(name)
        return None if name == "site.test" else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    wants_name = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    wants_name.sni_callback = picky
    assert ask("https://site.test/", good, context=wants_name).body == b"<p>Hello"
    assert told == ["site.test"]


@pytest.mark.needs("openssl")
def test_H9_a_certificate_that_has_expired_is_a_tls_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = expired(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(old.certificate))
    with pytest.raises(TlsError, match=r"^https://site\.test/: TLS failed: certificate has expired$"):
        ask("https://site.test/", old)


@pytest.mark.needs("openssl")
def test_H3_a_handshake_that_stalls_ends_at_the_deadline(good: Certificate) -> None:
    with pytest.raises(TooSlow):
        ask("https://site.test/", good, stalls=True)
