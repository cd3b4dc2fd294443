"""The AMQP/Fast ledger: complete, in the order of the specification, and true to its levels of CLOSE.

``AMQPSPEC_REQUIREMENTS`` names a CSV file of requirement ids (columns ``id``, ``level``, ``binds``, ``section`` and
``observability``) to compare the rows with; without it, that comparison is skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import amqpspec.spec.amqp_fast_0_8
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.dialects import ledgers
from amqpspec.spec.model import Level, Requirement, Scope
from amqpspec.spec.requirements import read_ledger
from tests.spec.ledgers import LEVELS, TESTABLE, by_id, refusals

# Chapters in the order of the text, each with what the ids of its rows begin with.
CHAPTERS = {
    "change-history 0.8d6": "changes",
    "change-history 0.8b2": "changes",
    "change-history 0.8b1": "changes",
    "change-history 0.8a0": "changes",
    "virtual-hosts": "virtual-hosts",
    "frames": "frames",
    "channels-and-fragmentation": "channels",
    "service-families": "services",
    "scenario preparing-the-connection": "scenarios/preparing",
    "scenario opening-channels-and-handles": "scenarios/opening",
    "scenario sending": "scenarios/sending",
    "scenario receiving": "scenarios/receiving",
    "scenario acknowledging": "scenarios/acknowledging",
    "scenario handling-errors": "scenarios/errors",
    "scenario browsing": "scenarios/browsing",
    "scenario confirmations": "scenarios/confirmations",
    "command-priorities": "priorities",
    "error-handling": "errors",
    "client-assigned-ids": "ids",
    "connection-heartbeat": "heartbeat",
    "frame-syntax": "syntax",
    "frame-syntax notes": "syntax/notes",
    "connection-initiation": "initiation",
    "connection.challenge": "connection/challenge",
    "field-tables": "tables",
    "connection.response": "connection/response",
    "plain-mechanism": "plain",
    "connection.tune": "connection/tune",
    "tuning-options": "tuning",
    "dictionaries": "dictionaries",
    "dictionaries note": "dictionaries",
    "connection.open": "connection/open",
    "connection.ping": "connection/ping",
    "connection.reply": "connection/reply",
    "connection.close": "connection/close",
    "connection flow, client": "connection/summary/client",
    "connection flow, server": "connection/summary/server",
    "connection confirmation-tags": "connection/confirmation",
    "connection-error-handling": "connection/errors",
    "channel.open": "channel/open",
    "transacted-channels": "transactions",
    "restartable-mode": "restartable",
    "channel.ack": "channel/ack",
    "channel.commit": "channel/commit",
    "channel.rollback": "channel/rollback",
    "channel.reply": "channel/reply",
    "channel.close": "channel/close",
    "channel confirmation-tags": "channel/confirmation",
    "channel flow, client": "channel/summary/client",
    "channel flow, server": "channel/summary/server",
    "channel-error-handling": "channel/errors",
    "message-fragmentation": "messages/fragments",
    "message-frames": "messages/frames",
    "message-header": "messages/head",
    "message write-procedure": "messages/writing",
    "message read-procedure": "messages/reading",
    "handle.open": "handle/open",
    "handle.send": "handle/send",
    "service-types": "service-types",
    "handle.consume": "handle/consume",
    "handle.flow": "handle/flow",
    "handle.unget": "handle/unget",
    "handle.query": "handle/query",
    "handle.browse": "handle/browse",
    "handle.created": "handle/created",
    "handle.notify": "handle/notify",
    "handle.index": "handle/index",
    "handle.prepare": "handle/prepare",
    "handle.ready": "handle/ready",
    "handle.reply": "handle/reply",
    "handle.close": "handle/close",
    "handle flow, client": "handle/summary/client",
    "handle flow, server": "handle/summary/server",
    "security-considerations": "security",
}
SCOPES = {Scope.DELIVERY, Scope.HANDLE, Scope.CHANNEL, Scope.CONNECTION, Scope.SOCKET}
ID = re.compile(r"[a-z][a-z-]*(/[a-z0-9-]+)+")
SOURCE = re.compile(r"F08-[0-9]{3}")


@pytest.fixture(scope="module")
def rows() -> list[Requirement]:
    path = Path(amqpspec.spec.amqp_fast_0_8.__file__).with_name("requirements.yaml")
    return list(read_ledger(path, DIALECT).values())


def test_every_source_has_one_row_and_304_of_363_are_testable(rows: list[Requirement]) -> None:
    assert [row.source for row in rows] == [f"F08-{n:03}" for n in range(1, 364)]
    assert sum(row.testable for row in rows) == 304


def test_rows_are_those_of_the_list_of_requirements(
    rows: list[Requirement], listed_rows: list[dict[str, str]]
) -> None:
    listed = [r for r in listed_rows if SOURCE.fullmatch(r["id"])]
    expected = [
        (r["id"], r["observability"] in TESTABLE, LEVELS[r["level"].lower()], r["section"]) for r in listed
    ]
    assert [(row.source, row.testable, row.level, row.section) for row in rows] == expected
    binds = {r["id"]: r["binds"] for r in listed}
    assert {row.id for row in rows if row.binds != binds[row.source]} == {"messages/fragments/interleaved"}


def test_ids_are_permanent_words(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not ID.fullmatch(row.id)] == []


def test_rows_stand_in_the_order_of_the_text_and_bear_the_name_of_their_chapter(
    rows: list[Requirement],
) -> None:
    assert list(dict.fromkeys(row.section for row in rows)) == list(CHAPTERS)
    order = [list(CHAPTERS).index(row.section) for row in rows]
    assert order == sorted(order)
    assert [row.id for row in rows if not row.id.startswith(f"{CHAPTERS[row.section]}/")] == []


def test_every_command_has_its_chapter(rows: list[Requirement]) -> None:
    named = {row.section for row in rows if "." in row.section and " " not in row.section}
    assert named == set(DIALECT.commands_by_name)


@pytest.mark.parametrize("side", ["client", "server"])
def test_every_command_has_its_place_in_both_summaries(rows: list[Requirement], side: str) -> None:
    found = {row.id.replace(f"summary/{side}/", "") for row in rows if f"/summary/{side}/" in row.id}
    named = {name.replace(".", "/") for name in DIALECT.commands_by_name}
    assert named <= found
    assert found - named <= {
        "connection/physical-close",
        "connection/response-unknown",
        "connection/tune-invalid",
    }


def test_what_has_no_case_says_why(rows: list[Requirement]) -> None:
    assert [row.id for row in rows if not row.testable and not row.excluded] == []
    left_out = [row.id for row in rows if row.testable and row.excluded]
    assert left_out == ["tuning/heartbeat/other-means"]


def test_what_binds_the_client_alone_is_excluded_as_such(rows: list[Requirement]) -> None:
    summaries = [row for row in rows if "/summary/client/" in row.id]
    assert len(summaries) == 28
    assert all(row.binds == "client" and not row.testable for row in summaries)


def test_no_two_rows_say_the_same(rows: list[Requirement]) -> None:
    assert [text for text, count in Counter(row.paraphrase for row in rows).items() if count > 1] == []


def test_features_are_known(rows: list[Requirement]) -> None:
    assert {row.feature for row in rows if row.feature} == {"dictionaries", "full-restart", "selectors"}


def test_readings_lead_to_rows_that_exist(rows: list[Requirement]) -> None:
    ids = {row.id for row in rows}
    named = {id for row in rows for id in re.findall(r"[a-z-]+(?:/[a-z0-9-]+)+", row.reading)}
    assert named and named <= ids


def test_shared_duties_have_the_name_that_another_ledger_has(rows: list[Requirement]) -> None:
    theirs = {row.same_as for ledger in ledgers().values() for row in ledger.values() if row.same_as}
    shared = [row.same_as for row in rows if row.same_as]
    assert set(shared) <= theirs
    assert len(set(shared)) == len(shared) == 7


def test_an_id_of_another_ledger_means_the_same(rows: list[Requirement]) -> None:
    theirs = {
        id: row for ledger in ledgers().values() for id, row in ledger.items() if row.source[:3] != "F08"
    }
    assert [row.id for row in rows if row.id in theirs and row.same_as != theirs[row.id].same_as] == []


def test_every_refusal_can_be_said(rows: list[Requirement]) -> None:
    assert {refusal.scope for row in rows for refusal in refusals(row)} == SCOPES
    for row in rows:
        for refusal in refusals(row):
            assert refusal.describe(DIALECT)
            assert refusal.code is None or refusal.code in DIALECT.refusal_codes.values()
            assert refusal.code is None or refusal.scope is not Scope.SOCKET, row.id


def test_freedoms_of_a_sender_bind_the_client(rows: list[Requirement]) -> None:
    """A MAY that binds the server leaves it a choice; these it has to honour."""
    freedoms = {row.id for row in rows if row.level is Level.MAY and row.binds == "client" and row.testable}
    assert freedoms == {
        "scenarios/acknowledging/when",
        "dictionaries/any-number",
        "restartable/upload",
        "messages/fragments/interleaved",
    }


def test_codes_that_the_text_names_stand_where_it_names_them(rows: list[Requirement]) -> None:
    named = {
        "handle/browse/gone": 310,
        "handle/ready/too-large": 311,
        "restartable/wrong-hash": 542,
    }
    for id, code in named.items():
        assert {refusal.code for refusal in by_id(rows, id).accepts} == {code}


@pytest.mark.parametrize(
    ("id", "accepts", "tolerates"),
    [
        ("initiation/invalid", {"socket"}, set()),
        ("syntax/command-end", {"connection 501", "socket"}, {"connection", "channel"}),
        ("errors/destination", {"handle"}, {"channel"}),
        ("errors/channel", {"channel", "connection"}, set()),
        ("channel/errors/connection", {"channel", "connection"}, set()),
        ("errors/connection", {"connection"}, set()),
        ("connection/open/client-name", {"connection 320"}, {"connection"}),
        ("connection/tune/refused", {"connection", "socket"}, set()),
        ("connection/errors/pause", {"connection", "socket"}, set()),
        ("connection/summary/server/challenge", {"connection 503", "socket"}, {"connection"}),
        ("channel/commit/transacted", {"channel 503", "connection 503"}, {"channel", "connection"}),
        ("handle/send/open", {"handle 505", "connection 505"}, {"handle", "channel", "connection"}),
        ("handle/summary/server/open", {"handle"}, {"channel", "connection"}),
        ("handle/browse/gone", {"delivery 310"}, set()),
        ("handle/ready/too-large", {"channel 311"}, {"handle 311", "connection 311"}),
        ("restartable/wrong-hash", {"delivery 542", "handle 542", "channel 542"}, {"connection 542"}),
    ],
)
def test_what_some_rows_accept(
    rows: list[Requirement], id: str, accepts: set[str], tolerates: set[str]
) -> None:
    row = by_id(rows, id)
    assert {" ".join(filter(None, (r.scope, str(r.code or "")))) for r in row.accepts} == accepts
    assert {" ".join(filter(None, (r.scope, str(r.code or "")))) for r in row.tolerates} == tolerates


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("syntax/handle-commands", "The bit applies"),
        ("syntax/handle-commands", "no further command is intended"),
        ("syntax/handle-commands", "is not part of SEND"),
        ("handle/consume/selector", "uses a table here"),
        ("handle/summary/server/browse", "NOTIFY is intended"),
        ("handle/summary/server/ready", "NOTIFY is intended"),
        ("channel/summary/server/ack", "Both are accepted"),
        ("errors/channel", "both are accepted"),
        ("channel/errors/connection", "both are accepted"),
        ("service-types/any", "They are the same"),
        ("handle/index/more", "Zero is also a valid message number"),
        ("handle/index/range", "stands for all numbers in it"),
        ("channel/ack/numbers", "on any basis"),
        ("changes/created-for-dynamic", "Both are accepted"),
        ("handle/created/unnamed", "all places agree"),
        ("handle/close/ended", "The handle is intended"),
        ("frames/size-forms", "Both are accepted"),
        ("syntax/initiation", "both are accepted"),
        ("connection/summary/server/ping", "both are accepted"),
        ("dictionaries/unused", "Both are accepted"),
        ("tables/names", "names with hyphens"),
        ("handle/send/out-of-band", "belongs to CHANNEL OPEN"),
        ("scenarios/confirmations/not-batched", "commands that follow"),
    ],
)
def test_contradictions_of_the_text_are_decided(rows: list[Requirement], id: str, words: str) -> None:
    assert words in by_id(rows, id).reading
