"""The AMQP 1.0 ledger: complete, in the order of the specification, and true to the conditions that it defines.

``AMQPSPEC_REQUIREMENTS`` names a CSV file of requirement ids (columns ``id``, ``level`` and ``observability``)
to compare the rows with; without it, that comparison is skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import amqpspec.spec.amqp_1_0
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.model import Dialect, Requirement, Scope
from amqpspec.spec.requirements import read_ledger
from tests.spec.ledgers import LEVELS, TESTABLE, by_id, refusals

FEATURES = {"access-control", "dynamic-nodes", "filter", "link-stealing", "resume", "tls"}
CHAPTERS = {
    "model": "2.1",
    "version": "2.2",
    "framing": "2.3",
    "connections": "2.4",
    "sessions": "2.5",
    "links": "2.6",
    "transfers": "2.6",
    "performatives": "2.7",
    "definitions": "2.8",
}
SUBSECTIONS = {"2.1": 3, "2.2": 0, "2.3": 2, "2.4": 7, "2.5": 6, "2.6": 14, "2.7": 9, "2.8": 19}
PERFORMATIVES = ["open", "begin", "attach", "flow", "transfer", "disposition", "detach", "end", "close"]
ERRORS = {"2.8.16": "amqp:connection:", "2.8.17": "amqp:session:", "2.8.18": "amqp:link:"}
SCOPES = {Scope.DELIVERY, Scope.LINK, Scope.SESSION, Scope.CONNECTION, Scope.SOCKET, Scope.HEADER}
ID = re.compile(r"[a-z][a-z0-9-]*(/[a-z0-9-]+)+")
SOURCE = re.compile(r"T10-[0-9]{3}")


@pytest.fixture(scope="module")
def dialect() -> Dialect:
    return load_dialect("amqp-1-0")


@pytest.fixture(scope="module")
def rows(dialect: Dialect) -> list[Requirement]:
    path = Path(amqpspec.spec.amqp_1_0.__file__).with_name("requirements.yaml")
    return list(read_ledger(path, dialect).values())


def number(row: Requirement) -> str:
    return row.section.partition(" ")[0]


def test_every_source_has_one_row_and_323_of_377_are_testable(rows: list[Requirement]) -> None:
    sources = [row.source for row in rows if row.source]
    assert sources == [f"T10-{n:03}" for n in range(1, 378)]
    assert sum(row.testable for row in rows if row.source) == 323


def test_sources_are_those_of_the_list_of_requirements(
    rows: list[Requirement], listed_rows: list[dict[str, str]]
) -> None:
    expected = {
        r["id"]: (r["observability"] in TESTABLE, LEVELS[r["level"].lower()])
        for r in listed_rows
        if SOURCE.fullmatch(r["id"])
    }
    assert {row.source: (row.testable, row.level) for row in rows if row.source} == expected


def test_ids_are_permanent_words(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not ID.fullmatch(row.id)] == []
    assert [id for id, count in Counter(row.id for row in rows).items() if count > 1] == []


def test_chapters_stand_in_the_order_of_the_specification(rows: list[Requirement]) -> None:
    heads = [row.id.partition("/")[0] for row in rows]
    assert list(dict.fromkeys(heads)) == list(CHAPTERS)
    assert heads == sorted(heads, key=list(CHAPTERS).index)


def test_every_section_exists_and_belongs_to_the_chapter_of_the_id(rows: list[Requirement]) -> None:
    known = {f"{head}.{n}" for head, count in SUBSECTIONS.items() for n in range(1, count + 1)} | set(
        SUBSECTIONS
    )
    assert [row.id for row in rows if number(row) not in known] == []
    strays = [r.id for r in rows if not f"{number(r)}.".startswith(CHAPTERS[r.id.partition("/")[0]] + ".")]
    assert strays == []


def test_sections_never_go_back(rows: list[Requirement]) -> None:
    order = [tuple(int(part) for part in number(row).split(".")) for row in rows]
    assert order == sorted(order)


def test_rows_of_a_performative_stand_in_its_section(rows: list[Requirement]) -> None:
    for row in rows:
        if row.id.startswith("performatives/"):
            name = row.id.split("/")[1]
            assert number(row) == f"2.7.{PERFORMATIVES.index(name) + 1}", row.id


def test_what_has_no_case_says_why(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not row.testable and not row.excluded] == []
    left_out = {row.id for row in rows if row.testable and row.excluded}
    assert left_out == {
        "performatives/transfer/more/not-with-aborted",
        "definitions/condition/resource-limit-exceeded",
        "definitions/port",
        "definitions/secure-port",
    }


def test_features_are_known(rows: list[Requirement]) -> None:
    assert {row.feature for row in rows if row.feature} == FEATURES


def test_rows_on_resuming_deliveries_need_it(rows: list[Requirement]) -> None:
    prefixes = (
        "transfers/resuming/",
        "links/recovering/full-state",
        "performatives/attach/incomplete-unsettled/",
    )
    assert [row.id for row in rows if row.id.startswith(prefixes) and row.feature != "resume"] == []


def test_every_refusal_can_be_said(rows: list[Requirement], dialect: Dialect) -> None:
    assert {refusal.scope for row in rows for refusal in refusals(row)} == SCOPES
    for row in rows:
        for refusal in refusals(row):
            assert refusal.describe(dialect)
            assert refusal.code is None or refusal.code in dialect.refusal_codes


def test_conditions_stand_where_they_can_be_carried(rows: list[Requirement]) -> None:
    """A bare end carries no condition; one of a narrow scope at a wider one is explained."""
    narrow = {
        "amqp:connection:": {Scope.CONNECTION},
        "amqp:session:": {Scope.SESSION},
        "amqp:link:": {Scope.LINK},
    }
    for row in rows:
        for refusal in refusals(row):
            assert refusal.code is None or refusal.scope not in {Scope.SOCKET, Scope.HEADER}, row.id
            for prefix, scopes in narrow.items():
                at_home = not str(refusal.code).startswith(prefix) or refusal.scope in scopes
                assert at_home or row.reading, row.id


def test_every_condition_that_is_defined_has_its_row(rows: list[Requirement], dialect: Dialect) -> None:
    """The row that defines a condition accepts it, where a peer can provoke it at all."""
    defined = [row for row in rows if row.id.startswith("definitions/condition/")]
    for row in defined:
        if not row.excluded:
            name = row.id.rpartition("/")[2]
            symbol = f"{ERRORS.get(number(row), 'amqp:')}{name}"
            assert symbol in dialect.refusal_codes, row.id
            assert symbol in {refusal.code for refusal in row.accepts}, row.id
    assert {number(row) for row in defined} == {"2.8.15", "2.8.16", "2.8.17", "2.8.18"}


def test_rows_restored_to_the_draft_say_so(rows: list[Requirement]) -> None:
    restored = {row.source for row in rows if "the OASIS standard" in row.reading}
    assert restored == {f"T10-{n:03}" for n in (16, 17, 18, 19, 20, 21, 22, 197, 198)}


@pytest.mark.parametrize(
    ("id", "accepts", "tolerates"),
    [
        ("version/unsupported", {"header"}, set()),
        ("version/protocol-id/unacceptable", {"header"}, set()),
        ("framing/size/below-header", {"connection amqp:connection:framing-error"}, {"connection"}),
        ("performatives/open/max-frame-size/exceeded", {"connection amqp:connection:framing-error"}, set()),
        ("performatives/open/channel-max/exceeded", {"connection amqp:connection:framing-error"}, set()),
        ("performatives/begin/handle-max/exceeded", {"connection amqp:connection:framing-error"}, set()),
        (
            "performatives/attach/handle/in-use",
            {"session amqp:session:handle-in-use", "connection amqp:session:handle-in-use"},
            set(),
        ),
        ("performatives/flow/handle/unattached", {"session amqp:session:unattached-handle"}, set()),
        ("performatives/attach/max-message-size/exceeded", {"link amqp:link:message-size-exceeded"}, set()),
        ("links/names/stolen", {"link amqp:link:stolen"}, set()),
        ("links/errors/errant-link", {"session amqp:session:errant-link"}, set()),
        ("definitions/condition/window-violation", {"session amqp:session:window-violation"}, set()),
        ("definitions/condition/transfer-limit-exceeded", {"link amqp:link:transfer-limit-exceeded"}, set()),
        (
            "performatives/open/mandatory",
            {"connection amqp:decode-error", "connection amqp:invalid-field"},
            {"connection", "socket"},
        ),
    ],
)
def test_what_some_rows_accept(
    rows: list[Requirement], id: str, accepts: set[str], tolerates: set[str]
) -> None:
    row = by_id(rows, id)
    assert {" ".join(filter(None, (r.scope, str(r.code or "")))) for r in row.accepts} == accepts
    assert {" ".join(filter(None, (r.scope, str(r.code or "")))) for r in row.tolerates} == tolerates
