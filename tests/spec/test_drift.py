"""The 0-9-1 tables against the official XML, if one is available, and against facts written by hand,
always.

``AMQPSPEC_XML`` names a directory with ``amqp0-9-1.xml`` and ``amqp0-9-1.extended.xml``; without it the
comparison is skipped. Where a table deliberately differs from the XML, the difference is listed here with
its reason.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest

from amqpspec.spec.amqp_0_9_1.types import DOMAINS
from amqpspec.spec.dialects import dialect_ids
from amqpspec.spec.methods import AmqpClass, Field, Method, MethodDialect, load_methods
from amqpspec.spec.model import Scope, Side

XML_BY_DIALECT = {"amqp-0-9-1": "amqp0-9-1.xml", "rabbitmq-0-9-1": "amqp0-9-1.extended.xml"}
SCOPES = {None: None, "soft-error": Scope.CHANNEL, "hard-error": Scope.CONNECTION}
FRAME_CONSTANTS = {
    "frame-method",
    "frame-header",
    "frame-body",
    "frame-heartbeat",
    "frame-min-size",
    "frame-end",
}

# The XML of the extensions names both sides of these, or the wrong one; only one side ever sends them.
SENT_BY = {
    "connection.blocked": Side.SERVER,
    "connection.unblocked": Side.SERVER,
    "connection.update-secret": Side.CLIENT,
    "connection.update-secret-ok": Side.SERVER,
}
# The XML leaves out that recover waits for recover-ok, which the text of recover-ok says.
REPLIES = {"basic.recover": ("basic.recover-ok",)}


@pytest.fixture(params=XML_BY_DIALECT)
def dialect_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def dialect(dialect_id: str) -> MethodDialect:
    return load_methods(dialect_id)


@pytest.fixture
def official(dialect_id: str, official_xml: Path) -> ET.Element:
    return ET.parse(official_xml / XML_BY_DIALECT[dialect_id]).getroot()


def xml_field(element: ET.Element) -> Field:
    domain = element.get("domain") or element.attrib["type"]
    return Field(element.attrib["name"], DOMAINS[domain], domain, reserved=element.get("reserved") == "1")


def xml_sent_by(element: ET.Element) -> Side:
    receivers = {chassis.attrib["name"] for chassis in element.findall("chassis")}
    if receivers == {"client", "server"}:
        return Side.BOTH
    return Side.CLIENT if receivers == {"server"} else Side.SERVER


def xml_method(class_: ET.Element, element: ET.Element) -> Method:
    name = f"{class_.attrib['name']}.{element.attrib['name']}"
    replies = tuple(f"{class_.attrib['name']}.{r.attrib['name']}" for r in element.findall("response"))
    return Method(
        name=name,
        class_id=int(class_.attrib["index"]),
        method_id=int(element.attrib["index"]),
        sent_by=SENT_BY.get(name, xml_sent_by(element)),
        fields=tuple(map(xml_field, element.findall("field"))),
        replies=REPLIES.get(name, replies),
        content=element.get("content") == "1",
        synchronous=element.get("synchronous") == "1" or name in REPLIES,
        extension=name not in load_methods("amqp-0-9-1").methods,
    )


def xml_class(element: ET.Element) -> AmqpClass:
    methods = sorted((xml_method(element, m) for m in element.findall("method")), key=lambda m: m.name)
    properties = tuple(map(xml_field, element.findall("field")))
    return AmqpClass(element.attrib["name"], int(element.attrib["index"]), tuple(methods), properties)


def by_name(class_: AmqpClass) -> AmqpClass:
    methods = tuple(sorted(class_.methods, key=lambda m: m.name))
    return AmqpClass(class_.name, class_.index, methods, class_.properties)


def test_classes_methods_and_fields_are_those_of_the_xml(
    dialect: MethodDialect, official: ET.Element
) -> None:
    expected = {c.attrib["name"]: xml_class(c) for c in official.findall("class")}
    actual = {c.name: by_name(c) for c in dialect.classes}
    assert list(actual) == list(expected)
    for name, class_ in expected.items():
        assert actual[name] == class_


def test_methods_stand_in_the_order_of_the_xml(
    dialect_id: str, dialect: MethodDialect, official: ET.Element
) -> None:
    expected = [
        f"{c.attrib['name']}.{m.attrib['name']}"
        for c in official.findall("class")
        for m in c.findall("method")
    ]
    base = load_methods("amqp-0-9-1").methods
    assert [name for name in dialect.methods if name in base] == [name for name in expected if name in base]
    assert set(dialect.methods) == set(expected)


def test_domains_are_those_of_the_xml(official: ET.Element) -> None:
    assert dict(DOMAINS) == {d.attrib["name"]: d.attrib["type"] for d in official.findall("domain")}


def test_reply_codes_and_their_scopes_are_those_of_the_xml(
    dialect: MethodDialect, official: ET.Element
) -> None:
    expected = {
        c.attrib["name"]: (int(c.attrib["value"]), SCOPES[c.get("class")])
        for c in official.findall("constant")
        if c.attrib["name"] not in FRAME_CONSTANTS
    }
    assert {c.name: (c.value, c.scope) for c in dialect.constants} == expected


def test_frame_constants_are_those_of_the_xml(dialect: MethodDialect, official: ET.Element) -> None:
    values: Mapping[str, int] = {
        c.attrib["name"]: int(c.attrib["value"]) for c in official.findall("constant")
    }
    layout = dialect.layout
    actual = {f"frame-{name}": code for name, code in layout.types.items()}
    actual |= {"frame-min-size": layout.min_size_octets, "frame-end": layout.end}
    assert actual == {name: values[name] for name in FRAME_CONSTANTS}


def test_header_is_the_version_of_the_xml(dialect: MethodDialect, official: ET.Element) -> None:
    version = [int(official.attrib[part]) for part in ("major", "minor", "revision")]
    assert dialect.protocol_header == b"AMQP\x00" + bytes(version)


# From here on: facts written by hand from the text, in need of no file.


def test_frames_have_seven_octets_of_header_and_one_of_end() -> None:
    layout = load_methods("amqp-0-9-1").layout
    assert (layout.header_octets, layout.overhead_octets, layout.end) == (7, 8, 206)
    assert layout.type_name(8) == "heartbeat"
    assert layout.type_name(4) == "type-4"


def test_protocol_headers() -> None:
    base, overlay = load_methods("amqp-0-9-1"), load_methods("rabbitmq-0-9-1")
    assert base.protocol_header == overlay.protocol_header == bytes([65, 77, 81, 80, 0, 0, 9, 1])
    assert base.accepted_headers == (base.protocol_header,)
    assert bytes([65, 77, 81, 80, 1, 1, 0, 9]) in overlay.accepted_headers


@pytest.mark.parametrize(
    ("name", "ids", "sent_by", "replies"),
    [
        ("connection.start", (10, 10), Side.SERVER, ("connection.start-ok",)),
        ("connection.close", (10, 50), Side.BOTH, ("connection.close-ok",)),
        ("channel.open", (20, 10), Side.CLIENT, ("channel.open-ok",)),
        ("channel.flow-ok", (20, 21), Side.BOTH, ()),
        ("exchange.declare", (40, 10), Side.CLIENT, ("exchange.declare-ok",)),
        ("queue.unbind", (50, 50), Side.CLIENT, ("queue.unbind-ok",)),
        ("basic.get", (60, 70), Side.CLIENT, ("basic.get-ok", "basic.get-empty")),
        ("basic.ack", (60, 80), Side.CLIENT, ()),
        ("basic.recover-async", (60, 100), Side.CLIENT, ()),
        ("basic.recover", (60, 110), Side.CLIENT, ("basic.recover-ok",)),
        ("tx.rollback-ok", (90, 31), Side.SERVER, ()),
    ],
)
def test_methods_of_the_base(
    name: str, ids: tuple[int, int], sent_by: Side, replies: tuple[str, ...]
) -> None:
    method = load_methods("amqp-0-9-1").methods[name]
    assert ((method.class_id, method.method_id), method.sent_by, method.replies) == (ids, sent_by, replies)


def test_arguments_keep_their_order_type_and_domain() -> None:
    fields = load_methods("amqp-0-9-1").methods["basic.consume"].fields
    assert [(f.name, f.type, f.domain, f.reserved) for f in fields] == [
        ("reserved-1", "short", "short", True),
        ("queue", "shortstr", "queue-name", False),
        ("consumer-tag", "shortstr", "consumer-tag", False),
        ("no-local", "bit", "no-local", False),
        ("no-ack", "bit", "no-ack", False),
        ("exclusive", "bit", "bit", False),
        ("no-wait", "bit", "no-wait", False),
        ("arguments", "table", "table", False),
    ]
    assert fields[2].key == "consumer_tag"


def test_basic_has_fourteen_properties_in_flag_order() -> None:
    properties = load_methods("amqp-0-9-1").classes_by_name["basic"].properties
    assert len(properties) == 14
    assert [p.name for p in properties[:5]] == [
        "content-type",
        "content-encoding",
        "headers",
        "delivery-mode",
        "priority",
    ]
    assert properties[9].type == "timestamp"


def test_dialects_and_classes_can_be_looked_up() -> None:
    assert dialect_ids()[:2] == ("amqp-0-9-1", "rabbitmq-0-9-1")
    assert load_methods("amqp-0-9-1").classes_by_id[60].name == "basic"
    assert load_methods("amqp-0-9-1").methods["basic.get-ok"].class_name == "basic"


def test_overlay_adds_only_what_differs() -> None:
    base, overlay = load_methods("amqp-0-9-1"), load_methods("rabbitmq-0-9-1")
    assert {m.name for m in overlay.methods.values() if m.extension} == set(overlay.methods) - set(
        base.methods
    )
    changed = {name for name, method in base.methods.items() if overlay.methods[name] != method}
    assert changed == {"exchange.declare", "basic.cancel", "basic.cancel-ok", "basic.ack"}
    assert set(overlay.constants_by_name) - set(base.constants_by_name) == {"no-route"}
    assert set(overlay.classes_by_name) - set(base.classes_by_name) == {"confirm"}


def test_overlay_methods() -> None:
    overlay = load_methods("rabbitmq-0-9-1")
    assert overlay.methods_by_id[40, 51].name == "exchange.unbind-ok"
    assert overlay.methods_by_id[60, 120].name == "basic.nack"
    assert overlay.methods_by_id[85, 10].name == "confirm.select"
    assert overlay.methods["basic.ack"].sent_by is Side.BOTH
    names = [f.name for f in overlay.methods["exchange.declare"].fields]
    assert names[3:8] == ["passive", "durable", "auto-delete", "internal", "no-wait"]
    reserved = [f.name for f in load_methods("amqp-0-9-1").methods["exchange.declare"].fields if f.reserved]
    assert reserved == ["reserved-1", "reserved-2", "reserved-3"]


def test_table_tags() -> None:
    base = {t.tag: t.primitive for t in load_methods("amqp-0-9-1").table_tags}
    overlay = {t.tag: t.primitive for t in load_methods("rabbitmq-0-9-1").table_tags}
    assert "".join(base) == "tbBUuIiLlfdDsSATFV"
    assert "".join(overlay) == "tbBsuIilfdDSATFVx"
    assert (base["s"], base["l"], base["U"], base["L"]) == ("shortstr", "uint64", "int16", "int64")
    assert (overlay["s"], overlay["l"], overlay["x"]) == ("int16", "int64", "bytes")


def test_scope_of_a_reply_code() -> None:
    constants = load_methods("rabbitmq-0-9-1").constants_by_name
    soft = {c.value for c in constants.values() if c.scope is Scope.CHANNEL}
    assert soft == {311, 312, 313, 403, 404, 405, 406}
    assert constants["reply-success"].scope is None
    assert constants["not-allowed"].scope is Scope.CONNECTION
    assert load_methods("amqp-0-9-1").code_name(404) == "404 not-found"
    assert load_methods("amqp-0-9-1").code_name(312) == "312"
