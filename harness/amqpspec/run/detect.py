"""Which dialect a target speaks, told by what it answers to the protocol header of the usual one.

Knows: the protocol headers of all dialects. Must not know: anything that is said after them.
"""

from __future__ import annotations

from amqpspec.net.stream import ConnectError, Stream
from amqpspec.spec.dialects import certified_dialects, load_dialect, widest
from amqpspec.target.config import Target
from amqpspec.target.live import endpoint_of
from amqpspec.wire.transport import StreamEnded

_PATIENCE_S = 5.0
_HEADER_OCTETS = 8
_VERSION = slice(5, 8)


def detect(target: Target) -> str:
    """The dialect to speak with a target that is given by its URL: its own, unless the target offers another one.

    Where nothing can be told (no connection, no answer), it is the target's own: the run then says what is wrong.
    """
    assert target.url is not None
    try:
        answer = _answer(target)
    except (ConnectError, StreamEnded):
        return target.dialect
    return offered(answer) or target.dialect


def offered(answer: bytes) -> str | None:
    """The certified dialect that a protocol header is of, or whose version it names; None for anything else."""
    if len(answer) < _HEADER_OCTETS or not answer.startswith(b"AMQP"):
        return None
    for dialect_id in certified_dialects():
        if answer[:_HEADER_OCTETS] == load_dialect(widest(dialect_id)).protocol_header:
            return dialect_id
    for dialect_id in certified_dialects():
        versions = {header[_VERSION] for header in load_dialect(widest(dialect_id)).accepted_headers}
        if answer[_VERSION] in versions:
            return dialect_id
    return None


def _answer(target: Target) -> bytes:
    """The first octets that the target sends after the header of its dialect."""
    assert target.url is not None
    stream = Stream(endpoint_of(target.url))
    octets = b""
    try:
        stream.send(load_dialect(widest(target.dialect)).protocol_header)
        until_s = stream.now() + _PATIENCE_S
        while len(octets) < _HEADER_OCTETS and (more := stream.receive(until_s)):
            octets += more
        return octets
    except StreamEnded:
        return octets
    finally:
        stream.close()
