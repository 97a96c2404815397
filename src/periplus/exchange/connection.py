"""The connection to NATS: found, let in, and kept; or one line that says what is wrong and what to do."""

import asyncio
import contextlib
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from periplus.errors import ConfigError, EnvironmentFailure
from periplus.settings import ClusterSettings

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.client import JetStreamContext

__all__ = [
    "Temporary",
    "connected",
    "crawl_key",
    "give_way",
    "jetstream",
    "patiently",
    "said_by",
    "temporary_errors",
    "without_secrets",
]

CONNECT_SECONDS = 5
LEAST_PAYLOAD = 896 * 1024
"""The longest message, with its headers: an envelope of links."""
JETSTREAM_SECONDS = 20.0
PING_SECONDS = 4
RECONNECT_SECONDS = 0.2
HOW_TO_START = (
    "start one with `nats-server -js -sd DIR` (pip install 'periplus[nats-server]' brings the program; "
    "deploy/ has configurations)"
)

T = TypeVar("T")


class Temporary(EnvironmentFailure):
    """The server does not answer just now: it restarts, chooses a leader, or is out of reach."""


def without_secrets(server: str) -> str:
    """The address of a server without user and password."""
    parts = urlsplit(server if "://" in server else f"nats://{server}")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def crawl_key(name: str) -> str:
    """The name of a crawl as NATS takes it in subjects, streams and buckets."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")
    return key[:48] or "crawl"


def _import_nats() -> Any:
    try:
        import nats  # noqa: PLC0415  (an extra: only who runs a cluster needs it)
    except ImportError:
        raise EnvironmentFailure("a cluster needs the package nats-py: pip install 'periplus[cluster]'") from None
    return nats


@contextlib.asynccontextmanager
async def temporary_errors(what: str) -> AsyncIterator[None]:
    """Turn what nats-py says when the server does not answer into `Temporary`."""
    nats = _import_nats()
    import nats.js.errors as js  # noqa: PLC0415

    try:
        yield
    except js.KeyWrongLastSequenceError:
        raise
    except (TimeoutError, js.NoStreamResponseError, js.ServiceUnavailableError, js.ServerError) as error:
        said = getattr(error, "description", None)
        why = f"refuses it ({said})" if said else f"does not answer ({type(error).__name__})"
        raise Temporary(f"{what}: NATS {why}") from error
    except (
        nats.errors.ConnectionClosedError,
        nats.errors.ConnectionReconnectingError,
        nats.errors.OutboundBufferLimitError,
        nats.errors.NoRespondersError,
        nats.errors.StaleConnectionError,
        nats.errors.NoServersError,
        OSError,
    ) as error:
        raise Temporary(f"{what}: NATS is out of reach ({type(error).__name__})") from error


def said_by(error: BaseException) -> str:
    """What the server itself answered, where it refused something; empty if it was silent."""
    answer = error.__cause__ if isinstance(error, Temporary) else error
    return str(getattr(answer, "description", None) or "")


def _without_noise(record: logging.LogRecord) -> bool:
    """Whether a line of asyncio is worth a word: with TLS it warns of how nats-py ends every connection."""
    return "eof_received" not in str(record.msg)


def _secret(file: str, what: str) -> str:
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cluster.{what}: cannot read {file}: {error}") from None


def _identity(settings: ClusterSettings) -> dict[str, Any]:
    """Who we say we are, as nats-py takes it."""
    options: dict[str, Any] = {}
    if settings.user:
        options["user"] = settings.user
    if settings.password_file:
        options["password"] = _secret(settings.password_file, "password_file")
    if settings.token_file:
        options["token"] = _secret(settings.token_file, "token_file")
    if settings.nkey_file:
        options["nkeys_seed_str"] = _secret(settings.nkey_file, "nkey_file")
    if settings.credentials_file:
        _secret(settings.credentials_file, "credentials_file")
        options["user_credentials"] = settings.credentials_file
    if settings.tls_ca or settings.tls_certificate:
        try:
            context = ssl.create_default_context(cafile=settings.tls_ca or None)
            if settings.tls_certificate:
                context.load_cert_chain(settings.tls_certificate, settings.tls_key or None)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"cluster.tls_ca, tls_certificate, tls_key: {error}") from None
        options["tls"] = context
    return options


@contextlib.asynccontextmanager
async def connected(
    settings: ClusterSettings, *, name: str, on_event: Callable[[str], None] = lambda _: None
) -> AsyncIterator["Client"]:
    """A connection for the block, which comes back by itself when it is lost.

    EnvironmentFailure at once if no server answers or none lets us in; `on_event` hears of losses and returns.
    """
    nats = _import_nats()
    if not settings.servers:
        raise ConfigError("no NATS server is named: give --cluster nats://HOST:4222 or set cluster.servers")
    options = _identity(settings)
    logging.getLogger("asyncio").addFilter(_without_noise)
    await _probe(settings, options)

    async def quiet(_error: Exception) -> None:
        """nats-py prints tracebacks of every failed attempt otherwise."""

    async def lost() -> None:
        on_event("NATS lost")

    async def back() -> None:
        on_event("NATS back")

    client = await nats.connect(
        servers=settings.servers,
        name=f"periplus {name}",
        error_cb=quiet,
        disconnected_cb=lost,
        reconnected_cb=back,
        connect_timeout=CONNECT_SECONDS,
        ping_interval=PING_SECONDS,
        max_outstanding_pings=2,
        max_reconnect_attempts=-1,
        reconnect_time_wait=RECONNECT_SECONDS,
        **options,
    )
    try:
        if client.max_payload < LEAST_PAYLOAD:
            raise EnvironmentFailure(
                f"{without_secrets(settings.servers[0])}: takes messages of {client.max_payload:,} bytes at most; set "
                f"its max_payload to 1MB, which is NATS' own default"
            )
        await _jetstream_answers(client, settings)
        yield client
    finally:
        await _closed(client)


async def _probe(settings: ClusterSettings, options: dict[str, Any]) -> None:
    """Whether any server lets us in; later losses are waited out, but not the first."""
    nats = _import_nats()
    import nkeys  # noqa: PLC0415

    refused: BaseException | None = None
    for server in settings.servers:
        said: list[Exception] = []

        async def hear(error: Exception, heard: list[Exception] = said) -> None:
            heard.append(error)

        client = nats.NATS()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect(
                    servers=[server], error_cb=hear, allow_reconnect=False, connect_timeout=CONNECT_SECONDS, **options
                )
        except (nats.errors.Error, OSError, TimeoutError, ValueError, nkeys.NkeysError) as error:
            refused = next((one for one in said if isinstance(one, nats.errors.Error | OSError)), error)
        else:
            return
        finally:
            await _closed(client)
    shown = ", ".join(without_secrets(server) for server in settings.servers)
    if isinstance(refused, ssl.SSLError | nats.errors.SecureConnRequiredError | nats.errors.SecureConnFailedError):
        reason = getattr(refused, "verify_message", "") or refused
        raise EnvironmentFailure(f"{shown}: TLS failed ({reason}); see cluster.tls_ca") from None
    text = str(refused).casefold()
    if "authorization" in text or "credentials" in text or isinstance(refused, ValueError | nkeys.NkeysError):
        raise EnvironmentFailure(
            f"{shown}: NATS does not let us in ({refused}); check cluster.user and its password, token, nkey or "
            "credentials file"
        ) from None
    errno = refused.errno if isinstance(refused, OSError) else None
    why = os.strerror(errno) if errno else str(refused) or type(refused).__name__
    raise EnvironmentFailure(f"no NATS server answers at {shown} ({why}); {HOW_TO_START}") from None


async def _jetstream_answers(client: "Client", settings: ClusterSettings) -> None:
    """A cluster of servers takes some seconds to find its leader; one without JetStream never will."""
    import nats.js.errors as js  # noqa: PLC0415

    deadline = asyncio.get_running_loop().time() + JETSTREAM_SECONDS
    while True:
        try:
            async with temporary_errors("JetStream"):
                await jetstream(client, settings.domain, 2).account_info()
        except (Temporary, js.APIError) as error:
            never = getattr(error, "err_code", 0) in (10039, 10076) or _has_no_jetstream(client, settings)
            if never or asyncio.get_running_loop().time() > deadline:
                raise _without_jetstream(settings, said_by(error)) from None
            await asyncio.sleep(0.25)
        else:
            return


def _has_no_jetstream(client: "Client", settings: ClusterSettings) -> bool:
    """Whether the server says so itself, and that it is alone: others of a cluster may have it in a moment."""
    info = client._server_info
    alone = info.get("cluster") in (None, "", info.get("server_name"))
    return not settings.domain and not info.get("jetstream") and alone


def _without_jetstream(settings: ClusterSettings, said: str) -> EnvironmentFailure:
    shown, why = without_secrets(settings.servers[0]), f" ({said})" if said else ""
    if settings.domain:
        return EnvironmentFailure(
            f"{shown}: JetStream does not answer in the domain {settings.domain!r}{why}; check cluster.domain, and "
            "that the servers behind this one run"
        )
    return EnvironmentFailure(
        f"{shown}: NATS runs without JetStream{why}; {HOW_TO_START}; for a leaf node set cluster.domain"
    )


async def _closed(client: "Client") -> None:
    with contextlib.suppress(TimeoutError, OSError, ConnectionError):
        async with asyncio.timeout(2):
            await client.close()


def jetstream(client: "Client", domain: str, seconds: float) -> "JetStreamContext":
    """JetStream as it is reached from here: of the servers themselves, or of a domain behind a leaf node."""
    return client.jetstream(timeout=seconds, **({"domain": domain} if domain else {}))


def give_way() -> None:
    """End a task that is being cancelled: nats-py may have taken the cancellation for a timeout of its own."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def patiently(what: Callable[[], Awaitable[T]], *, tries: int = 30) -> T:
    """What `what` gives, tried again with growing pauses while the server does not answer."""
    pause = 0.1
    for left in range(tries, 0, -1):
        try:
            return await what()
        except Temporary:
            give_way()
            if left == 1:
                raise
            await asyncio.sleep(pause)
            pause = min(2.0, pause * 1.5)
    raise Temporary("NATS does not answer")
