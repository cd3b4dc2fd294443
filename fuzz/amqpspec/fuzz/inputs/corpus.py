"""Recorded octets as trees, so that they can be bent like productions.

Knows: frame layouts. Must not know: where octets come from; what payloads mean is known to
``amqpspec.fuzz.inputs.dissect``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.inputs.dissect import method_parts, typed_parts
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number, size_of
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.typed import TypedDialect
from amqpspec.wire.amqp_1_0.frames import RawFrame, RawReader
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.frames import Frame, FrameReader, header_struct

_MAX_OCTETS = 1 << 24
_KEPT_TREES = 64


@lru_cache(maxsize=_KEPT_TREES)
def tree_of(dialect_id: str, octets: bytes) -> Node:
    """Octets as frames whose sizes follow their payloads, what is no frame as it is; rendered, the same octets.

    Payloads that can be read are as fine as those of productions.
    """
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        return group("corpus", *_frames(dialect, octets))
    assert isinstance(dialect, TypedDialect)
    return group("corpus", *_typed_frames(dialect, octets))


def _frames(dialect: MethodDialect, octets: bytes) -> Iterator[Node]:
    reader = FrameReader(dialect.layout, max_payload_octets=_MAX_OCTETS)
    reader.feed(octets)
    names = [name for name, _ in dialect.layout.header]
    roles = {"type": Role.FRAME_TYPE, "channel": Role.CHANNEL, "cycle": Role.CYCLE}
    done = 0
    while True:
        start = done
        try:
            item = reader.next()
        except WireError:
            break
        if item is None:
            break
        done = reader.offset
        if isinstance(item, ProtocolHeader):
            yield leaf("protocol-header", Role.VERSION, item.octets)
            continue
        assert isinstance(item, Frame)
        values = dict(zip(names, header_struct(dialect.layout).unpack_from(octets, start), strict=True))
        header = [
            size_of(width, "payload", kind="frame")
            if name == "size"
            else number(name, roles[name], width, values[name])
            for name, width in dialect.layout.header
        ]
        end = number("end", Role.END, 1, dialect.layout.end)
        yield group("frame", *header, _payload(dialect, item), end, kind="frame")
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])


def _payload(dialect: MethodDialect, frame: Frame) -> Node:
    kind = next((name for name, code in dialect.layout.types.items() if code == frame.type), "")
    parts = method_parts(dialect, kind, frame.payload)
    return leaf("payload", Role.OPAQUE, frame.payload) if parts is None else group("payload", *parts)


def _typed_frames(dialect: TypedDialect, octets: bytes) -> Iterator[Node]:
    reader = RawReader(max_frame_octets=_MAX_OCTETS)
    reader.feed(octets)
    done = 0
    while True:
        try:
            item = reader.next()
        except WireError:
            break
        if item is None:
            break
        done = reader.offset
        if isinstance(item, RawFrame):
            extended = item.octets[8 : 4 * item.doff]
            spanned = ("doff", "type", "channel", "extended", "body", "payload")
            size = size_of(4, *spanned, extra=4, kind="frame")
            doff = size_of(1, "extended", name="doff", extra=8, unit=4, kind="frame")
            kind = number("type", Role.FRAME_TYPE, 1, item.frame_type)
            channel = number("channel", Role.CHANNEL, 2, item.channel)
            inside = typed_parts(dialect, item.body) or (leaf("body", Role.OPAQUE, item.body),)
            parts = (leaf("extended", Role.OPAQUE, extended), *inside)
            yield group("frame", size, doff, kind, channel, *parts, kind="frame")
        else:
            yield leaf("protocol-header", Role.VERSION, item.octets)
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])
