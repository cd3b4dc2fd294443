"""Sample values of AMQP 1.0's fields, for the parts of a production that are not mutated.

Knows: words that any peer can take. Must not know: where they are on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.spec.typed import Composite, TypedDialect, TypedField

QUEUE = "amqpspec.fuzz.q"
LOGIN = b"\0guest\0guest"

_BY_FIELD: Mapping[str, Any] = {
    "open container-id": "amqpspec-fuzz",
    "open max-frame-size": 65_536,
    "open channel-max": 255,
    "open outgoing-locales": ["en-US"],
    "open incoming-locales": ["en-US"],
    "begin next-outgoing-id": 0,
    "begin incoming-window": 2048,
    "begin outgoing-window": 2048,
    "begin handle-max": 255,
    "attach name": "amqpspec-fuzz-new",
    "attach handle": 7,
    "attach source": ("source", {"address": ("string", QUEUE)}),
    "attach target": ("target", {"address": ("string", QUEUE)}),
    "attach unsettled": [],
    "attach initial-delivery-count": 0,
    "attach max-message-size": 1 << 20,
    "flow incoming-window": 2048,
    "flow next-incoming-id": 0,
    "flow next-outgoing-id": 0,
    "flow outgoing-window": 2048,
    "flow link-credit": 10,
    "transfer delivery-id": 0,
    "transfer delivery-tag": b"t0",
    "transfer message-format": 0,
    "transfer state": ("accepted", {}),
    "disposition first": 0,
    "disposition last": 0,
    "disposition state": ("accepted", {}),
    "sasl-init mechanism": "PLAIN",
    "sasl-init initial-response": LOGIN,
    "sasl-init hostname": "localhost",
    "sasl-mechanisms sasl-server-mechanisms": ["PLAIN"],
    "error condition": "amqp:internal-error",
    "source default-outcome": ("released", {}),
    "source outcomes": ["amqp:accepted:list", "amqp:rejected:list"],
    "source filter": [],
    "source distribution-mode": "move",
    "coordinator capabilities": ["amqp:local-transactions"],
    "header ttl": 60_000,
    "properties to": ("string", QUEUE),
    "properties reply-to": ("string", QUEUE),
    "properties message-id": ("ulong", 1),
    "properties correlation-id": ("string", "c"),
    "properties content-type": "text/plain",
    "properties content-encoding": "identity",
    "properties absolute-expiry-time": 4_000_000_000_000,
    "properties creation-time": 1_700_000_000_000,
    "discharge txn-id": ("binary", b"t"),
    "declared txn-id": ("binary", b"t"),
    "transactional-state txn-id": ("binary", b"t"),
    "transactional-state outcome": ("accepted", {}),
}
_LEFT_OUT = (
    "remote-channel",
    "global-id",
    "state",
    "dynamic-node-properties",
    "idle-time-out",
    "resume",
    "aborted",
)
"""Fields that change the meaning of what carries them, or that a client may not set: given only where mandatory."""

_MAP = ("map", [(("symbol", "k"), ("string", "v"))])
_BY_TYPE: Mapping[str, tuple[str, Any]] = {
    "annotations": ("map", [(("symbol", "x-k"), ("string", "v"))]),
    "delivery-annotations": ("map", [(("symbol", "x-k"), ("string", "v"))]),
    "message-annotations": ("map", [(("symbol", "x-k"), ("string", "v"))]),
    "footer": ("map", [(("symbol", "x-k"), ("string", "v"))]),
    "application-properties": ("map", [(("string", "k"), ("string", "v"))]),
    "data": ("binary", b"amqpspec"),
    "amqp-sequence": ("list", [("uint", 1), ("string", "two")]),
    "amqp-value": ("string", "amqpspec"),
    "map": _MAP,
    "list": ("list", [("uint", 1), ("null", None)]),
    "array": ("array", ("symbol", ["a", "b"])),
    "string": ("string", "text"),
    "symbol": ("symbol", "symbol"),
    "binary": ("binary", b"octets"),
    "boolean": ("boolean", 0),
}


def sample_of(dialect: TypedDialect, name: str) -> tuple[str, Any]:
    """A primitive type and a sample value for any type by name."""
    if name in _BY_TYPE:
        return _BY_TYPE[name]
    choices = dialect.choices(name)
    base = dialect.base(name)
    if choices:
        return base, choices[0].value
    return _BY_TYPE.get(base, (base, 0))


def given(dialect: TypedDialect, row: Composite, *, full: bool = False) -> dict[str, Any]:
    """Sample values of a composite's fields: the mandatory ones and what a reader needs, or all that fit."""
    return {
        f.name: _field(dialect, row, f)
        for f in row.fields
        if f.mandatory or f"{row.name} {f.name}" in _NEEDED or (full and f.name not in _LEFT_OUT)
    }


_NEEDED = {"transfer delivery-id", "transfer delivery-tag", "transfer message-format", "attach source", "attach target",
           "attach initial-delivery-count", "sasl-init initial-response"}  # fmt: skip


def _field(dialect: TypedDialect, row: Composite, field: TypedField) -> Any:
    found = _BY_FIELD.get(f"{row.name} {field.name}")
    if found is not None:
        return found
    if field.type in dialect.composites:
        return {"condition": "amqp:internal-error"} if field.type == "error" else {}
    if field.multiple:
        return ["amqpspec-fuzz"]
    if field.type == "*":
        return ("string", QUEUE) if field.requires == "address" else ("binary", b"t")
    return sample_of(dialect, field.type)[1]
