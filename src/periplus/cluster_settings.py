"""Settings of a crawl on several machines: the table [cluster] of a job file."""

from typing import Annotated

from msgspec import Struct

from periplus.network_settings import described as _meta

__all__ = ["ClusterSettings"]


class ClusterSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A crawl on several machines: where NATS is, who we are there, and how nodes look after each other."""

    servers: Annotated[list[str], _meta("NATS servers, such as nats://10.0.0.5:4222; any of them will do.", "URL")] = []
    user: Annotated[str, _meta("User name at NATS.")] = ""
    password_file: Annotated[str, _meta("File with the user's password.", "file")] = ""
    token_file: Annotated[str, _meta("File with the token, where NATS asks for one.", "file")] = ""
    nkey_file: Annotated[str, _meta("File with the seed of our nkey.", "file")] = ""
    credentials_file: Annotated[str, _meta("Credentials file (.creds) with our JWT and nkey.", "file")] = ""
    tls_ca: Annotated[str, _meta("Certificates of those who may sign the server's; empty: the system's.", "file")] = ""
    tls_certificate: Annotated[str, _meta("Our own certificate, where the server asks for one.", "file")] = ""
    tls_key: Annotated[str, _meta("The key of our certificate.", "file")] = ""
    domain: Annotated[
        str, _meta("JetStream domain of the servers that keep the crawl, where we connect through a leaf node.")
    ] = ""
    replicas: Annotated[int, _meta("NATS servers that keep a copy of everything: 1, 3 or 5.", "copies", ge=1, le=5)] = 1
    heartbeat_seconds: Annotated[
        float, _meta("Nodes show that they live so often; after three missed ones another takes over.", "seconds", gt=0)
    ] = 10.0
    linger_seconds: Annotated[float, _meta("Links wait so long for others to travel with.", "seconds", ge=0, le=60)] = (
        1.0
    )
    slice_seconds: Annotated[
        float,
        _meta("How long a node may ask a host that others want as well before it is their turn.", "seconds", gt=0),
    ] = 2.0
    stream_bytes: Annotated[
        int, _meta("Most bytes of links that NATS keeps; then senders wait. 0: no limit.", "bytes", ge=0)
    ] = 0
