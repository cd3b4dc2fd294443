"""The clocks: the only places where the harness reads the time outside a stream.

Knows: monotonic and UTC time. Must not know: anything else.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


def monotonic_s() -> float:
    """Seconds on the monotonic clock."""
    return time.monotonic()


def monotonic_ns() -> int:
    """Nanoseconds on the monotonic clock."""
    return time.monotonic_ns()


def utc_now() -> str:
    """Now in UTC, ISO 8601 to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_instant() -> str:
    """Now in UTC, ISO 8601 to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def today() -> date:
    """Today's date in UTC."""
    return datetime.now(UTC).date()
