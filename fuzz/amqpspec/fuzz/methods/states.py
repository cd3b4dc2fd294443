"""The states of a dialect of classes and methods.

Knows: its handshake, and what opens, consumes and publishes. Must not know: what is bent in a state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.fuzz.methods.grammar import CHANNEL
from amqpspec.fuzz.methods.samples import SMALL_CHANNEL_MAX, SMALL_FRAME_MAX_OCTETS
from amqpspec.fuzz.states.model import (
    Argument,
    Exchange,
    HandshakeRules,
    Say,
    Slot,
    State,
    Step,
    Values,
    filled,
)
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Side
from amqpspec.wire.methods.codec import ContentHeader, codec_for
from amqpspec.wire.methods.frames import FrameWriter

BODY_SIZE_OCTETS, BODY_SENT = 16, b"01234567"
"""What the states in the middle of a content announce, and what has arrived of it."""


def _method(name: str, channel: int = CHANNEL, **args: Argument) -> Say:
    short = name.partition(".")[2] if name.startswith(("connection.", "basic.")) else name
    return Say(short.upper(), name, channel, tuple(args.items()))


def states_of(dialect_id: str, dialect: MethodDialect) -> Iterator[State]:
    """Every state in the order of a conversation."""
    header = Say("HEADER", octets=dialect.protocol_header)
    start_ok = _method(
        "connection.start-ok", 0, mechanism=Slot.MECHANISM, response=Slot.RESPONSE, locale="en_US"
    )
    open_ = _method("connection.open", 0, virtual_host=Slot.VHOST)
    start = (Step((header,), ("connection.start",)),)
    tune = (*start, Step((start_ok,), ("connection.tune",)))
    tune_ok = _tune_ok(Slot.CHANNEL_MAX, Slot.FRAME_MAX)
    opened = Step((open_,), ("connection.open-ok",))
    ready = (*tune, Step((tune_ok, open_), ("connection.open-ok",)))
    channel_open = Step((_method("channel.open"),), ("channel.open-ok",))
    channel = (*ready, channel_open)
    one = frozenset((CHANNEL,))
    yield State("raw", (), ("protocol-header",), judged=True)
    yield State("header", (Step((header,)),), ("method/connection.start-ok",))
    yield State("start", start, ("method/connection.start-ok",))
    yield State("tune", tune, ("method/connection.tune-ok",))
    yield State("open", (*tune, Step((tune_ok,))), ("method/connection.open",))
    yield State("ready", ready, ("method/channel.open", "frame/heartbeat"), judged=True)
    yield State("channel", channel, _channel_methods(dialect), one, judged=True)
    yield State("consuming", (*channel, *_consume()), _CONSUMER, one, judged=True)
    yield from _contents(channel, one)
    small = (*tune, Step((_tune_ok(SMALL_CHANNEL_MAX, SMALL_FRAME_MAX_OCTETS),)), opened, channel_open)
    limits = ("method/queue.declare", "content/basic.publish", "method/channel.open")
    yield State(
        "limits", small, limits, one, frozenset(), SMALL_FRAME_MAX_OCTETS, SMALL_CHANNEL_MAX, judged=True
    )
    code = dialect.constants_by_name["reply-success"].value
    close = _method("channel.close", reply_code=code, reply_text="bye")
    yield State("channel-closed", (*channel, Step((close,), ("channel.close-ok",))), ("method/channel.open",))
    bye = _method("connection.close", 0, reply_code=code, reply_text="bye")
    yield State("closing", (*channel, Step((bye,))), ("method/connection.close-ok", "frame/heartbeat"))


def _tune_ok(channel_max: Argument, frame_max: Argument) -> Say:
    return _method("connection.tune-ok", 0, channel_max=channel_max, frame_max=frame_max, heartbeat=0)


def _consume() -> Iterator[Step]:
    declare = _method("queue.declare", queue=Slot.QUEUE, exclusive=True)
    yield Step((declare,), ("queue.declare-ok",))
    consume = _method("basic.consume", queue=Slot.QUEUE, consumer_tag="amqpspec.fuzz.c")
    yield Step((consume,), ("basic.consume-ok",))
    yield Step(
        (_method("basic.publish", routing_key=Slot.QUEUE), Say("HEADER BODY", "body")), ("basic.deliver",)
    )


_CONSUMER = (
    "method/basic.ack", "method/basic.nack", "method/basic.reject", "method/basic.recover", "method/basic.cancel",
    "method/basic.recover-async", "method/channel.flow",
)  # fmt: skip


def _contents(channel: tuple[Step, ...], one: frozenset[int]) -> Iterator[State]:
    publish = _method("basic.publish", routing_key="amqpspec.fuzz.none")
    yield State(
        "content", (*channel, Step((publish,))), ("header/basic", "header/basic/bare"), one, judged=True
    )
    under_way = Step((publish, Say("HEADER", "header"), Say("BODY…", "part")))
    yield State("body", (*channel, under_way), ("body",), one, judged=True)


def _channel_methods(dialect: MethodDialect) -> tuple[str, ...]:
    """What a client may say on a fresh channel: every method that needs no consumer and ends nothing."""
    apart = {"connection", "channel"}
    return tuple(
        f"content/{m.name}" if m.content else f"method/{m.name}"
        for m in dialect.methods.values()
        if m.sent_by is not Side.SERVER and m.class_name not in apart and not m.name.endswith("-ok")
    )


Render = Callable[[Say, Values], bytes]


def renderer(dialect_id: str) -> Render:
    """What turns a saying into octets."""
    codec = codec_for(widest(dialect_id))
    types, write = codec.dialect.layout.types, FrameWriter(codec.dialect.layout).frame
    basic = codec.dialect.classes_by_name["basic"].index

    def content(announced: int, body: bytes) -> bytes:
        header = codec.encode_header(ContentHeader(basic, announced))
        return write(types["header"], CHANNEL, header) + (
            write(types["body"], CHANNEL, body) if body else b""
        )

    contents = {
        "header": content(BODY_SIZE_OCTETS, b""),
        "part": write(types["body"], CHANNEL, BODY_SENT),
        "body": content(len(BODY_SENT), BODY_SENT),
    }

    def render(say: Say, values: Values) -> bytes:
        if not say.name:
            return say.octets
        if say.name in contents:
            return contents[say.name]
        return write(types["method"], say.channel, codec.encode_method(say.name, filled(say.args, values)))

    return render


# --- what may follow

HANDSHAKE = HandshakeRules(
    opened_by="connection.open-ok",
    ends=frozenset({"connection.close"}),
    life=frozenset({"heartbeat"}),
    mute=frozenset({"closing"}),
    filled=frozenset({"content", "body", "consuming"}),
    half_said=frozenset({"content", "body"}),
    answered=frozenset({"header"}),
    all_but_last=frozenset({"open"}),
    said_by={("tune", "connection.tune-ok"): ""},
)
_BYE = (("reply_code", 200), ("reply_text", "done"))


def exchange_on(channel: int) -> Exchange:
    """A channel is opened, and something asked on it."""
    qos = (("prefetch_count", 1),)
    steps = (
        Step((Say("CHANNEL.OPEN", "channel.open", channel),), ("channel.open-ok",)),
        Step((Say("QOS", "basic.qos", channel, qos),), ("basic.qos-ok",)),
    )
    return Exchange(steps, leaves_open=True)


def closing(channel: int) -> Step:
    """What closes a channel."""
    return Step((Say("CLOSE", "channel.close", channel, _BYE),), ("channel.close-ok",))
