"""Room network: the nodes of a crawl and the sites near them: hosts to addresses, to subnets, to nodes.

A subnet is delegated once, by the method that the job names, and remembered. It is looked at again when the delegation
is too old, when the fetches of its node take longer than they did, or when its node is gone.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import xxhash

from periplus.clock import Clock
from periplus.errors import FetchError
from periplus.network.delegation import Delegator
from periplus.network.hierarchy import Hierarchy
from periplus.network.matrix import Host
from periplus.network.memory import Delegation, DelegationStore, Measurement
from periplus.network.probes import Prober, Target
from periplus.network.ranges import IpHierarchy, Subnet

__all__ = ["Aging", "Locate", "NearestNodes", "Resolve"]

MOST_HOSTS: Final = 200_000
AT_ONCE: Final = 64
"""Decisions of one page's links that run beside each other."""
OBSERVATIONS: Final = 3
"""Fetches that have to be slower than they were before a subnet is looked at again."""

Resolve = Callable[[str], Awaitable[str]]
"""The address of a host; raises a FetchError."""
Locate = Callable[[str, str], tuple[float, float] | None]
"""Latitude and longitude of a host with an address, if they are known."""


@dataclass(frozen=True, slots=True)
class Aging:
    """When a delegation is looked at again: by age, or when fetches take `drift` times as long, and `drift_ms` more."""

    seconds: float
    drift: float
    drift_ms: float


class NearestNodes:
    """Names the node for a host. Deterministic in the questions, their order and the answers of the probes."""

    def __init__(
        self,
        nodes: Mapping[str, Host],
        methods: Mapping[str, Delegator],
        prober: Prober,
        store: DelegationStore,
        clock: Clock,
        *,
        hierarchy: IpHierarchy,
        resolve: Resolve,
        aging: Aging,
        groups: Mapping[str, Sequence[str]] | None = None,
        locate: Locate | None = None,
    ) -> None:
        """`groups`: the nodes that a name stands for, by that name; "" is all of them. `methods` has one for each."""
        self._names = tuple(sorted(nodes))
        self._groups = {"": self._names} | {name: tuple(sorted(group)) for name, group in (groups or {}).items()}
        self._methods = methods
        self._prober = prober
        self._store = store
        self._clock = clock
        self._hierarchy = hierarchy
        self._resolve = resolve
        self._locate = locate
        self._aging = aging
        self._delegated: dict[tuple[str, str], Delegation] = {}
        self._hosts: OrderedDict[str, Target] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Lock] = {}
        self._slower: Counter[str] = Counter()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self.counts: Counter[str] = Counter()

    async def take_up(self) -> None:
        """Learn what was learnt before. Delegations are found again by their addresses, whatever the ranges are now."""
        indices = {name: {node: i for i, node in enumerate(group)} for name, group in self._groups.items()}
        sites: dict[str, list[Measurement]] = {}
        for one in await self._store.measurements():
            sites.setdefault(one.address, []).append(one)
        for address, measured in sites.items():
            for group, numbers in indices.items():
                answers = {numbers[one.node]: one.ms for one in measured if one.node in numbers}
                if answers:
                    self._methods[group].learn(self._site(measured[0].host, address), answers)
        for kept in await self._store.delegations():
            if kept.node not in indices.get(kept.group, ()):
                await self._store.forget(kept.group, kept.subnet)
                continue
            site = self._site(kept.host, kept.address)
            self._delegated[kept.group, site.subnet] = kept
            method = self._methods[kept.group]
            if isinstance(method, Hierarchy):
                method.take_up(site, indices[kept.group][kept.node])

    def known(self, host: str, group: str = "") -> str | None:
        """The node for a host, if that needs no looking at; a group of one node needs none."""
        among = self._groups.get(group)
        if among is None or len(among) == 1:
            return among[0] if among else group
        target = self._hosts.get(host)
        kept = self._delegated.get((group, target.subnet)) if target is not None else None
        return kept.node if kept is not None and not self._stale(kept) else None

    async def node_for(self, host: str, group: str = "", url: str = "") -> str:
        """The node of the group that is near a host. One that has no address goes where its hash says."""
        known = self.known(host, group)
        if known is not None:
            return known
        target = await self._target(host, url)
        among = self._groups[group]
        if target is None:
            self.counts["no address"] += 1
            return among[xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) % len(among)]
        key = (group, target.subnet)
        lock = self._deciding.setdefault(key, asyncio.Lock())
        try:
            async with lock, self._at_once:
                kept = self._delegated.get(key)
                if kept is None or self._stale(kept):
                    kept = await self._decided(group, target, kept)
                return kept.node
        finally:
            if not lock.locked():
                self._deciding.pop(key, None)

    async def nodes_for(self, links: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
        """Nodes by host and group for many links (host, group, URL), each pair once."""
        wanted = {(host, group): url for host, group, url in links}
        found = {key: self.known(*key) for key in wanted}
        missing = sorted(key for key, node in found.items() if node is None)
        nodes = await asyncio.gather(*(self.node_for(*key, wanted[key]) for key in missing))
        found.update(zip(missing, nodes, strict=True))
        return {key: node for key, node in found.items() if node is not None}

    async def observed(self, node: str, host: str, ms: float) -> None:
        """A fetch by a node had this round trip, which teaches the method and costs no probe.

        Where it stays longer than it was when the subnet was delegated, the subnet is looked at again.
        """
        target = self._hosts.get(host)
        if target is None:
            return
        for group, among in self._groups.items():
            kept = self._delegated.get((group, target.subnet))
            if kept is None or kept.node != node:
                continue
            if kept.ms is None:  # delegated without a probe of this node: now its round trip is known
                self._methods[group].learn(self._site(host, target.address), {among.index(node): ms})
                kept = replace(kept, ms=ms)
                self._delegated[group, target.subnet] = kept
                measured = [Measurement(target.address, node, host, ms, kept.decided_at)]
                self._delegated[group, target.subnet] = await self._store.keep(kept, measured)
            elif ms > self._aging.drift * kept.ms and ms > kept.ms + self._aging.drift_ms:
                self._slower[target.subnet] += 1
            else:
                self._slower.pop(target.subnet, None)

    def _stale(self, kept: Delegation) -> bool:
        """Whether a delegation is too old, or its node has become slow."""
        if self._clock.now().timestamp() - kept.decided_at > self._aging.seconds:
            return True
        subnet = self._hosts[kept.host].subnet if kept.host in self._hosts else kept.subnet
        return self._slower[subnet] >= OBSERVATIONS

    async def _decided(self, group: str, target: Target, before: Delegation | None) -> Delegation:
        """Let the method decide, ask for its probes, and remember what came of it."""
        elsewhere = await self._decided_elsewhere(group, target, before)
        if elsewhere is not None:
            return elsewhere
        site, method, among = self._site(target.host, target.address), self._methods[group], self._groups[group]
        if before is not None:
            self.counts["again"] += 1
            self._slower.pop(target.subnet, None)
            if isinstance(method, Hierarchy):
                method.forget(site)
        now = self._clock.now().timestamp()
        answers: dict[int, float] = {}
        asking = method.delegate(site, range(len(among)))
        ms: float | None = None
        while True:
            try:
                crawler = asking.send(ms)
            except StopIteration as end:
                chosen = int(end.value)
                break
            self.counts["probes"] += 1
            ms = await self._prober.probe(among[crawler], target)
            if ms is None:
                self.counts["unanswered"] += 1
            else:
                answers[crawler] = ms
        method.learn(site, answers)
        self.counts["decisions"] += 1
        kept = Delegation(group, target.subnet, among[chosen], target.host, target.address, answers.get(chosen), now)
        measured = [Measurement(target.address, among[i], target.host, one, now) for i, one in answers.items()]
        kept = await self._store.keep(kept, measured)
        self._delegated[group, target.subnet] = kept
        return kept

    async def _decided_elsewhere(self, group: str, target: Target, before: Delegation | None) -> Delegation | None:
        """What another machine has decided since; what it measured teaches us as well."""
        found = await self._store.find(group, target.subnet)
        if found is None or found[0].node not in self._groups[group]:
            return None
        kept, measured = found
        if self._stale(kept) or (before is not None and kept.decided_at <= before.decided_at):
            return None
        self.counts["taken over"] += 1
        self._slower.pop(target.subnet, None)
        self._delegated[group, target.subnet] = kept
        numbers = {node: i for i, node in enumerate(self._groups[group])}
        answers = {numbers[one.node]: one.ms for one in measured if one.node in numbers}
        site, method = self._site(kept.host, kept.address), self._methods[group]
        method.learn(site, answers)
        if isinstance(method, Hierarchy):
            method.take_up(site, numbers[kept.node])
        return kept

    async def _target(self, host: str, url: str) -> Target | None:
        target = self._hosts.get(host)
        if target is not None:
            self._hosts.move_to_end(host)
            return target
        try:
            address = await self._resolve(url or f"http://{host}/")
        except FetchError:
            return None
        target = Target(host, address, self._subnet(address).key, url)
        self._hosts[host] = target
        while len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)
        return target

    def _subnet(self, address: str) -> Subnet:
        return self._hierarchy.subnet(address)

    def _site(self, host: str, address: str) -> Host:
        """What is known about a site by its address."""
        subnet = self._subnet(address)
        organisation = "" if subnet.organisation is None else str(subnet.organisation)
        point = self._locate(host, address) if self._locate is not None else None
        lat, lon = point if point is not None else (float("nan"), float("nan"))
        return Host(host, lat, lon, subnet.country, "", organisation, subnet.key, subnet.path)
