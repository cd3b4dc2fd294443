"""Sample values of AMQP/Fast's fields, for the parts of a production that are not mutated.

Knows: words that any server can take. Must not know: where they are on the wire.

Messages go to a topic that no one reads: it does not have to exist. A handle that is opened is not the one of a state.
"""

from __future__ import annotations

from amqpspec.spec.commands import Command, CommandField

TOPIC, QUEUE_SERVICE, TOPIC_SERVICE = "amqpspec.fuzz.t", 1, 2
HANDLE = CHANNEL = 1
"""What a state opens: both have the same number."""
NEW_HANDLE = 7
TAG = 0x0102
"""The confirm-tag of whatever can be confirmed."""

_BY_FIELD: dict[str, object] = {
    "handle.open handle-id": NEW_HANDLE,
    "connection.challenge version": 1,
    "connection.challenge mechanisms": "PLAIN",
    "connection.challenge challenges": {},
    "connection.response mechanism": "PLAIN",
    "connection.response responses": {"LOGIN": b"guest", "PASSWORD": b"guest"},
    "connection.tune options": {"FRAME_MAX": 4096},
    "connection.tune dictionary": {"ET": b"Expiration-Time"},
    "connection.open virtual-path": "/",
    "connection.open client-name": "",
    "handle.query dest-name": "amqpspec.fuzz.q",
    "handle.query selector": b"",
    "handle.ready message-size": 0,
    "handle.index message-list": b"1-2 4",
}
_BY_NAME: dict[str, object] = {
    "channel-id": CHANNEL, "handle-id": HANDLE, "confirm-tag": TAG, "message-nbr": 1, "reply-code": 200,
    "reply-text": "bye", "service-type": TOPIC_SERVICE, "prefetch": 10, "dest-name": TOPIC, "mime-type": "text/plain",
    "encoding": "identity", "identifier": "one", "priority": 4, "expiration": 0, "out-of-band": "", "producer": True,
    "consumer": True, "browser": True, "respond": True, "options": {}, "selector": {}, "headers": {"K": b"v"},
    "content-hash": "",
}  # fmt: skip
_BY_TYPE: dict[str, object] = {
    "bit": False,
    "octet": 0,
    "short": 0,
    "long": 0,
    "shortstr": "s",
    "longstr": b"long",
}


def sample(command: Command | None, field: CommandField) -> object:
    """The sample of a field, or of one of the message head where ``command`` is None."""
    by_field = _BY_FIELD.get(f"{command.name} {field.name}") if command else None
    if by_field is not None:
        return by_field
    named = _BY_NAME.get(field.name)
    # Of fields by one name, out-of-band is a text in one command and a bit in others.
    fits = isinstance(named, bool) == (field.type == "bit")
    return named if named is not None and fits else _BY_TYPE[field.type]
