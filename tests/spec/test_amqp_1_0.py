"""The tables of AMQP 1.0 against the official XML, if it is available, and against facts written by hand, always.

``AMQPSPEC_XML`` names a directory with a folder ``1.0`` that holds the five files; without it the comparison
is skipped.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from amqpspec.spec.amqp_1_0 import DIALECT, HEADERS, LAYOUT
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.typed import Composite, Encoding, Primitive, Restricted, TypedField

NS = "{http://www.amqp.org/schema/amqp.xsd}"
FILES = ("types", "transport", "messaging", "transactions", "security")
# What the text, not the XML, says of the keys of maps.
KEYS = {
    "fields": ("symbol",),
    "annotations": ("symbol", "ulong"),
    "filter-set": ("symbol",),
    "application-properties": ("string",),
}


@pytest.fixture(scope="module")
def official(official_xml: Path) -> list[ET.Element]:
    return [ET.parse(official_xml / "1.0" / f"{name}.xml").getroot() for name in FILES]


def xml_types(official: list[ET.Element], kind: str) -> Iterator[ET.Element]:
    return (t for root in official for t in root.iter(f"{NS}type") if t.get("class") == kind)


def provides(element: ET.Element) -> tuple[str, ...]:
    return tuple(p.strip() for p in element.get("provides", "").split(",") if p.strip())


def descriptor(element: ET.Element) -> tuple[str, int | None]:
    found = element.find(f"{NS}descriptor")
    return (
        ("", None)
        if found is None
        else (found.attrib["name"], int(found.attrib["code"].replace(":0x", ""), 16))
    )


def field(element: ET.Element) -> TypedField:
    return TypedField(
        element.attrib["name"],
        element.attrib["type"],
        element.get("mandatory") == "true",
        element.get("default"),
        element.get("multiple") == "true",
        element.get("requires", ""),
    )


def primitive(element: ET.Element) -> list[tuple[int, str, int]]:
    found = element.findall(f"{NS}encoding")
    return [(int(e.attrib["code"], 16), e.attrib["category"], int(e.attrib["width"])) for e in found]


def test_primitives_and_their_encodings_are_those_of_the_xml(official: list[ET.Element]) -> None:
    expected = {t.attrib["name"]: primitive(t) for t in xml_types(official, "primitive")}
    actual = {
        p.name: [(e.code, e.category.value, e.width_octets) for e in p.encodings] for p in DIALECT.primitives
    }
    assert actual == expected
    named = {e.get("name"): int(e.attrib["code"], 16) for r in official for e in r.iter(f"{NS}encoding")}
    ours = {e.name: e.code for e in DIALECT.encodings.values()}
    shared = {"ieee-754", "utf32", "ms64", None}
    assert {n: c for n, c in named.items() if n not in shared} == {
        n: ours[n] for n in named if n and n not in shared
    }


def test_composites_are_those_of_the_xml(official: list[ET.Element]) -> None:
    expected = {}
    for t in xml_types(official, "composite"):
        name, (symbol, code) = t.attrib["name"], descriptor(t)
        assert code is not None and t.attrib["source"] == "list"
        expected[name] = Composite(
            name, symbol, code, tuple(map(field, t.findall(f"{NS}field"))), provides(t)
        )
    assert dict(DIALECT.composites) == expected
    assert list(DIALECT.composites) == list(expected)


def test_restricted_types_are_those_of_the_xml(official: list[ET.Element]) -> None:
    expected = {t.attrib["name"]: t for t in xml_types(official, "restricted")}
    assert set(DIALECT.restricted) == set(expected)
    for name, t in expected.items():
        row = DIALECT.restricted[name]
        assert (row.source, row.provides, (row.symbol, row.code)) == (
            t.attrib["source"],
            provides(t),
            descriptor(t),
        )
        choices = [(c.attrib["name"], c.attrib["value"]) for c in t.findall(f"{NS}choice")]
        assert [(c.name, str(c.value).lower()) for c in row.choices] == choices
        assert row.keys == KEYS.get(name, ())


def test_definitions_are_those_of_the_xml(official: list[ET.Element]) -> None:
    values = {d.attrib["name"]: int(d.attrib["value"]) for r in official for d in r.iter(f"{NS}definition")}
    assert values["MIN-MAX-FRAME-SIZE"] == LAYOUT.min_max_frame_size
    for name, prefix in (("amqp", ""), ("tls", "TLS-"), ("sasl", "SASL-")):
        version = [values[f"{prefix}{part}"] for part in ("MAJOR", "MINOR", "REVISION")]
        assert list(HEADERS[name][5:]) == version


# From here on: facts written by hand from the text, in need of no file.


def test_counts() -> None:
    assert (len(DIALECT.primitives), len(DIALECT.encodings), len(DIALECT.encodings_by_code)) == (24, 39, 39)
    assert [p.name for p in DIALECT.performatives] == [
        "open", "begin", "attach", "flow", "transfer", "disposition", "detach", "end", "close",
    ]  # fmt: skip
    assert [p.code for p in DIALECT.performatives] == list(range(0x10, 0x19))
    assert [p.code for p in DIALECT.sasl_frames] == list(range(0x40, 0x45))
    assert [s.code for s in DIALECT.sections] == list(range(0x70, 0x79))
    assert (len(DIALECT.composites), len(DIALECT.restricted)) == (33, 39)


def test_frames_and_headers() -> None:
    assert sum(width for _, width in LAYOUT.header) == LAYOUT.header_octets == 8
    assert (LAYOUT.min_doff * LAYOUT.doff_word_octets, LAYOUT.min_max_frame_size) == (8, 512)
    assert [LAYOUT.type_name(code) for code in (0, 1, 2)] == ["amqp", "sasl", "type-2"]
    assert HEADERS["sasl"] == bytes([65, 77, 81, 80, 3, 1, 0, 0])
    assert DIALECT.protocol_header == bytes([65, 77, 81, 80, 0, 1, 0, 0])


def test_dialect_is_found_by_its_id() -> None:
    dialect = load_dialect("amqp-1-0")
    assert (dialect.id, dialect.title, dialect.family) == ("amqp-1-0", "AMQP 1.0", "types")


def test_error_conditions_are_their_own_codes() -> None:
    codes = DIALECT.refusal_codes
    assert len(codes) == 28
    assert codes["amqp:connection:framing-error"] == "amqp:connection:framing-error"
    assert {"amqp:not-found", "amqp:session:window-violation", "amqp:link:stolen"} <= codes.keys()
    assert "amqp:transaction:unknown-id" in codes and all(c.startswith("amqp:") for c in codes)
    assert DIALECT.code_name("amqp:not-found") == "amqp:not-found"


def test_types_lead_to_primitives_choices_and_keys() -> None:
    assert DIALECT.base("delivery-number") == DIALECT.base("handle") == "uint"
    assert (DIALECT.base("error"), DIALECT.base("*"), DIALECT.base("node-properties")) == ("list", "*", "map")
    assert DIALECT.keys("node-properties") == ("symbol",)
    assert DIALECT.keys("footer") == ("symbol", "ulong")
    assert DIALECT.keys("map") == ()
    assert DIALECT.choices("uint") == ()
    assert {c.name: c.value for c in DIALECT.choices("role")} == {"sender": False, "receiver": True}


def test_defaults_are_values() -> None:
    def default(composite: str, name: str) -> object:
        return DIALECT.default(next(f for f in DIALECT.composites[composite].fields if f.name == name))

    assert (default("open", "max-frame-size"), default("open", "channel-max")) == (4_294_967_295, 65_535)
    assert (default("attach", "snd-settle-mode"), default("attach", "rcv-settle-mode")) == (2, 0)
    assert default("source", "expiry-policy") == "session-end"
    assert default("transfer", "more") is False
    assert default("open", "hostname") is None


def test_what_stands_for_an_archetype() -> None:
    assert [r.name for r in DIALECT.providing("outcome")] == [
        "accepted", "rejected", "released", "modified", "declared",
    ]  # fmt: skip
    assert [r.name for r in DIALECT.providers("message-id")] == [
        "message-id-ulong", "message-id-uuid", "message-id-binary", "message-id-string",
    ]  # fmt: skip
    assert DIALECT.described[0x24] is DIALECT.described["amqp:accepted:list"]


def test_encodings_have_one_name_each() -> None:
    rows = [(p, e) for p in DIALECT.primitives for e in p.encodings]
    assert len({e.name for _, e in rows}) == len(rows)
    single = [p for p in DIALECT.primitives if len(p.encodings) == 1]
    assert all(p.encodings[0].name == p.name for p in single)
    assert all(isinstance(p, Primitive) and isinstance(e, Encoding) for p, e in rows)
    assert DIALECT.primitive_of[0x52] == DIALECT.primitive_of[0x43] == "uint"
    assert isinstance(DIALECT.restricted["role"], Restricted)
