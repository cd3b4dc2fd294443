"""Where a server's frames are bent for clients of AMQP 0-10, and how inputs get on a client's channel.

Knows: scenarios of agents, which frame leads where. Must not know: what is bent.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.amqp_0_10.samples import CHANNEL
from amqpspec.fuzz.clients.part import ServerPlace, instead
from amqpspec.fuzz.grammar import grammar
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import HEADER_OCTETS

FAMILIES = ("C01", "C02", "C03", "C04", "C05", "C06", "C07", "C08", "C09", "C11", "C12")
"""All but those about logins, entities and bindings, which only clients send."""
_CLOSES = ("control/connection.close", "control/connection.heartbeat")
_RESULTS = ("command/execution.",)
_CONTENTS = ("content/message", "message/", "struct/", "type/", "header/message", "body")
_SIZE, _CHANNEL = slice(2, 4), slice(6, 8)


def server_places() -> Iterator[ServerPlace]:
    """From the protocol header to a delivery."""
    yield instead("server-header", "greeting", "connect", "protocol-header")
    yield instead(
        "server-start",
        "connection.start",
        "connect",
        *_named("control/connection.start", "control/connection.secure"),
    )
    yield instead("server-tune", "connection.tune", "connect", *_named("control/connection.tune"))
    yield instead(
        "server-open-ok",
        "connection.open-ok",
        "connect",
        *_named("control/connection.open-ok", "control/connection.redirect"),
        *_CLOSES,
    )
    yield instead(
        "server-attached",
        "session.attached",
        "publish",
        *_named("control/session.attached", "control/session.detached"),
        *_CLOSES,
    )
    controls = _named("control/session.")
    yield ServerPlace("server-session", "session.attached", "publish", (*controls, *_CLOSES))
    yield instead(
        "server-completed", "session.completed", "publish", *_named("control/session.completed", *_RESULTS)
    )
    yield instead(
        "server-transfer", "message.transfer", "consume", *_named(*_CONTENTS), *_named("command/message.")
    )


def _named(*starts: str) -> tuple[str, ...]:
    """What a server may send whose name begins so."""
    known = grammar(DIALECT.id).items()
    return tuple(name for name, p in known if name.startswith(starts) and p.sent_by is not Side.CLIENT)


def on_channel_of(frame: bytes, step: bytes) -> bytes:
    """Frames on the samples' channel moved to that of another frame, as far as their sizes can be followed."""
    fitted, at = bytearray(step), 0
    while at + HEADER_OCTETS <= len(fitted):
        head = fitted[at : at + HEADER_OCTETS]
        if int.from_bytes(head[_CHANNEL], "big") == CHANNEL:
            fitted[at + _CHANNEL.start : at + _CHANNEL.stop] = frame[_CHANNEL]
        size = int.from_bytes(head[_SIZE], "big")
        if size < HEADER_OCTETS:
            break
        at += size
    return bytes(fitted)
