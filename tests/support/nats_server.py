"""NATS servers of its own for a test: real ones, on free loopback ports, in a folder that is thrown away."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["NatsServer", "free_port", "nats_cluster", "nats_leaf", "nats_server", "server_program"]

START_SECONDS = 20.0


def server_program() -> str | None:
    """The server beside this Python, else the one on the path."""
    beside = Path(sys.executable).parent / "nats-server"
    return str(beside) if beside.exists() else shutil.which("nats-server") or shutil.which("/usr/sbin/nats-server")


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class NatsServer:
    """One server: its port and folder stay the same over restarts."""

    def __init__(
        self, folder: Path, config: str = "", name: str = "one", *, jetstream: bool = True, domain: str = ""
    ) -> None:
        self.folder = folder
        self._stored = folder / name
        self.port = free_port()
        self._config = folder / f"{name}.conf"
        named = f", domain: {domain}" if domain else ""
        stored = f'jetstream {{ store_dir: "{self._stored}"{named} }}\n' if jetstream else ""
        self._config.write_text(f'listen: "127.0.0.1:{self.port}"\nserver_name: {name}\n{stored}{config}')
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens."""
        program = server_program()
        assert program is not None
        log = (self.folder / "nats.log").open("ab")
        with log:
            self._process = subprocess.Popen([program, "-c", self._config], stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                if probe.recv(4) == b"INFO":
                    return
            assert self._process.poll() is None, (self.folder / "nats.log").read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < deadline, "the NATS server does not listen"
            time.sleep(0.02)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it at once."""
        if self._process is not None:
            os.kill(self._process.pid, how)
            self._process.wait(20)
            self._process = None

    def forget(self) -> None:
        """Lose everything that it has stored."""
        shutil.rmtree(self._stored)


@contextmanager
def nats_server(config: str = "", domain: str = "") -> Iterator[NatsServer]:
    """A single server with JetStream for the block."""
    folder = Path(tempfile.mkdtemp(prefix="nats-"))
    server = NatsServer(folder, config, domain=domain)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def nats_leaf() -> Iterator[tuple[NatsServer, NatsServer]]:
    """A server with JetStream, its domain "hub", and a leaf node of it that has none of its own."""
    meet = free_port()
    with nats_server(f'leafnodes {{ listen: "127.0.0.1:{meet}" }}\n', domain="hub") as hub:
        remote = f'leafnodes {{ remotes: [ {{ url: "nats-leaf://127.0.0.1:{meet}" }} ] }}\n'
        leaf = NatsServer(hub.folder, remote, "leaf", jetstream=False)
        try:
            leaf.start()
            yield hub, leaf
        finally:
            leaf.kill()


@contextmanager
def nats_cluster(size: int = 3) -> Iterator[list[NatsServer]]:
    """Several servers that keep copies of each other's streams."""
    folder = Path(tempfile.mkdtemp(prefix="nats-"))
    routes = [free_port() for _ in range(size)]
    listed = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
    servers = [
        NatsServer(
            folder, f'cluster {{ name: c, listen: "127.0.0.1:{port}", routes: [{listed}] }}\n', name=f"server{number}"
        )
        for number, port in enumerate(routes)
    ]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
