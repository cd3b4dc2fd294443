"""The dialect of a target, determined by its answer to the protocol header of the usual dialect.

Knows: the protocol headers of all dialects, what HTTP answers. Must not know: anything that follows them.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.net.dial import dial
from amqpspec.net.stream import ConnectError, Endpoint
from amqpspec.spec.dialects import certified_dialects, load_dialect, widest
from amqpspec.spec.framing import Greeting
from amqpspec.target.config import Target
from amqpspec.target.live import endpoint_of
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnded

_PATIENCE_S, _HTTP_AFTER_S = 3.0, 1.0
_ASK_FOR_HTTP = b"GET / HTTP/1.0\r\n\r\n"
_VERSION_OCTETS = 3
"""Protocol headers end with the version: the answer may be of another protocol id or instance of the same version."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The dialect to speak; ``amiss`` says in one phrase why there is no speaking with it, empty otherwise."""

    dialect: str
    amiss: str = ""


def detect(target: Target, patience: float = 1.0) -> Detected:
    """The dialect to speak with a target that is given by its URL: its own, unless the target offers another one.

    A target that is silent, or speaks HTTP, is detected within three seconds, times ``patience``. If there is no
    connection, or one that ends, nothing is reported: the run then says what is wrong.
    """
    assert target.url is not None
    try:
        answer = _answer(target, patience)
    except (ConnectError, StreamEnded):
        return Detected(target.dialect)
    if answer is None:
        waited = f"nothing within {_PATIENCE_S * patience:g} s of a protocol header"
        return Detected(target.dialect, f"expected AMQP, actual: {waited} (--patience waits longer)")
    if answer.startswith(b"HTTP/"):
        return Detected(target.dialect, "expected AMQP, actual: it speaks HTTP")
    return Detected(offered(answer) or target.dialect)


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


def _answer(target: Target, patience: float) -> bytes | None:
    """The first octets after the header of its dialect, HTTP's if it answers to that only; None for silence."""
    assert target.url is not None
    endpoint = endpoint_of(target.url)
    stream = dial(endpoint)
    octets = b""
    try:
        stream.send(load_dialect(widest(target.dialect)).protocol_header)
        until_s = stream.now() + _PATIENCE_S * patience
        octets = stream.receive(stream.now() + _HTTP_AFTER_S) or _http(endpoint) or stream.receive(until_s)
        if not octets:
            return None
        while _is_undecided(octets) and (more := stream.receive(until_s)):
            octets += more
        return octets
    except (StreamEnded, WireError):
        return octets
    finally:
        stream.close()


def _http(endpoint: Endpoint) -> bytes:
    """What a target that has been silent for a while answers to HTTP, if it is that; empty otherwise."""
    stream = dial(endpoint)
    try:
        stream.send(_ASK_FOR_HTTP)
        octets = stream.receive(stream.now() + _HTTP_AFTER_S)
        return octets if octets.startswith(b"HTTP/") else b""
    except StreamEnded:
        return b""
    finally:
        stream.close()
