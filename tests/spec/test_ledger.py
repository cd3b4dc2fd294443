"""The 0-9-1 ledger: complete, consistent with the constants, and read with errors that name the place.

``AMQPSPEC_REQUIREMENTS`` names a CSV file of requirement ids (columns ``id`` and ``observability``) to
compare the sources of the rows with; without it, that comparison is skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from amqpspec.spec.dialects import certified_dialects, ledgers, load_ledger
from amqpspec.spec.methods import MethodDialect, load_methods
from amqpspec.spec.model import Level, Refusal, Requirement, Scope
from amqpspec.spec.requirements import LedgerError, parse_refusal, read_ledger
from tests.spec.ledgers import TESTABLE, refusals

FEATURES = {
    "alternate-exchange",
    "blocked",
    "confirm",
    "consumer-cancel-notify",
    "exchange-auto-delete",
    "exchange-bind",
    "exchange-internal",
    "nack",
    "sender-selected",
    "tx",
    "update-secret",
}
WIRE_TESTS = {
    *(f"amq_wlp_header_0{n}" for n in (1, 2, 3, 4)),
    *(f"amq_wlp_frame_0{n}" for n in (1, 2, 3)),
    "amq_wlp_table_01",
    *(f"amq_wlp_content_0{n}" for n in (1, 2, 3, 4, 5)),
    "amq_wlp_heartbeat_01",
    "amq_wlp_heartbeat_02",
}
ID = re.compile(r"[a-z][a-z0-9-]*(/[a-z0-9-]+)+|amq_wlp_[a-z]+_[0-9]{2}")
SOURCE = re.compile(r"[RSE]91-[0-9]{3}")


@pytest.fixture(scope="module")
def dialect() -> MethodDialect:
    return load_methods("rabbitmq-0-9-1")


@pytest.fixture(scope="module")
def rows() -> list[Requirement]:
    return list(load_ledger("amqp-0-9-1").values())


def test_every_certified_dialect_has_a_ledger() -> None:
    assert set(ledgers()) == set(certified_dialects())
    assert all(ledgers().values())


def test_ids_are_permanent_words(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not ID.fullmatch(row.id)] == []


def test_ids_begin_with_the_place_that_they_come_from(rows: list[Requirement]) -> None:
    prefixes = {"connection", "channel", "exchange", "queue", "basic", "tx", "confirm", "domain", "constant"}
    wrong = [row.id for row in rows if row.source and row.id.partition("/")[0] not in prefixes]
    wrong += [
        row.id
        for row in rows
        if not row.source and row.id.partition("/")[0] not in WIRE_TESTS | {"wire", "extension"}
    ]
    assert wrong == []


def test_rows_stand_in_the_order_of_the_specification(rows: list[Requirement]) -> None:
    order = ["connection", "channel", "exchange", "queue", "basic", "tx", "confirm", "domain", "constant"]
    heads = [row.id.partition("/")[0] for row in rows if row.source]
    assert list(dict.fromkeys(heads)) == order
    assert heads == sorted(heads, key=order.index)


def test_every_source_has_one_row_and_240_of_284_are_testable(rows: list[Requirement]) -> None:
    sources = Counter(row.source for row in rows if row.source)
    assert [source for source, count in sources.items() if count > 1 or not SOURCE.fullmatch(source)] == []
    assert len(sources) == 284
    assert sum(row.testable for row in rows if row.source) == 240


def test_sources_are_those_of_the_list_of_requirements(
    rows: list[Requirement], listed_rows: list[dict[str, str]]
) -> None:
    expected = {r["id"]: r["observability"] in TESTABLE for r in listed_rows if SOURCE.fullmatch(r["id"])}
    assert {row.source: row.testable for row in rows if row.source} == expected


def test_named_wire_tests_are_all_here_under_their_own_name(rows: list[Requirement]) -> None:
    assert {row.id for row in rows if row.id.startswith("amq_wlp_")} == WIRE_TESTS
    assert {row.id for row in rows if row.same_as} >= WIRE_TESTS
    assert all(row.same_as == row.id for row in rows if row.same_as)


def test_what_has_no_case_says_why(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if bool(row.excluded) == row.testable] == []


def test_every_row_has_a_section_and_says_something(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not row.section or not row.paraphrase] == []


def test_rows_beyond_the_list_name_their_chapter(rows: list[Requirement]) -> None:
    assert [
        row.id for row in rows if not row.source and not row.section.startswith(("pdf §", "extension "))
    ] == []


def test_features_are_known(rows: list[Requirement]) -> None:
    assert {row.feature for row in rows if row.feature} == FEATURES


def test_rows_of_an_optional_class_need_it(rows: list[Requirement]) -> None:
    for head, feature in (
        ("tx/", "tx"),
        ("confirm/", "confirm"),
        ("basic/nack/", "nack"),
        ("exchange/bind/", "exchange-bind"),
    ):
        assert [row.id for row in rows if row.id.startswith(head) and row.feature != feature] == []


def test_every_refusal_can_be_said(rows: list[Requirement], dialect: MethodDialect) -> None:
    for row in rows:
        for refusal in refusals(row):
            phrase = refusal.describe(dialect)
            assert phrase
            assert refusal.code is None or f"{refusal.code} " in phrase


def test_a_code_at_another_scope_than_its_own_is_explained(
    rows: list[Requirement], dialect: MethodDialect
) -> None:
    for row in rows:
        own = [r for r in refusals(row) if r.code is None or dialect.codes[int(r.code)].scope is r.scope]
        assert len(own) == len(refusals(row)) or row.reading, row.id


@pytest.mark.parametrize(
    ("id", "accepts", "tolerates"),
    [
        ("connection/start/protocol-name", {(Scope.HEADER, None)}, set()),
        ("connection/start-ok/mechanism/validity", {(Scope.SOCKET, None)}, set()),
        ("connection/tune-ok/frame-max/upper-limit", {(Scope.SOCKET, None)}, {(Scope.CONNECTION, None)}),
        ("channel/open/state", {(Scope.CONNECTION, 504)}, {(Scope.CONNECTION, 503)}),
        ("exchange/declare/exchange/reserved", {(Scope.CHANNEL, 403)}, set()),
        (
            "exchange/declare/type/typed",
            {(Scope.CONNECTION, 530), (Scope.CHANNEL, 406)},
            {(Scope.CHANNEL, None)},
        ),
        ("queue/declare/exclusive/exclusive", {(Scope.CHANNEL, 405)}, set()),
        ("queue/unbind/failure", {(Scope.CONNECTION, 404), (Scope.CHANNEL, 404)}, {(Scope.CONNECTION, None)}),
        ("basic/consume/consumer-tag/duplicate", {(Scope.CONNECTION, 530)}, set()),
        ("constant/invalid-path", {(Scope.CONNECTION, 402), (Scope.SOCKET, None)}, set()),
        ("amq_wlp_frame_01", {(Scope.SOCKET, None)}, set()),
        ("amq_wlp_content_02", {(Scope.CONNECTION, 501), (Scope.CONNECTION, 505)}, set()),
        ("amq_wlp_heartbeat_01", {(Scope.CONNECTION, 501), (Scope.CONNECTION, 503)}, set()),
        ("wire/frame/channel-zero-for-connection", {(Scope.CONNECTION, 503)}, set()),
    ],
)
def test_what_some_rows_accept(
    id: str, accepts: set[tuple[Scope, int | None]], tolerates: set[tuple[Scope, int | None]]
) -> None:
    row = load_ledger("amqp-0-9-1")[id]
    assert {(r.scope, r.code) for r in row.accepts} == accepts
    assert {(r.scope, r.code) for r in row.tolerates} == tolerates


GOOD_ROW = "{id: a/b, level: MUST, binds: server, section: a.b, says: some words%s}"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (GOOD_ROW % ", colour: red", "rows.yaml, row 1 (a/b): unknown key 'colour'"),
        ("{level: MUST}", "rows.yaml, row 1 (no id): expected key 'id', actual: missing"),
        (
            "{id: a/b, level: MUST, binds: server, section: s}",
            "rows.yaml, row 1 (a/b): expected key 'says', actual: missing",
        ),
        (
            "{id: a/b, level: OUGHT, binds: server, section: s, says: words}",
            "rows.yaml, row 1 (a/b): level: expected one of",
        ),
        (GOOD_ROW % ", accepts: [galaxy not-found]", "rows.yaml, row 1 (a/b): accepts: expected a scope of"),
        (
            GOOD_ROW % ", tolerates: [channel no-such-code]",
            "rows.yaml, row 1 (a/b): tolerates: expected the name of a reply code, actual 'no-such-code'",
        ),
        (
            GOOD_ROW % "" + "\n- " + GOOD_ROW % "",
            "rows.yaml, row 2 (a/b): expected a unique id, actual: already used",
        ),
    ],
)
def test_a_wrong_row_is_named_with_file_row_and_key(
    row: str, message: str, tmp_path: Path, dialect: MethodDialect
) -> None:
    path = tmp_path / "rows.yaml"
    path.write_text(f"- {row}\n", encoding="utf-8")
    with pytest.raises(LedgerError, match=re.escape(message)):
        read_ledger(path, dialect)


def test_a_row_is_read_whole(tmp_path: Path, dialect: MethodDialect) -> None:
    path = tmp_path / "rows.yaml"
    more = (
        ", source: X-1, accepts: [channel no-route, socket], feature: tx, testable: false, excluded: because"
    )
    path.write_text(f"- {GOOD_ROW % more}\n", encoding="utf-8")
    assert read_ledger(path, dialect)["a/b"] == Requirement(
        id="a/b",
        level=Level.MUST,
        binds="server",
        section="a.b",
        paraphrase="some words",
        source="X-1",
        accepts=(Refusal(Scope.CHANNEL, 312), Refusal(Scope.SOCKET)),
        feature="tx",
        testable=False,
        excluded="because",
    )


def test_an_empty_file_is_an_empty_ledger(tmp_path: Path, dialect: MethodDialect) -> None:
    path = tmp_path / "rows.yaml"
    path.write_text("", encoding="utf-8")
    assert read_ledger(path, dialect) == {}


def test_refusals_in_words(dialect: MethodDialect) -> None:
    codes = {c.name: c.value for c in dialect.constants}
    phrases = {
        text: parse_refusal(text, codes, "here").describe(dialect) for text in ("socket", "header", "channel")
    }
    assert phrases["socket"] == "connection closed without further data"
    assert phrases["header"] == "protocol header of the target, then close"
    assert phrases["channel"] == "channel exception"
    assert (
        parse_refusal("connection not-allowed", codes, "here").describe(dialect)
        == "connection exception 530 not-allowed"
    )
