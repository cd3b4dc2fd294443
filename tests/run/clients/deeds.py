"""What a deed of a hostile server puts in the place of a frame, as octets."""

from __future__ import annotations

from amqpspec.wire.hostility import Act, Deed


def sent(deed: Deed, frame: bytes) -> bytes:
    """All octets of a deed that does nothing but send."""
    octets = b""
    for step in deed(frame):
        assert not isinstance(step, Act)
        octets += step
    return octets
