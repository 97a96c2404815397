"""Settings of the network between nodes and sites: the table [network] of a job file, for the strategy `nearest`."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

__all__ = ["NetworkSettings", "described"]


def described(sentence: str, unit: str = "", **bounds: Any) -> Meta:
    """The sentence and the unit of a setting, with its bounds where it has any."""
    return Meta(description=sentence, extra={"unit": unit}, **bounds)


class NetworkSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which node is near a site, for the strategies nearest and place+nearest."""

    round_trips: Annotated[
        str,
        described(
            "Round trips measured elsewhere, in place of probes: CSV of site (host or address), crawler, ms.", "file"
        ),
    ] = ""
    hierarchy: Annotated[
        str,
        described("Address ranges and their organisations, from `periplus network build`; empty: by prefixes.", "file"),
    ] = ""
    method: Annotated[
        Literal["learn", "hierarchy"],
        described(
            "How a subnet gets its node: learn (few probes, by what similar sites showed), or the paper's hierarchy."
        ),
    ] = "learn"
    places: Annotated[
        Literal["blend", "url", "anchor", "content", "classifier", "ip"],
        described("Strategy that finds the place of a link for place+nearest."),
    ] = "blend"
    threshold_ms: Annotated[
        float, described("Round trip under which a probe is good enough for the hierarchy.", "ms", gt=0)
    ] = 50.0
    confidence: Annotated[
        float,
        described(
            "Probability of being the nearest that ends the probing of learn; 0: as `probes` allow.", "0..1", ge=0, le=1
        ),
    ] = 0.0
    probes: Annotated[
        float, described("Probes a subnet that learn may cost in the long run, where places are known.", "probes", ge=0)
    ] = 1.45
    widest: Annotated[
        int,
        described(
            "Ranges wider than this prefix are delegated in blocks of it (IPv6: of twice the bits); 0: never.",
            "bits",
            ge=0,
            le=32,
        ),
    ] = 16
    probe: Annotated[
        Literal["tcp", "head", "icmp"],
        described("How round trips are measured: a TCP connection, HTTP HEAD or a ping."),
    ] = "tcp"
    probe_seconds: Annotated[float, described("Deadline of a probe.", "seconds", gt=0, le=60)] = 2.0
    probe_hours: Annotated[float, described("How long a measured round trip is used again.", "hours", ge=0)] = 24.0
    subnet_seconds: Annotated[
        float, described("Least time between two probes of a node into one subnet.", "seconds", ge=0)
    ] = 1.0
    age_days: Annotated[float, described("Age at which a subnet is delegated anew.", "days", gt=0)] = 30.0
    drift: Annotated[
        float,
        described("A subnet is delegated anew when fetches take so many times as long as they did.", "times", gt=1),
    ] = 2.0
    drift_ms: Annotated[float, described("And so much longer.", "ms", ge=0)] = 20.0
    emulate: Annotated[
        bool,
        described(
            "Requests wait as long as round_trips say, for experiments; refused for a crawl that leaves loopback."
        ),
    ] = False
