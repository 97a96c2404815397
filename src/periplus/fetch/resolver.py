"""Names to addresses: the job's own table first, then DNS; every answer passes the address guard.

aiohttp asks this resolver for each new connection and connects to exactly what it answers, so the checked
address is the used one. It does not ask for literal addresses; `Transport` checks those itself.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Callable, Sequence

import aiodns
from aiohttp.abc import AbstractResolver, ResolveResult

from periplus.clock import Clock
from periplus.errors import Blocked
from periplus.fetch.addresses import AddressGuard

__all__ = ["BlockedName", "NotYet", "Resolver"]

CACHE_NAMES = 10_000
CACHE_SECONDS = 300.0
DNS_SECONDS = 5.0
DNS_AT_ONCE = 100  # 2,000 at once lost packets

BeforeConnect = Callable[[str, str], float]


class BlockedName(OSError):
    """Blocked, in the shape that aiohttp lets through a resolver."""


class NotYet(OSError):
    """AddressBusy, in the same shape."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Resolver(AbstractResolver):
    """Resolves, checks and remembers.

    `before_connect(host, address)` takes the address's turn, or says in how many seconds it may be had. `trusted` is
    the name of the job's proxy, which may be anywhere. `name_servers` are asked instead of the system's.
    """

    def __init__(
        self,
        table: dict[str, str],
        guard: AddressGuard,
        clock: Clock,
        before_connect: BeforeConnect | None = None,
        *,
        trusted: str = "",
        name_servers: Sequence[str] = (),
    ) -> None:
        self._exact = {name: _split(address) for name, address in table.items() if not name.startswith("*.")}
        self._suffixes = sorted(
            ((name[1:], _split(address)) for name, address in table.items() if name.startswith("*.")),
            key=lambda item: -len(item[0]),
        )
        self._guard = guard
        self._trusted = trusted
        self._name_servers = list(name_servers)
        self._clock = clock
        self._before_connect = before_connect
        self._cache: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()
        self._dns: aiodns.DNSResolver | None = None
        self._limit = asyncio.Semaphore(DNS_AT_ONCE)

    def table_address(self, host: str) -> tuple[str, int] | None:
        """What the job's own table says about the host."""
        if host in self._exact:
            return self._exact[host]
        return next((address for suffix, address in self._suffixes if host.endswith(suffix)), None)

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - both families
    ) -> list[ResolveResult]:
        """Checked addresses for a host; OSError if it has none or one of them is not allowed."""
        if host == self._trusted:  # the operator's own proxy, wherever it is
            return [_result(host, address, port) for address in await self._look_up(host)]
        fixed = self.table_address(host)
        addresses = [fixed[0]] if fixed else await self._look_up(host)
        for address in addresses:  # one bad answer spoils the set: rebinding mixes good with bad
            try:
                self._guard.check(address)
            except Blocked as error:
                raise BlockedName(f"{host}: {error}") from error
        self.take_turn(host, addresses[0])
        return [_result(host, address, fixed[1] if fixed else port) for address in addresses]

    def take_turn(self, host: str, address: str) -> None:
        """Take the turn of an address for a host; NotYet if others of the same address were asked just now."""
        seconds = self._before_connect(host, address) if self._before_connect else 0.0
        if seconds > 0:
            raise NotYet(f"{host}: {address} was asked just now", seconds)

    async def close(self) -> None:
        """Let the DNS channel go."""
        if self._dns is not None:
            await self._dns.close()

    async def _look_up(self, host: str) -> list[str]:
        now = self._clock.monotonic()
        cached = self._cache.get(host)
        if cached and cached[0] > now:
            self._cache.move_to_end(host)
            return cached[1]
        if self._dns is None:
            self._dns = aiodns.DNSResolver(self._name_servers or None, timeout=DNS_SECONDS, tries=2)
        try:
            async with self._limit, asyncio.timeout(2 * DNS_SECONDS):
                answer = await self._dns.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except (aiodns.error.DNSError, TimeoutError) as error:
            detail = error.args[1] if len(error.args) > 1 else "no answer"
            raise OSError(None, f"{host}: {detail}") from error
        addresses = [_text(node.addr[0]) for node in answer.nodes][:16]
        if not addresses:
            raise OSError(None, f"{host}: no address")
        self._cache[host] = (now + CACHE_SECONDS, addresses)
        while len(self._cache) > CACHE_NAMES:
            self._cache.popitem(last=False)
        return addresses


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address


def _split(address: str) -> tuple[str, int]:
    ip, _, port = address.rpartition(":")
    return ip.strip("[]"), int(port)


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=family,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
