"""The wire level, third part: field tables (PDF §4.2.1, §4.2.5.5)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Scope
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._messages import altered
from amqpspec.suites.amqp_0_9_1._wire import fetch, shortstr, table
from amqpspec.wire.values import Raw, Table, Typed

# Values that change where a reader takes the wrong width or sign: the lowest of signed integers, the
# highest of unsigned ones, a double that no float can hold, long strings of every octet and of 0xCE.
_SAMPLES: dict[str, Any] = {
    "boolean": True,
    "int8": -128,
    "uint8": 255,
    "int16": -32768,
    "uint16": 65535,
    "int32": -(2**31),
    "uint32": 2**32 - 1,
    "int64": -(2**63),
    "uint64": 2**64 - 1,
    "float": 1.5,
    "double": -2.000000001,
    "decimal": (2, -12345),
    "shortstr": "short",
    "longstr": bytes(range(256)),
    "bytes": b"\x00\xce\xff",
    "timestamp": 1_234_567_890,
    "void": None,
}
_CONTESTED = ("s", "x")
"""Tags that servers in use and the grammar read differently: an integer for a short string, octets for nothing."""


@on_queue("framing.table.every-type", covers=["wire/table/all-types-round-trip"])
def every_type_comes_back(peer: Peer, queue: str) -> Verdict:
    """A header table with every type of value, also in arrays and nested tables, arrives unchanged."""
    headers = _every_type(peer)
    peer.claim("the same headers, tags and values")
    peer.publish(queue, b"body", properties={"headers": headers})
    return _comes_back(peer, queue, headers)


@on_queue("framing.table.contested-tags", covers=["wire/table/all-types-round-trip"])
def contested_tags_come_back_or_are_refused(peer: Peer, queue: str) -> Verdict:
    """Header values whose tags servers and the grammar read differently arrive unchanged or are refused."""
    values = [Typed(t.tag, _SAMPLES[t.primitive]) for t in peer.dialect.table_tags if t.tag in _CONTESTED]
    fields = [(f"field_{value.tag}", value) for value in values]
    headers = Table([*fields, ("array", Typed("A", values))])
    peer.publish(queue, b"body", properties={"headers": headers})
    reaction = peer.reaction()
    # amqp-0-9-1 wire/table/all-types-round-trip: a server that reads these tags otherwise may refuse
    # them; what it takes, it has to pass on unchanged.
    if reaction.refusal is not None:
        return observed_either_way(peer, "refused", reaction)
    peer.claim("the same headers, tags and values")
    return _comes_back(peer, queue, headers)


@on_channel("framing.table.every-type-in-a-method", covers=["wire/table/all-types-round-trip"])
def every_type_is_read(peer: Peer) -> Verdict:
    """The server parses a table with every type of value in the arguments of a binding, even if it rejects it."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.claim("a binding with every kind of value among its arguments, or an exception of the channel")
    peer.send("queue.bind", queue=queue, exchange=exchange, arguments=_every_type(peer))
    reaction = peer.reaction()
    # A channel exception rejects what the arguments say, so they were read. Only a connection exception
    # can mean that they were not.
    if reaction.refusal is not None and reaction.refusal.scope is Scope.CHANNEL:
        return observed_either_way(peer, "read, but not accepted", reaction)
    if reaction.refusal is not None:
        return holds(peer, False, reaction)
    peer.publish("", b"bound", exchange=exchange)
    return equals(peer, fetch(peer, queue).body, b"bound", "message")


@case("framing.table.undefined-tag", covers=["wire/table/malformed"])
def undefined_tag(peer: Peer) -> Verdict:
    """A value with an undefined tag is refused."""
    # Here and below, by PDF §4.2.5.5: a field is its name as a short string, one octet of tag, the value.
    # Tag Z is not defined; four octets of value, as the commonest tags have, follow.
    return refuses_arguments(peer, table(shortstr("name") + b"Z\x00\x00\x00\x00"))


@case("framing.table.beyond-frame", covers=["wire/table/malformed"])
def table_longer_than_its_frame(peer: Peer) -> Verdict:
    """A table that announces more octets than its frame contains is refused."""
    return refuses_arguments(peer, table(b"", size=1000))


@case("framing.table.value-beyond-table", covers=["wire/table/malformed"])
def value_longer_than_its_table(peer: Peer) -> Verdict:
    """A long string that is longer than the table around it is refused."""
    # Tag S announces 0x03E8 = 1000 octets, three follow.
    return refuses_arguments(peer, table(shortstr("name") + b"S\x00\x00\x03\xe8abc"))


@case("framing.table.number-beyond-table", covers=["wire/table/malformed"])
def number_cut_by_its_table(peer: Peer) -> Verdict:
    """A number that is truncated by the end of its table is refused."""
    # Tag I has four octets of value, two are there.
    return refuses_arguments(peer, table(shortstr("name") + b"I\x00\x00"))


@case("framing.table.name-beyond-table", covers=["wire/table/malformed"])
def name_longer_than_its_table(peer: Peer) -> Verdict:
    """A field name that is longer than the table around it is refused."""
    # The name announces 0x7F = 127 octets, four follow.
    return refuses_arguments(peer, table(b"\x7fname"))


@case("framing.table.value-missing", covers=["wire/table/malformed"])
def name_without_a_value(peer: Peer) -> Verdict:
    """A field name at the end of a table, with neither tag nor value, is refused."""
    return refuses_arguments(peer, table(shortstr("name")))


@case("framing.table.nested-beyond-table", covers=["wire/table/malformed"])
def nested_table_longer_than_its_table(peer: Peer) -> Verdict:
    """A nested table that is longer than the table around it is refused."""
    # Tag F, then a size of 500 with no fields after it.
    return refuses_arguments(peer, table(shortstr("name") + b"F" + table(b"", size=500)))


@case("framing.table.array-beyond-table", covers=["wire/table/malformed"])
def array_longer_than_its_table(peer: Peer) -> Verdict:
    """An array that is longer than the table around it is refused."""
    return refuses_arguments(peer, table(shortstr("name") + b"A" + table(b"t\x01", size=500)))


@case("amq_wlp_table_01", covers=["amq_wlp_table_01"])
def field_name_begins_with_a_digit(peer: Peer) -> Verdict:
    """A field name that begins with a digit is refused."""
    return refuses_name(peer, "1st")


@case("framing.table.name-illegal-octet", covers=["amq_wlp_table_01"])
def field_name_with_a_blank(peer: Peer) -> Verdict:
    """A field name that contains a space is refused, also in a nested table."""
    return worst(
        [
            refuses_name(peer, "two words"),
            refuses_fields(peer.another(), {"sound": {"two words": b"value"}}),
        ]
    )


@case("framing.table.name-too-long", covers=["amq_wlp_table_01"])
def field_name_too_long(peer: Peer) -> Verdict:
    """A field name of 129 characters is refused."""
    # One more than the 128 of PDF §4.2.5.5.
    return refuses_name(peer, "n" * 129)


@on_channel("framing.table.name-in-a-method", covers=["amq_wlp_table_01"])
def field_name_in_arguments(peer: Peer) -> Verdict:
    """A field name that begins with a digit is refused in the arguments of a method as well."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.send("queue.bind", queue=queue, exchange=exchange, arguments={"sound": b"value", "1st": b"value"})
    return rejects_violation(peer)


@on_queue("framing.table.name-legal", covers=["amq_wlp_table_01"])
def legal_field_names(peer: Peer, queue: str) -> Verdict:
    """The server accepts field names of letters, $, #, digits and underscores, up to 128 characters."""
    names = ("$first", "#first", "mixed_Case9$#", "x", "n" * 128)
    peer.claim("no exception for legal field names")
    peer.publish(queue, b"body", properties={"headers": dict.fromkeys(names, b"value")})
    message = fetch(peer, queue)
    lost = set(names) - set(message.properties["headers"].names())
    return equals(peer, sorted(lost), [], "names that were not returned")


def _every_type(peer: Peer) -> Table:
    fields = [
        (f"field_{ord(t.tag)}", Typed(t.tag, _SAMPLES[t.primitive]))
        for t in peer.dialect.table_tags
        if t.primitive in _SAMPLES and t.tag not in _CONTESTED
    ]
    array = Typed("A", [typed for _, typed in fields])
    nested = Table([*fields, ("array", array)])
    return Table([*nested, ("nested", Typed("F", nested)), ("none", Typed("F", Table()))])


def _comes_back(peer: Peer, queue: str, headers: Table) -> Verdict:
    """The message in the queue has these headers, tags and all, in whatever order."""
    got = fetch(peer, queue).properties.get("headers", Table())
    lost = altered(_named(got), _named(headers))
    return holds(peer, not lost, f"without {', '.join(lost)}: {got}" if lost else "all of them")


def _named(value: Any) -> Any:
    """A table as a mapping, all the way down, values with their tags: the order of fields means nothing."""
    if isinstance(value, Typed):
        return value.tag, _named(value.value)
    if isinstance(value, Table):
        return {name: _named(typed) for name, typed in value}
    return [_named(item) for item in value] if isinstance(value, list) else value


def refuses_arguments(peer: Peer, octets: bytes) -> Verdict:
    """The table as arguments of a declaration is refused."""
    peer.open_channel()
    name = peer.will_clean("queue", peer.name("q"))
    # A method, not a content: brokers in use decode arguments at once, but properties when they like.
    peer.send("queue.declare", queue=name, exclusive=True, arguments=Raw(octets))
    return rejects_violation(peer)


def refuses_name(peer: Peer, name: str) -> Verdict:
    """A header field of that name is refused."""
    return refuses_fields(peer, {name: b"value"})


def refuses_fields(peer: Peer, fields: dict[str, Any]) -> Verdict:
    """Headers of a message are refused."""
    peer.open_channel()
    peer.publish(peer.name("nowhere"), b"", properties={"headers": fields})
    return rejects_violation(peer)
