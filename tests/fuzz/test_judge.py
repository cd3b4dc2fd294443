"""What the ledger is said to demand: what breaks one rule beyond doubt is claimed, all else is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.fuzz.amqp_1_0.kit import attach, begin, flow, say, transfer
from amqpspec.fuzz.driver import fuzz_driver
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.inputs.strategies import legal_sequences, replays
from amqpspec.fuzz.judge.expectation import MAY_BE_LEGAL, expect, ledger
from amqpspec.fuzz.judge.judge import expectation
from amqpspec.fuzz.methods.driver import MethodsDriver
from amqpspec.fuzz.methods.kit import kit
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.trees.choices import ChoiceKey, Choices
from amqpspec.fuzz.trees.mutators import MUTATORS, stacked
from amqpspec.fuzz.trees.tree import edited_path, octets_at, octets_of, walk
from amqpspec.wire.amqp_1_0.frames import encode_frame
from amqpspec.wire.amqp_1_0.values import Array, Repeated
from amqpspec.wire.methods.malformed import nested_tables

DIALECTS = fuzzed_dialects()

K = kit("amqp-0-9-1")


def claim(state: str, *steps: bytes, dialect: str = "amqp-0-9-1") -> str:
    return expectation(dialect, states(dialect)[state], steps).requirement


def tree(name: str, path: str, octets: bytes, dialect: str = "amqp-0-9-1") -> bytes:
    return octets_of(edited_path(grammar(dialect)[name].tree, path, octets))


TAG = "frame.payload.args.arguments.entries.k.tag"
LENGTH = "frame.payload.args.arguments.entries.k.value.size"

HUGE = tree("content/basic.publish", "header.payload.body-size", b"\x80" + bytes(7))
SOON = tree("content/basic.publish", "header.payload.body-size", (1 << 20).to_bytes(8, "big"))

METHODS = [
    ("channel", SOON[:-1] + b"\0", "amq_wlp_frame_02"),
    ("channel", HUGE[:-1] + b"\0", ""),
    ("raw", b"AMQP\0\0\x09\x09", "amq_wlp_header_03"),
    ("raw", b"AMQP\0\1\0\0", ""),
    ("raw", b"HTTP/1.1", ""),
    ("raw", b"AMQP\0", ""),
    ("ready", tree("method/channel.open", "frame.end", b"\0"), "amq_wlp_frame_02"),
    ("ready", tree("method/channel.open", "frame.type", b"\x09"), "amq_wlp_frame_01"),
    ("ready", tree("method/channel.open", "frame.type", b"\x04"), ""),
    ("ready", tree("method/channel.open", "frame.size", b"\0\0\0\4"), "amq_wlp_frame_02"),
    ("ready", tree("method/channel.open", "frame.size", b"\0\0\0\6"), ""),
    ("ready", tree("frame/heartbeat", "frame.channel", b"\0\1"), "amq_wlp_heartbeat_01"),
    ("ready", K.method("channel.open"), ""),
    ("ready", K.method("queue.declare"), "channel/grammar"),
    ("ready", K.method("basic.publish"), ""),
    ("channel", K.method("queue.purge", 7), "channel/grammar"),
    ("channel", K.method("queue.purge", 7) + K.method("tx.rollback"), ""),
    ("channel", K.method("queue.purge", 7) + b"\1\0\1\0\0\0\0\0", ""),
    ("channel", K.method("queue.purge", 7) + K.payload("method", b"\0\x14\0\2", 7), ""),
    ("channel", K.method("queue.purge", 7) + b"\1", ""),
    ("channel", K.method("queue.purge", 7) + b"\1\0\1\x82\0\0\0\4", ""),
    ("ready", K.method("queue.declare", 0), "wire/frame/channel-class-on-zero"),
    ("channel", K.method("connection.open", 1), "wire/frame/channel-zero-for-connection"),
    ("channel", K.method("connection.open", 2), ""),
    ("channel", K.method("channel.open-ok"), "wire/method/server-only"),
    ("channel", K.method("channel.open-ok") + b"\1\1\1\1\1\1\1\1", ""),
    ("channel", K.method("basic.deliver"), ""),
    ("channel", K.payload("method", b"\0\x0a\0\x46\0\0\0\4x", 0), "constant/frame-error"),
    ("channel", K.payload("method", b"\x00\x63\x00\x01"), "wire/method/unknown-class"),
    ("channel", K.payload("method", b"\x00\x32\x00\x63"), "wire/method/unknown-method"),
    ("channel", K.payload("method", b"\x00\x1e\x00\x0a"), ""),
    ("channel", K.payload("method", b"\x00\x3c\x00\x0a"), "constant/frame-error"),
    ("channel", tree("method/queue.declare", TAG, b"!"), "wire/table/malformed"),
    ("channel", tree("method/queue.declare", TAG, b"L"), ""),
    ("channel", tree("method/exchange.bind", TAG, b"!"), "wire/table/malformed"),
    ("channel", tree("method/exchange.bind", TAG, b"L"), ""),  # a tag of 0-9-1, in a method that RabbitMQ added
    ("channel", tree("method/queue.declare", LENGTH, b"\x7f\xff\xff\xff"), "wire/table/malformed"),
    ("channel", tree("method/queue.declare", "frame.payload.args.arguments", bytes(nested_tables(200))), ""),
    ("ready", K.method("queue.declare", arguments={"": "v"}), ""),
    ("ready", K.method("queue.declare", queue="a\0b"), ""),
    ("channel", K.header(0), "wire/content/unexpected-header"),
    ("channel", K.payload("header", b"\0\x3c" + bytes(8)), ""),
    ("channel", K.body(b"x"), "wire/content/unexpected-body"),
    ("channel", K.header(0, 0), "amq_wlp_content_03"),
    ("channel", K.payload("header", b"\x04\0\x14\0\x0a", 0), ""),
    ("channel", K.body(b"x", 0), "amq_wlp_content_03"),
    ("channel", K.publish(b"x"), ""),
    ("channel", K.method("basic.publish") + K.header(1) + K.body(b"xy"), "wire/content/body-exceeds-size"),
    ("channel", K.method("queue.declare") + K.body(b"x"), ""),
    ("content", K.payload("header", b"\0\x0a" + bytes(12)), "amq_wlp_content_02"),
    ("content", K.payload("header", b"\0\x3c" + bytes(8)), "wire/content/malformed-header"),
    ("content", K.header(0, weight=1), ""),
    ("content", K.method("queue.declare"), ""),
    ("body", K.body(b"x" * 8), ""),
    ("body", K.body(b"x" * 9), "wire/content/body-exceeds-size"),
    ("limits", K.payload("body", b"x" * 9000), ""),
    ("limits", K.method("basic.publish") + K.header(9000) + K.body(b"x" * 9000), "amq_wlp_frame_03"),
    ("limits", K.method("basic.publish") + K.header(8186) + K.body(b"x" * 8186), ""),
    ("start", tree("method/connection.start-ok", "frame.end", b"\0"), ""),
    ("closing", tree("frame/heartbeat", "frame.end", b"\0"), ""),
]  # fmt: skip


@pytest.mark.parametrize(("state", "octets", "wanted"), METHODS)
def test_what_is_claimed_of_methods(state: str, octets: bytes, wanted: str) -> None:
    assert claim(state, octets) == wanted


NULLS = Array("null", Repeated(None, 256))

TYPES = [
    ("raw", b"AMQP\0\1\0\1", "version/unsupported"),
    ("raw", b"AMQP\7\1\0\0", "version/protocol-id/unacceptable"),
    ("raw", b"AMQP\7\7\0\0", ""),
    ("raw", b"AMQP\0\0\x09\x01", ""),
    ("open", encode_frame(b"", size=7), "framing/size/below-header"),
    ("open", encode_frame(b"", doff=1), "framing/doff/below-header"),
    ("open", encode_frame(b"", doff=3), "framing/doff/beyond-size"),
    ("open", encode_frame(b"", size=9, doff=1), ""),
    ("open", encode_frame(b"", size=98, doff=127), ""),
    ("open", encode_frame(b"", doff=1) + b"\0", ""),
    ("open", encode_frame(b"", size=7, doff=1), ""),
    ("open", encode_frame(b"", frame_type=9), ""),
    ("open", encode_frame(b""), ""),
    ("open", encode_frame(b"\x40"), "model/nine-frame-bodies"),
    ("session", encode_frame(b"\0\x53\x12\xc0\xff\x01"), "definitions/condition/decode-error"),
    ("header", encode_frame(b"\0\x53\x10\xc0\xff\x01"), ""),
    ("session", begin(), "sessions/begin/unused-channel"),
    ("session", begin() + encode_frame(b"", size=7), ""),
    ("session", begin() + bytes(3), ""),
    ("session", begin(1), ""),
    ("session", attach("new", 0), ""),
    ("attached", attach("new", 0), "performatives/attach/handle/in-use"),
    ("attached", attach("amqpspec-fuzz-sender", 0), ""),
    ("attached", flow(handle=9, delivery_count=0, link_credit=1), "performatives/flow/handle/unattached"),
    ("attached", flow(), ""),
    ("attached", flow(handle=9, next_incoming_id=1), ""),
    ("attached", flow(handle=9, next_outgoing_id=1), ""),
    ("consuming", flow(handle=9, next_outgoing_id=1), "performatives/flow/handle/unattached"),
    ("consuming", flow(handle=9), ""),
    ("attached", attach("new", 0, properties={"k": [1, 2]}), "performatives/attach/handle/in-use"),
    ("attached", attach("new", 0, properties={"k": NULLS}), ""),
    ("attached", transfer(handle=9), ""),
    ("attached", transfer(), ""),
    ("attached", transfer(payload=b"\xff\xff"), ""),
    ("attached", say("detach", handle=9), ""),
    ("session", attach("n" * 600, 0), ""),
]


@pytest.mark.parametrize(("state", "octets", "wanted"), TYPES)
def test_what_is_claimed_of_types(state: str, octets: bytes, wanted: str) -> None:
    assert claim(state, octets, dialect="amqp-1-0") == wanted


def test_every_rule_is_a_row_with_refusals() -> None:
    for dialect in ("amqp-0-9-1", "amqp-wire-9-1"):
        driver = fuzz_driver(dialect)
        assert isinstance(driver, MethodsDriver) and len(driver.rules) > 10
        for id in driver.rules.values():
            assert expect(dialect, id).accepts
    with pytest.raises(ValueError, match="refusals"):
        expect("amqp-0-9-1", "amq_wlp_header_01")
    with pytest.raises(KeyError):
        expect("amqp-0-9-1", "no/such/row")
    assert expect("amqp-0-9-1", "") is MAY_BE_LEGAL
    assert ledger("amqp-0-8") is ledger("amqp-wire-9-1")


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None)
@given(data=st.data())
def test_nothing_is_claimed_of_what_may_legally_come_next(dialect: str, data: st.DataObject) -> None:
    state, steps = data.draw(legal_sequences(dialect))
    assert not expectation(dialect, state, steps[-1:]).must_refuse, state.name


@settings(deadline=None)
@given(data=st.data())
def test_mutators_give_octets_whatever_is_chosen(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    trees = [p.tree for p in grammar(dialect).values()]
    root = data.draw(st.sampled_from(trees))
    choices = data.draw(replays())
    tree, names = stacked(root, choices, trees[:5], 4)
    assert octets_of(tree) == b"".join(octets_at(tree, p.way) for p in walk(tree) if not p.node.children)
    again, same_names = stacked(root, Choices(replay=choices.recorded), trees[:5], 4)
    assert (octets_of(again), same_names) == (octets_of(tree), names)
    assert (tree is root) is (not names)
    assert set(names) <= {mutator.name for mutator in MUTATORS}


def test_every_mutator_changes_something_somewhere() -> None:
    for mutator in MUTATORS:
        changed = 0
        for dialect in DIALECTS:
            trees = [p.tree for p in grammar(dialect).values()]
            for number, root in enumerate(trees):
                choices = Choices(ChoiceKey("", mutator.name, dialect, 0, number))
                changed += octets_of(mutator.apply(root, choices, trees)) != octets_of(root)
        assert changed > 30, mutator.name


def test_of_an_assembly_that_is_not_complete_nothing_is_claimed_that_is_read_at_its_end() -> None:
    foreign, control_on_track_1 = (0xE7, 0), (0, 1)
    for (kind, track), rule in (
        (foreign, "segment-type/values"),
        (control_on_track_1, "track/control/zero"),
    ):
        whole, begun = (bytes((flags, kind, 0, 12, 0, track, 0, 1, 0, 0, 0, 0)) for flags in (0x0F, 0x0B))
        assert claim("session", whole, dialect="amqp-0-10") == rule
        assert claim("session", begun, dialect="amqp-0-10") == ""
        assert claim("session", whole + begun, dialect="amqp-0-10") == ""


def test_of_a_command_of_fast_nothing_is_claimed_if_more_follows() -> None:
    known = grammar("amqp-fast-0-8")["command/channel.ack"].tree
    octets = octets_of(edited_path(known, "frame.code", b"\x1b"))
    assert claim("channel", octets, dialect="amqp-fast-0-8") == "syntax/channel-commands"
    assert claim("channel", octets + b"\0", dialect="amqp-fast-0-8") == ""
