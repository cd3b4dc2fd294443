"""The conduct of servers of 1.0: each rule can be broken, and a client need not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.record.rows import Outcome
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.conversation import Chunk, Talk
from tests.run.clients.recorded import Conduct, pausing, reading

CONDUCT = Conduct(
    "amqp-1-0-clients", ("connect", "send", "send-settled", "receive", "reject", "large", "refused")
)


def test_every_rule_is_broken_below() -> None:
    elsewhere = {"server.idle-time-out", "server.delivery.mode-settled", "server.delivery.mode-unsettled"}
    assert {case for case, *_ in _BROKEN} | elsewhere == set(CONDUCT.rules)


@given(data=st.data())
def test_what_the_client_says_earlier_or_later_changes_nothing(data: st.DataObject) -> None:
    """A client need not wait: its frames may come long before those that the server said meanwhile."""
    whole = CONDUCT.conversation(data.draw(st.sampled_from(("send", "receive", "reject"))))
    ahead = data.draw(st.integers(0, 4))
    client = [chunk for chunk in whole.chunks if chunk.sender is Side.CLIENT]
    moved, due, sent = Talk(1, ended="FIN"), ahead, 0
    for chunk in whole.chunks:
        due += chunk.sender is Side.CLIENT
        moved.chunks += client[sent:due]
        sent = min(due, len(client))
        moved.chunks += [chunk] * (chunk.sender is Side.SERVER)
    assert len(moved.chunks) == len(whole.chunks)
    assert not CONDUCT.wrong(moved)


# --- broken

Change = Callable[[bytes], bytes]
"""From the server's frame to what is said in its place."""


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
    CONDUCT.found(case, CONDUCT.changed(scenario, after, change, nth))


# --- modes that both sides name, and silence


def _with_mode(mode: int, **transfers: Any) -> Talk:
    """A client receives on a link of which both sides name the mode; the server's transfers have other fields."""
    whole, changed = CONDUCT.conversation("receive"), Talk(1, ended="FIN")
    cutters = {side: reading(CONDUCT.dialect).cutter() for side in Side}
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
    assert CONDUCT.verdicts(_with_mode(mode, settled=settled))[case].outcome is outcome


def _pausing(gap_s: float, before: bytes = b"") -> Talk:
    """A client that announced an idle timeout of one second, and a server that pauses once."""
    whole, talk = CONDUCT.conversation("connect"), Talk(1, ended="FIN")
    cutter = reading(CONDUCT.dialect).cutter()
    for chunk in whole.chunks:
        octets = chunk.octets
        if chunk.sender is Side.CLIENT:
            frames = cutter.cut(octets)
            octets = b"".join(of.again(f, idle_time_out=1000) if n == "open" else f for n, f in frames)
        talk.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    last = next(at for at, chunk in enumerate(talk.chunks) if chunk.octets.endswith(b"\x53\x18\x45"))
    return pausing(talk.chunks[:last], before + _empty(0), (0.9, gap_s, 1.1))


@pytest.mark.parametrize(("gap_s", "outcome"), [(1.9, Outcome.PASS), (2.1, Outcome.FAIL), (60, Outcome.FAIL)])
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert CONDUCT.verdicts(_pausing(gap_s))["server.idle-time-out"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    assert CONDUCT.verdicts(_pausing(60, _empty(0) * 9_000))["server.idle-time-out"].outcome is Outcome.PASS
