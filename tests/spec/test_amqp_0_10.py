"""The tables of AMQP 0-10 against the official XML, if it is available, and against facts written by hand, always.

``AMQPSPEC_XML`` names a directory with ``amqp.0-10.xml``; without it the comparison is skipped.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import pytest

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import (
    AssemblyClass,
    Category,
    Command,
    Control,
    Domain,
    Handler,
    PackedField,
    Raised,
    Role,
    Segments,
    Struct,
)
from amqpspec.spec.canonical import canonical
from amqpspec.spec.model import Level, Scope, Side
from amqpspec.spec.typed import Choice
from amqpspec.wire.framing import CutFrame, PlainReader
from amqpspec.wire.greeting import ProtocolHeader

NS = "{http://www.amqp.org/schema/amqp.xsd}"
# What arrays hold stands in labels and texts of the XML, not in an attribute.
ELEMENTS = {
    "str16-array": "str16",
    "amqp-host-array": "connection.amqp-host-url",
    "command-fragments": "session.command-fragment",
    "in-doubt": "dtx.xid",
}


@pytest.fixture(scope="module")
def official(official_xml: Path) -> ET.Element:
    return ET.parse(official_xml / "amqp.0-10.xml").getroot()


def number(text: str) -> int:
    return int(text, 0)


def named(element: ET.Element, class_: ET.Element) -> str:
    return f"{class_.attrib['name']}.{element.attrib['name']}"


def type_name(class_: ET.Element, name: str) -> str:
    """A type as a field names it: what its own class defines comes first."""
    own = {e.get("name") for tag in ("domain", "struct") for e in class_.iter(f"{NS}{tag}")}
    return f"{class_.attrib['name']}.{name}" if name in own else name


def field(class_: ET.Element, element: ET.Element) -> PackedField:
    default = element.get("default")
    return PackedField(
        element.attrib["name"],
        type_name(class_, element.attrib["type"]),
        element.get("required") == "true",
        None if default is None else default == "1",
        ELEMENTS.get(element.attrib["name"], ""),
    )


def fields(class_: ET.Element, element: ET.Element) -> tuple[PackedField, ...]:
    return tuple(field(class_, f) for f in element.findall(f"{NS}field"))


def choices(element: ET.Element) -> tuple[Choice, ...]:
    return tuple(Choice(c.attrib["name"], number(c.attrib["value"])) for c in element.iter(f"{NS}choice"))


def domain(class_: ET.Element, element: ET.Element) -> Domain:
    source = type_name(class_, element.attrib["type"])
    element_type = ELEMENTS.get(element.attrib["name"], "")
    return Domain(named(element, class_), source, choices(element), element_type)


def struct(class_: ET.Element, element: ET.Element) -> Struct:
    code = element.get("code")
    return Struct(
        named(element, class_),
        fields(class_, element),
        number(element.attrib["size"]),
        number(element.attrib["pack"]),
        None if code is None else (number(class_.attrib["code"]), number(code)),
    )


def result(class_: ET.Element, command: ET.Element) -> str:
    found = command.find(f"{NS}result")
    if found is None:
        return ""
    inner = found.find(f"{NS}struct")
    return named(inner, class_) if inner is not None else type_name(class_, found.attrib["type"])


def segments(class_: ET.Element, command: ET.Element) -> Segments | None:
    found = command.find(f"{NS}segments")
    if found is None:
        return None
    header, body = found.find(f"{NS}header"), found.find(f"{NS}body")
    assert header is not None
    entries = tuple(type_name(class_, e.attrib["type"]) for e in header.findall(f"{NS}entry"))
    return Segments(entries, header.get("required") == "true", body is not None)


def raised(command: ET.Element) -> tuple[Raised, ...]:
    places = [("", command), *((f.attrib["name"], f) for f in command.findall(f"{NS}field"))]
    return tuple(
        Raised(e.attrib["name"], e.attrib["error-code"], place)
        for place, element in places
        for e in element.findall(f"{NS}exception")
    )


def responses(class_: ET.Element, element: ET.Element) -> tuple[str, ...]:
    return tuple(named(r, class_) for r in element.findall(f"{NS}response"))


def handlers(elements: Iterable[ET.Element], role: str, level: str) -> set[Handler]:
    return {Handler(Role(e.attrib[role]), Level(e.attrib[level])) for e in elements}


def codes(class_: ET.Element, element: ET.Element) -> tuple[int, int]:
    return number(class_.attrib["code"]), number(element.attrib["code"])


@pytest.fixture(scope="module")
def pairs(official: ET.Element) -> list[tuple[ET.Element, AssemblyClass]]:
    found = official.findall(f"{NS}class")
    assert [c.attrib["name"] for c in found] == [c.name for c in DIALECT.classes]
    return list(zip(found, DIALECT.classes, strict=True))


def test_types_are_those_of_the_xml(official: ET.Element) -> None:
    expected = [
        (
            t.attrib["name"],
            number(t.attrib["code"]) if "code" in t.attrib else None,
            Category.FIXED if "fixed-width" in t.attrib else Category.VARIABLE,
            number(t.get("fixed-width") or t.attrib["variable-width"]),
        )
        for t in official.findall(f"{NS}type")
    ]
    assert [(t.name, t.code, t.category, t.width_octets) for t in DIALECT.types] == expected


def test_constants_and_common_domains_are_those_of_the_xml(official: ET.Element) -> None:
    constants = [(c.attrib["name"], number(c.attrib["value"])) for c in official.findall(f"{NS}constant")]
    assert [(c.name, c.value) for c in DIALECT.constants] == constants
    expected = [
        Domain(d.attrib["name"], d.attrib["type"], choices(d), ELEMENTS.get(d.attrib["name"], ""))
        for d in official.findall(f"{NS}domain")
    ]
    assert list(DIALECT.common_domains) == expected


def test_classes_domains_and_structs_are_those_of_the_xml(
    pairs: list[tuple[ET.Element, AssemblyClass]],
) -> None:
    for element, row in pairs:
        assert row.code == number(element.attrib["code"])
        assert set(row.roles) == handlers(element.findall(f"{NS}role"), "name", "implement")
        assert list(row.domains) == [domain(element, d) for d in element.findall(f"{NS}domain")]
        assert list(row.structs) == [struct(element, s) for s in element.iter(f"{NS}struct")]


def same(row: Control, class_: ET.Element, element: ET.Element) -> None:
    assert (row.class_code, row.code) == codes(class_, element)
    assert row.fields == fields(class_, element), row.name
    assert row.responses == responses(class_, element), row.name
    handled = handlers(element.findall(f"{NS}implement"), "role", "handle")
    assert set(row.handlers) == handled and len(row.handlers) == len(handled), row.name


def test_controls_are_those_of_the_xml(pairs: list[tuple[ET.Element, AssemblyClass]]) -> None:
    for class_, rows in pairs:
        found = class_.findall(f"{NS}control")
        assert [c.name for c in rows.controls] == [named(c, class_) for c in found]
        for row, element in zip(rows.controls, found, strict=True):
            same(row, class_, element)


def test_commands_are_those_of_the_xml(pairs: list[tuple[ET.Element, AssemblyClass]]) -> None:
    for class_, rows in pairs:
        found = class_.findall(f"{NS}command")
        assert [c.name for c in rows.commands] == [named(c, class_) for c in found]
        for row, element in zip(rows.commands, found, strict=True):
            same(row, class_, element)
            assert row.result == result(class_, element), row.name
            assert row.segments == segments(class_, element), row.name
            assert row.raises == raised(element), row.name


def test_version_and_port_are_those_of_the_xml(official: ET.Element) -> None:
    version = [number(official.attrib[part]) for part in ("major", "minor")]
    assert list(DIALECT.protocol_header[6:]) == version


# From here on: facts written by hand from the text, in need of no file.


def test_counts() -> None:
    assert (len(DIALECT.types), len(DIALECT.structs), len(DIALECT.domains)) == (45, 17, 25)
    assert (len(DIALECT.controls), len(DIALECT.commands)) == (25, 59)
    assert sum(len(c.raises) for c in DIALECT.commands.values()) == 78
    assert [c.code for c in DIALECT.classes] == list(range(1, 11))
    assert {name: len(c.commands) for name, c in DIALECT.classes_by_name.items()} == {
        "connection": 0, "session": 0, "execution": 3, "message": 12, "tx": 3,
        "dtx": 10, "exchange": 6, "queue": 4, "file": 13, "stream": 8,
    }  # fmt: skip
    assert (len(DIALECT.controls_by_code), len(DIALECT.commands_by_code)) == (25, 59)


def test_frames_and_header() -> None:
    layout = DIALECT.layout
    assert DIALECT.protocol_header == bytes([65, 77, 81, 80, 1, 1, 0, 10])
    assert (layout.header_octets, layout.least_size, layout.end_octets) == (12, 12, 0)
    assert [layout.offset_of(name) for name in ("size", "track", "channel")] == [2, 5, 6]
    assert [name for name, _ in layout.header] == [
        "flags", "type", "size", "reserved-1", "track", "channel", "reserved-2",
    ]  # fmt: skip
    assert sum(layout.flags.values()) | layout.version_mask | layout.reserved_flags == 0xFF
    assert [layout.flags[name] for name in ("first-segment", "last-segment")] == [8, 4]
    assert [layout.flags[name] for name in ("first-frame", "last-frame")] == [2, 1]
    assert (layout.track_mask, layout.min_max_frame_size) == (0x0F, DIALECT.constants[0].value)
    assert [layout.type_name(code) for code in range(5)] == ["control", "command", "header", "body", "type-4"]
    assert {c.name: c.value for c in DIALECT.choices("track")} == layout.tracks
    assert {c.name: c.value for c in DIALECT.choices("segment-type")} == layout.types


def test_a_frame_is_cut_by_the_layout_alone() -> None:
    """A heartbeat on channel 1: one frame of one segment, 16 octets, control 0x0A of class 0x01 without fields."""
    reader = PlainReader(DIALECT.layout)
    reader.feed(bytes.fromhex("414d51500101000a 0f00 0010 00 00 0001 00000000 01 0a 0000"))
    assert reader.next() == ProtocolHeader(DIALECT.protocol_header)
    frame = reader.next()
    assert isinstance(frame, CutFrame)
    assert frame.values == (0x0F, 0, 16, 0, 0, 1, 0)
    assert frame.payload == bytes.fromhex("010a0000")
    assert DIALECT.controls_by_code[frame.payload[0], frame.payload[1]].name == "connection.heartbeat"


def test_type_codes_tell_the_form_by_themselves() -> None:
    for wire_type in DIALECT.types:
        if wire_type.code is not None:
            assert DIALECT.form(wire_type.code) == (wire_type.category, wire_type.width_octets)
    assert {code for code in range(256) if DIALECT.form(code) is None} == {
        *range(0xB0, 0xC0), *range(0xE0, 0xF0),
    }  # fmt: skip
    # The bits: 0xxx is a power of two, 10xx the size of a size, 11xx five, nine, reserved, none.
    for code in range(0x80):
        assert DIALECT.form(code) == (Category.FIXED, 1 << (code >> 4))
    for code in range(0x80, 0xB0):
        assert DIALECT.form(code) == (Category.VARIABLE, 1 << (code >> 4 & 3))


def test_types_without_a_code_stand_in_fields_only() -> None:
    assert [t.name for t in DIALECT.types if t.code is None] == ["sequence-no", "byte-ranges", "sequence-set"]
    assert DIALECT.types_by_code[0xAB] is DIALECT.types_by_name["struct32"]
    assert len(DIALECT.types_by_code) == 42


def test_every_name_of_a_type_leads_to_a_type_or_a_struct() -> None:
    known = DIALECT.types_by_name.keys() | DIALECT.structs.keys()
    rows: list[PackedField] = [f for s in DIALECT.structs.values() for f in s.fields]
    rows += [f for i in (*DIALECT.controls.values(), *DIALECT.commands.values()) for f in i.fields]
    assert [f for f in rows if DIALECT.base(f.type) not in known] == []
    assert [d for d in DIALECT.domains.values() if DIALECT.base(d.name) not in known] == []
    arrays = [f for f in rows if DIALECT.base(f.type) == "array"]
    assert arrays and [f for f in arrays if DIALECT.base(DIALECT.element(f)) not in known] == []
    assert [f for f in rows if DIALECT.element(f) and f not in arrays] == []


def test_replies_results_and_entries_exist() -> None:
    for control in DIALECT.controls.values():
        assert all(name in DIALECT.controls for name in control.responses)
    errors = {c.name for c in DIALECT.choices("execution.error-code")}
    for command in DIALECT.commands.values():
        assert all(name in DIALECT.commands for name in command.responses)
        assert {row.code for row in command.raises} <= errors
        assert {row.field for row in command.raises} <= {"", *(f.name for f in command.fields)}
        if command.result:
            assert DIALECT.structs[command.result].size_octets == 4
        for entry in command.segments.header if command.segments else ():
            assert DIALECT.structs[entry].size_octets == 4 and DIALECT.structs[entry].code


def test_structs_with_a_code_are_sized_by_four_octets_and_no_two_share_one() -> None:
    coded = [s for s in DIALECT.structs.values() if s.code is not None]
    assert {(s.size_octets, s.pack_octets) for s in coded} == {(4, 2)}
    assert len(DIALECT.structs_by_code) == len(coded) == 13
    uncoded = {s.name: (s.size_octets, s.pack_octets) for s in DIALECT.structs.values() if s.code is None}
    assert uncoded == {
        "session.header": (1, 1),
        "session.command-fragment": (0, 0),
        "message.reply-to": (2, 2),
        "dtx.xid": (2, 2),
    }


def test_who_sends_what() -> None:
    senders = {i.name: i.sent_by for i in (*DIALECT.controls.values(), *DIALECT.commands.values())}
    assert senders["connection.start"] is senders["stream.deliver"] is Side.SERVER
    assert (
        senders["connection.tune-ok"] is senders["message.subscribe"] is senders["dtx.start"] is Side.CLIENT
    )
    assert {senders[n] for n in ("connection.heartbeat", "session.gap", "message.transfer")} == {Side.BOTH}
    assert DIALECT.controls["connection.heartbeat"].handlers == ()


def test_only_what_carries_content_has_more_segments() -> None:
    carrying = {name: c.segments for name, c in DIALECT.commands.items() if c.segments}
    assert list(carrying) == [
        "message.transfer", "file.stage", "file.return", "stream.publish", "stream.return", "stream.deliver",
    ]  # fmt: skip
    assert [s.header_required for s in carrying.values()] == [False, True, True, True, True, True]
    assert all(s.body for s in carrying.values())


def test_codes_of_refusals_say_what_they_end() -> None:
    scopes = {code.name: code.scope for code in DIALECT.codes}
    assert len(scopes) == len(DIALECT.codes) == 23
    assert scopes["framing-error"] is Scope.CONNECTION
    assert scopes["not-found"] is scopes["unknown-ids"] is Scope.SESSION
    assert scopes["unroutable"] is Scope.DELIVERY
    assert DIALECT.refusal_codes["not-found"] == 404
    assert DIALECT.refusal_codes["session-busy"] == "session-busy"
    assert len(set(DIALECT.refusal_codes.values())) == 23
    assert [DIALECT.code_name(code) for code in (404, 999, "not-attached")] == [
        "404 not-found", "999", "not-attached",
    ]  # fmt: skip


def test_dialect_is_plain_data() -> None:
    assert (DIALECT.id, DIALECT.title, DIALECT.family) == ("amqp-0-10", "AMQP 0-10", "assemblies")
    assert canonical(DIALECT).startswith("AssemblyDialect(")
    field = DIALECT.commands["exchange.bind"].fields[2]
    assert (field.key, field.required, DIALECT.choices("exchange.name")) == ("binding_key", True, ())
    transfer = DIALECT.commands["message.transfer"]
    assert isinstance(transfer, Command) and transfer.class_name == "message"
    assert {c.name: c.value for c in DIALECT.choices("message.acquire-mode")} == {
        "pre-acquired": 0, "not-acquired": 1,
    }  # fmt: skip
