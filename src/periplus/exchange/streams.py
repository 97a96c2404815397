"""The streams of a crawl in NATS: the one of its links is made here, and that they are still there is checked here."""

from typing import TYPE_CHECKING

from periplus.errors import EnvironmentFailure
from periplus.exchange.connection import patiently, temporary_errors
from periplus.exchange.envelope import MAX_ENVELOPE_BYTES
from periplus.settings import ClusterSettings

if TYPE_CHECKING:
    from nats.js.client import JetStreamContext

__all__ = ["NAME_IN_USE", "check_streams", "make_stream"]

NAME_IN_USE = 10058


async def make_stream(js: "JetStreamContext", name: str, subjects: str, settings: ClusterSettings) -> None:
    """Make the stream of a crawl's links, or give it the limits that the job has now."""
    from nats.js import api  # noqa: PLC0415
    from nats.js.errors import APIError  # noqa: PLC0415

    config = api.StreamConfig(
        name=name,
        subjects=[subjects],
        retention=api.RetentionPolicy.LIMITS,  # a successor must be able to read again what was acknowledged
        discard=api.DiscardPolicy.NEW,
        max_bytes=settings.stream_bytes or -1,
        max_msg_size=MAX_ENVELOPE_BYTES,
        num_replicas=settings.replicas,
        duplicate_window=120.0,
    )

    async def make() -> None:
        async with temporary_errors(name):
            try:
                await js.add_stream(config)
            except APIError as error:
                if error.err_code != NAME_IN_USE:
                    raise
                await js.update_stream(config)

    try:
        await patiently(make)
    except APIError as error:
        raise EnvironmentFailure(f"{name}: NATS does not make the stream ({error.description})") from None


async def check_streams(js: "JetStreamContext", *names: str) -> None:
    """EnvironmentFailure if NATS answers, but has one of the streams no longer; `Temporary` if it does not answer."""
    from nats.js.errors import NotFoundError  # noqa: PLC0415

    for name in names:
        try:
            async with temporary_errors(name):
                await js.stream_info(name)
        except NotFoundError:
            raise EnvironmentFailure(
                f"{name}: NATS has this stream no longer (its storage was lost, or somebody deleted it); start the "
                "nodes again in their folders, and they make it anew"
            ) from None
