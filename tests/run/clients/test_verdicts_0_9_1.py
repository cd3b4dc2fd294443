"""Legal conduct that rules for clients of the 0-9 family once failed, and violations that look like it."""

from __future__ import annotations

from functools import partial

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.clients.agent import Application
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1._hostile import OCTETS as OF
from amqpspec.suites.clients_0_9_1._octets import Octets
from amqpspec.suites.clients_wire_9_1._family import OCTETS as DRAFT
from amqpspec.wire.methods.codec import ContentHeader
from tests.run.clients.talks import SECOND_NS, C, Part, S, hostile_after, talk_of
from tests.run.clients.talks import verdict as verdict_in

_m = OF.method
_verdict = partial(verdict_in, "amqp-0-9-1-clients")
_of_draft = partial(verdict_in, "amqp-wire-9-1-clients")
_PASS, _FAIL, _NONSTRICT = Outcome.PASS, Outcome.FAIL, Outcome.NONSTRICT
_NONE, _OPEN = Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE
_UNSEEN = Application.UNSEEN


def _login(heartbeat: int = 0, of: Octets = OF, early: bytes = b"", begins_ns: int = 0) -> list[Part]:
    """Up to an open channel; the client answers start only at a time, and says something before tune-ok."""
    m, tuned = of.method, {"channel_max": 100, "frame_max": 131_072, "heartbeat": heartbeat}
    later: list[tuple[Side, bytes]] = [
        (C, m("connection.start-ok", 0, mechanism="PLAIN", response=b"x", locale="en_US")),
        (S, m("connection.tune", 0, **tuned)),
        (C, early + m("connection.tune-ok", 0, **tuned)),
        (C, m("connection.open", 0, virtual_host="/")),
        (S, m("connection.open-ok", 0)),
        (C, m("channel.open", 1)),
        (S, m("channel.open-ok", 1)),
    ]
    begun: list[Part] = [(C, of.codec.dialect.protocol_header, 1), (S, of.start(), 2)]
    return [*begun, *((side, octets, begins_ns + at) for at, (side, octets) in enumerate(later, 3))]


_BYE: list[Part] = [(C, _m("connection.close", 0, reply_code=200)), (S, _m("connection.close-ok", 0))]
_BEAT = OF.frame_of("heartbeat", b"", 0)


def _working(*parts: Part) -> list[Part]:
    return [*_login(), *parts, *_BYE]


def _deliver(tag: int) -> Part:
    return S, OF.delivery(1, number=tag) + OF.header(1, 0)


def _ack(tag: int, multiple: bool = False) -> Part:
    return C, _m("basic.ack", 1, delivery_tag=tag, multiple=multiple)


def _got(tag: int) -> Part:
    return S, _m("basic.get-ok", 1, delivery_tag=tag) + OF.header(1, 0)


def _get(no_ack: bool) -> Part:
    return C, _m("basic.get", 1, queue="q", no_ack=no_ack)


_SELECT: tuple[Part, ...] = ((C, _m("tx.select", 1)), (S, _m("tx.select-ok", 1)))
_ROLLBACK: tuple[Part, ...] = ((C, _m("tx.rollback", 1)), (S, _m("tx.rollback-ok", 1)))
_COMMIT: tuple[Part, ...] = ((C, _m("tx.commit", 1)), (S, _m("tx.commit-ok", 1)))
_AGAIN: tuple[Part, ...] = (
    (C, _m("channel.close", 1, reply_code=200)),
    (S, _m("channel.close-ok", 1)),
    (C, _m("channel.open", 1)),
    (S, _m("channel.open-ok", 1)),
)
_PUBLISH = _m("basic.publish", 1)


def _consume(tag: str, answered: str) -> tuple[Part, ...]:
    asked = (C, _m("basic.consume", 1, queue="q", consumer_tag=tag))
    return asked, (S, _m("basic.consume-ok", 1, consumer_tag=answered))


_CLOSED: Part = (S, _m("channel.close", 1, reply_code=404))


@pytest.mark.parametrize(
    ("case", "parts", "outcome"),
    [
        # A tag is acknowledged once, unless a rollback abandons that.
        ("client.ack.once", (*_SELECT, _deliver(1), _ack(1), *_ROLLBACK, _ack(1)), _PASS),
        ("client.ack.once", (*_SELECT, _deliver(1), _ack(1), *_COMMIT, _ack(1)), _FAIL),
        ("client.ack.once", (_deliver(1), _deliver(2), _ack(2, True)), _PASS),
        ("client.ack.once", (_deliver(1), _deliver(2), _ack(0, True)), _PASS),
        ("client.ack.once", (_deliver(1), _deliver(2), _ack(999, True)), _FAIL),
        ("client.ack.once", (_deliver(1), *_AGAIN, _ack(1)), _FAIL),
        # Each get is settled by its own flag, and on its own channel.
        ("client.ack.owed", (_get(True), _got(1), _get(False), _got(2), _ack(2)), _PASS),
        ("client.ack.owed", (_get(False), _got(1), _get(True), _got(2)), _FAIL),
        ("client.ack.owed", (_get(False), _got(1), *_AGAIN, _get(False), _got(1), _ack(1)), _FAIL),
        ("client.ack.owed", (_get(False), _got(1), _ack(1), *_AGAIN, _get(False), _got(1), _ack(1)), _PASS),
        # A content may end with the connection, and begins with a method.
        ("client.content.whole", ((C, _PUBLISH + OF.header(1, 3) + OF.body(1, b"abc")),), _PASS),
        ("client.content.whole", ((C, _PUBLISH + OF.header(1, 9) + OF.body(1, b"abc")),), _NONE),
        ("client.content.whole", ((C, _PUBLISH + OF.header(1, 9) + _m("queue.declare", 1, queue="q")),), _FAIL),
        ("client.content.whole", ((C, OF.header(1, 0)), (C, _PUBLISH + OF.header(1, 0))), _FAIL),
        ("client.content.whole",
         ((C, _PUBLISH + OF.header(1, 0)), (C, _m("tx.select", 1) + OF.body(1, b"abc"))), _FAIL),
        # A tag that the server made is in use.
        ("client.consumer-tag.unique", (*_consume("", "made"), *_consume("own", "own")), _PASS),
        ("client.consumer-tag.unique", (*_consume("", "made"), *_consume("made", "made")), _FAIL),
        ("client.consumer-tag.unique",
         (*_consume("", "made"), (C, _m("basic.cancel", 1, consumer_tag="made")), *_consume("made", "made")), _PASS),
        # A connection may be closed in place of a channel.
        ("client.channel.close-ok", (_CLOSED, (C, _m("channel.close-ok", 1))), _PASS),
        ("client.channel.close-ok", (_CLOSED,), _NONSTRICT),
        ("client.channel.close-ok", (_CLOSED, (C, _m("tx.select", 1)), (C, _BEAT)), _NONSTRICT),
        ("client.channel.close-ok", (_CLOSED, (C, _m("channel.open", 2))), _FAIL),
    ],
)  # fmt: skip
def test_what_a_client_does_on_one_channel(case: str, parts: tuple[Part, ...], outcome: Outcome) -> None:
    assert _verdict(case, talk_of(_working(*parts))) == outcome


def test_heartbeats_are_owed_from_tune_ok_on() -> None:
    beats: list[Part] = [(C, _BEAT, 5 * SECOND_NS + at * SECOND_NS // 2) for at in range(6)]
    slow = [*_login(1, begins_ns=5 * SECOND_NS - 100), *beats, *_BYE]
    assert _verdict("client.heartbeat.interval", talk_of(slow)) is _PASS
    late = [*_login(1), *beats, *_BYE]
    assert _verdict("client.heartbeat.interval", talk_of(late)) is not _PASS
    waits = talk_of([*_login(1, begins_ns=5 * SECOND_NS), *_BYE])
    assert _verdict("server.heartbeat.interval", waits, application=_UNSEEN) is _PASS
    pauses = talk_of([*_login(1), (C, _BEAT, 9 * SECOND_NS), *_BYE])
    assert _verdict("server.heartbeat.interval", pauses, application=_UNSEEN) is _NONSTRICT


@pytest.mark.parametrize(("heartbeat", "outcome"), [(0, _NONE), (1, _FAIL)])
def test_silence_counts_where_heartbeats_were_agreed(heartbeat: int, outcome: Outcome) -> None:
    talk = hostile_after(_login(heartbeat), [(C, _m("queue.declare", 1, queue="q"))])
    talk.is_silenced, talk.ended_ns = True, 20 * SECOND_NS
    case, stopped_ns = "client.hostile.silence.declare-ok", 20 * SECOND_NS - 5
    assert _verdict(case, talk, application=Application.HANG, stopped_ns=stopped_ns) == outcome


@pytest.mark.parametrize(("code", "outcome"), [(200, _PASS), (312, _PASS), (541, _PASS), (399, _FAIL)])
def test_a_close_has_a_code_of_the_tables(code: int, outcome: Outcome) -> None:
    close = _m("connection.close", 0, reply_code=code)
    assert _verdict("client.connection.close.codes", talk_of([*_login(), (C, close)])) == outcome
    served = talk_of([*_login(), (S, close)])
    assert _verdict("server.close.codes", served, application=_UNSEEN) == outcome


def test_a_code_of_the_draft_is_none_of_0_9_1() -> None:
    for code, outcome in ((310, _PASS), (312, _FAIL)):
        close: Part = (C, DRAFT.method("connection.close", 0, reply_code=code))
        assert _of_draft("client.connection.close.codes", talk_of([*_login(of=DRAFT), close])) == outcome


_RESERVED: Part = (C, _m("queue.declare", 1, queue="amq.known"))


def test_a_reserved_queue_may_be_declared_if_it_exists() -> None:
    declared: Part = (S, _m("queue.declare-ok", 1, queue="amq.known"))
    refused: Part = (S, _m("channel.close", 1, reply_code=403))
    locked: Part = (S, _m("channel.close", 1, reply_code=405))
    assert _verdict("client.queue.reserved", talk_of(_working(_RESERVED, declared))) is _PASS
    assert _verdict("client.queue.reserved", talk_of(_working(_RESERVED, refused))) not in (_PASS, _NONE)
    assert _verdict("client.queue.reserved", talk_of(_working(_RESERVED, locked))) is _NONE


@pytest.mark.parametrize(("tag", "outcome"), [(4, _PASS), (2, _FAIL)])
def test_a_confirm_of_several_leaves_none_of_them(tag: int, outcome: Outcome) -> None:
    published = (_PUBLISH + OF.header(1, 0)) * 4
    parts: list[Part] = [
        (C, _m("confirm.select", 1)),
        (S, _m("confirm.select-ok", 1)),
        (C, published),
        (S, _m("basic.ack", 1, delivery_tag=3, multiple=True)),
        (S, _m("basic.ack", 1, delivery_tag=tag)),
    ]
    assert _verdict("server.confirms", talk_of(_working(*parts)), application=_UNSEEN) == outcome


# --- a client that was stopped, or that no one watched


def test_a_close_is_not_missing_if_the_harness_ended_the_client() -> None:
    talk = talk_of(_login(), ended_ns=20 * SECOND_NS)
    case = "client.connection.ends-after-close-ok"
    for stopped_ns, outcome in ((20 * SECOND_NS - 10, _NONE), (20 * SECOND_NS + 10, _FAIL)):
        assert _verdict(case, talk, application=Application.HANG, stopped_ns=stopped_ns) == outcome
    assert _verdict(case, talk) is _FAIL


_UNKNOWN, _RESET = "client.hostile.unknown-method.channel-open-ok", "client.hostile.rst.declare-ok"


def test_what_an_unseen_client_did_after_a_reset_is_not_known() -> None:
    talk = hostile_after(_login(), [], "reset by the server")
    assert _verdict(_RESET, talk, application=_UNSEEN) is _OPEN
    assert _verdict(_RESET, talk, application=Application.REPORTED) is _PASS
    assert _verdict(_RESET, talk) is _FAIL


def test_an_unseen_client_that_sent_more_may_have_been_done() -> None:
    work: list[Part] = [(C, _PUBLISH + OF.header(1, 0))]
    assert _verdict(_UNKNOWN, hostile_after(_login(), work), application=_UNSEEN) is _OPEN
    assert _verdict(_UNKNOWN, hostile_after(_login(), []), application=_UNSEEN) is _NONSTRICT
    assert _verdict(_UNKNOWN, hostile_after(_login(), work)) is _FAIL


def test_a_client_that_had_closed_before_is_not_judged() -> None:
    closed = [*_login()[:-1], *_BYE[:1]]
    assert _verdict(_UNKNOWN, hostile_after(closed, [])) is _NONE
    assert _verdict(_UNKNOWN, hostile_after(closed, []), application=Application.CRASH) is _FAIL


def test_a_client_that_connects_again_has_left() -> None:
    first = hostile_after(_login(), [])
    again = talk_of(
        (side, octets, SECOND_NS + at) for at, (side, octets, *_) in enumerate([*_login(), *_BYE])
    )
    before = talk_of([*_login(), *_BYE])
    assert _verdict(_UNKNOWN, first) is _FAIL
    assert _verdict(_UNKNOWN, first, before) is _FAIL
    assert _verdict(_UNKNOWN, first, again) is _NONSTRICT


# --- the draft


def _drafted(*parts: Part, early: bytes = b"") -> list[Part]:
    close: Part = (C, DRAFT.method("connection.close", 0, reply_code=200))
    return [*_login(of=DRAFT, early=early), *parts, close]


@pytest.mark.parametrize(("tag", "outcome"), [("own", _PASS), ("made", _FAIL)])
def test_a_tag_that_a_server_of_the_draft_made_is_in_use(tag: str, outcome: Outcome) -> None:
    parts: list[Part] = [
        (C, DRAFT.method("basic.consume", 1, queue="q", consumer_tag="")),
        (S, DRAFT.method("basic.consume-ok", 1, consumer_tag="made")),
        (C, DRAFT.method("basic.consume", 1, queue="q", consumer_tag=tag)),
    ]
    assert _of_draft("client.consumer-tag.unique", talk_of(_drafted(*parts))) == outcome


_TRACE = DRAFT.frame_of("trace", b"hello", 0)


def test_a_trace_is_no_work() -> None:
    assert _of_draft("client.handshake.order", talk_of(_drafted(early=_TRACE))) is _PASS
    assert _of_draft("client.connection.close", talk_of([*_drafted(), (C, _TRACE)])) is _PASS
    behind: Part = (C, DRAFT.method("channel.open", 2))
    assert _of_draft("client.connection.close", talk_of([*_drafted(), behind])) is _FAIL


@pytest.mark.parametrize(
    ("case", "properties", "outcome"),
    [
        ("client.tables.names", {"headers": {"good": "v"}}, _PASS),
        ("client.tables.names", {"headers": {"1 bad": "v"}}, _FAIL),
        ("client.short-strings.zero", {"reply_to": "ab"}, _PASS),
        ("client.short-strings.zero", {"reply_to": "a\0b"}, _FAIL),
    ],
)
def test_properties_keep_the_rules_of_values(
    case: str, properties: dict[str, object], outcome: Outcome
) -> None:
    header = DRAFT.frame_of("header", DRAFT.codec.encode_header(ContentHeader(60, 0, properties)), 1)
    published: Part = (C, DRAFT.method("basic.publish", 1) + header)
    assert _of_draft(case, talk_of(_drafted(published))) == outcome


def test_a_close_that_an_unseen_client_may_still_answer_is_not_decided() -> None:
    closed: list[Part] = [(S, DRAFT.method("connection.close", 0, reply_code=200))]
    case = "client.asked.close.200.declare-ok"
    talk = hostile_after(_login(of=DRAFT), closed, "")
    assert _of_draft(case, talk, application=_UNSEEN) is _OPEN
    assert _of_draft(case, talk, application=Application.HANG) is _FAIL
