"""The AMQP 0-10 ledger: complete, in the order of the specification, and true to the codes that it defines.

``AMQPSPEC_REQUIREMENTS`` names a CSV file of requirements (columns ``id``, ``section``, ``level`` and
``observability``), ``AMQPSPEC_XML`` a directory with ``amqp.0-10.xml``, to compare the rows with; without them, these
comparisons are skipped.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import amqpspec.spec.amqp_0_10
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.dialects import ledgers, load_ledger
from amqpspec.spec.model import Refusal, Requirement, Scope
from amqpspec.spec.requirements import read_ledger
from tests.spec.ledgers import LEVELS, TESTABLE, by_id, refusals

FEATURES = {
    "access-control", "dtx", "dtx-heuristics", "file", "gap", "message-resume", "session-resume", "stream",
    "tx", "virtual-hosts",
}  # fmt: skip
CHAPTERS = {"transport": "4", "session-layer": "3", "encoding": "5", "exchange-types": "2"}
SECTIONS = {
    *(
        "3.4.1.2",
        "3.4.1.3",
        "3.4.2",
        "3.5.2",
        "3.5.3",
        "4.2",
        "4.3",
        "4.4.1",
        "4.4.2",
        "4.4.3",
        "5.2",
        "5.3",
        "5.6",
    ),
    *("2.3.1.3", "2.3.1.4", "5.7", "5.7.1", "5.8", "5.8.2", "5.9", "5.9.1", "5.9.2"),
}
SCOPES = {Scope.DELIVERY, Scope.SESSION, Scope.CONNECTION, Scope.SOCKET, Scope.HEADER}
ID = re.compile(r"[a-z][a-z0-9-]*(/[a-z0-9-]+)+")


@pytest.fixture(scope="module")
def rows() -> list[Requirement]:
    path = Path(amqpspec.spec.amqp_0_10.__file__).with_name("requirements.yaml")
    return list(read_ledger(path, DIALECT).values())


def said(found: tuple[Refusal, ...]) -> set[str]:
    """Refusals as the ledger writes them, codes by name."""
    names = {code.value: code.name for code in DIALECT.codes}
    return {r.scope if r.code is None else f"{r.scope} {names[r.code]}" for r in found}


def place(section: str) -> str:
    """A section as the beginning of an id: class, command, field and rule, without the error code."""
    return re.sub(r"[.# ]", "/", section.partition("!")[0]).lower()


def error_code(row: Requirement) -> str:
    """The name of the code that the section of an exception cites, or nothing."""
    return row.section.partition("!")[2]


def test_every_source_has_one_row_and_460_of_509_are_testable(rows: list[Requirement]) -> None:
    sources = [row.source for row in rows if row.source]
    assert sources == [f"X10-{n:03}" for n in range(1, 510)]
    assert sum(row.testable for row in rows if row.source) == 460


def test_rows_are_those_of_the_list_of_requirements(
    rows: list[Requirement], listed_rows: list[dict[str, str]]
) -> None:
    expected = [
        (r["id"], r["section"], r["observability"] in TESTABLE, LEVELS[r["level"].lower()])
        for r in listed_rows
        if r["id"].startswith("X10-")
    ]
    assert [(r.source, r.section, r.testable, r.level) for r in rows if r.source] == expected


def places(element: ET.Element, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every rule and exception of the XML as a section: where it stands, its name, its error code."""
    for child in element:
        tag, name = child.tag.rpartition("}")[2], child.get("name", "")
        if tag in {"rule", "exception"}:
            code = child.get("error-code")
            yield f"{'.'.join(path)}#{name}" + (f"!{code}" if code else "")
        yield from places(child, (*path, name) if name else path)


def test_every_rule_and_exception_of_the_xml_has_a_row(rows: list[Requirement], official_xml: Path) -> None:
    expected = list(places(ET.parse(official_xml / "amqp.0-10.xml").getroot()))
    assert len(expected) == 146 + 78
    assert {row.section for row in rows if "#" in row.section} == set(expected)


def test_ids_are_permanent_words_of_their_section(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not ID.fullmatch(row.id)] == []
    assert [id for id, count in Counter(row.id for row in rows).items() if count > 1] == []
    strays = [row.id for row in rows if row.source and not row.id.startswith(place(row.section))]
    assert strays == []


def test_rows_of_the_published_document_come_first_and_name_their_chapter(rows: list[Requirement]) -> None:
    ours = [row for row in rows if row.section.startswith("pdf §")]
    assert ours == rows[: len(ours)]
    for row in ours:
        number = row.section.removeprefix("pdf §")
        assert number in SECTIONS, row.id
        assert number.startswith(CHAPTERS[row.id.partition("/")[0]]), row.id


def test_sections_of_the_xml_name_what_the_tables_have(rows: list[Requirement]) -> None:
    """The second word of a section is a rule of the class, or one of its rows."""
    known = {*DIALECT.controls, *DIALECT.commands, *DIALECT.domains, *DIALECT.structs}
    for row in rows:
        words = row.section.partition("#")[0].split(".")
        if words[0] in DIALECT.classes_by_name and len(words) > 1:
            assert ".".join(words[:2]) in known, row.id


def test_every_type_has_its_row(rows: list[Requirement]) -> None:
    described = [row.section for row in rows if row.section.startswith("type ")]
    assert list(dict.fromkeys(described)) == [f"type {t.name}" for t in DIALECT.types]


def test_every_exception_has_a_row_that_accepts_its_code(rows: list[Requirement]) -> None:
    expected = {
        f"{command.name}{'.' if r.field else ''}{r.field}#{r.name}!{r.code}"
        for command in DIALECT.commands.values()
        for r in command.raises
    }
    cited = [row for row in rows if error_code(row)]
    assert {row.section for row in cited} == expected
    wrong = [row.id for row in cited if f"session {error_code(row)}" not in said(row.accepts)]
    assert wrong == []


def test_an_exception_accepts_another_code_only_where_the_text_contradicts_itself(
    rows: list[Requirement],
) -> None:
    more = {row.id for row in rows if error_code(row) and len(refusals(row)) > 1}
    assert more == {"exchange/bind/queue/empty-queue", "dtx/start/xid/unknown-xid"}


def test_what_has_no_case_says_why(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not row.testable and not row.excluded] == []
    left_out = {row.id for row in rows if row.testable and row.excluded}
    assert left_out == {"file/deliver/redelivery-tracking/count", "stream/deliver/delivery-tag/session-local"}


def test_no_two_rows_say_the_same_and_none_is_a_placeholder(rows: list[Requirement]) -> None:
    texts = [text for row in rows for text in (row.paraphrase, row.reading, row.excluded)]
    assert [text for text in texts if text.startswith("@")] == []
    assert [t for t, count in Counter(row.paraphrase for row in rows).items() if count > 1] == []


def test_features_are_known_and_belong_to_their_classes(rows: list[Requirement]) -> None:
    assert {row.feature for row in rows if row.feature} == FEATURES
    for row in rows:
        head = row.id.partition("/")[0]
        if head in {"tx", "dtx", "file", "stream"} and row.id != "dtx/start/join/unsupported":
            assert row.feature.partition("-")[0] in {head, "dtx"}, row.id
    assert {r.feature for r in rows if r.id.startswith("session/gap/")} == {"gap"}
    assert {r.feature for r in rows if r.id.startswith("message/resume/")} == {"message-resume"}


def test_every_refusal_can_be_said(rows: list[Requirement]) -> None:
    assert {refusal.scope for row in rows for refusal in refusals(row)} == SCOPES
    for row in rows:
        for refusal in refusals(row):
            assert refusal.describe(DIALECT)
            assert refusal.code is None or refusal.scope not in {Scope.SOCKET, Scope.HEADER}, row.id


def test_codes_stand_at_the_scope_that_they_end(rows: list[Requirement]) -> None:
    scopes = {code.value: code.scope for code in DIALECT.codes}
    wrong = [
        row.id for row in rows for r in refusals(row) if r.code is not None and scopes[r.code] is not r.scope
    ]
    assert wrong == []


def test_every_code_has_a_row_that_accepts_it(rows: list[Requirement]) -> None:
    """What no one can provoke from outside has none: an operator, a broken server, no reason given."""
    accepted = {r.code for row in rows if row.testable for r in row.accepts}
    missing = {code.name for code in DIALECT.codes if code.value not in accepted}
    assert missing == {"resource-limit-exceeded", "internal-error", "unspecified"}


def test_shared_duties_are_rows_of_the_0_9_1_ledger(rows: list[Requirement]) -> None:
    theirs = load_ledger("amqp-0-9-1")
    known = theirs.keys() | {row.same_as for row in theirs.values() if row.same_as}
    shared = [row.same_as for row in rows if row.same_as]
    assert [name for name in shared if name not in known] == []
    assert [name for name, count in Counter(shared).items() if count > 1] == []
    assert len(shared) == 129


def test_an_id_that_another_ledger_has_means_the_same_there(rows: list[Requirement]) -> None:
    """One name for two duties would put them on one row of the matrix."""
    for dialect, ledger in ledgers().items():
        if dialect != DIALECT.id:
            assert [row.id for row in rows if row.id in ledger and row.same_as != row.id] == [], dialect


@pytest.mark.parametrize(
    ("id", "accepts", "tolerates"),
    [
        ("transport/negotiation/unsupported", {"header"}, set()),
        ("transport/frame/size-below-header", {"connection framing-error"}, {"connection", "socket"}),
        ("connection/start/protocol-name", {"header", "socket"}, set()),
        ("connection/start-ok/mechanism/validity", {"socket"}, set()),
        ("connection/tune-ok/max-frame-size/upper-limit", {"socket"}, set()),
        ("connection/tune-ok/max-frame-size/max-frame-size/refused", {"connection framing-error"}, set()),
        ("connection/close-code/invalid-path", {"connection invalid-path"}, set()),
        ("session/attachment/discarded", {"session not-attached"}, set()),
        ("session/attach/one-transport-per-session", {"session session-busy"}, set()),
        ("session/attach/one-session-per-transport", {"session transport-busy"}, set()),
        ("session/command-point/newly-attached-transports/detached", {"session unknown-ids"}, set()),
        ("session/command-point/zero-offset/framing-error", {"connection framing-error"}, set()),
        ("message/reject-code/unroutable", {"delivery unroutable"}, set()),
        ("message/transfer/destination/nonexistent-exchange", {"session not-found"}, set()),
        ("message/subscribe/queue-deletion", {"session resource-deleted"}, set()),
        ("message/subscribe/exclusive/in-use", {"session resource-locked"}, set()),
        ("tx/commit/select-required", {"session illegal-state"}, set()),
        ("dtx/commit/xid/unknown-xid", {"session not-found"}, set()),
        ("exchange/delete/if-unused/exchange-in-use/refused", {"session precondition-failed"}, set()),
        (
            "exchange/bind/queue/empty-queue",
            {"session invalid-argument", "session not-found"},
            set(),
        ),
        ("queue/declare/arguments/unknown-argument", {"session not-implemented"}, set()),
        ("file/consume/queue/queue-exists-if-empty", {"session not-allowed"}, set()),
    ],
)
def test_what_some_rows_accept(
    rows: list[Requirement], id: str, accepts: set[str], tolerates: set[str]
) -> None:
    row = by_id(rows, id)
    assert said(row.accepts) == accepts
    assert said(row.tolerates) == tolerates


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("segment-type/values", "which only the published document has"),
        ("connection/start/protocol-name", "both are accepted here"),
        (
            "session/command-point/newly-attached-transports/detached",
            "unknown-id, the enumeration unknown-ids",
        ),
        ("session/expected/include-next-command", "For a new session the set is empty"),
        ("message/accept-mode/none", "which is an acquire-mode"),
        ("message/fragment-properties/first-only", "default 1"),
        ("dtx/start/xid/unknown-xid", "would forbid both"),
        ("dtx/commit/xid/unknown-xid", "only ended branches can be prepared"),
        ("exchange/required-instances/amq-type", "amq.match"),
        ("exchange/bind/queue/empty-queue", "both codes are accepted"),
        ("exchange/bind/unbound", "which that class does not have"),
        ("exchange/bound/binding-key/unset", "marked as required"),
        ("file/no-discard/flow", "which does not exist"),
        ("type/str8-latin", "The diagram shows the size as uint16"),
    ],
)
def test_contradictions_of_the_text_are_decided(rows: list[Requirement], id: str, words: str) -> None:
    assert words in by_id(rows, id).reading
