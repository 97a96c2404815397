"""Being let in by NATS, or not, in every way that the settings have: each with a real server that asks for it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import nkeys
import pytest
from crawl_values import new_url
from nats_identity import certificates, credentials, new_key
from nats_server import nats_leaf, nats_server

from periplus.errors import ConfigError, EnvironmentFailure
from periplus.exchange import Shipment, connection
from periplus.exchange.connection import connected
from periplus.exchange.nats import NatsExchange
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")


async def carried(here: ClusterSettings, there: ClusterSettings, crawl: str) -> list[Shipment]:
    """A link from node a, connected one way, to node b, connected another way."""
    async with connected(here, name="a") as one, connected(there, name="b") as two:
        sender, receiver = NatsExchange(one, crawl, here), NatsExchange(two, crawl, there)
        for exchange, node in ((sender, "a"), (receiver, "b")):
            await exchange.open_stream()
            await exchange.open(node, "g1", {}, {})
        sender.post("a", "b", 1, new_url("http://x.com/1"))
        async with asyncio.timeout(20):
            while not (shipments := receiver.collect("b")):  # noqa: ASYNC110  (it comes from the server)
                await asyncio.sleep(0.01)
            receiver.confirm("a.g1", "b", 1)
            while not sender.tail("a", "b"):
                await receiver.tell()
                await asyncio.sleep(0.01)
        await sender.close()
        await receiver.close()
        return shipments


def let_in(settings: ClusterSettings) -> bool:
    return bool(asyncio.run(carried(settings, settings, "identity")))


def as_one(nobody: ClusterSettings, identity: dict[str, str], folder: Path) -> ClusterSettings:
    """The settings of somebody who says to be that one."""
    given = {key: value if key == "user" else str(folder / value) for key, value in identity.items()}
    return msgspec.structs.replace(nobody, **given)


def by_password(folder: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    (folder / "right").write_text("open sesame\n")
    (folder / "wrong").write_text("open barley\n")
    config = 'authorization { user: periplus, password: "open sesame" }\n'
    user = {"user": "periplus"}
    return config, user | {"password_file": "right"}, user | {"password_file": "wrong"}


def by_token(folder: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    (folder / "right").write_text("t0ken\n")
    (folder / "wrong").write_text("t1ken\n")
    return "authorization { token: t0ken }\n", {"token_file": "right"}, {"token_file": "wrong"}


def by_nkey(folder: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    right, wrong = new_key(nkeys.PREFIX_BYTE_USER), new_key(nkeys.PREFIX_BYTE_USER)
    (folder / "right").write_bytes(right.seed)
    (folder / "wrong").write_bytes(wrong.seed)
    config = f"authorization {{ users: [ {{ nkey: {right.public_key.decode()} }} ] }}\n"
    return config, {"nkey_file": "right"}, {"nkey_file": "wrong"}


def by_credentials(folder: Path) -> tuple[str, dict[str, str], dict[str, str]]:
    credentials(folder / "wrong")
    return credentials(folder / "right"), {"credentials_file": "right"}, {"credentials_file": "wrong"}


@pytest.mark.parametrize("way", [by_password, by_token, by_nkey, by_credentials])
def test_who_is_known_is_let_in_and_nobody_else(
    way: Callable[[Path], tuple[str, dict[str, str], dict[str, str]]], tmp_path: Path
) -> None:
    config, right, wrong = way(tmp_path)
    with nats_server(config) as server:
        nobody = ClusterSettings(servers=[server.url], linger_seconds=0.0)
        assert let_in(as_one(nobody, right, tmp_path))
        for stranger in (nobody, as_one(nobody, wrong, tmp_path)):
            with pytest.raises(EnvironmentFailure, match="does not let us in") as refused:
                let_in(stranger)
            assert "sesame" not in str(refused.value)
            assert "barley" not in str(refused.value)


@pytest.mark.needs("openssl")
def test_tls_both_ways(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    certificates(tmp_path)
    files = {name: str(tmp_path / name) for name in ("ca.pem", "server.pem", "server.key")}
    config = (
        f'tls {{ cert_file: "{files["server.pem"]}", key_file: "{files["server.key"]}", ca_file: "{files["ca.pem"]}", '
        "verify: true }\n"
    )
    with nats_server(config) as server:
        known = ClusterSettings(
            servers=[server.url.replace("nats://", "tls://")],
            linger_seconds=0.0,
            tls_ca=files["ca.pem"],
            tls_certificate=str(tmp_path / "client.pem"),
            tls_key=str(tmp_path / "client.key"),
        )
        assert let_in(known)
        assert "eof_received" not in caplog.text, "who uses TLS hears nothing of how connections end"
        with pytest.raises(EnvironmentFailure, match=r"TLS failed \(unable to get local issuer.*cluster\.tls_ca"):
            let_in(msgspec.structs.replace(known, tls_ca=str(tmp_path / "other.pem")))
        with pytest.raises(EnvironmentFailure):
            let_in(msgspec.structs.replace(known, tls_certificate="", tls_key=""))
        with pytest.raises(ConfigError, match=r"cluster\.tls_ca"):
            let_in(msgspec.structs.replace(known, tls_ca=str(tmp_path / "absent.pem")))


def test_links_come_through_a_leaf_node() -> None:
    with nats_leaf() as (hub, leaf):
        settings = [
            ClusterSettings(servers=[server.url], linger_seconds=0.0, domain=domain)
            for server, domain in ((hub, ""), (leaf, "hub"))
        ]
        (there,) = asyncio.run(carried(settings[0], settings[1], "out"))
        (back,) = asyncio.run(carried(settings[1], settings[0], "back"))
    assert [url.url for url in (*there.urls, *back.urls)] == ["http://x.com/1"] * 2


def test_a_server_without_jetstream_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only servers that may still find a leader are waited for."""
    monkeypatch.setattr(connection, "JETSTREAM_SECONDS", 3_600.0)

    async def try_it(url: str) -> None:
        async with asyncio.timeout(60), connected(ClusterSettings(servers=[url]), name="a"):
            raise AssertionError("it has no JetStream")

    with nats_leaf() as (_, leaf), pytest.raises(EnvironmentFailure, match=r"without JetStream; .* cluster\.domain"):
        asyncio.run(try_it(leaf.url))


def test_a_domain_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "JETSTREAM_SECONDS", 0.0)

    async def try_it(url: str) -> None:
        async with connected(ClusterSettings(servers=[url], domain="hbu"), name="a"):
            raise AssertionError("there is no such domain")

    with nats_leaf() as (_, leaf), pytest.raises(EnvironmentFailure, match=r"JetStream does not answer .* 'hbu'"):
        asyncio.run(try_it(leaf.url))
