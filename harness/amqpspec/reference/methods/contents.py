"""Incoming contents: the announcing method, the header, nested contents, the body.

Knows: the grammar of a content, to any depth, and which rule a misplaced frame violates. Must not know: what happens
to a complete content.

The contents within one are kept as one flat list in the order in which they came, so that no depth is too deep.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Call, Codec, ContentHeader

MAX_BODY_OCTETS = 8 << 30
_CLASS_AND_WEIGHT = struct.Struct(">HH")
_CLASS_WEIGHT_SIZE = struct.Struct(">HHQ")
_LOW_HALF = 0xFFFFFFFF

Children = tuple[tuple[str, bytes], ...]
"""The contents within a content, flat: ``("header", octets)`` and ``("body", octets)`` in the order of the wire."""


class Received(NamedTuple):
    """A whole content: ``octets`` are those of its header."""

    call: Call
    header: ContentHeader
    octets: bytes
    body: bytes
    children: Children = ()


@dataclass(slots=True)
class _Part:
    """A content, or one within it, that is not whole yet."""

    header: ContentHeader
    octets: bytes
    missing_octets: int
    missing_children: int
    body: list[bytes] = field(default_factory=list)


class Content:
    """One incoming content; ``header`` and ``body`` give it back once it is whole, else None.

    In 0-9-1 a content is one header and as many body frames as its size takes, none for an empty body (§4.2.6.2). In
    the draft the header's weight says how many contents lie within, between header and body, to any depth.
    ``_parts`` is the stack of those that are not whole yet, the outermost first.

    Both raise Spoilt if a fault tolerates what leaves the rest unreadable.
    """

    def __init__(self, call: Call, codec: Codec, refuse: wire.Refuse, faulty: Callable[[str], bool]) -> None:
        self.call = call
        self._codec, self._refuse, self._faulty = codec, refuse, faulty
        self._structured = codec.dialect.structured_contents
        self._parts: list[_Part] = []
        self._children: list[tuple[str, bytes]] = []

    @property
    def begun(self) -> bool:
        """Whether its header has arrived."""
        return bool(self._parts)

    def header(self, payload: bytes) -> Received | None:
        """A header has arrived."""
        if self._parts and not self._parts[-1].missing_children:
            if self._faulty("second-header-taken") or self._faulty("contents-within-contents-taken"):
                return None
            self._refuse_header()
            self._parts[-1].missing_children = 1
        part = self._read(payload)
        if part is None:
            raise Spoilt
        if self._parts:
            self._children.append(("header", payload))
        self._parts.append(part)
        return self._settle()

    def _refuse_header(self) -> None:
        rule = "amq_wlp_content_05" if self._structured else "amq_wlp_content_01"
        self._refuse(rule, "a second content header where the body was due")
        if not self._structured:
            raise Spoilt

    def body(self, payload: bytes) -> Received | None:
        """A piece of a body has arrived."""
        if not self._parts:
            self._refuse("amq_wlp_content_01", "a content body where its header was due")
            raise Spoilt
        part = self._parts[-1]
        if part.missing_children:
            self._refuse("amq_wlp_content_05", f"a body where {part.missing_children} more contents were due")
            part.missing_children = 0
        if len(payload) > part.missing_octets:
            self._refuse(
                "wire/content/body-exceeds-size", f"{len(payload) - part.missing_octets} octets too many"
            )
            raise Spoilt
        part.missing_octets -= len(payload)
        if part.missing_octets and self._faulty("split-bodies-refused"):
            self._refuse("amq_wlp_content_01", "not all of the body in one frame")
        part.body.append(payload)
        return self._settle()

    def cut_short(self) -> Received:
        """What there is of it, for a fault that takes that for the whole."""
        root = self._parts[0]
        return Received(self.call, root.header, root.octets, b"".join(root.body), tuple(self._children))

    def _settle(self) -> Received | None:
        """Close what is whole, from the inside out."""
        while not (self._parts[-1].missing_octets or self._parts[-1].missing_children):
            part = self._parts.pop()
            body = b"".join(part.body)
            if not self._parts:
                return Received(self.call, part.header, part.octets, body, tuple(self._children))
            self._children.append(("body", body))
            self._parts[-1].missing_children -= 1
        return None

    # --- headers

    def _read(self, payload: bytes) -> _Part | None:
        if not self._fits(payload):
            return None
        if self._faulty("continued-flags-not-read") and payload[13:14] and payload[13] & 1:
            self._refuse("wire/content/malformed-header", "more than one word of flags")
        try:
            header = self._codec.decode_header(payload)
        except WireError as error:
            if not self._faulty("malformed-properties-stored") or len(payload) < _CLASS_WEIGHT_SIZE.size:
                self._refuse("wire/content/malformed-header", str(error))
                return None
            class_id, _, size = _CLASS_WEIGHT_SIZE.unpack_from(payload)
            header = ContentHeader(class_id, size, {})
        self._check(header)
        size = header.body_size_octets & (_LOW_HALF if self._faulty("body-size-of-32-bits") else -1)
        return _Part(header, payload, size, self._children_of(header))

    def _fits(self, payload: bytes) -> bool:
        """Whether class and weight may be what they are."""
        if len(payload) < _CLASS_AND_WEIGHT.size:
            return True
        class_id, weight = _CLASS_AND_WEIGHT.unpack_from(payload)
        if class_id != self.call.method.class_id:
            self._refuse("amq_wlp_content_02", f"content of class {class_id} after {self.call.name}")
            return False
        taken = self._structured or self._faulty("contents-within-contents-taken")
        if weight and not taken:
            self._refuse("amq_wlp_content_05", f"content with the weight {weight}")
        return True

    def _children_of(self, header: ContentHeader) -> int:
        if not self._structured or self._faulty("weight-ignored"):
            return 0
        if header.weight and self._parts and self._faulty("children-without-children"):
            return 0
        return header.weight

    def _check(self, header: ContentHeader) -> None:
        wire.check_values(header.properties, self._refuse, self._codec.dialect.signs_in_field_names)
        if self._faulty("field-names-begin-with-letters-only") and wire.any_field(
            header.properties, lambda name, _: name[:1] in "$#"
        ):
            self._refuse("amq_wlp_table_01", "a field name that begins with a sign")
        if header.body_size_octets > MAX_BODY_OCTETS:
            self._refuse("constant/content-too-large", f"a body of {header.body_size_octets} octets")


class Spoilt(Exception):
    """A fault tolerates what makes the rest of the content unreadable: it is discarded."""


FAULTS = fault_table("""
field-names-begin-with-letters-only: field names that begin with $ or # are refused [amq_wlp_table_01]
contents-within-contents-taken: a weight is accepted, and a second content header discarded
    [amq_wlp_content_04 amq_wlp_content_05]
malformed-properties-stored: undecodable properties are stored and delivered
    [wire/content/malformed-header]
continued-flags-not-read: a second word of property flags is refused [wire/content/property-flags-continued]
second-header-taken: a second header is discarded
split-bodies-refused: a body in several frames is refused
body-size-of-32-bits: the low 32 bits of a body size count
weight-ignored: every content is treated as a simple one
children-without-children: a content within a content is treated as a simple one
""")
