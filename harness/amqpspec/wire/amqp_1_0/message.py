"""Messages: sections to octets and back.

Knows: which sections there are, in which order, and how many of each. Must not know: frames, deliveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Composite, Restricted
from amqpspec.wire.amqp_1_0.composites import READERS, Composed
from amqpspec.wire.amqp_1_0.performatives import encode_as, encode_fields
from amqpspec.wire.amqp_1_0.problems import Problem, problems_of
from amqpspec.wire.amqp_1_0.reading import KEEPING
from amqpspec.wire.amqp_1_0.values import Described, Raw, Value
from amqpspec.wire.amqp_1_0.writing import encode, pack
from amqpspec.wire.errors import WireError, shown, unreadable

SECTIONS: Mapping[str, Composite | Restricted] = {row.name: row for row in DIALECT.sections}
_ORDER = {name: number for number, name in enumerate(SECTIONS)}
_BODY = ("data", "amqp-sequence", "amqp-value")
_REPEATABLE = ("data", "amqp-sequence")
_COMPOUND = ("list", "map", "array")
_NOTHING = object()


class Section(NamedTuple):
    """One section: its name, its plain value, and where it is in the message."""

    name: str
    value: Any
    start: int
    stop: int


class Message:
    """A message as it was read: its sections in the order in which they came."""

    def __init__(self, octets: bytes, sections: Sequence[Section]) -> None:
        self.octets, self.sections = octets, tuple(sections)

    def get(self, name: str) -> Any:
        """The plain value of the first section of a name, else None."""
        return next((section.value for section in self.sections if section.name == name), None)

    @property
    def header(self) -> Composed | None:
        """The header, if there is one."""
        return self._composed("header")

    @property
    def properties(self) -> Composed | None:
        """The properties, if there are some."""
        return self._composed("properties")

    @property
    def delivery_annotations(self) -> Mapping[Any, Any]:
        """Annotations of this delivery; empty if there are none."""
        return self.get("delivery-annotations") or {}

    @property
    def message_annotations(self) -> Mapping[Any, Any]:
        """Annotations of the message; empty if there are none."""
        return self.get("message-annotations") or {}

    @property
    def application_properties(self) -> Mapping[Any, Any]:
        """The application's properties; empty if there are none."""
        return self.get("application-properties") or {}

    @property
    def footer(self) -> Mapping[Any, Any]:
        """The footer; empty if there is none."""
        return self.get("footer") or {}

    @property
    def data(self) -> bytes:
        """The octets of all data sections together."""
        return b"".join(s.value for s in self.sections if s.name == "data" and isinstance(s.value, bytes))

    @property
    def body(self) -> Any:
        """Data as octets, sequences as a list of lists, or the value; None if there is no body."""
        kinds = [section for section in self.sections if section.name in _BODY]
        if not kinds or kinds[0].name == "amqp-value":
            return kinds[0].value if kinds else None
        return self.data if kinds[0].name == "data" else [s.value for s in kinds if s.name == "amqp-sequence"]

    @property
    def bare(self) -> bytes:
        """The octets that no one on the way may change: properties, application properties and body."""
        kept = ("properties", "application-properties", *_BODY)
        return b"".join(self.octets[s.start : s.stop] for s in self.sections if s.name in kept)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What the specification says against this message: order, number and content of its sections."""
        found = [p for s in self.sections for p in problems_of(SECTIONS[s.name], self._kept(s))]
        found += [
            p for s in self.sections if s.name == "application-properties" for p in _simple(self._kept(s))
        ]
        return (*_order([s.name for s in self.sections]), *found)

    def _composed(self, name: str) -> Composed | None:
        value = self.get(name)
        return value if isinstance(value, Composed) else None

    def _kept(self, section: Section) -> Any:
        return KEEPING.read(self.octets, section.start, section.stop)[0]


def decode_message(octets: bytes) -> Message:
    """A message's sections; raises WireError for what is no section or cannot be read."""
    sections, at = [], 0
    while at < len(octets):
        value, stop = READERS.read(octets, at)
        if isinstance(value, Composed):
            name, content = value.name, value
        elif isinstance(value, Described):
            row = DIALECT.described.get(value.descriptor) if isinstance(value.descriptor, int | str) else None
            name, content = row.name if row else "", value.value
        else:
            name, content = "", value
        if name not in SECTIONS:
            raise unreadable("message", octets, at, "a section", name or shown(value))
        sections.append(Section(name, content, at, stop))
        at = stop
    return Message(octets, sections)


def encode_message(
    *,
    header: Any = None,
    delivery_annotations: Any = None,
    message_annotations: Any = None,
    properties: Any = None,
    application_properties: Any = None,
    data: Any = None,
    sequence: Any = None,
    value: Any = _NOTHING,
    footer: Any = None,
) -> bytes:
    """Sections in their order, those left out left out; raises EncodeError.

    Header and properties are mappings of fields, annotations and the like mappings; ``data`` is octets, or several;
    ``sequence`` is a list of lists; ``value`` is anything, ``None`` too. ``Raw`` replaces a section's content.
    """
    given = {
        "header": header,
        "delivery-annotations": delivery_annotations,
        "message-annotations": message_annotations,
        "properties": properties,
        "application-properties": application_properties,
    }
    parts = [encode_section(name, content) for name, content in given.items() if content is not None]
    if data is not None:
        parts += [
            encode_section("data", d) for d in ([data] if isinstance(data, bytes | bytearray) else data)
        ]
    parts += [encode_section("amqp-sequence", items) for items in sequence or ()]
    if value is not _NOTHING:
        parts.append(encode_section("amqp-value", value))
    if footer is not None:
        parts.append(encode_section("footer", footer))
    return b"".join(parts)


def encode_section(name: str, content: Any) -> bytes:
    """One section, legal or not; ``Raw`` or a ``Value`` replaces its content. Raises KeyError, EncodeError."""
    row = SECTIONS[name]
    if isinstance(row, Composite):
        if isinstance(content, Mapping):
            return encode_fields(name, content)
        return b"\x00" + pack("ulong", row.code) + encode(content)
    assert row.code is not None
    as_it_is = isinstance(content, Raw | Value | Described) or name == "amqp-value"
    return b"\x00" + pack("ulong", row.code) + (encode(content) if as_it_is else encode_as(name, content))


def describe_payload(octets: bytes) -> str:
    """The sections of a transfer's payload in few words, as far as it begins with some."""
    try:
        return (
            ", ".join(f"{s.name} {s.stop - s.start}" for s in decode_message(octets).sections) or "no section"
        )
    except WireError:
        return "no whole message"


def _order(names: Iterable[str]) -> Iterable[Problem]:
    last, seen = -1, set()
    for name in names:
        number = _ORDER[name]
        if number < last:
            yield Problem("message", f"{name} before {list(SECTIONS)[last]}", "it behind")
        if name in seen and name not in _REPEATABLE:
            yield Problem("message", f"one section {name}", "another one")
        last = max(last, number)
        seen.add(name)
    kinds = [name for name in _BODY if name in seen]
    if len(kinds) != 1:
        yield Problem(
            "message", f"a body of {', '.join(_BODY[:2])} or {_BODY[2]}", " and ".join(kinds) or "none"
        )


def _simple(value: Any) -> Iterable[Problem]:
    """Application properties have simple values only."""
    content = value.value if isinstance(value, Described) else None
    if not isinstance(content, Value) or not str(content.encoding).startswith("map"):
        return
    for key, item in content.value:
        kind = (
            DIALECT.primitive_of[DIALECT.encodings[str(item.encoding)].code]
            if isinstance(item, Value)
            else ""
        )
        if not kind or kind in _COMPOUND:
            yield Problem(
                f"application-properties {shown(key.value)}", "a simple value", kind or "a described one"
            )
