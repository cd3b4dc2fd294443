"""The conduct of servers of 1.0: a correct one keeps every rule, wherever a conversation ends; each can be broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login
from amqpspec.record.rows import Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.amqp_1_0.agent import run_scenario
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CONTEXT, Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.roles import about
from amqpspec.run.clients.scenario import Order
from amqpspec.run.clients.watching import Seen
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.conversations import TypedReading
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.conversation import Chunk, Talk
from tests.run.clients.test_watching import _Talks
from tests.waiting import PATIENCE_S

_DIALECT = "amqp-1-0-clients"
_READING = TypedReading()
_SUITE = about(load_suite(_DIALECT), Side.SERVER)
_SCENARIOS = ("connect", "send", "send-settled", "receive", "reject", "large", "refused")


@cache
def _conversation(scenario: str) -> Talk:
    kept = _Talks()
    with ReferenceBroker("amqp-1-0", through=tapped(kept, Manners(_READING))) as broker:
        order = Order(scenario, Endpoint("127.0.0.1", broker.port), Login(), CONTEXT)
        run_scenario(order, lambda name, data: None)
        assert kept.lost_one.wait(PATIENCE_S)
    return kept.talks[0]


def _verdicts(talk: Talk) -> dict[str, Verdict]:
    seen = Seen(Encounter([_READING.conversation(talk)], Ran(Application.UNSEEN, None, (), ""), "x"))
    return {case.id: judged(case, Client(seen, case.id, case.requirements)) for case in _SUITE.values()}


def _wrong(talk: Talk) -> set[str]:
    wrong = (Outcome.FAIL, Outcome.NONSTRICT, Outcome.OBSERVED, Outcome.ERROR)
    return {id for id, verdict in _verdicts(talk).items() if verdict.outcome in wrong}


@pytest.mark.parametrize("scenario", _SCENARIOS)
def test_the_reference_broker_keeps_every_rule(scenario: str) -> None:
    found = _verdicts(_conversation(scenario))
    assert not _wrong(_conversation(scenario)), {
        id: found[id].observed for id in _wrong(_conversation(scenario))
    }
    assert {v.outcome for v in found.values()} <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert {v.facts.role for v in found.values()} == {"server"}


def test_every_rule_is_broken_below() -> None:
    elsewhere = {"server.idle-time-out", "server.delivery.mode-settled", "server.delivery.mode-unsettled"}
    assert {case for case, *_ in _BROKEN} | elsewhere == set(_SUITE)


@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(data: st.DataObject) -> None:
    whole = _conversation(data.draw(st.sampled_from(_SCENARIOS)))
    kept = data.draw(st.integers(0, len(whole.chunks) - 1))
    cut = Talk(1, is_cut=data.draw(st.booleans()), is_left=data.draw(st.booleans()))
    cut.ended = data.draw(st.sampled_from(["", "FIN", "RST"]))
    cut.chunks += whole.chunks[:kept]
    last = whole.chunks[kept]
    if part := last.octets[: data.draw(st.integers(0, len(last.octets) - 1))]:
        cut.add(last.sender, last.at_ns, part)
    assert not _wrong(cut)


@given(data=st.data())
def test_what_the_client_says_earlier_or_later_changes_nothing(data: st.DataObject) -> None:
    """A client need not wait: its frames may come long before those that the server said meanwhile."""
    whole = _conversation(data.draw(st.sampled_from(("send", "receive", "reject"))))
    ahead = data.draw(st.integers(0, 4))
    client = [chunk for chunk in whole.chunks if chunk.sender is Side.CLIENT]
    moved, due, sent = Talk(1, ended="FIN"), ahead, 0
    for chunk in whole.chunks:
        due += chunk.sender is Side.CLIENT
        moved.chunks += client[sent:due]
        sent = min(due, len(client))
        moved.chunks += [chunk] * (chunk.sender is Side.SERVER)
    assert len(moved.chunks) == len(whole.chunks)
    assert not _wrong(moved)


# --- broken

Change = Callable[[bytes], bytes]
"""From the server's frame to what is said in its place."""


def _changed(scenario: str, after: str, change: Change, nth: int = 1) -> Talk:
    """A conversation in which one frame of the server is changed."""
    whole, changed = _conversation(scenario), Talk(1, ended="FIN")
    cutter, seen = _READING.cutter(), 0
    for chunk in whole.chunks:
        octets = chunk.octets
        if chunk.sender is Side.SERVER:
            octets = b""
            for name, frame in cutter.cut(chunk.octets):
                seen += name == after
                is_meant = name == after and seen == nth
                octets += change(frame) if is_meant else frame
        changed.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    assert seen >= nth
    return changed


def _again(**changes: Any) -> Change:
    return lambda frame: of.again(frame, **changes)


def _then(octets: bytes) -> Change:
    return lambda frame: frame + octets


def _flow(**more: Any) -> bytes:
    known = {"next_incoming_id": 0, "incoming_window": 9, "next_outgoing_id": 0, "outgoing_window": 9}
    return performative_frame("flow", 0, **{**known, **more})


def _empty(channel: int) -> bytes:
    return encode_frame(b"", channel)


def _moved(channel: int) -> Change:
    return lambda frame: frame[:6] + channel.to_bytes(2, "big") + frame[8:]


def _second(**changes: Any) -> Change:
    """Another delivery after the one that is sent."""
    return lambda frame: frame + of.again(frame, **{"delivery_id": 1, "delivery_tag": b"another", **changes})


def _many(frame: bytes) -> bytes:
    return frame + b"".join(of.again(frame, delivery_id=n, delivery_tag=bytes([n])) for n in range(1, 30))


def _split(**changes: Any) -> Change:
    """A delivery in two transfers, of which the later one has other fields."""

    def change(frame: bytes) -> bytes:
        _, payload = of.read(frame)
        return of.again(frame, payload[:4], more=True) + of.again(frame, payload[4:], **changes)

    return change


def _lacking(name: str, field: str) -> Change:
    """A frame without a field that is mandatory, in the place of one of that name."""
    return lambda frame: of.again(frame, **{field: None})


_OPEN_TOO_LONG = performative_frame("open", container_id="x", hostname="h" * 20)
_BROKEN: tuple[tuple[str, str, str, Change], ...] = (
    ("server.handshake.order", "connect", "sasl-mechanisms", lambda f: f + f),
    ("server.handshake.order", "connect", "sasl-outcome", lambda f: f + f),
    ("server.handshake.order", "connect", "sasl-mechanisms", lambda f: performative_frame("sasl-outcome", code=0)),
    ("server.sasl.outcome", "connect", "amqp-header", lambda f: b""),
    ("server.header.first", "connect", "sasl-header", lambda f: b""),
    ("server.sasl.frame-size", "connect", "sasl-mechanisms", _again(sasl_server_mechanisms=["PLAIN", "X" * 500])),
    ("server.sasl.channel-zero", "connect", "sasl-outcome", _moved(3)),
    ("server.open.first", "connect", "open", lambda f: _empty(0) + f),
    ("server.open.once", "connect", "open", lambda f: f + f),
    ("server.open.once", "connect", "amqp-header", _then(HEADERS["amqp"])),
    ("server.open.channel-zero", "connect", "open", _moved(1)),
    ("server.open.max-frame-size", "connect", "open", _again(max_frame_size=511)),
    ("server.frame.performative", "send", "begin", of.cut_short),
    ("server.frame.type", "send", "begin", lambda f: f + encode_frame(b"x", 0, 7)),
    ("server.open.fields", "connect", "open", _lacking("open", "container_id")),
    ("server.begin.fields", "send", "begin", _lacking("begin", "next_outgoing_id")),
    ("server.attach.fields", "send", "attach", _lacking("attach", "role")),
    ("server.flow.fields", "send", "flow", _lacking("flow", "incoming_window")),
    ("server.transfer.fields", "receive", "transfer", _lacking("transfer", "handle")),
    ("server.disposition.fields", "send", "disposition", _lacking("disposition", "first")),
    ("server.detach.fields", "send", "detach", _lacking("detach", "handle")),
    ("server.frame.size", "receive", "transfer", lambda f: of.again(f, bytes(1 << 20))),
    ("server.frame.channel-max", "send", "begin", _moved(9_999)),
    ("server.empty-frame.channel-zero", "connect", "open", _then(_empty(1))),
    ("server.empty-frame.after-open", "connect", "amqp-header", _then(_empty(0))),
    ("server.close.last", "connect", "close", _then(_empty(0))),
    ("server.close.channel-zero", "connect", "close", _moved(1)),
    ("server.begin.unused-channel", "send", "begin", lambda f: f + f),
    ("server.begin.remote-channel", "send", "begin", _again(remote_channel=77)),
    ("server.session.begun", "send", "begin", lambda f: _flow() + f),
    ("server.session.ended", "send", "attach", _then(performative_frame("end", 0) + _flow())),
    ("server.flow.next-incoming-id.set", "send", "flow", _again(next_incoming_id=None)),
    ("server.flow.next-incoming-id.value", "send", "flow", _again(next_incoming_id=1_000)),
    ("server.flow.next-outgoing-id", "send", "flow", _again(next_outgoing_id=7)),
    ("server.flow.without-handle", "send", "flow", _again(handle=None)),
    ("server.flow.delivery-count", "receive", "transfer",
     lambda f: f + _flow(handle=of.read(f)[0]["handle"], delivery_count=500, next_outgoing_id=1)),
    ("server.attach.handle.free", "send", "attach", lambda f: f + of.again(f, name="another")),
    ("server.attach.handle-max", "send", "attach", _again(handle=1_000_000)),
    ("server.attach.initial-delivery-count", "receive", "attach", _again(initial_delivery_count=None)),
    ("server.link.handles", "send", "attach", _then(_flow(handle=6, delivery_count=0, link_credit=1))),
    ("server.link.direction", "send", "flow",
     _then(performative_frame("transfer", 0, handle=0, delivery_id=0, delivery_tag=b"x", message_format=0))),
    ("server.transfer.credit", "receive", "transfer", _many),
    ("server.transfer.window", "receive", "transfer",
     lambda f: f + of.again(f, b"", delivery_id=1, delivery_tag=b"b", more=True) * 70_000),
    ("server.delivery.id", "receive", "transfer", _again(delivery_id=None)),
    ("server.delivery.id.sequence", "receive", "transfer", _second(delivery_id=9)),
    ("server.delivery.tag", "receive", "transfer", _again(delivery_tag=None)),
    ("server.delivery.tag.length", "receive", "transfer", _again(delivery_tag=bytes(33))),
    ("server.delivery.tag.unique", "receive", "transfer", lambda f: f + of.again(f, delivery_id=1)),
    ("server.delivery.message-format", "receive", "transfer", _again(message_format=None)),
    ("server.delivery.continuation.id", "receive", "transfer", _split(delivery_id=9)),
    ("server.delivery.continuation.tag", "receive", "transfer", _split(delivery_tag=b"other")),
    ("server.delivery.aborted", "receive", "transfer", _again(more=True, aborted=True)),
    ("server.message.sections", "receive", "transfer", lambda f: of.again(f, b"\xff" * 9)),
    ("server.disposition.known", "send", "disposition", _again(first=5_000)),
    ("server.disposition.settled-once", "send", "disposition", lambda f: f + of.again(f, settled=False)),
)  # fmt: skip


@pytest.mark.parametrize(("case", "scenario", "after", "change"), _BROKEN)
def test_a_broken_rule_is_found(case: str, scenario: str, after: str, change: Change) -> None:
    nth = 2 if (scenario, after) == ("receive", "attach") else 1
    verdicts = _verdicts(_changed(scenario, after, change, nth))
    verdict = verdicts[case]
    assert verdict.outcome in (Outcome.FAIL, Outcome.NONSTRICT, Outcome.OBSERVED), verdict.observed
    assert verdict.facts.role == "server"
    assert Outcome.ERROR not in {v.outcome for v in verdicts.values()}


# --- modes that both sides name, and silence


def _with_mode(mode: int, **transfers: Any) -> Talk:
    """A client receives on a link of which both sides name the mode; the server's transfers have other fields."""
    whole, changed = _conversation("receive"), Talk(1, ended="FIN")
    cutters = {side: _READING.cutter() for side in Side}
    for chunk in whole.chunks:
        octets = b""
        for name, frame in cutters[chunk.sender].cut(chunk.octets):
            if name == "attach":
                frame = of.again(frame, snd_settle_mode=mode)
            elif name == "transfer" and chunk.sender is Side.SERVER:
                frame = of.again(frame, **transfers)
            octets += frame
        changed.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    return changed


@pytest.mark.parametrize(
    ("case", "mode", "settled", "outcome"),
    [
        ("server.delivery.mode-settled", 1, True, Outcome.PASS),
        ("server.delivery.mode-settled", 1, False, Outcome.FAIL),
        ("server.delivery.mode-unsettled", 0, True, Outcome.FAIL),
        ("server.delivery.mode-unsettled", 0, False, Outcome.PASS),
        ("server.delivery.mode-unsettled", 2, True, Outcome.NOT_APPLICABLE),
    ],
)
def test_a_server_keeps_to_the_mode_of_a_link(case: str, mode: int, settled: bool, outcome: Outcome) -> None:
    assert _verdicts(_with_mode(mode, settled=settled))[case].outcome is outcome


def _pausing(gap_s: float, before: bytes = b"") -> Talk:
    """A client that announced an idle timeout of one second, and a server that pauses once."""
    whole, talk = _conversation("connect"), Talk(1, ended="FIN")
    cutter = _READING.cutter()
    for chunk in whole.chunks:
        octets = chunk.octets
        if chunk.sender is Side.CLIENT:
            frames = cutter.cut(octets)
            octets = b"".join(of.again(f, idle_time_out=1000) if n == "open" else f for n, f in frames)
        talk.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    last = next(at for at, chunk in enumerate(talk.chunks) if chunk.octets.endswith(b"\x53\x18\x45"))
    del talk.chunks[last:]
    at_ns = talk.chunks[-1].at_ns
    for pause_s in (0.9, gap_s, 1.1):
        at_ns += round(pause_s * 1e9)
        talk.chunks.append(Chunk(Side.SERVER, at_ns, before + _empty(0)))
    return talk


@pytest.mark.parametrize(("gap_s", "outcome"), [(1.9, Outcome.PASS), (2.1, Outcome.FAIL), (60, Outcome.FAIL)])
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert _verdicts(_pausing(gap_s))["server.idle-time-out"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    assert _verdicts(_pausing(60, _empty(0) * 9_000))["server.idle-time-out"].outcome is Outcome.PASS
