"""C12: order and form of a message's parts, and what another dialect or a decoder makes of them.

Knows: properties, flags, packed bodies. Must not know: which conversions a target does.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, by_role, locations_at
from amqpspec.fuzz.families.material import CODINGS, flipped_flags, packed
from amqpspec.fuzz.methods.kit import Kit, can_say, kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Role
from amqpspec.fuzz.trees.values import TEXTS, boundaries
from amqpspec.wire.values import Raw, Typed

_HEADERS = (
    "x-death", "x-delay", "x-match", "CC", "BCC", "x-opt-jms-msg-type", "x-amqp-0-9-1.type", "x-first-death-queue",
    "x-stream-filter-value", "x-received-from", "JMSType", "JMSXGroupID", "qpid.subject", "x-routes",
)  # fmt: skip
_NUMBERS = (
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "9" * 60,
    "1e9",
    "0x10",
    "NaN",
    " 1",
    "1 ",
)


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    touches = ("wire/content/malformed-header", "wire/content/property-flags", "content-header/flags")
    yield from locations_at(dialect_id, state, by_role(Role.FLAGS, "flags"), flipped_flags, *touches)
    if state.name == "consuming":
        yield Location("content.unpacked", lambda: _unpacked(kit(dialect_id)), ("wire/content/unmodified",))
    if can_say(dialect_id, state, "basic.publish"):
        tools = kit(dialect_id)
        kept = ("wire/content/unmodified",)
        yield Location("content.coding", lambda: _packed(tools), kept)
        yield Location("content.property", lambda: _properties(tools), kept)
        yield Location("content.header", lambda: _headers(tools), kept)
        yield Location(
            "content.weight", lambda: _weights(tools), ("amq_wlp_content_04", "amq_wlp_content_05")
        )


def _packed(tools: Kit) -> Iterator[Bend]:
    bomb = packed(b"\0" * (1 << 22))
    bodies = (
        ("packed", packed(b"amqpspec")), ("4 MiB of zeros packed", bomb), ("packed twice", packed(bomb)),
        ("cut", packed(b"amqpspec" * 64)[:-9]), ("not packed", b"amqpspec"), ("empty", b""),
    )  # fmt: skip
    for coding in CODINGS:
        for words, body in bodies:
            sent = tools.publish(body, properties={"content_encoding": coding})
            yield Bend(f"content-encoding {coding}, body {words}", (sent,))


def _unpacked(tools: Kit) -> Iterator[Bend]:
    """Compressed bodies for a consumer, which a server may decompress: zeros in this many members, 4 MiB each."""
    member = packed(b"\0" * (1 << 22))
    for coding in CODINGS[:4]:
        for count in (1, 16, 64):
            body = member * count
            header = tools.header(len(body), content_encoding=coding)
            sent = tools.delivered(f"amqpspec.fuzz.{coding}.{count}", header, body)
            yield Bend(f"content-encoding {coding}, {4 * count} MiB of zeros delivered", (sent,))


def _properties(tools: Kit) -> Iterator[Bend]:
    row = tools.dialect.classes_by_name["basic"]
    for field in row.properties:
        if field.type == "shortstr":
            for words, text in (*TEXTS, *((f"number {n}", n.encode()) for n in _NUMBERS)):
                yield Bend(f"{field.name}: {words}", (tools.publish(b"x", properties={field.key: text}),))
        elif field.type != "table":
            width = 8 if field.type == "timestamp" else 1
            for number in range(256) if width == 1 else boundaries(width):
                yield Bend(f"{field.name} {number}", (tools.publish(b"x", properties={field.key: number}),))


def _headers(tools: Kit) -> Iterator[Bend]:
    """Headers that servers give a meaning, with values of every type."""
    from amqpspec.fuzz.methods.grammar import tagged
    from amqpspec.fuzz.trees.tree import group, octets_of

    for name in _HEADERS:
        for tag in tools.dialect.table_tags:
            value = Typed(tag.tag, Raw(octets_of(group("value", *tagged(tools.dialect, tag)[1:]))))
            sent = tools.publish(b"x", properties={"headers": {name: value}})
            yield Bend(f"header {name} as {tag.name}", (sent,))


def _weights(tools: Kit) -> Iterator[Bend]:
    publish = tools.method("basic.publish", routing_key="amqpspec.fuzz.none")
    for weight in (1, 2, 255, 256, 32_768, 65_535):
        header = tools.header(4, weight=weight)
        yield Bend(f"weight {weight}, plain body", (publish + header + tools.body(b"body"),))
        child = tools.header(2) + tools.body(b"in")
        yield Bend(f"weight {weight}, one child", (publish + header + child + tools.body(b"body"),))
        deep = b"".join(tools.header(0, weight=weight) for _ in range(64))
        yield Bend(f"weight {weight}, 64 deep", (publish + deep,))
