"""Field tables: values, names, duplicates."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_tables
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._login import greeted_with
from amqpspec.suites.amqp_0_9_1._messages import altered
from amqpspec.suites.amqp_0_9_1._wire import fetch, header_payload, send_content, shortstr, table
from amqpspec.suites.amqp_0_9_1.framing_tables import refuses_arguments, refuses_name
from amqpspec.suites.amqp_wire_9_1._wire import NO_TEST_CLASS, tested
from amqpspec.wire.values import Raw, Table, TableLike, Typed

borrow = partial(declare, globals())

# Bit 13: headers is the third property of class basic.
_HEADERS = 0x2000
_DEFINED_TAGS = "SIDTF"
_ADD = 1
_WRONG_PASSWORD = "not the password"

# values


@case("table.value-types", covers=["grammar/table-value-types"])
def server_sends_defined_types(peer: Peer) -> Verdict:
    """The server's own tables contain only values of the types S, I, D, T and F."""
    peer.claim("server-properties with values of S, I, D, T and F")
    start = peer.greet()
    tags = sorted({*_tags_of(start["server_properties"])})
    return holds(peer, all(tag in _DEFINED_TAGS for tag in tags), f"types {', '.join(tags) or 'none'}")


borrow(framing_tables.undefined_tag, "table.value-types.undefined", ["grammar/table-value-types"])


@case("table.value-types.later", covers=["grammar/table-value-types"], needs=["cycle-header"])
def tag_of_a_later_version(peer: Peer) -> Verdict:
    """A value with a tag that only later versions define is refused."""
    verdicts = []
    for tag in ("i", "t", "l"):
        # Later versions give these 4, 1 and 8 octets of value: eight are there, so that each could be read.
        octets = table(shortstr("name") + tag.encode() + b"\x01\x00\x00\x00\x00\x00\x00\x00")
        verdicts.append(refuses_arguments(peer.another(), octets))
    return worst(verdicts)


@on_queue("table.format", covers=["field-tables/format"])
def table_packed_by_hand(peer: Peer, queue: str) -> Verdict:
    """A table packed by hand, with every type and a nested table, arrives unchanged."""
    # Name, tag, value (amqp-wire-9-1 field-tables/format): S two octets behind 32 bits of length; I with
    # its sign bit set; D two places, then 0x3039 = 12345; T 64 bits of seconds.
    fields = (
        shortstr("text") + b"S\x00\x00\x00\x02\x00\xff"
        + shortstr("number") + b"I\x80\x00\x00\x01"
        + shortstr("amount") + b"D\x02\x00\x00\x30\x39"
        + shortstr("time") + b"T" + struct.pack(">Q", 1_234_567_890)
    )  # fmt: skip
    packed = table(fields + shortstr("within") + b"F" + table(fields))
    wanted: dict[str, Any] = {
        "text": b"\x00\xff",
        "number": 1 - 2**31,
        "amount": (2, 12345),
        "time": 1_234_567_890,
    }
    peer.claim("the same table")
    send_content(peer, header_payload(peer, 0, flags=(_HEADERS,), properties=packed), queue=queue)
    got = fetch(peer, queue).properties.get("headers", Table()).plain()
    lost = altered(got, {**wanted, "within": wanted})
    return holds(peer, not lost, f"without {', '.join(lost)}: {got}" if lost else "all of it")


borrow(framing_tables.table_longer_than_its_frame, "table.format.beyond-frame", ["field-tables/format"])
borrow(framing_tables.value_longer_than_its_table, "table.format.value-beyond-table", ["field-tables/format"])
borrow(framing_tables.name_without_a_value, "table.format.value-missing", ["field-tables/format"])
borrow(
    framing_tables.nested_table_longer_than_its_table,
    "table.format.nested-beyond-table",
    ["field-tables/format"],
)


# names


borrow(framing_tables.legal_field_names, "table.names", ["field-tables/names"])


@case("table.names.sent", covers=["field-tables/names"])
def names_that_a_server_sends(peer: Peer) -> Verdict:
    """Names in the server's properties begin with a letter, $ or #, and continue with these, digits and _."""
    peer.claim("names by the rule in server-properties")
    wrong = [name for name in _names_of(peer.greet()["server_properties"]) if not _is_name(name)]
    return equals(peer, wrong, [], "names against the rule")


@case("table.names.validated", covers=["field-tables/names-validated"])
def field_names_are_checked(peer: Peer) -> Verdict:
    """A field name that violates every naming rule is not accepted."""
    # A digit first, then signs that no name may have: wrong in any reading of the rule.
    return refuses_name(peer, "9-\u00a7!")


borrow(framing_tables.field_name_begins_with_a_digit, "amq_wlp_table_01", ["amq_wlp_table_01"])
borrow(framing_tables.field_name_with_a_blank, "wlp.table_01.illegal-octet", ["amq_wlp_table_01"])
borrow(framing_tables.field_name_too_long, "wlp.table_01.too-long", ["amq_wlp_table_01"])


@on_channel("wlp.table_01.in-a-method", covers=["amq_wlp_table_01"])
def field_name_in_arguments(peer: Peer) -> Verdict:
    """A field name that begins with a digit is refused in the arguments of a method as well."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.send("queue.bind", queue=queue, exchange=exchange, arguments={"1st": b"value"})
    return rejects_violation(peer)


# numbers


@on_channel("table.integers", covers=["field-tables/integers-signed"])
def signed_integers_are_added(peer: Peer) -> Verdict:
    """Integers in a table are signed: a negative one makes a sum smaller."""
    # -5 and 12 in two's complement. Read without a sign, the sum would be 2^32 + 7.
    fields = shortstr("loss") + b"I\xff\xff\xff\xfb" + shortstr("gain") + b"I\x00\x00\x00\x0c"
    peer.claim("the sum of -5 and 12")
    got = _sums(peer, Raw(table(fields)))
    if got is None:
        return does_not_apply(peer, NO_TEST_CLASS)
    return equals(peer, got[0], 7, "result")


@case("table.integers.round-trip", covers=["field-tables/integers-signed"])
def signed_integers_come_back(peer: Peer) -> Verdict:
    """The lowest and the highest integer of a table arrive unchanged."""
    values = {"lowest": Typed("I", -(2**31)), "highest": Typed("I", 2**31 - 1), "minus": Typed("I", -1)}
    return _come_back(peer, values)


@case("table.decimals", covers=["field-tables/decimals"])
def decimals_of_many_places(peer: Peer) -> Verdict:
    """Decimals with up to 255 places, including negative ones, arrive unchanged."""
    # 128 and 255 places: a signed octet would make them negative.
    values = {
        "none": Typed("D", (0, 7)),
        "many": Typed("D", (128, 12345)),
        "most": Typed("D", (255, 1)),
        "minus": Typed("D", (2, -12345)),
    }
    return _come_back(peer, values)


# duplicates


@on_channel("table.duplicates", covers=["field-tables/duplicates"])
def first_of_duplicates_is_used(peer: Peer) -> Verdict:
    """Of two fields with the same name, only the first counts in a sum."""
    # The sum tells which were used: 3, 40 or 43, and 'a', 'b' or 'ab'.
    fields = [("n", Typed("I", 3)), ("n", Typed("I", 40)), ("s", Typed("S", b"a")), ("s", Typed("S", b"b"))]
    peer.claim("3 and 'a', of 3 and 40, 'a' and 'b'")
    got = _sums(peer, Table(fields))
    if got is None:
        return does_not_apply(peer, NO_TEST_CLASS)
    return equals(peer, got, (3, b"a"), "results")


@case("table.duplicates.first-password", covers=["field-tables/duplicates"])
def first_of_two_passwords_is_used(peer: Peer) -> Verdict:
    """A login table with two passwords succeeds if the first is right."""
    greeted_with(peer, "AMQPLAIN")
    peer.claim("tune for a login whose first password is correct")
    _log_in(peer, peer.login.password, _WRONG_PASSWORD)
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "connection.tune")


@case("table.duplicates.second-password", covers=["field-tables/duplicates"], slow=True)
def second_of_two_passwords_is_not_used(peer: Peer) -> Verdict:
    """A login table with two passwords fails if only the second is right."""
    greeted_with(peer, "AMQPLAIN")
    peer.claim("no tune for a login whose first password is wrong")
    _log_in(peer, _WRONG_PASSWORD, peer.login.password)
    reaction = peer.reaction(0, barrier=False)
    # How a failed login is refused belongs to other rows: here it is enough that there is no tune.
    tuned = any(isinstance(a, MethodArrived) and a.name == "connection.tune" for a in reaction.arrivals)
    return holds(peer, not tuned, reaction)


# --- steps of this module


def _sums(peer: Peer, fields: TableLike) -> tuple[int, bytes] | None:
    """What the integers and the strings of a table add up to for the server; None if it has no class test."""
    octets = peer.method_frame("test.table", table=fields, integer_op=_ADD, string_op=_ADD)
    answer = tested(peer, octets)
    return None if answer is None else (answer["integer_result"], answer["string_result"])


def _log_in(peer: Peer, *passwords: str) -> None:
    fields: list[tuple[str, Typed]] = [("LOGIN", Typed("S", peer.login.user.encode()))]
    fields += [("PASSWORD", Typed("S", password.encode())) for password in passwords]
    # An AMQPLAIN response is the fields of a table without the table's own length.
    response = peer.codec.tables.encode(Table(fields))[4:]
    peer.start_ok(mechanism="AMQPLAIN", response=response)


def _come_back(peer: Peer, values: dict[str, Typed]) -> Verdict:
    """A message with these headers returns with all of them."""
    peer.open_channel()
    queue = peer.queue()
    peer.claim("the same values")
    peer.publish(queue, b"body", properties={"headers": Table(values.items())})
    got = dict(fetch(peer, queue).properties.get("headers", Table()))
    lost = altered(got, values)
    return holds(peer, not lost, f"without {', '.join(lost)}: {got}" if lost else "all of them")


def _tags_of(value: Any) -> list[str]:
    """The tags in a table, all the way down."""
    if isinstance(value, Table):
        return [tag for _, typed in value for tag in (typed.tag, *_tags_of(typed.value))]
    if isinstance(value, list):
        return [tag for typed in value for tag in (typed.tag, *_tags_of(typed.value))]
    return []


def _names_of(fields: Table) -> list[str]:
    """The names in a table and in the tables within it."""
    within = [_names_of(typed.value) for _, typed in fields if isinstance(typed.value, Table)]
    return [*fields.names(), *(name for names in within for name in names)]


def _is_name(name: str) -> bool:
    legal = all(c.isascii() and (c.isalnum() or c in "$#_") for c in name)
    # 128 characters at most. An underline may not come first.
    return legal and 1 <= len(name) <= 128 and not name[0].isdigit() and name[0] != "_"
