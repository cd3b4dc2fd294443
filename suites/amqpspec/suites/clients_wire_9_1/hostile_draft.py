"""Servers that violate rules of the draft only, and servers that do what it allows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.judging import Undecided, takes_no_notice
from amqpspec.run.clients.provoking import Provocation, all_of, behind, declare, instead
from amqpspec.spec.model import Refusal, Scope
from amqpspec.suites.clients_0_9_1._frames import POINTS, Broken, refused
from amqpspec.suites.clients_0_9_1._methods import WORKING
from amqpspec.suites.clients_wire_9_1 import DIALECT
from amqpspec.suites.clients_wire_9_1._family import OCTETS as OF
from amqpspec.suites.clients_wire_9_1._family import hostile
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.hostility import Deed, Hostility

_MANY = 1_000


def _wrong() -> Iterator[Provocation]:
    """Frames, methods and contents that only the draft rules on."""
    broken: tuple[Broken, ...] = (
        ("trace-on-a-channel", "violated/amq_wlp_trace_01",
         OF.behind(lambda c: OF.frame_of("trace", b"why", c)), "a trace on a channel"),
        ("heartbeat-with-a-payload", "violated/amq_wlp_heartbeat_01",
         OF.behind(lambda c: OF.frame_of("heartbeat", b"x", 0)), "a heartbeat with a payload"),
        ("ids-of-zero", "violated/grammar/ids-non-zero",
         OF.behind(lambda c: OF.frame_of("method", bytes(4), c)), "a method of class 0"),
        ("method-id-of-zero", "violated/grammar/ids-non-zero",
         OF.behind(lambda c: OF.frame_of("method", b"\x00\x32\x00\x00", c)), "method 0 of class queue"),
        ("content.weight-without-child", "violated/amq_wlp_content_05",
         OF.behind(lambda c: OF.delivery(c) + OF.header(c, 1, weight=1) + OF.body(c, b"x")),
         "a weight of 1 without a child content"),
        ("content.child-without-weight", "violated/amq_wlp_content_05",
         OF.behind(lambda c: OF.delivery(c) + OF.header(c, 1) + OF.header(c, 0) + OF.body(c, b"x")),
         "a child content although the weight is 0"),
        ("content.flags-go-on", "violated/content-header/flags-continued",
         OF.behind(lambda c: OF.delivery(c) + _header(c, b"\x00\x01")), "property flags that announce further flags"),
        ("content.property-missing", "violated/content-header/values",
         OF.behind(lambda c: OF.delivery(c) + _header(c, b"\x80\x00")), "a property flag without its value"),
        ("content.octets-behind-properties", "violated/content-header/values",
         OF.behind(lambda c: OF.delivery(c) + _header(c, b"\x00\x00xyz")), "octets after the last property"),
    )  # fmt: skip
    for name, row, deed, what in broken:
        for point in WORKING:
            yield refused(name, row, deed, what, point)


def _header(channel: int, rest: bytes) -> bytes:
    """A content header with these octets from its property flags on."""
    return OF.frame_of("header", struct.pack(">HHQ", 60, 0, 0) + rest, channel)


def _on_its_channel(octets: Callable[[int], bytes]) -> Deed:
    """Octets in place of a frame, on the channel of the frame."""
    return instead(lambda frame: octets(OF.channel_of(frame)))


def _strings() -> Iterator[Provocation]:
    """Short strings that hold a zero octet."""
    row = "violated/data-fields/strings/short-zero-octet"
    for point, after, scenario, octets in (
        ("declare-ok", "queue.declare-ok", "publish", lambda c: OF.method("queue.declare-ok", c, queue="a\0b")),
        ("consume-ok", "basic.consume-ok", "consume", lambda c: OF.method("basic.consume-ok", c, consumer_tag="a\0b")),
    ):  # fmt: skip
        what = "a short string with a zero octet"
        yield refused("zero-octet", row, _on_its_channel(octets), what, (point, after, scenario))


hostile(globals(), _wrong(), _strings())


# --- what is allowed


def _allowed() -> Iterator[Provocation]:
    """Frames that a client discards, and fields of which it uses the first."""
    trace = OF.frame_of("trace", b"what nobody here reads", 0)
    beats = OF.frame_of("heartbeat", b"", 0) * _MANY
    for point in POINTS:
        for name, row, octets, what in (
            ("trace", "amq_wlp_trace_02", trace, "a trace"),
            ("heartbeats", "amq_wlp_heartbeat_02", beats, "a thousand heartbeats"),
        ):
            at, after, scenario = point
            title = f"A client discards {what} after {after}"
            hostility = Hostility(after, behind(octets))
            yield Provocation(f"client.understands.{name}.{at}", row, scenario, hostility, title)
    twice = b"\x01aI\x00\x00\x00\x01" * 2
    yield Provocation(
        "client.understands.start.duplicates", "field-tables/duplicates", "connect",
        Hostility("connection.start", instead(lambda _: OF.start(properties=struct.pack(">I", len(twice)) + twice))),
        "A client uses the first of two properties with the same name, and continues",
    )  # fmt: skip
    yield Provocation(
        "client.understands.content.child", "structured-content/support", "consume",
        Hostility("header", lambda frame: [_parent(frame)]),
        "A client accepts a nested content, or refuses it as not implemented",
    )  # fmt: skip


def _parent(frame: bytes) -> bytes:
    """A content header with weight 1, and a content without a body within it."""
    channel, payload = OF.channel_of(frame), OF.payload_of(frame)
    parent = OF.frame_of("header", payload[:2] + b"\x00\x01" + payload[4:], channel)
    return parent + OF.header(channel, 0)


hostile(globals(), _allowed(), oracle=takes_no_notice)


# --- closes


def _answered(talk: Conversation, ran: Ran) -> Refusal | None:
    """A close is answered by close-ok, or at least by the end of the socket. Raises Undecided."""
    begun_ns = talk.talk.hostile_ns or 0
    if any(said.at_ns >= begun_ns for said in talk.by_client("connection.close-ok")):
        return Refusal(Scope.CONNECTION)
    if ran.application is Application.UNSEEN and not talk.talk.ended:
        raise Undecided("the client had not answered yet")
    return Refusal(Scope.SOCKET) if talk.talk.ended and not talk.talk.is_left else None


for _code in (0, 200, 320, 999, 65_535):
    for _at, _after, _scenario in POINTS[2:]:
        _close = OF.method("connection.close", 0, reply_code=_code, reply_text="on purpose")
        declare(
            globals(), DIALECT, OF.dialect_id,
            Provocation(
                f"client.asked.close.{_code}.{_at}", "error-handling/connection-exception", _scenario,
                Hostility(_after, all_of([_close])),
                f"A client answers a close with code {_code} instead of {_after}",
            ),
            _answered,
        )  # fmt: skip
