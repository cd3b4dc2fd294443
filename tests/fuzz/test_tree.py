"""Trees: measures follow what they span, a lie is one edit, and every production of every dialect is legal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.fuzz.grammar import Production, grammar
from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.strategies import productions
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.trees.tree import (
    Role,
    at,
    count_of,
    edited,
    edited_path,
    find,
    group,
    leaf,
    number,
    octets_at,
    octets_of,
    replaced,
    size_of,
    walk,
)
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import load_methods
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.amqp_1_0.message import decode_message
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader

DIALECTS = fuzzed_dialects()

METHODS = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-0-8")


def pair() -> tuple[str, ...]:
    return ("a", "b")


TREE = group(
    "message",
    size_of(2, "body"),
    group(
        "body", count_of(1, "items"), group("items", *(leaf(n, Role.TEXT, n.encode() * 2) for n in pair()))
    ),
    number("end", Role.END, 1, 0xCE),
)


def test_measures_follow_what_they_span() -> None:
    assert octets_of(TREE) == b"\0\5\2aabbce".replace(b"ce", b"\xce")
    longer = edited_path(TREE, "body.items.a", b"xyz")
    assert octets_of(longer) == b"\0\6\2xyzbb\xce"
    dropped = replaced(TREE, find(TREE, "body.items.a").way, lambda old: ())
    assert octets_of(dropped) == b"\0\3\1bb\xce"
    doubled = replaced(TREE, find(TREE, "body.items.b").way, lambda old: (old, old))
    assert octets_of(doubled) == b"\0\7\3aabbbb\xce"


def test_an_edited_measure_lies_alone() -> None:
    assert octets_of(edited_path(TREE, "size", b"\xff\xff")) == b"\xff\xff\2aabb\xce"
    assert octets_of(edited_path(TREE, "body.count", b"\x09")) == b"\0\5\x09aabb\xce"


def test_a_measure_too_large_for_its_width_is_cut() -> None:
    assert octets_of(edited_path(TREE, "body.items.a", b"x" * 65_536))[:2] == b"\0\3"


def test_measures_reach_across_the_tree() -> None:
    far = group("root", size_of(1, "/other.data"), group("other", leaf("data", Role.OPAQUE, b"abc")))
    assert octets_of(far) == b"\3abc"
    assert octets_of(edited_path(far, "other.data", b"")) == b"\0"


def test_a_measure_within_what_it_measures_spans_nothing_there() -> None:
    measure = size_of(2, "/frame.body", name="length")
    tree = group("root", measure, group("frame", group("body", leaf("text", Role.OPAQUE, b"abc"), measure)))
    assert octets_of(tree) == b"\0\5abc\0\5"


def test_unknown_paths_are_told() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        find(TREE, "nowhere")


def test_a_body_size_follows_its_body() -> None:
    tree = grammar("amqp-0-9-1")["content/basic.publish"].tree
    longer = edited_path(tree, "body.payload.data", b"x" * 300)
    assert octets_at(longer, find(longer, "header.payload.body-size").way) == (300).to_bytes(8, "big")
    assert octets_at(longer, find(longer, "body.size").way) == (300).to_bytes(4, "big")


def method_cases() -> list[tuple[str, Production]]:
    return [(d, p) for d in METHODS for p in grammar(d).values()]


@pytest.mark.parametrize(("dialect", "production"), method_cases(), ids=lambda v: getattr(v, "name", v))
def test_productions_of_methods_are_read_without_error(dialect: str, production: Production) -> None:
    codec = codec_for(widest(dialect))
    reader = FrameReader(codec.dialect.layout)
    octets = octets_of(production.tree)
    reader.feed(octets)
    items = list(iter(reader.next, None))
    assert items and reader.pending_octets == 0
    for item in items:
        if isinstance(item, ProtocolHeader):
            assert item.octets == codec.dialect.protocol_header
        else:
            assert isinstance(item, Frame)
            read(dialect, item, production)


def read(dialect: str, frame: Frame, production: Production) -> None:
    """Decode a frame, and encode what was read to the same octets."""
    codec = codec_for(widest(dialect))
    kind = codec.dialect.layout.type_name(frame.type)
    if kind == "method":
        call = codec.decode_method(frame.payload)
        assert production.name.endswith(call.name)
        assert codec.encode_method(call.name, call.args) == frame.payload
    elif kind == "header":
        assert codec.encode_header(codec.decode_header(frame.payload)) == frame.payload


@pytest.mark.parametrize("production", grammar("amqp-1-0").values(), ids=lambda p: p.name)
def test_productions_of_types_are_legal(production: Production) -> None:
    reader = TypedReader()
    reader.feed(octets_of(production.tree))
    item = reader.next()
    assert item is not None and reader.pending_octets == 0
    if isinstance(item, TypedFrame):
        assert item.error is None and item.problems == ()
        if item.name == "transfer":
            assert decode_message(item.payload).problems == ()


def test_grammars_hold_everything_that_the_tables_hold() -> None:
    for dialect in METHODS:
        tables = load_methods(widest(dialect))
        assert {f"method/{name}" for name in tables.methods} <= set(grammar(dialect))
        assert {f"table/{tag.name}" for tag in tables.table_tags} <= set(grammar(dialect))
    from amqpspec.spec.amqp_1_0 import DIALECT

    names = {name.partition("/")[2].removesuffix("/bare") for name in grammar("amqp-1-0")}
    assert {*DIALECT.composites, *DIALECT.encodings, *(row.name for row in DIALECT.sections)} <= names


@pytest.mark.parametrize("dialect", [*DIALECTS, "amqp-0-8"])
@given(data=st.data())
def test_whatever_replaces_a_part_every_other_measure_stays_true(dialect: str, data: st.DataObject) -> None:
    production = data.draw(productions(dialect))
    leaves = [p for p in walk(production.tree) if p.node.measure is None and not p.node.children]
    place = data.draw(st.sampled_from(leaves))
    tree = edited(production.tree, place.way, data.draw(st.binary(max_size=64)))
    for here in walk(tree):
        measure = here.node.measure
        if measure is None or measure.counts or any(name.startswith("/") for name in measure.of):
            continue
        parent = here.way[:-1]
        siblings = enumerate(at(tree, parent).children)
        spanned = sum(len(octets_at(tree, (*parent, n))) for n, s in siblings if s.name in measure.of)
        told = int.from_bytes(octets_at(tree, here.way), "big")
        assert told == (spanned + measure.extra) // measure.unit % (1 << 8 * measure.width_octets)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_recorded_octets_become_a_tree_of_the_same_octets(dialect: str, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(productions(dialect), min_size=1, max_size=3))
    octets = b"".join(octets_of(p.tree) for p in drawn) + data.draw(st.binary(max_size=20))
    assert octets_of(tree_of(dialect, octets)) == octets
