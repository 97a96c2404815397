"""Where a cluster is, as people say it: servers on the command line, or a file with a [cluster] table."""

import tomllib
from pathlib import Path

import msgspec

from periplus.errors import ConfigError, UsageError
from periplus.settings import ClusterSettings, job_from_dict

__all__ = ["cluster_settings"]

FILES = ("_file", "tls_ca", "tls_certificate", "tls_key")


def cluster_settings(given: str, base: ClusterSettings | None = None) -> ClusterSettings:
    """Where NATS is and who we are there, by the command line over what the job says."""
    settings = base or ClusterSettings()
    if not given:
        return settings
    if given.endswith(".toml"):
        try:
            data = tomllib.loads(Path(given).read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else f"not valid TOML: {error}"
            raise ConfigError(f"--cluster {given}: {why}") from None
        mine = job_from_dict({"cluster": data.get("cluster", {})}, given).cluster
        folder = Path(given).absolute().parent
        files = {
            key: str(folder / value)
            for key in mine.__struct_fields__
            if key.endswith(FILES) and (value := getattr(mine, key))
        }
        return msgspec.structs.replace(mine, **files)
    servers = [server.strip() for server in given.split(",") if server.strip()]
    for server in servers:
        if not server.startswith(("nats://", "tls://", "ws://", "wss://")):
            raise UsageError(f"--cluster {server.rpartition('@')[2]}: not a NATS address such as nats://127.0.0.1:4222")
    return msgspec.structs.replace(settings, servers=servers)
