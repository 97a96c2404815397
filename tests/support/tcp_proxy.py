"""A TCP proxy on loopback that can be cut: a network partition for one process."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["Proxy", "proxy"]


class Proxy:
    """Passes bytes on to a port; while it is cut, connections hang as they do when packets get lost."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = 0
        self._open = True
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """From now on nothing comes through, in either direction."""
        self._open = False

    def heal(self) -> None:
        """Connections that were cut are reset, new ones come through."""
        self._open = True

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left))
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        async with server:
            await self._stop.wait()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled at the proxy's end: of the task of a connection asyncio would print that.
        with suppress(OSError, asyncio.CancelledError):
            await self._passing()
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        writer.close()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while data := await source.read(65_536):
                    await self._passing()
                    sink.write(data)
                    await sink.drain()
        finally:
            sink.close()

    async def _passing(self) -> None:
        """Until nothing is cut."""
        while not self._open:  # noqa: ASYNC110  (a cut network tells nobody when it heals)
            await asyncio.sleep(0.05)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """A proxy for the block."""
    running = Proxy(target)
    running.start()
    try:
        yield running
    finally:
        running.stop()
