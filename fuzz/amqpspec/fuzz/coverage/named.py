"""Coverage channels as they are named on a command line: ``jacoco[:HOST:PORT]``, ``file:PATH``.

Knows: the kinds. Must not know: how any of them works.
"""

from __future__ import annotations

from pathlib import Path

from amqpspec.fuzz.coverage.counters import FileCounters
from amqpspec.fuzz.coverage.coverage import Coverage, CoverageError
from amqpspec.fuzz.coverage.jacoco import DEFAULT_PORT, JacocoServer
from amqpspec.net.stream import Endpoint

_MOST_PORT = 65_535


def channel_named(text: str) -> Coverage:
    """The channel that a text names. Raises CoverageError."""
    kind, _, rest = text.partition(":")
    if kind == "file" and rest:
        return FileCounters(Path(rest))
    if kind == "jacoco":
        return JacocoServer(_endpoint(rest))
    raise CoverageError(f"--coverage: expected jacoco[:HOST:PORT] or file:PATH, actual {text!r}")


def host_of(channel: Coverage) -> str | None:
    """The host that a channel connects to; None if it connects to none."""
    return channel.endpoint.host if isinstance(channel, JacocoServer) else None


def _endpoint(text: str) -> Endpoint:
    """``HOST:PORT``, ``PORT``, or nothing. Raises CoverageError."""
    host, _, port = text.rpartition(":")
    if not port:
        port = str(DEFAULT_PORT)
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) <= _MOST_PORT:
        raise CoverageError(f"--coverage: expected a port from 1 to {_MOST_PORT}, actual {port!r}")
    return Endpoint(host.strip("[]") or "127.0.0.1", int(port))
