"""Strategies of legal values and sequences: codecs take the values, reference brokers take the sequences."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.fuzz.amqp_1_0.grammar import Maker
from amqpspec.fuzz.amqp_1_0.strategies import legal_performatives, typed_values
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.result import End
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.grammar import grammar, grammar_hash, tables
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.strategies import legal_conversations
from amqpspec.fuzz.methods.strategies import bodies, legal_headers, legal_methods
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.sequences import beginnings, choices, facts_in, turn_of
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.trees.tree import Node, octets_of
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import widest
from amqpspec.spec.typed import Composite, TypedDialect
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.amqp_1_0.message import decode_message
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

DIALECTS = fuzzed_dialects()

MOST = {"amqp-0-9-1": 10, "amqp-wire-9-1": 7, "amqp-1-0": 60, "amqp-fast-0-8": 13, "amqp-0-10": 52}
"""How many productions may come next where a conversation begins with most of them."""
METHODS = ["amqp-0-9-1", "amqp-wire-9-1"]
TEMPO = Tempo(quiet_s=0.3, settle_s=0.05, refusal_s=2.0, way_s=20.0)


def read(dialect: str, octets: bytes) -> Frame:
    """The one frame that octets are."""
    reader = FrameReader(codec_for(widest(dialect)).dialect.layout, max_payload_octets=1 << 20)
    reader.feed(octets)
    frame = reader.next()
    assert isinstance(frame, Frame) and reader.pending_octets == 0
    return frame


@pytest.mark.parametrize("dialect", METHODS)
@given(data=st.data())
def test_methods_of_any_values_are_read_and_written_back(dialect: str, data: st.DataObject) -> None:
    codec = codec_for(widest(dialect))
    method, tree = data.draw(legal_methods(dialect))
    frame = read(dialect, octets_of(tree))
    call = codec.decode_method(frame.payload)
    assert call.name == method.name
    assert codec.encode_method(call.name, call.args) == frame.payload


@pytest.mark.parametrize("dialect", METHODS)
@given(data=st.data())
def test_headers_of_any_properties_are_read_and_written_back(dialect: str, data: st.DataObject) -> None:
    codec = codec_for(widest(dialect))
    row, tree = data.draw(legal_headers(dialect))
    frame = read(dialect, octets_of(tree))
    header = codec.decode_header(frame.payload)
    assert header.class_id == row.index
    assert codec.encode_header(header) == frame.payload


@pytest.mark.parametrize("dialect", METHODS)
@given(data=st.data())
def test_bodies_are_frames(dialect: str, data: st.DataObject) -> None:
    frame = read(dialect, octets_of(data.draw(bodies(dialect))))
    assert codec_for(widest(dialect)).dialect.layout.type_name(frame.type) == "body"


@given(legal_performatives("amqp-1-0"))
def test_performatives_of_any_values_have_no_problems(drawn: tuple[Composite, Node]) -> None:
    row, tree = drawn
    reader = TypedReader()
    reader.feed(octets_of(tree))
    frame = reader.next()
    assert isinstance(frame, TypedFrame) and reader.pending_octets == 0
    assert frame.name == row.name and frame.error is None and frame.problems == ()


@given(st.data())
def test_values_of_any_encoding_have_no_problems(data: st.DataObject) -> None:
    dialect = tables("amqp-1-0")
    assert isinstance(dialect, TypedDialect)
    reader = TypedReader()
    reader.feed(octets_of(Maker(dialect).amqp_value(data.draw(typed_values(dialect)))))
    frame = reader.next()
    assert isinstance(frame, TypedFrame) and frame.problems == ()
    assert decode_message(frame.payload).problems == ()


# --- sequences


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60)
@given(data=st.data())
def test_reference_brokers_never_refuse_a_legal_sequence(dialect: str, data: st.DataObject) -> None:
    """Each sequence has a broker of its own: a session of AMQP 0-10 may outlive the sequence that made it."""
    state, names, octets = data.draw(legal_conversations(dialect))
    item = FuzzInput(
        InputId(grammar_hash(dialect), "random", "legal", state.name, 0, 0), dialect, state.name, octets, ""
    )
    with ReferenceBroker(dialect) as broker:
        subject = Subject("reference", dialect, Address(broker.host, broker.port))
        with closing(subject.executor(TEMPO)) as executor:
            (result,) = executor.run([item])
    assert result.reached and result.refusal is None and result.end is End.OPEN, (names, result)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_turns_lead_to_states_and_belong_to_productions(dialect: str) -> None:
    for production in grammar(dialect):
        turn = turn_of(dialect, production)
        assert turn is None or not turn.to or turn.to in states(dialect)
    assert len(beginnings(dialect)) >= 8
    assert (
        max(len(choices(dialect, s.name, facts_in(dialect, s))) for s in beginnings(dialect)) == MOST[dialect]
    )


def test_a_sequence_is_longer_than_one() -> None:
    seen = set[int]()

    @settings(max_examples=60, database=None)
    @given(legal_conversations("amqp-0-9-1"))
    def lengths(drawn: tuple[object, tuple[str, ...], tuple[bytes, ...]]) -> None:
        seen.add(len(drawn[1]))

    lengths()
    assert max(seen) >= 4
