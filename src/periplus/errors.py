"""The tree of errors. Everything Periplus raises on purpose is a `PeriplusError`.

    PeriplusError                 one clear line for a person; `exit_code` says how a command ends
      UsageError          (2)     wrong arguments, wrong file, not a crawl folder
        ConfigError               a job file or setting is wrong: names file, table and key
        PlaceError                a place name is unknown or ambiguous: names the candidates
        QueryError                a search question cannot be understood
          NotHere                 it names what no page of the collection has, so far
        NotACrawl                 the folder holds no crawl
      EnvironmentFailure  (4)     the machine: disk, port, missing server or data
        DiskFull                  no room; nothing committed is lost
        PortTaken                 somebody listens there already
        FolderInUse               another process crawls in this folder: names its pid
        GazetteerMissing          the compiled gazetteer is absent or broken: says how to build it
        Corrupt                   stored data does not agree with itself: says what and how to repair
      FetchError                  a URL could not be fetched; turned into an `Outcome` at the stage boundary
        Blocked                   the address guard refused where the name leads
        RobotsDisallowed          robots.txt says no
        RobotsUnreachable         robots.txt cannot be read now, so nothing may be fetched yet
        AddressBusy               other hosts of the same address were asked just now: nothing was sent
        TooLarge, TooSlow, TooManyRedirects, BadContent, TlsError, DnsError, ConnectionFailed
          KeptConnectionEnded     the server had closed a connection that was kept: worth asking again, as no failure
        Quarantined               the page broke the process that read it, twice
      ExchangeError               an envelope from another node cannot be used

A fetch *outcome* is a value (`model.Outcome`), not an exception, wherever rooms meet.
"""

from typing import ClassVar

__all__ = [
    "AddressBusy",
    "BadContent",
    "Blocked",
    "ConfigError",
    "ConnectionFailed",
    "Corrupt",
    "DiskFull",
    "DnsError",
    "EnvironmentFailure",
    "ExchangeError",
    "FetchError",
    "FolderInUse",
    "GazetteerMissing",
    "KeptConnectionEnded",
    "NotACrawl",
    "NotHere",
    "PeriplusError",
    "PlaceError",
    "PortTaken",
    "Quarantined",
    "QueryError",
    "RobotsDisallowed",
    "RobotsUnreachable",
    "TlsError",
    "TooLarge",
    "TooManyRedirects",
    "TooSlow",
    "UsageError",
]


class PeriplusError(Exception):
    """Something a user or operator can understand; its text is one line: what, where, what to do."""

    exit_code: ClassVar[int] = 1


class UsageError(PeriplusError):
    """The command was called with something that cannot work."""

    exit_code = 2


class ConfigError(UsageError):
    """A job file or a setting is wrong; the text names the file, the key and the nearest valid one."""


class PlaceError(UsageError):
    """A place name is unknown or ambiguous; the text lists the candidates and how to choose one."""


class QueryError(UsageError):
    """A search question cannot be understood; the text says which part."""


class NotHere(QueryError):
    """A search question names a place or topic that no page of the collection has; more pages may change that."""


class NotACrawl(UsageError):
    """A folder that should hold a crawl does not."""


class EnvironmentFailure(PeriplusError):
    """The machine cannot do it now; the work so far is safe and the same command resumes."""

    exit_code = 4


class DiskFull(EnvironmentFailure):
    """A write found no room, or the reserve was reached; nothing committed is lost."""


class PortTaken(EnvironmentFailure):
    """The address to listen on is in use."""


class FolderInUse(EnvironmentFailure):
    """Another process crawls in this folder; the text names its pid."""


class GazetteerMissing(EnvironmentFailure):
    """The compiled gazetteer is absent, broken or of another version; the text says how to build it."""


class Corrupt(EnvironmentFailure):
    """Database, archive or index disagree; the text says what to run."""


class FetchError(PeriplusError):
    """A URL could not be fetched. Never leaves the fetch room as an exception."""


class Blocked(FetchError):
    """The address guard or the port list refused the connection before it was made."""


class RobotsDisallowed(FetchError):
    """robots.txt of the origin forbids the URL."""


class RobotsUnreachable(FetchError):
    """robots.txt could not be read, so nothing of the origin may be fetched until `retry_after_seconds`."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TooLarge(FetchError):
    """More bytes than the limit, on the wire or after decoding."""


class TooSlow(FetchError):
    """The deadline around the whole fetch passed."""


class TooManyRedirects(FetchError):
    """More hops than the limit, or a loop."""


class AddressBusy(FetchError):
    """Other hosts of the same address were asked just now: nothing was sent, come back in `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class BadContent(FetchError):
    """The response or the page in it cannot be read."""


class Quarantined(FetchError):
    """The page broke two worker processes, by crash, time or memory; it is set aside and not read again."""


class TlsError(FetchError):
    """The certificate or the handshake failed."""


class DnsError(FetchError):
    """The name does not resolve."""


class ConnectionFailed(FetchError):
    """The connection was refused, reset or cut short."""


class KeptConnectionEnded(ConnectionFailed):
    """A connection that was kept from an earlier request ended before anything of the answer came.

    Servers close connections that are idle when they like, so this says nothing of the URL: a new connection tells.
    """


class ExchangeError(PeriplusError):
    """An envelope is malformed, too large or of an unknown version; it is refused and counted."""
