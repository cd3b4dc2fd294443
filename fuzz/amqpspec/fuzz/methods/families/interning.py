"""C6: names that a target may never free: methods' texts, table keys, header names, exchange types, tags.

Knows: where names stand. Must not know: which of them a target keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.fuzz.families.base import Bend, Location
from amqpspec.fuzz.families.material import NAME_COUNTS, names
from amqpspec.fuzz.methods.kit import Kit, can_say, kit
from amqpspec.fuzz.states.model import State


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    for role, (method, make) in _ROLES.items():
        if can_say(dialect_id, state, method):
            yield Location(role, _bends(kit(dialect_id), role.partition(".")[2], make))


def _bends(tools: Kit, kind: str, make: Callable[[Kit, list[str]], bytes]) -> Callable[[], Iterator[Bend]]:
    def bends() -> Iterator[Bend]:
        for count in NAME_COUNTS:
            yield Bend(f"{count} names: {kind}", (make(tools, names(kind, count)),))

    return bends


def _table_keys(tools: Kit, texts: list[str]) -> bytes:
    return tools.method("queue.declare", queue="amqpspec.fuzz.q", arguments=dict.fromkeys(texts, "v"))


def _client_keys(tools: Kit, texts: list[str]) -> bytes:
    properties = dict.fromkeys(texts, "v")
    return tools.method(
        "connection.start-ok", 0, client_properties=properties, mechanism="PLAIN", response=b"\0guest\0guest",
        locale="en_US",
    )  # fmt: skip


def _headers(tools: Kit, texts: list[str]) -> bytes:
    return tools.publish(b"", properties={"headers": dict.fromkeys(texts, "v")})


def _types(tools: Kit, texts: list[str]) -> bytes:
    return b"".join(tools.method("exchange.declare", exchange="amqpspec.fuzz.x", type=text) for text in texts)


def _keys(tools: Kit, texts: list[str]) -> bytes:
    return b"".join(tools.publish(routing_key=text) for text in texts)


def _declared(tools: Kit, texts: list[str]) -> bytes:
    return b"".join(tools.method("queue.declare", queue=text, passive=True, no_wait=True) for text in texts)


def _tags(tools: Kit, texts: list[str]) -> bytes:
    return b"".join(tools.method("basic.cancel", consumer_tag=text, no_wait=True) for text in texts)


def _content_types(tools: Kit, texts: list[str]) -> bytes:
    return b"".join(tools.publish(properties={"content_type": text, "type": text}) for text in texts)


_ROLES: dict[str, tuple[str, Callable[[Kit, list[str]], bytes]]] = {
    "name.table-key": ("queue.declare", _table_keys),
    "name.client-property": ("connection.start-ok", _client_keys),
    "name.header": ("basic.publish", _headers),
    "name.exchange-type": ("exchange.declare", _types),
    "name.routing-key": ("basic.publish", _keys),
    "name.queue": ("queue.declare", _declared),
    "name.consumer-tag": ("basic.cancel", _tags),
    "name.content-type": ("basic.publish", _content_types),
}
