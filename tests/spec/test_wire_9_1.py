"""The tables and the ledger of the 9.1 wire draft, and its overlay of deployed servers.

``AMQPSPEC_XML`` names a directory with ``amqp0-8.xml``, ``AMQPSPEC_REQUIREMENTS`` a CSV file of requirement ids
(columns ``id``, ``observability``, ``level``, ``section``); without them those comparisons are skipped.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from amqpspec.spec.amqp_wire_9_1.types import DOMAINS
from amqpspec.spec.dialects import deployed_as, load_ledger, parts_of, runnable_dialects, widest
from amqpspec.spec.methods import AmqpClass, Field, Method, MethodDialect, load_methods
from amqpspec.spec.model import Level, Requirement, Scope, Side
from tests.spec.ledgers import TESTABLE, refusals

DRAFT, OVERLAY, LATER = "amqp-wire-9-1", "amqp-0-8", "amqp-0-9-1"
SCOPES = {None: None, "soft error": Scope.CHANNEL, "hard error": Scope.CONNECTION}
NAMED_TESTS = {
    *(f"amq_wlp_header_0{n}" for n in (1, 2, 3, 4)),
    *(f"amq_wlp_frame_0{n}" for n in (1, 2, 3)),
    "amq_wlp_table_01",
    *(f"amq_wlp_content_0{n}" for n in (1, 2, 3, 4, 5)),
    *(f"amq_wlp_trace_0{n}" for n in (1, 2)),
    *(f"amq_wlp_heartbeat_0{n}" for n in (1, 2)),
}
LEVELS = {"MUST NOT": "MUST", "SHOULD NOT": "SHOULD", "may not": "MUST", "may": "MAY", "should": "SHOULD"}

# The XML gives this argument the domain of a class-id.
DOMAIN_OF = {("connection.close", "method-id"): "method-id"}
# The XML obliges the server to take it; the class's grammar has both sides send it.
SENT_BY = {"tunnel.request": Side.BOTH}


@pytest.fixture(scope="module")
def draft() -> MethodDialect:
    return load_methods(DRAFT)


@pytest.fixture(scope="module")
def rows() -> list[Requirement]:
    return list(load_ledger(DRAFT).values())


@pytest.fixture(scope="module")
def official(official_xml: Path) -> ET.Element:
    return ET.parse(official_xml / "amqp0-8.xml").getroot()


# --- the XML


def word(text: str) -> str:
    return text.replace(" ", "-")


def xml_field(method: str, element: ET.Element) -> Field:
    name = word(element.attrib["name"])
    domain = DOMAIN_OF.get((method, name), word(element.get("domain") or element.attrib["type"]))
    return Field(name, DOMAINS[domain], domain)


def xml_method(class_: ET.Element, element: ET.Element) -> Method:
    name = f"{class_.attrib['name']}.{element.attrib['name']}"
    receivers = {chassis.attrib["name"] for chassis in element.findall("chassis")}
    sides = {frozenset({"server"}): Side.CLIENT, frozenset({"client"}): Side.SERVER}
    return Method(
        name=name,
        class_id=int(class_.attrib["index"]),
        method_id=int(element.attrib["index"]),
        sent_by=SENT_BY.get(name, sides.get(frozenset(receivers), Side.BOTH)),
        fields=tuple(xml_field(name, field) for field in element.findall("field")),
        replies=tuple(f"{class_.attrib['name']}.{r.attrib['name']}" for r in element.findall("response")),
        content=element.get("content") == "1",
        synchronous=element.get("synchronous") == "1",
    )


def xml_class(element: ET.Element) -> AmqpClass:
    methods = tuple(xml_method(element, method) for method in element.findall("method"))
    properties = tuple(xml_field("", field) for field in element.findall("field"))
    return AmqpClass(element.attrib["name"], int(element.attrib["index"]), methods, properties)


def xml_constants(official: ET.Element) -> dict[str, ET.Element]:
    return {word(c.attrib["name"]): c for c in official.findall("constant")}


def test_classes_are_those_of_the_xml_in_its_order(draft: MethodDialect, official: ET.Element) -> None:
    expected = [xml_class(element) for element in official.findall("class")]
    assert [c.name for c in draft.classes] == [c.name for c in expected]
    for actual, class_ in zip(draft.classes, expected, strict=True):
        assert actual == class_


def test_domains_are_those_of_the_xml(official: ET.Element) -> None:
    given = {word(d.attrib["name"]): d.attrib["type"] for d in official.findall("domain")}
    own = {name: type for name, type in DOMAINS.items() if name != type}
    assert own == given


def test_reply_codes_and_their_scopes_are_those_of_the_xml(
    draft: MethodDialect, official: ET.Element
) -> None:
    expected = {
        name: (int(c.attrib["value"]), SCOPES[c.get("class")])
        for name, c in xml_constants(official).items()
        if not name.startswith("frame-") or c.get("class")
    }
    assert {c.name: (c.value, c.scope) for c in draft.constants} == expected


def test_frame_constants_are_those_of_the_xml(draft: MethodDialect, official: ET.Element) -> None:
    expected = {
        name.removeprefix("frame-"): int(c.attrib["value"])
        for name, c in xml_constants(official).items()
        if name.startswith("frame-") and not c.get("class")
    }
    layout = draft.layout
    assert {**layout.types, "min-size": layout.min_size_octets, "end": layout.end} == expected


# --- facts written by hand from the text, in need of no file


def test_frames_have_eight_octets_of_header_and_one_of_end(draft: MethodDialect) -> None:
    layout = draft.layout
    assert (layout.header_octets, layout.overhead_octets, layout.end) == (8, 9, 206)
    assert [name for name, _ in layout.header] == ["type", "cycle", "channel", "size"]
    assert [layout.type_name(code) for code in range(10)] == [
        "type-0",
        "method",
        "header",
        "body",
        "oob-method",
        "oob-header",
        "oob-body",
        "trace",
        "heartbeat",
        "type-9",
    ]


def test_protocol_headers(draft: MethodDialect) -> None:
    overlay = load_methods(OVERLAY)
    assert draft.protocol_header == bytes([65, 77, 81, 80, 1, 1, 9, 1])
    assert overlay.protocol_header == bytes([65, 77, 81, 80, 1, 1, 8, 0])
    assert draft.accepted_headers == (draft.protocol_header,)
    assert set(overlay.accepted_headers) == {draft.protocol_header, overlay.protocol_header}


def test_table_tags(draft: MethodDialect) -> None:
    assert {t.tag: t.primitive for t in draft.table_tags} == {
        "S": "longstr",
        "I": "int32",
        "D": "decimal",
        "T": "timestamp",
        "F": "table",
    }
    assert load_methods(OVERLAY).table_tags == load_methods("rabbitmq-0-9-1").table_tags


def test_sizes_of_the_tables(draft: MethodDialect) -> None:
    assert (len(draft.classes), len(draft.methods), len(draft.constants)) == (12, 89, 16)
    fields = sum(len(m.fields) for m in draft.methods.values())
    assert (fields, sum(len(c.properties) for c in draft.classes)) == (208, 33)
    assert [(c.name, c.index) for c in draft.classes] == [
        ("connection", 10),
        ("channel", 20),
        ("access", 30),
        ("exchange", 40),
        ("queue", 50),
        ("basic", 60),
        ("file", 70),
        ("stream", 80),
        ("tx", 90),
        ("dtx", 100),
        ("tunnel", 110),
        ("test", 120),
    ]


@pytest.mark.parametrize(
    ("name", "ids", "sent_by", "replies", "content", "synchronous"),
    [
        (
            "connection.open",
            (10, 40),
            Side.CLIENT,
            ("connection.open-ok", "connection.redirect"),
            False,
            True,
        ),
        ("connection.close", (10, 60), Side.BOTH, ("connection.close-ok",), False, True),
        ("channel.open-ok", (20, 11), Side.SERVER, (), False, True),
        ("channel.alert", (20, 30), Side.SERVER, (), False, False),
        ("access.request", (30, 10), Side.CLIENT, ("access.request-ok",), False, True),
        ("basic.get-ok", (60, 71), Side.SERVER, (), True, True),
        ("basic.recover", (60, 100), Side.CLIENT, (), False, False),
        ("file.open-ok", (70, 41), Side.BOTH, ("file.stage",), False, True),
        ("file.stage", (70, 50), Side.BOTH, (), True, False),
        ("file.publish", (70, 60), Side.CLIENT, (), False, False),
        ("stream.deliver", (80, 60), Side.SERVER, (), True, False),
        ("tunnel.request", (110, 10), Side.BOTH, (), True, False),
        ("test.content", (120, 40), Side.BOTH, ("test.content-ok",), True, True),
    ],
)
def test_methods(
    draft: MethodDialect,
    name: str,
    ids: tuple[int, int],
    sent_by: Side,
    replies: tuple[str, ...],
    content: bool,
    synchronous: bool,
) -> None:
    m = draft.methods[name]
    assert (m.class_id, m.method_id) == ids
    assert (m.sent_by, m.replies, m.content, m.synchronous) == (sent_by, replies, content, synchronous)


def test_every_reply_is_a_method(draft: MethodDialect) -> None:
    for dialect in (draft, load_methods(OVERLAY)):
        assert {reply for m in dialect.methods.values() for reply in m.replies} <= set(dialect.methods)
        assert len(dialect.methods_by_id) == len(dialect.methods)


def test_scope_of_a_reply_code(draft: MethodDialect) -> None:
    soft = {c.value for c in draft.constants if c.scope is Scope.CHANNEL}
    assert soft == {310, 311, 403, 404, 405}
    assert not {312, 313, 406, 505} & set(draft.codes)


def test_overlay_adds_only_what_differs(draft: MethodDialect) -> None:
    overlay = load_methods(OVERLAY)
    added = {
        "queue.unbind",
        "queue.unbind-ok",
        "basic.recover-ok",
        "basic.recover-sync",
        "basic.recover-sync-ok",
    }
    assert {name for name, m in overlay.methods.items() if m.extension} == added
    assert set(overlay.methods) - set(draft.methods) == added
    assert all(overlay.methods[name] == method for name, method in draft.methods.items())
    assert {c.value for c in overlay.constants if c.extension} == {312, 313, 406, 505}
    assert overlay.layout.header == load_methods(LATER).layout.header
    assert overlay.layout.types == draft.layout.types
    assert [c.properties for c in overlay.classes] == [c.properties for c in draft.classes]


def test_the_overlay_is_how_the_draft_is_deployed() -> None:
    assert (deployed_as(DRAFT), deployed_as(OVERLAY), widest(DRAFT)) == (OVERLAY, None, DRAFT)
    assert (parts_of(DRAFT), parts_of(OVERLAY)) == (("cycle-header",), ())


# --- the ledger


def test_every_source_has_one_row_and_91_of_103_are_testable(rows: list[Requirement]) -> None:
    sources = [row.source for row in rows if row.source]
    assert sources == [f"W09-{n:03}" for n in range(1, 104)]
    assert sum(row.testable for row in rows if row.source) == 91


def test_rows_are_those_of_the_list_of_requirements(
    rows: list[Requirement], listed_rows: list[dict[str, str]]
) -> None:
    listed = [r for r in listed_rows if r["id"].startswith("W09-")]
    expected = [
        (
            r["id"],
            r["observability"] in TESTABLE,
            LEVELS.get(r["level"], r["level"]),
            r["section"].partition(" amq_")[0],
        )
        for r in listed
    ]
    assert [(r.source, r.testable, r.level, r.section) for r in rows if r.source] == expected
    named = {r["section"].partition(" amq_")[2]: r["section"] for r in listed if " amq_" in r["section"]}
    assert {f"amq_{name}" for name in named} == NAMED_TESTS


def test_the_seventeen_named_tests_are_rows_that_a_case_can_cover(rows: list[Requirement]) -> None:
    named = {row.id: row for row in rows if row.id.startswith("amq_")}
    assert set(named) == NAMED_TESTS
    assert all(row.testable and not row.excluded and row.same_as == row.id for row in named.values())


def test_ids_are_permanent_words_that_begin_with_their_chapter(rows: list[Requirement]) -> None:
    plain = [row for row in rows if row.id not in NAMED_TESTS]
    assert [row.id for row in plain if not re.fullmatch(r"[a-z][a-z-]*(/[a-z0-9-]+)+", row.id)] == []
    wrong = [row.id for row in plain if not row.id.startswith(row.section.replace(" ", "/") + "/")]
    assert wrong == []


def test_shared_duties_are_rows_of_the_other_ledger(rows: list[Requirement]) -> None:
    theirs = {row.same_as for row in load_ledger(LATER).values() if row.same_as}
    shared = [row.same_as for row in rows if row.same_as]
    assert set(shared) - theirs == {"amq_wlp_trace_01", "amq_wlp_trace_02"}
    elsewhere = [load_ledger(dialect) for dialect in runnable_dialects() if dialect != LATER]
    others = {row.same_as for ledger in elsewhere for row in ledger.values()}
    assert theirs <= others
    assert [name for name, count in Counter(shared).items() if count > 1] == []


def test_what_has_no_case_says_why(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if bool(row.excluded) == row.testable] == []


def test_texts_are_short(rows: list[Requirement]) -> None:
    assert {row.binds for row in rows} == {"client", "server", "peer"}
    assert [row.id for row in rows if len(row.paraphrase) > 125 or row.paraphrase.endswith(".")] == []


def test_features_are_known(rows: list[Requirement]) -> None:
    features = {row.feature for row in rows if row.feature}
    assert features == {"cycle-header", "multiple-channels", "out-of-band", "structured-content"}


def test_refusals_can_be_said_and_choices_are_explained(
    rows: list[Requirement], draft: MethodDialect
) -> None:
    for row in rows:
        assert all(refusal.describe(draft) for refusal in refusals(row)), row.id
        assert len(set(refusals(row))) == len(refusals(row)), row.id
        assert row.reading or (len(row.accepts) <= 1 and not row.tolerates), row.id
        own = [r for r in refusals(row) if r.code is None or draft.codes[int(r.code)].scope is r.scope]
        assert len(own) == len(refusals(row)), row.id


def test_freedoms_of_a_sender_bind_the_client(rows: list[Requirement]) -> None:
    """A MAY that binds server or peer lets the server choose; these do not."""
    freedoms = {row.id for row in rows if row.level is Level.MAY and row.binds == "client" and row.testable}
    assert freedoms == {
        "content-framing/interleaved-channels",
        "content-header/zero-body",
        "content-body/frames",
        "channel-multiplexing/down-to-one",
        "amq_wlp_header_04",
    }


@pytest.mark.parametrize(
    ("id", "accepts", "tolerates"),
    [
        ("amq_wlp_header_03", {(Scope.HEADER, None)}, set()),
        ("amq_wlp_frame_01", {(Scope.SOCKET, None)}, set()),
        ("amq_wlp_frame_02", {(Scope.SOCKET, None)}, set()),
        ("amq_wlp_frame_03", {(Scope.CONNECTION, 501)}, set()),
        ("amq_wlp_table_01", {(Scope.CONNECTION, 503), (Scope.CONNECTION, 502)}, set()),
        ("amq_wlp_content_01", {(Scope.CONNECTION, 501)}, set()),
        ("amq_wlp_content_02", {(Scope.CONNECTION, 501)}, set()),
        ("amq_wlp_content_03", {(Scope.CONNECTION, 504)}, set()),
        ("amq_wlp_content_04", {(Scope.CONNECTION, 540)}, set()),
        ("amq_wlp_content_05", {(Scope.CONNECTION, 501)}, set()),
        ("structured-content/mismatch", {(Scope.CONNECTION, 501), (Scope.CONNECTION, 540)}, set()),
        ("amq_wlp_trace_01", {(Scope.CONNECTION, 501)}, set()),
        ("amq_wlp_trace_02", set(), set()),
        ("amq_wlp_heartbeat_01", {(Scope.CONNECTION, 501)}, set()),
        ("amq_wlp_heartbeat_02", set(), set()),
        ("security/negotiation-pause", {(Scope.SOCKET, None)}, {(Scope.CONNECTION, None)}),
    ],
)
def test_what_some_rows_accept(
    id: str, accepts: set[tuple[Scope, int | None]], tolerates: set[tuple[Scope, int | None]]
) -> None:
    row = load_ledger(DRAFT)[id]
    assert {(r.scope, r.code) for r in row.accepts} == accepts
    assert {(r.scope, r.code) for r in row.tolerates} == tolerates


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("grammar/channel-non-zero", "The exception is intended"),
        ("content-header/class", "short integers are intended"),
        ("grammar/heartbeat-frame", "channel 0 and size 0 in full width"),
        ("amq_wlp_table_01", "both number and name are accepted"),
        ("amq_wlp_heartbeat_01", "a heartbeat is intended"),
        ("field-tables/integers-signed", "so decimals are signed as well"),
        ("amq_wlp_frame_03", "cases use only such"),
    ],
)
def test_contradictions_of_the_text_are_decided(id: str, words: str) -> None:
    assert words in load_ledger(DRAFT)[id].reading
