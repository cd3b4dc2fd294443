"""The states of AMQP/Fast.

Knows: its handshake, and what opens, consumes and sends. Must not know: what is bent in a state.

The handle of a state has the number of its channel, and topics are the destinations: those of a connection's own are
forgotten with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.samples import CHANNEL, HANDLE, TAG, TOPIC, TOPIC_SERVICE
from amqpspec.fuzz.grammar import grammar
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
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Tier
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message

SMALL_FRAME_MAX_OCTETS = DIALECT.layout.min_frame_max_octets
"""What the state ``tuned`` settles for the server's frames."""
BODY_SIZE_OCTETS, BODY_SENT = 16, b"01234567"
"""What the states in the middle of a message announce, and what has arrived of it."""
_BYE = (("reply_code", 200), ("reply_text", "done"))
_FRAGMENT = "fragment"


def _say(name: str, **args: Argument) -> Say:
    return Say(name.replace(".", " ").upper(), name, CHANNEL, tuple(args.items()))


def _send(*, size: int, octets: bytes, words: str, **more: Argument) -> Say:
    return Say(words, "handle.send", CHANNEL, (
        ("handle_id", HANDLE), ("confirm_tag", TAG), ("service_type", TOPIC_SERVICE), ("fragment_size", size),
        *more.items(), (_FRAGMENT, octets),
    ))  # fmt: skip


def states_of() -> Iterator[State]:
    """Every state in the order of a conversation."""
    greeting = Say("GREETING", octets=DIALECT.protocol_header)
    login = (Step((greeting,), ("connection.challenge",)),)
    responses = (("LOGIN", Slot.USER), ("PASSWORD", Slot.PASSWORD))
    response = _say("connection.response", mechanism=Slot.MECHANISM, responses=responses)
    tuning = (*login, Step((response,), ("connection.tune",)))
    open_ = _say("connection.open", confirm_tag=TAG, virtual_path=Slot.VHOST, client_name=Slot.CONTAINER)
    opened = (*tuning, Step((open_,), ("connection.reply",)))
    tune = _say("connection.tune", options=(("FRAME_MAX", SMALL_FRAME_MAX_OCTETS),))
    channel = (*opened, _opens_channel())
    handle = (*channel, _opens_handle(HANDLE, CHANNEL))
    one = frozenset((CHANNEL,))
    yield State("raw", (), ("greeting",), judged=True)
    yield State("greeted", (Step((greeting,)),), ("command/connection.response",))
    yield State("login", login, ("command/connection.response",), judged=True)
    yield State("tuning", tuning, ("command/connection.tune", "command/connection.open"), judged=True)
    yield State("tuned", (*tuning, Step((tune,))), ("command/connection.open", "command/connection.tune"))
    yield State("open", opened, (*_OPENS, "frame/escaped", *_PINGS), judged=True)
    acks = ("command/channel.ack", "command/handle.open", "command/channel.close")
    yield State("channel", channel, acks, one, judged=True)
    yield State("transacted", (*opened, _opens_channel(transacted=True)), (*_ENDS, *acks), one, judged=True)
    yield State("handle", handle, _on_handle(), one, one, judged=True)
    yield from _messages(handle, one)
    yield from _restartable(opened, one)
    closed = Step((_say("handle.close", handle_id=HANDLE, **dict(_BYE)),), ("handle.close",))
    yield State("handle-closed", (*handle, closed), ("command/handle.open",), one)
    yield State("channel-closed", (*channel, closing(CHANNEL)), ("command/channel.open",))
    bye = _say("connection.close", **dict(_BYE))
    yield State("closing", (*channel, Step((bye,))), ("command/connection.close",))


_OPENS = ("command/channel.open", "command/channel.open/transacted", "command/channel.open/restartable")
_PINGS = ("command/connection.ping", "command/connection.ping/quiet")
_ENDS = ("command/channel.commit", "command/channel.rollback")


def _opens_channel(channel: int = CHANNEL, **more: Argument) -> Step:
    open_ = _say("channel.open", channel_id=channel, confirm_tag=TAG, **more)
    return Step((open_,), ("channel.reply",))


def _opens_handle(handle: int, channel: int) -> Step:
    open_ = _say(
        "handle.open", channel_id=channel, handle_id=handle, confirm_tag=TAG, producer=True, consumer=True,
        browser=True,
    )  # fmt: skip
    return Step((open_,), ("handle.reply",))


def _on_handle() -> tuple[str, ...]:
    """What a client may say on a fresh handle: every command that needs no reader, and messages of every kind."""
    known = [
        f"command/{c.name}"
        for c in DIALECT.commands
        if c.tier is Tier.HANDLE
        and c.sent_by is Side.CLIENT
        and c.name not in ("handle.open", "handle.unget")
    ]
    kinds = tuple(name for name in grammar(DIALECT.id) if name.startswith(("message/", "table/")))
    variants = ("handle.consume/queue", "handle.flow/pause", "handle.send/any")
    return (*known, "command/handle.close", *(f"command/{name}" for name in variants), *kinds)


def _messages(handle: tuple[Step, ...], one: frozenset[int]) -> Iterator[State]:
    """A message of this connection has arrived and is not acknowledged; one is sent, fragment by fragment."""
    consume = _say(
        "handle.consume", handle_id=HANDLE, confirm_tag=TAG, service_type=TOPIC_SERVICE, prefetch=10,
        dest_name=Slot.QUEUE,
    )  # fmt: skip
    whole = encode_message(BODY_SENT)
    sent = _send(size=len(whole), octets=whole, words="HANDLE SEND", dest_name=Slot.QUEUE)
    came = Step((sent,), ("handle.notify",))
    taken = ("command/channel.ack", "command/handle.unget", "command/handle.flow/pause", "command/handle.send",
             "command/handle.close")  # fmt: skip
    yield State(
        "consuming", (*handle, Step((consume,), ("handle.reply",)), came), taken, one, one, judged=True
    )
    begun = encode_message(BODY_SENT, body_size=BODY_SIZE_OCTETS)
    part = _send(size=len(begun), octets=begun, words="HANDLE SEND…", partial=True, dest_name=TOPIC)
    yield State("sending", (*handle, Step((part,))), ("command/handle.send", "message/fragments"), one, one)
    rest = _send(
        size=len(begun) + len(BODY_SENT), octets=begun, words="HANDLE SEND, half of it", dest_name=TOPIC
    )
    yield State("fragment", (*handle, Step((rest,))), ("command/connection.ping",), one, one)


def _restartable(opened: tuple[Step, ...], one: frozenset[int]) -> Iterator[State]:
    """A large message has been announced by PREPARE, and READY has arrived."""
    channel = (*opened, _opens_channel(restartable=True), _opens_handle(HANDLE, CHANNEL))
    head = encode_message(b"", body_size=1 << 20, identifier="amqpspec-fuzz")
    prepare = Say("HANDLE PREPARE", "handle.prepare", CHANNEL, (
        ("handle_id", HANDLE), ("fragment_size", len(head)), (_FRAGMENT, head),
    ))  # fmt: skip
    yield State("restartable", channel, ("command/handle.prepare", "command/handle.send"), one, one)
    steps = (*channel, Step((prepare,), ("handle.ready",)))
    yield State("prepared", steps, ("command/handle.send", "command/handle.ready"), one, one)


def octets_of(say: Say, values: Values) -> bytes:
    """One saying on the wire."""
    if not say.name:
        return say.octets
    fields: dict[str, Any] = filled(say.args, values)
    return command_frame(say.name, **fields)


# --- what may follow

HANDSHAKE = HandshakeRules(
    opened_by="connection.reply",
    ends=frozenset({"connection.close"}),
    mute=frozenset({"closing"}),
    filled=frozenset({"consuming", "sending", "fragment", "restartable", "prepared"}),
    half_said=frozenset({"sending", "fragment", "prepared"}),
    answered=frozenset({"greeted"}),
    all_but_last=frozenset({"tuning", "tuned"}),
    said_by={("tuning", "connection.tune"): "", ("tuned", "connection.tune"): ""},
)
_OPENS_OR_ENDS = frozenset({"channel.open", "channel.close", "handle.open", "handle.close"})


def opens_or_ends(name: str) -> bool:
    """Whether a message opens or ends a channel, or something in one."""
    return name in _OPENS_OR_ENDS


def exchange_on(channel: int) -> Exchange:
    """A channel is opened, and a handle on it."""
    return Exchange((_opens_channel(channel), _opens_handle(channel, channel)), leaves_open=True)


def closing(channel: int) -> Step:
    """What closes a channel."""
    return Step((_say("channel.close", channel_id=channel, **dict(_BYE)),), ("channel.close",))


def can_be_repeated(steps: tuple[Step, ...]) -> bool:
    """Whether steps may be gone twice: what was sent and read before would be distinguished by its numbers."""
    return not any(say.name in ("handle.consume", "handle.send") for step in steps for say in step.says)
