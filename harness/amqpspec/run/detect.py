"""Which dialect a target speaks, told by what it answers to the protocol header of the usual one.

Knows: the protocol headers of all dialects. Must not know: anything that is said after them.
"""

from __future__ import annotations

from amqpspec.net.stream import ConnectError, Stream
from amqpspec.spec.dialects import certified_dialects, load_dialect, widest
from amqpspec.spec.framing import Greeting
from amqpspec.target.config import Target
from amqpspec.target.live import endpoint_of
from amqpspec.wire.transport import StreamEnded

_PATIENCE_S = 5.0
_VERSION_OCTETS = 3
"""Protocol headers end with the version: the answer may be of another protocol id or instance of the same version."""


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
    known = {dialect_id: load_dialect(widest(dialect_id)) for dialect_id in certified_dialects()}
    greeted = {
        id: answer[: d.greeting.length_octets] for id, d in known.items() if _is_whole(answer, d.greeting)
    }
    for dialect_id, header in greeted.items():
        if header == known[dialect_id].protocol_header:
            return dialect_id
    for dialect_id, header in greeted.items():
        versions = {accepted[-_VERSION_OCTETS:] for accepted in known[dialect_id].accepted_headers}
        if header[-_VERSION_OCTETS:] in versions:
            return dialect_id
    return None


def _is_whole(octets: bytes, greeting: Greeting) -> bool:
    return octets.startswith(greeting.magic) and len(octets) >= greeting.length_octets


def _is_undecided(octets: bytes) -> bool:
    """Whether octets can still become the protocol header of a certified dialect."""
    greetings = {load_dialect(widest(dialect_id)).greeting for dialect_id in certified_dialects()}
    begun = [g for g in greetings if g.magic.startswith(octets[: len(g.magic)])]
    return any(len(octets) < g.length_octets for g in begun)


def _answer(target: Target) -> bytes:
    """The first octets that the target sends after the header of its dialect."""
    assert target.url is not None
    stream = Stream(endpoint_of(target.url))
    octets = b""
    try:
        stream.send(load_dialect(widest(target.dialect)).protocol_header)
        until_s = stream.now() + _PATIENCE_S
        while _is_undecided(octets) and (more := stream.receive(until_s)):
            octets += more
        return octets
    except StreamEnded:
        return octets
    finally:
        stream.close()
