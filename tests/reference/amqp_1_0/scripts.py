"""What clients say in one write, each connection up to its close; the clean broker answers the same way each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.spec.amqp_1_0 import HEADERS
from harness.wire.amqp_1_0.frames import EMPTY_FRAME, encode_frame
from harness.wire.amqp_1_0.frames import performative_frame as say
from harness.wire.amqp_1_0.message import encode_message
from harness.wire.amqp_1_0.performatives import encode_composite
from harness.wire.amqp_1_0.values import Described, Map, Symbol

WINDOWS: dict[str, Any] = {"next_outgoing_id": 7, "incoming_window": 1000, "outgoing_window": 1000}
FIRST_ID = (1 << 32) - 2
BODY = encode_message(data=b"hello")
BIG = encode_message(data=bytes(2000))
NEVER = {"expiry_policy": "never", "durable": "unsettled-state"}
CLOSE, END = say("close"), say("end")


def opened(**fields: Any) -> bytes:
    return HEADERS["amqp"] + say("open", **{"container_id": "script", **fields})


def begun(channel: int = 0, **fields: Any) -> bytes:
    return say("begin", channel, **{**WINDOWS, **fields})


def to(address: str | None, handle: int = 0, channel: int = 0, **fields: Any) -> bytes:
    given = {"name": f"to-{handle}", "target": {"address": address}, "initial_delivery_count": 0, **fields}
    return say("attach", channel, handle=handle, role="sender", **given)


def out_of(address: str | None, handle: int = 1, channel: int = 0, **fields: Any) -> bytes:
    given = {"name": f"from-{handle}", "source": {"address": address}, "target": {"address": "me"}, **fields}
    return say("attach", channel, handle=handle, role="receiver", **given)


def flow(handle: int | None = None, channel: int = 0, **fields: Any) -> bytes:
    return say("flow", channel, **{**WINDOWS, "next_incoming_id": FIRST_ID, "handle": handle, **fields})


def credit(number: int, handle: int = 1, channel: int = 0, **fields: Any) -> bytes:
    return flow(handle, channel, link_credit=number, **fields)


def echo(handle: int | None = None, channel: int = 0) -> bytes:
    return flow(handle, channel, echo=True)


def put(number: int = 0, body: bytes = BODY, handle: int = 0, channel: int = 0, **fields: Any) -> bytes:
    given = {"delivery_id": number, "delivery_tag": b"t%d" % number, "message_format": 0, **fields}
    return say("transfer", channel, payload=body, handle=handle, **given)


def more(body: bytes = BODY, handle: int = 0, **fields: Any) -> bytes:
    return say("transfer", payload=body, handle=handle, **fields)


def told(first: int, last: int | None = None, role: str = "receiver", **fields: Any) -> bytes:
    return say("disposition", role=role, first=first, last=last, **fields)


def settled(first: int, last: int | None = None, state: Any = "accepted") -> bytes:
    return told(first, last, settled=True, state=state)


def detached(handle: int = 1, **fields: Any) -> bytes:
    return say("detach", handle=handle, **fields)


def session(*octets: bytes, **fields: Any) -> bytes:
    """One connection with one session, closed in the end."""
    return opened(**fields) + begun() + b"".join(octets) + CLOSE


def puts(count: int, **fields: Any) -> bytes:
    return b"".join(
        put(number, encode_message(data=b"%d" % number), settled=True, **fields) for number in range(count)
    )


def _held(count: int, **fields: Any) -> bytes:
    """A receiver that goes away with deliveries unsettled."""
    return session(
        to("q"), puts(count), out_of("q", name="r", source={"address": "q", **NEVER}, **fields), credit(count)
    )


def _kept(count: int, *octets: bytes, **fields: Any) -> bytes:
    """A sender that goes away with deliveries unsettled."""
    target = {"address": "q", **NEVER}
    sent = b"".join(put(number) for number in range(count))
    return session(to("q", name="s", target=target, rcv_settle_mode="second", **fields), sent, *octets)


def _back(unsettled: Any, *octets: bytes, **fields: Any) -> bytes:
    source = {"address": "q", **NEVER}
    return session(
        out_of("q", name="r", **{"source": source, "unsettled": unsettled, **fields}), credit(9), *octets
    )


def _again(unsettled: Any, *octets: bytes, **fields: Any) -> bytes:
    target = {"address": "q", **NEVER}
    return session(to("q", name="s", target=target, unsettled=unsettled, **fields), *octets)


def _tag(number: int) -> bytes:
    return number.to_bytes(4, "big")


_SELECTOR = Described(Symbol("apache.org:selector-filter:string"), "colour = 'blue'")
_UNKNOWN = Described(Symbol("example:unknown"), "x")
_RED = encode_message(application_properties={"colour": "red"}, data=b"red")
_BLUE = encode_message(application_properties={"colour": "blue"}, data=b"blue")
_ACCEPTED = encode_composite("accepted")
_FLOW_9 = flow(9)
_LOOK = out_of("q", 4) + credit(9, 4, drain=True)
"""A second look: what the node holds."""

SCRIPTS: Mapping[str, list[bytes]] = {
    "header": [b"AMQP\x00\x01\x01\x00", b"AMQP\x02\x01\x00\x00", b"AMQP\x00"],
    "login": [
        HEADERS["sasl"] + say("sasl-init", mechanism="PLAIN", initial_response=b"\0guest\0guest") + session(),
    ],
    "plain": [session(echo(), echo(), END, begun()), session(idle_time_out=0)],
    "large-open": [opened(hostname="localhost", properties={"x": "y" * 220}) + CLOSE],
    "frames": [
        opened() + encode_frame(say("begin", 3, **WINDOWS)[8:], 3, doff=4, extended=bytes(8)) + CLOSE,
        session(encode_frame(b"x", frame_type=2)),
        opened() + encode_frame(b"\x00\xa3\x0famqp:begin:list" + begun()[11:]) + CLOSE,
    ],
    "empty": [
        session(
            to("q"),
            put(0, more=True),
            encode_frame(b"", 9),
            EMPTY_FRAME,
            more(),
            echo(),
            out_of("q"),
            credit(1),
        ),
        opened() + begun(2) + encode_frame(b"", 2) + echo(channel=2) + CLOSE,
    ],
    "locales": [opened(outgoing_locales=["en-US"], hostname="localhost") + begun() + CLOSE],
    "channels": [
        opened()
        + begun(5)
        + begun(1)
        + begun(258)
        + echo(channel=258)
        + say("end", 1)
        + begun(7)
        + echo(channel=7)
        + CLOSE,
        opened() + begun(511) + echo(channel=511) + CLOSE,
        opened(channel_max=0) + begun(0) + begun(1) + CLOSE,
        opened()
        + begun(0)
        + begun(3)
        + to("q", 0)
        + to("r", 0, 3, name="r")
        + put(0, channel=3)
        + put(0)
        + CLOSE,
    ],
    "close-anywhere": [
        opened() + begun() + say("close", 7),
        opened() + begun(1) + _FLOW_9,
        opened() + say("close"),
    ],
    "closing": [
        session(begun(0), echo(), EMPTY_FRAME, begun(4)),
        session(begun(0)),
        opened() + begun() + begun(0),
        session(encode_frame(b"", 0, 2), encode_frame(b"", 0, 2)),
    ],
    "half-close": [opened() + begun(), HEADERS["amqp"]],
    "ending": [
        session(_FLOW_9, echo(), to("q"), END, begun(), echo()),
        session(END, begun(), END),
        session(to("q"), put(0), END, begun(), echo()),
    ],
    "windows": [
        session(
            to("w"),
            puts(9),
            out_of("w"),
            flow(incoming_window=2),
            credit(9, incoming_window=3),
            flow(incoming_window=3, echo=True),
        ),
        session(
            to("w"),
            puts(9),
            out_of("w"),
            credit(2),
            flow(incoming_window=0),
            credit(9, incoming_window=1),
            flow(incoming_window=3, next_incoming_id=None, echo=True),
        ),
    ],
    "sizes": [
        session(to("q"), put(0, BIG, settled=True), out_of("q"), credit(1), max_frame_size=512),
        session(
            to("q"),
            put(0, encode_message(data=bytes(70_000))[:60_000], more=True),
            more(bytes(10_008)),
            out_of("q"),
            credit(1),
        ),
        session(
            to("q"),
            put(0, encode_message(data=bytes(70_000))[:60_000], more=True),
            more(bytes(10_008)),
            out_of("q", max_message_size=1 << 20),
            credit(1),
        ),
    ],
    "deliveries-in": [
        session(to("q"), put(0), put(1, settled=True), put(2, state="accepted"), _LOOK),
        session(to("q"), put(0, more=True), more(more=True), more(settled=True), _LOOK),
        session(to("q"), put(0, more=True, settled=True), more(), _LOOK),
        session(to("q"), put(0, more=True, settled=True), more(settled=False), _LOOK),
        session(to("q"), put(0, more=True), put(0), _LOOK),
        session(
            to("q"),
            to("r", 1, name="r"),
            put(0, more=True),
            put(1, handle=1, more=True),
            more(),
            more(handle=1),
            _LOOK,
        ),
        session(to("q", initial_delivery_count=5), put(0), echo(0)),
        session(to("q", initial_delivery_count=(1 << 32) - 1), put(0), put(1), echo(0)),
        session(*(to(f"q{n}", n, name=f"n{n}") for n in range(12))),
    ],
    "renewing": [session(to("q"), *(put(n, settled=True) for n in range(100)), echo(0))[: -len(CLOSE)]],
    "modes-in": [
        session(
            to("q", rcv_settle_mode="second"),
            put(0),
            told(0, role="sender", settled=True),
            detached(0),
            to("q"),
        ),
        session(to("q", rcv_settle_mode="second"), put(0, rcv_settle_mode="first")),
        session(to("q"), put(0, settled=True, rcv_settle_mode="second"), echo()),
    ],
    "aborted": [
        session(to("q"), put(0, more=True), more(aborted=True), put(1), _LOOK),
        session(
            to("q"), put(0, more=True), more(BODY, aborted=True, more=True), put(1, delivery_tag=b"t0"), _LOOK
        ),
        session(to("q"), put(0, aborted=True), put(1), _LOOK),
    ],
    "credit": [
        session(
            to("q"),
            puts(9),
            out_of("q"),
            echo(1),
            credit(2),
            credit(3, delivery_count=1),
            echo(1),
            credit(0),
            put(9, settled=True),
            echo(1),
            flow(),
            echo(),
        ),
        session(to("q"), puts(2), out_of("q"), credit(5), credit(3, delivery_count=1), echo(1)),
        session(to("q"), out_of("q", initial_delivery_count=50), credit(5, echo=True), put(0), echo(1)),
        session(to("q"), puts(9), out_of("q"), credit(3), flow(), credit(3)),
        session(
            to("q"),
            puts(1),
            out_of("q"),
            credit(5, drain=True),
            echo(1),
            credit(3, delivery_count=5, drain=True),
        ),
    ],
    "modes-out": [
        session(
            to("q"),
            puts(2),
            out_of("q", snd_settle_mode="settled"),
            credit(1),
            detached(1, closed=True),
            out_of("q", snd_settle_mode="unsettled"),
            credit(1),
        ),
        session(to("q"), puts(1), out_of("q", snd_settle_mode="settled"), credit(1)),
        session(out_of("q", snd_settle_mode="settled"), credit(1)),
    ],
    "outcomes": [
        session(
            to("q"),
            puts(6),
            out_of("q"),
            credit(6),
            settled(0, 1),
            settled(2, state="released"),
            told(3, 4, state="accepted"),
            told(5, state=encode_composite("received", section_number=0, section_offset=0)),
            settled(0, state="released"),
            credit(9, delivery_count=6),
            echo(1),
        ),
        session(to("q"), puts(3), out_of("q"), credit(3), settled(0), _LOOK),
        session(to("q"), puts(2), out_of("q"), credit(2), settled(0, 1), settled(0, 1, "released"), _LOOK),
        session(
            to("q"),
            puts(2),
            out_of("q"),
            credit(2),
            told(0, 1, role="sender", settled=True, state="accepted"),
            _LOOK,
            told(0, 1, settled=True, state="released"),
        ),
        session(
            to("q"),
            puts(1),
            to("r", 2),
            put(1, handle=2, settled=True),
            out_of("q", 1),
            out_of("r", 3),
            credit(1, 1),
            credit(1, 3),
            settled(0, 1),
            detached(1),
            detached(3),
            out_of("r", 5),
            credit(9, 5, drain=True),
        ),
        session(to("q"), puts(1), out_of("q"), credit(1), detached(1), settled(0), _LOOK),
        session(to("q"), puts(1), out_of("q"), credit(1), detached(1), settled(0, state="released"), _LOOK),
        session(to("q"), puts(1), out_of("q"), credit(1), END, begun(), _LOOK),
        session(
            to("q", rcv_settle_mode="second"),
            put(0),
            put(1),
            told(0, role="sender", settled=True),
            out_of("q"),
            credit(1),
        ),
        session(to("q"), puts(3), out_of("q"), credit(3), settled(0xFFFFFFFF, 1), _LOOK),
    ],
    "links": [
        session(
            out_of("q", 7),
            out_of("q", 3),
            out_of("q", 100),
            credit(0, 3, echo=True),
            detached(3, closed=True),
            out_of("q", 9),
        ),
        session(to("q", name="n" * 300)),
        session(to("q", name="both"), out_of("q", name="both"), echo(0)),
        session(
            to("q"),
            detached(0),
            to("q"),
            put(0),
            detached(0, closed=True),
            to("q", rcv_settle_mode="second"),
            put(1),
        ),
        session(out_of("q"), credit(5), detached(1), out_of("q"), echo(1)),
        session(out_of("q"), credit(5), detached(1), out_of("r", name="from-1"), echo(1), to("r"), puts(1)),
        session(out_of("q"), detached(1), echo(1)),
        session(out_of("q"), begun(3), out_of("q", 1, 3), detached(1)),
        session(out_of("amq.none"), detached(1), echo()),
        session(out_of("q", source=None), detached(1)),
        session(
            out_of("q", name="same", source={"address": "q", **NEVER}),
            detached(1),
            out_of(None, 2, name="same", source=None),
        ),
        session(
            out_of("q", name="same", target={"address": "a"}),
            detached(1),
            out_of("q", 2, name="same", target={"address": "b"}),
        ),
        opened() + begun(handle_max=0) + out_of("q", 1) + out_of("q", 2) + CLOSE,
        session(
            to("q"), put(0, more=True), put(1, delivery_tag=b"t0"), more(), detached(0), to("q", unsettled={})
        ),
        session(to("q"), put(0, more=True), put(1, delivery_tag=b"t0"), detached(0), to("q")),
        session(to("q", rcv_settle_mode="second"), put(0), detached(0, closed=True), to("q"), put(1)),
    ],
    "nodes": [
        session(out_of(None, source={"dynamic": True}), out_of(None, 2, source={"dynamic": True})),
        session(
            out_of(None, source={"dynamic": True}),
            begun(3),
            to("amqpspec.dynamic-000001", 0, 3),
            detached(1, closed=True),
        ),
    ],
    "filters": [
        session(
            to("q"),
            put(0, _RED),
            put(1, _BLUE),
            out_of("q", source={"address": "q", "filter": Map({Symbol("s"): _SELECTOR})}),
            credit(2, drain=True),
        ),
        session(out_of("q", source={"address": "q", "filter": Map({Symbol("s"): _UNKNOWN}), "durable": 1})),
    ],
    "available": [
        session(to("q"), out_of("q"), credit(2, echo=True), put(0, settled=True)),
        session(to("q"), puts(5), out_of("q"), echo(1)),
    ],
    "resuming-out": [
        _held(3),
        _back(
            Map({_tag(1): None, _tag(2): _ACCEPTED, b"none": None}), settled(1), credit(9, delivery_count=2)
        ),
        _back(Map({}), source=None, target={"address": "other"}),
        _back(None, echo()),
    ],
    "resuming-some": [
        _held(3),
        _back(
            Map({_tag(1): None}),
            to("q"),
            put(7, settled=True),
            detached(1),
            out_of(
                "q",
                name="r",
                source={"address": "q", **NEVER},
                unsettled=Map({_tag(1): None, _tag(2): None, _tag(3): None}),
            ),
            credit(9),
            incomplete_unsettled=True,
        ),
    ],
    "resuming-old-ids": [
        _held(1),
        session(
            out_of("q", name="r", source={"address": "q", **NEVER}, unsettled=Map({_tag(1): None})),
            settled(0),
            credit(1),
        ),
    ],
    "resuming-in": [
        _kept(3),
        _again(
            Map({b"t0": None, b"t1": None}),
            put(0, b"", resume=True),
            put(1, BODY, resume=True, more=True),
            more(BODY, resume=True),
            put(5, resume=True),
            _LOOK,
        ),
        _again(Map({b"t2": None}), put(9, settled=True), echo()),
    ],
    "resuming-partial": [
        _kept(0, put(0, more=True, rcv_settle_mode="first")),
        _again(
            Map({b"t0": None}),
            put(0, resume=True, more=True),
            more(more=True),
            more(resume=True),
            rcv_settle_mode="second",
        ),
    ],
    "resuming-flags": [
        _kept(0, put(0, more=True)),
        _again(Map({b"t0": None}), put(0, resume=True, more=True), more(), _LOOK),
    ],
    "resuming-many": [
        _kept(60),
        opened(max_frame_size=512)
        + begun()
        + to("q", name="s", target={"address": "q", **NEVER}, unsettled={})
        + put(77)
        + CLOSE,
    ],
    "apart": [
        session(out_of("c"), credit(5), credit(0, echo=True), to("c"), puts(1), echo()),
        session(
            to("l"),
            put(0, encode_message(data=bytes(70_000))[:60_000], more=True),
            more(bytes(10_008)),
            out_of("l"),
            credit(1),
        ),
        session(
            to("d"),
            puts(1),
            to("e", 2),
            put(1, handle=2, settled=True),
            out_of("d", 1),
            out_of("e", 3),
            credit(1, 1),
            credit(1, 3),
            settled(0, 1),
            detached(1, closed=True),
            detached(3, closed=True),
            out_of("e", 5),
            credit(9, 5, drain=True),
        ),
        session(
            to("z"),
            puts(3),
            out_of("z"),
            credit(3),
            settled(0xFFFFFFFF, 1),
            detached(1, closed=True),
            out_of("z", 4),
            credit(9, 4, drain=True),
        ),
    ],
    "errors": [
        session(out_of("amq.none")),
        session(_FLOW_9),
        session(begun(0)),
        session(put(0)),
        session(detached(9)),
    ],
}

SLOW = {
    "idle-threshold-not-doubled",
    "idle-timer-counts-from-open",
    "only-empty-frames-are-life",
    "empty-frames-are-no-life",
    "idle-timeout-of-partner-ignored",
    "own-idle-timeout-kept-for-both",
    "silent-clients-dropped",
    "flows-for-life",
    "empty-frames-on-any-channel",
    "empty-frames-after-close",
    "waits-for-close-for-ever",
}
"""Faults that take time to show."""
