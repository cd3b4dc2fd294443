"""Field tables: names and values (field-tables)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX, on_handle, topic
from amqpspec.wire.amqp_fast_0_8.malformed import counted, table_field
from amqpspec.wire.values import Table, Typed

_INTEGER = bytes.fromhex("00000001")


def _refused(peer: Peer, *tables: bytes) -> Verdict:
    """Each table, as the selector of a CONSUME, is refused."""
    verdicts = []
    for table in tables:
        line = peer.another().open_handle()
        line.send(
            "handle.consume",
            service_type=TOPIC,
            prefetch=1,
            dest_name=topic(peer),
            selector=counted("table", table),
        )
        verdicts.append(rejects_violation(line))
    return worst(verdicts)


@case("tables.layout", covers=["tables/layout"])
def tables_that_end_within_a_field(peer: Peer) -> Verdict:
    """A name, type or value that does not fit into its table is refused."""
    whole = table_field(b"N", "I", _INTEGER)
    return _refused(peer, whole + b"\5A", b"\1", whole + b"\1A", whole[:-1], table_field(b"N", "S", b"\0\2x"))


@on_handle("tables.layout.sound", covers=["tables/layout", "tables/types", "tables/names"])
def sound_tables(peer: Peer) -> Verdict:
    """The target accepts tables of every type, with names at the limits of the rule, and an empty table."""
    names = ("A", "z", "$", "#", "A" * 128, "a_9$#Z")
    values = (Typed("S", b""), Typed("I", 0), Typed("D", (255, -1)), Typed("T", 0xFFFFFFFF), 1, b"x")
    peer.claim("confirmations for CONSUMEs with such selectors")
    name = topic(peer)
    peer.consume(name, service_type=TOPIC, selector=Table(zip(names, map(_typed, values), strict=True)))
    peer.consume(name, service_type=TOPIC, selector={})
    return holds(peer, True, "both confirmed")


def _typed(value: Any) -> Typed:
    if isinstance(value, Typed):
        return value
    return Typed("I" if isinstance(value, int) else "S", value)


@case("tables.types", covers=["tables/types"])
def types_that_are_not_defined(peer: Peer) -> Verdict:
    """Values of types of later protocols, of small letters, and of type zero are refused after a valid field."""
    sound = table_field(b"N", "I", _INTEGER)
    return _refused(peer, *(sound + table_field(b"M", tag, _INTEGER) for tag in ("F", "s", "t", 0)))


@case("tables.names", covers=["tables/names"])
def names_that_break_the_rule(peer: Peer) -> Verdict:
    """Empty names, and names with an initial digit or underscore, a space, or 129 characters are refused."""
    names = (b"", b"9A", b"_A", b"A B", b"A" * 129, "É".encode())
    return _refused(peer, *(table_field(name, "I", _INTEGER) for name in names))


def _passes_through(peer: Peer, *values: Typed) -> Verdict:
    """Values in the headers of a message arrive as they were sent, type and all."""
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    sent = Table((f"N{number}", value) for number, value in enumerate(values))
    peer.claim("the values unchanged")
    peer.store(name, b"x", 1, headers=sent)
    return equals(peer, peer.delivery(2).head["headers"], sent, "headers")


@case("tables.strings", covers=["tables/strings"])
def strings_in_tables(peer: Peer) -> Verdict:
    """Strings of 0, 1, 255, 256 and 900 octets arrive unchanged."""
    return _passes_through(peer, *(Typed("S", (b"s\0" * n)[:n]) for n in (0, 1, 255, 256, 900)))


@case("tables.integers", covers=["tables/integers"])
def integers_in_tables(peer: Peer) -> Verdict:
    """Integers at both ends of the signed 32-bit range arrive unchanged."""
    return _passes_through(peer, *(Typed("I", n) for n in (-(2**31), -1, 0, 1, 2**31 - 1)))


@case("tables.decimals", covers=["tables/decimals"])
def decimals_in_tables(peer: Peer) -> Verdict:
    """Decimals with 0, 2, 128 and 255 places, positive and negative, arrive unchanged."""
    values = ((0, 0), (2, 1999), (2, -1999), (128, 1), (255, -(2**31)), (0, 2**31 - 1))
    return _passes_through(peer, *(Typed("D", value) for value in values))


@case("tables.times", covers=["tables/times"])
def times_in_tables(peer: Peer) -> Verdict:
    """Times of 0, today, and both sides of 2038 arrive unchanged."""
    return _passes_through(peer, *(Typed("T", n) for n in (0, 1119398400, 2**31 - 1, 2**31, 2**32 - 1)))


@on_handle("tables.strings.by-value", covers=["tables/strings"], needs=["selectors"])
def strings_are_compared_whole(peer: Peer) -> Verdict:
    """A selector distinguishes strings of 300 octets that differ in the last octet."""
    name = topic(peer)
    value = b"v" * 299
    peer.reader(name, 2, service_type=TOPIC, selector={"K": value + b"1"})
    peer.claim("the message whose field is equal")
    for last in (b"0", b"1"):
        peer.store(name, last, 1, service=TOPIC, headers={"K": value + last})
    return equals(peer, peer.bodies(1, 2), [b"1"], "bodies")


@on_handle("tables.decimals.by-value", covers=["tables/decimals"], needs=["selectors"])
def decimals_are_compared_whole(peer: Peer) -> Verdict:
    """A selector distinguishes decimals that differ in their places or in their sign."""
    name = topic(peer)
    peer.claim("the message whose field is equal")
    peer.reader(name, 2, service_type=TOPIC, selector={"K": Typed("D", (3, -7))})
    for places, number in ((2, -7), (3, 7), (3, -7)):
        value = Typed("D", (places, number))
        peer.store(name, b"%d %d" % value.value, 1, service=TOPIC, headers={"K": value})
    return equals(peer, peer.bodies(1, 2), [b"3 -7"], "bodies")


@case("tables.duplicates", covers=["tables/duplicates"])
def the_first_of_two_equal_names_counts(peer: Peer) -> Verdict:
    """Of two FRAME_MAX in one TUNE the first applies to the target's fragments."""
    peer.log_in()
    fields = [("FRAME_MAX", Typed("I", LEAST_FRAME_MAX)), ("FRAME_MAX", Typed("I", 2 * LEAST_FRAME_MAX))]
    peer.send("connection.tune", options=Table(fields))
    peer.open()
    peer.open_channel()
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    peer.claim("a message of 5000 octets in fragments of at most 1024")
    peer.store(name, b"d" * 5000, 1)
    sizes = [len(frame.fragment) for frame in peer.delivery(2).frames]
    return holds(peer, max(sizes) <= LEAST_FRAME_MAX, f"fragments of {sizes} octets")
