"""The grammar of AMQP 1.0: each encoding, composite, section and frame as a tree, made from the tables.

Knows: how the tables' rows are encoded on the wire. Must not know: states, what is illegal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from amqpspec.fuzz.amqp_1_0.samples import given, sample_of
from amqpspec.fuzz.grammar import Production, protocol_header
from amqpspec.fuzz.trees.tree import Node, Role, count_of, group, leaf, number, size_of
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.spec.typed import Category, Composite, Encoding, Restricted, TypedDialect, TypedField

_ROLES = {
    "handle": Role.HANDLE, "delivery-number": Role.DELIVERY, "delivery-tag": Role.DELIVERY,
    "transfer-number": Role.SEQUENCE, "sequence-no": Role.SEQUENCE, "milliseconds": Role.TIME, "seconds": Role.TIME,
    "timestamp": Role.TIME, "sasl-code": Role.CODE,
}  # fmt: skip
_SEQUENCES = ("link-credit", "available", "incoming-window", "outgoing-window", "max-frame-size", "channel-max",
              "handle-max", "max-message-size")  # fmt: skip
_TEXTS = {"string": Role.TEXT, "symbol": Role.SYMBOL, "binary": Role.OPAQUE}
_SERVER_SASL = ("sasl-mechanisms", "sasl-challenge", "sasl-outcome")
_CLIENT_SASL = ("sasl-init", "sasl-response")
_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "begin": {"remote-channel": 0},
    "attach": {"role": 1},
    "disposition": {"role": 1, "settled": 1},
}
"""What differs in a server's answers: role 1 is the receiver of what a client sends."""
_DATA = b"amqpspec"


def productions() -> Iterator[Production]:
    """Every production."""
    return _Grammar(DIALECT).productions()


class Maker:
    """Values, composites and frames as trees."""

    def __init__(self, dialect: TypedDialect) -> None:
        self.dialect = dialect

    # --- values

    def encoded(self, name: str, encoding: Encoding, value: Any, role: Role | None = None) -> Node:
        """A value in one encoding; ``value`` is its octets, or the parts of a list, map or array."""
        constructor = number("constructor", Role.TYPE_TAG, 1, encoding.code, "constructor")
        kind = encoding.name
        if encoding.category is Category.FIXED:
            parts = (leaf("value", role or Role.NUMBER, value, kind),) if encoding.width_octets else ()
            return group(name, constructor, *parts, kind=kind)
        width = encoding.width_octets
        if encoding.category is Category.VARIABLE:
            own = role or _TEXTS[self.dialect.primitive_of[encoding.code]]
            return group(
                name, constructor, size_of(width, "value", kind=kind), leaf("value", own, value), kind=kind
            )
        items = group("items", *value)
        if encoding.category is Category.COMPOUND:
            size = size_of(width, "count", "items", kind=kind)
            return group(name, constructor, size, count_of(width, "items", kind=kind), items, kind=kind)
        element, *rest = value
        size = size_of(width, "count", "element", "items", kind=kind)
        count = count_of(width, "items", kind=kind)
        return group(name, constructor, size, count, element, group("items", *rest), kind=kind)

    def value(self, name: str, kind: str, value: Any, role: Role | None = None) -> Node:
        """A plain value as a primitive type, in its general encoding; texts in the short one if they fit."""
        row = self.dialect.primitives_by_name[kind]
        if kind in ("list", "map", "array"):
            return self.encoded(name, row.encodings[-1], self._parts(kind, value))
        if kind == "null":
            return self.encoded(name, row.encodings[0], b"")
        if kind in _TEXTS:
            octets = value if isinstance(value, bytes) else str(value).encode()
            return self.encoded(name, row.encodings[0 if len(octets) < 256 else 1], octets, role)
        encoding = row.encodings[0]
        octets = value if isinstance(value, bytes) else int(value).to_bytes(encoding.width_octets, "big")
        return self.encoded(name, encoding, octets, role)

    def _parts(self, kind: str, value: Any) -> list[Node]:
        """Items of a list as (type, value), keys and values of a map in turn, an array as (type, values)."""
        if kind == "list":
            return [self.value(f"item-{n}", *item) for n, item in enumerate(value)]
        if kind == "map":
            pairs = [(f"key-{n}", key, f"value-{n}", item) for n, (key, item) in enumerate(value)]
            return [node for k, key, v, item in pairs for node in (self.value(k, *key), self.value(v, *item))]
        inner, items = value
        encoding = self.dialect.primitives_by_name[inner].encodings[0]
        return [
            self.element(encoding),
            *(self._bare(f"item-{n}", inner, item) for n, item in enumerate(items)),
        ]

    def element(self, encoding: Encoding) -> Node:
        """The constructor of an array's elements."""
        return number("element", Role.TYPE_TAG, 1, encoding.code, "constructor")

    def _bare(self, name: str, kind: str, value: Any) -> Node:
        """A value without its constructor."""
        whole = self.encoded(name, self.dialect.primitives_by_name[kind].encodings[0], self._octets(value))
        return group(name, *whole.children[1:], kind=whole.kind)

    @staticmethod
    def _octets(value: Any) -> bytes:
        return value if isinstance(value, bytes) else str(value).encode()

    def described(self, name: str, row: Composite | Restricted, value: Node) -> Node:
        """A value after the descriptor of its type."""
        assert row.code is not None
        zero = number("described", Role.TYPE_TAG, 1, 0, "constructor")
        encoding = self.dialect.encodings["smallulong"]
        descriptor = self.encoded("descriptor", encoding, bytes((row.code,)), Role.DESCRIPTOR)
        return group(name, zero, descriptor, value, kind="described")

    def example(self, encoding: Encoding) -> Node:
        """A sample value in one encoding."""
        kind = self.dialect.primitive_of[encoding.code]
        if encoding.category is Category.FIXED:
            return self.encoded(
                "value", encoding, (b"\1" if kind == "boolean" else b"A").rjust(encoding.width_octets, b"\0")
            )
        if encoding.category is Category.VARIABLE:
            return self.encoded("value", encoding, b"text")
        _, content = sample_of(self.dialect, kind)
        return self.encoded("value", encoding, self._parts(kind, content))

    # --- composites

    def composite(self, name: str, row: Composite, values: Mapping[str, Any]) -> Node:
        """A composite with some fields; those after the last one given are left out."""
        last = max((n for n, f in enumerate(row.fields) if f.name in values), default=-1)
        fields = [self.field(f, values.get(f.name)) for f in row.fields[: last + 1]]
        encoding = self.dialect.encodings["list8"]
        whole = self.encoded("fields", encoding, fields)
        if sum(_length(f) for f in fields) > 250:
            whole = self.encoded("fields", self.dialect.encodings["list32"], fields)
        return self.described(name, row, whole)

    def field(self, field: TypedField, value: Any) -> Node:
        """One field of a composite: null if there is no value, a tree as it is."""
        if value is None:
            return self.value(field.name, "null", None)
        if isinstance(value, Node):
            return group(field.name, *value.children, kind=value.kind)
        if field.type in self.dialect.composites:
            return self.composite(field.name, self.dialect.composites[field.type], value)
        if field.multiple:
            return self.value(field.name, "array", (self.dialect.base(field.type), value))
        role = role_of_field(field)
        if field.type == "*":
            kind, value = value
            composites = self.dialect.composites
            return (
                self.composite(field.name, composites[kind], value)
                if kind in composites
                else self.value(field.name, kind, value)
            )
        return self.value(field.name, self.dialect.base(field.type), value, role)

    # --- frames

    def frame(
        self, body: Iterable[Node], payload: Iterable[Node] = (), *, kind: int = 0, channel: int = 0
    ) -> Node:
        """One frame around a performative and a payload."""
        layout = self.dialect.layout
        word, own = layout.doff_word_octets, layout.header_octets
        known = {
            "size": size_of(4, "doff", "type", "channel", "extended", "body", "payload", extra=4, kind="frame"),
            "doff": size_of(1, "extended", name="doff", extra=own, unit=word, kind="frame"),
            "type": number("type", Role.FRAME_TYPE, 1, kind),
            "channel": number("channel", Role.CHANNEL, 2, channel),
        }  # fmt: skip
        header = [known[name] for name, _ in layout.header]
        extended = leaf("extended", Role.OPAQUE, b"")
        return group(
            "frame", *header, extended, group("body", *body), group("payload", *payload), kind="frame"
        )

    def performative(self, name: str, values: Mapping[str, Any], payload: Iterable[Node] = ()) -> Node:
        """A frame with one performative; SASL's have a frame type of their own."""
        row = self.dialect.composites[name]
        kind = self.dialect.layout.types["sasl" if "sasl-frame" in row.provides else "amqp"]
        return group(name, self.frame([self.composite(name, row, values)], payload, kind=kind))

    def section(self, row: Composite | Restricted, value: Node | None = None) -> Node:
        """One section of a message with sample content."""
        if isinstance(row, Composite):
            return self.composite(row.name, row, given(self.dialect, row, full=True))
        kind, content = sample_of(self.dialect, row.name)
        return self.described(row.name, row, value or self.value("value", kind, content))

    def message(self, *sections: Node) -> Node:
        """A transfer that carries sections."""
        return self.performative(
            "transfer", given(self.dialect, self.dialect.composites["transfer"]), sections
        )

    def body(self) -> Node:
        """The default body of messages."""
        row = self.dialect.restricted["data"]
        return self.described("data", row, self.value("value", "binary", _DATA))

    def amqp_value(self, value: Node) -> Node:
        """A transfer whose message is one value."""
        row = self.dialect.restricted["amqp-value"]
        return self.message(
            self.described("amqp-value", row, group("value", *value.children, kind=value.kind))
        )


MAKER = Maker(DIALECT)


def role_of_field(field: TypedField) -> Role | None:
    """The purpose of a field, if its type or name shows it."""
    return _ROLES.get(field.type) or (Role.SEQUENCE if field.name in _SEQUENCES else None)


def _length(node: Node) -> int:
    from amqpspec.fuzz.trees.tree import octets_of

    return len(octets_of(node))


class _Grammar(Maker):
    def productions(self) -> Iterator[Production]:
        for name, octets in self.dialect.layout.headers.items():
            yield Production(f"protocol-header/{name}", protocol_header(octets), Side.BOTH)
        yield Production("frame/empty", group("empty", self.frame(())), Side.BOTH)
        for row in (*self.dialect.performatives, *self.dialect.sasl_frames):
            side = _sent_by(row.name)
            kind = "sasl" if "sasl-frame" in row.provides else "performative"
            for words, full in ((row.name, True), (f"{row.name}/bare", False)):
                payload = [self.body()] if row.name == "transfer" else []
                tree = self.performative(row.name, given(self.dialect, row, full=full), payload)
                yield Production(f"{kind}/{words}", tree, side)
        yield from self._carried()
        yield from self._answered()
        yield from self._messages()

    def _carried(self) -> Iterator[Production]:
        """What is in a field of a performative: delivery states, sources, targets."""
        sent = self.dialect.composites
        for row in sent.values():
            values = given(self.dialect, row, full=True)
            if "delivery-state" in row.provides:
                disposition = {**given(self.dialect, sent["disposition"]), "state": (row.name, values)}
                yield Production(
                    f"state/{row.name}", self.performative("disposition", disposition), Side.BOTH
                )
            for end in ("source", "target"):
                if end in row.provides:
                    attach = {**given(self.dialect, sent["attach"]), end: (row.name, values)}
                    yield Production(f"{end}/{row.name}", self.performative("attach", attach), Side.BOTH)

    def _answered(self) -> Iterator[Production]:
        """What a server answers with: sessions and links that a client began, outcomes of a client's deliveries."""
        sent = self.dialect.composites
        for name, own in _ANSWERS.items():
            values = {**given(self.dialect, sent[name], full=True), **own}
            yield Production(f"server/{name}", self.performative(name, values), Side.SERVER)
        for row in sent.values():
            if "delivery-state" in row.provides:
                values = given(self.dialect, row, full=True)
                settled = {**given(self.dialect, sent["disposition"]), **_ANSWERS["disposition"]}
                tree = self.performative("disposition", {**settled, "state": (row.name, values)})
                yield Production(f"server/state/{row.name}", tree, Side.SERVER)

    def _messages(self) -> Iterator[Production]:
        """Sections, encodings, and composites that occur only there, in a message."""
        bodies = ("data", "amqp-sequence", "amqp-value")
        for row in self.dialect.sections:
            rest = () if row.name in bodies else (self.body(),)
            parts = (self.section(row), *rest) if row.name != "footer" else (*rest, self.section(row))
            yield Production(f"section/{row.name}", self.message(*parts), Side.BOTH)
        for encoding in self.dialect.encodings.values():
            yield Production(f"type/{encoding.name}", self.amqp_value(self.example(encoding)), Side.BOTH)
        used = ("frame", "sasl-frame", "section", "delivery-state", "source", "target")
        for composite in self.dialect.composites.values():
            if not set(composite.provides) & set(used):
                values = given(self.dialect, composite, full=True)
                tree = self.amqp_value(self.composite(composite.name, composite, values))
                yield Production(f"composite/{composite.name}", tree, Side.BOTH)


def _sent_by(name: str) -> Side:
    if name in _SERVER_SASL:
        return Side.SERVER
    return Side.CLIENT if name in _CLIENT_SASL else Side.BOTH
