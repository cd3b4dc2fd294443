"""Legal conduct that rules for clients of AMQP 1.0 once failed, and violations that look like it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.clients.agent import Application
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import performative_frame as frame
from tests.run.clients.talks import SECOND_NS, C, Part, S, hostile_after, talk_of
from tests.run.clients.talks import verdict as verdict_in

_verdict = partial(verdict_in, "amqp-1-0-clients")
_PASS, _FAIL, _NONSTRICT = Outcome.PASS, Outcome.FAIL, Outcome.NONSTRICT
_NONE, _OPEN = Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE
_UNSEEN, _REPORTED = Application.UNSEEN, Application.REPORTED
_WINDOWS: dict[str, Any] = {"next_outgoing_id": 0, "incoming_window": 100, "outgoing_window": 100}
_END, _CLOSE = frame("end", 0), frame("close")


def _opened(idle_ms: int = 0) -> list[Part]:
    return [
        (C, HEADERS["amqp"], 1_000),
        (S, HEADERS["amqp"], 2_000),
        (C, frame("open", container_id="c"), 3_000),
        (S, frame("open", container_id="s", idle_time_out=idle_ms), 4_000),
    ]


def _begun(channel: int = 0) -> list[Part]:
    answer = frame("begin", channel, remote_channel=channel, **_WINDOWS)
    return [(C, frame("begin", channel, **_WINDOWS)), (S, answer)]


def _link(handle: int = 0, name: str = "a", **fields: Any) -> list[Part]:
    known = {"name": name, "handle": handle, "source": {}, "target": {}, **fields}
    mine = frame("attach", 0, role="sender", initial_delivery_count=0, **known)
    return [(C, mine), (S, frame("attach", 0, role="receiver", **known))]


def _detach(handle: int = 0, closed: bool = True) -> bytes:
    return frame("detach", 0, handle=handle, closed=closed)


# --- silence, and what is aborted


@pytest.mark.parametrize(
    ("late", "outcome"), [((C, _CLOSE, 6 * SECOND_NS), _FAIL), ((C, _CLOSE, SECOND_NS), _PASS)]
)
def test_a_client_may_be_silent_no_longer_after_open_than_later(late: Part, outcome: Outcome) -> None:
    assert _verdict("client.idle-time-out", talk_of([*_opened(1000), late])) == outcome


def test_a_client_that_says_nothing_after_open_is_silent() -> None:
    assert _verdict("client.idle-time-out", talk_of(_opened(1000), ended_ns=9 * SECOND_NS)) is _FAIL
    assert _verdict("client.idle-time-out", talk_of(_opened(1000), ended="")) is _NONE


@pytest.mark.parametrize(("aborted", "outcome"), [(True, _PASS), (False, _FAIL)])
def test_an_aborted_delivery_may_be_settled_in_mode_unsettled(aborted: bool, outcome: Outcome) -> None:
    delivery: dict[str, Any] = {
        "handle": 0,
        "delivery_id": 0,
        "delivery_tag": b"a",
        "message_format": 0,
        "more": True,
    }
    flow = frame("flow", 0, next_incoming_id=0, handle=0, link_credit=5, delivery_count=0, **_WINDOWS)
    parts: list[Part] = [
        *_opened(), *_begun(), *_link(snd_settle_mode=0), (S, flow),
        (C, frame("transfer", 0, payload=b"\0\x53\x77", **delivery)),
        (C, frame("transfer", 0, handle=0, aborted=aborted, settled=True)), (C, _CLOSE),
    ]  # fmt: skip
    assert _verdict("client.delivery.mode-unsettled", talk_of(parts)) == outcome


# --- the answer to a closing detach

_REFUSED = [*_opened(), *_begun(), *_link(), (S, _detach())]
_AGAIN = _link()[0]


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([(C, _detach()), (C, _END), (C, _CLOSE)], _PASS),
        ([(C, _detach(closed=False)), _AGAIN, (C, _detach()), (C, _END), (C, _CLOSE)], _PASS),
        ([(C, _detach(closed=False)), (C, _END), (C, _CLOSE)], _FAIL),
        ([(C, _detach(closed=False)), _AGAIN, (C, _detach(closed=False)), (C, _CLOSE)], _FAIL),
        ([(C, _END), (S, _END), (C, _CLOSE)], _NONSTRICT),
        ([(C, _CLOSE)], _NONSTRICT),
    ],
)
def test_a_closing_detach_is_answered(answers: list[Part], outcome: Outcome) -> None:
    assert _verdict("client.detach.answer", talk_of([*_REFUSED, *answers])) == outcome


def test_an_unseen_client_may_have_sent_its_detach_before() -> None:
    answers: list[Part] = [(C, _detach(closed=False)), _AGAIN, (C, _detach()), (C, _CLOSE)]
    crossed = talk_of([*_REFUSED, *answers])
    assert _verdict("client.detach.answer", crossed, application=_UNSEEN) is _PASS
    left = talk_of([*_REFUSED, (C, _detach(closed=False)), (C, _CLOSE)])
    assert _verdict("client.detach.answer", left, application=_UNSEEN) is _NONE


# --- the answer to a hostile end

_TWO = [*_opened(), *_begun(), *_link(), *_link(1, "b")]
_DETACH, _ENDED = "client.hostile.detach.plain.transfer", "client.hostile.end.plain.transfer"


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([_detach(1)], _PASS),
        ([_detach(1, closed=False), _link(1, "b")[0][1], _detach(1)], _PASS),
        ([_detach(0)], _NONSTRICT),
        ([_detach(1, closed=False)], _NONSTRICT),
    ],
)
def test_a_detach_is_answered_for_its_link(answers: list[bytes], outcome: Outcome) -> None:
    then: list[Part] = [(S, _detach(1)), *((C, octets) for octets in answers), (C, _CLOSE)]
    assert _verdict(_DETACH, hostile_after(_TWO, then), application=_REPORTED) == outcome


@pytest.mark.parametrize(("channel", "outcome"), [(0, _PASS), (1, _NONSTRICT)])
def test_an_end_is_answered_for_its_session(channel: int, outcome: Outcome) -> None:
    then: list[Part] = [(S, _END), (C, frame("end", channel)), (C, _CLOSE)]
    talk = hostile_after([*_TWO, *_begun(1)], then)
    assert _verdict(_ENDED, talk, application=_REPORTED) == outcome


@pytest.mark.parametrize("application", [_UNSEEN, Application.HANG])
def test_an_end_that_an_unseen_client_may_still_answer_is_not_decided(application: Application) -> None:
    outcome = _OPEN if application is _UNSEEN else _FAIL
    assert _verdict(_ENDED, hostile_after(_TWO, [(S, _END)], ""), application=application) == outcome


@pytest.mark.parametrize(("ended", "outcome"), [("RST", _OPEN), ("FIN", _PASS)])
def test_a_reset_after_a_flood_may_be_the_end_of_the_process(ended: str, outcome: Outcome) -> None:
    talk = hostile_after([*_opened(), *_begun()], [], ended)
    assert _verdict("client.hostile.delivery.endless", talk, application=_UNSEEN) == outcome
    assert _verdict("client.hostile.delivery.endless", talk, application=_REPORTED) is _PASS
    error = frame("close", error={"condition": "amqp:resource-limit-exceeded"})
    refused = hostile_after([*_opened(), *_begun()], [(C, error)], ended)
    assert _verdict("client.hostile.delivery.endless", refused, application=_UNSEEN) is not _OPEN
