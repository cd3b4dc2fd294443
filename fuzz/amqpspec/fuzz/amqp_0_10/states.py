"""The states of AMQP 0-10.

Knows: its handshake, and what attaches, subscribes and transfers. Must not know: what is bent in a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.amqp_0_10.samples import CHANNEL
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
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import LAYOUT, encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_header, encode_instruction
from amqpspec.wire.amqp_0_10.values import Packed

SMALL_FRAME_OCTETS, SMALL_CHANNEL_MAX = LAYOUT.min_max_frame_size, 8
"""What the state ``limits`` settles: the smallest frames that can be agreed on, and few channels."""
BODY_SENT = b"01234567"
_EXPLICIT, _NONE = 0, 1
_BINARY = frozenset({"name", "response"})
_BODY, _KEY = "body", "routing_key"


def _say(name: str, channel: int = CHANNEL, /, **args: Argument) -> Say:
    return Say(name.upper(), name, channel, tuple(args.items()))


def _transfer(**args: Argument) -> Say:
    return _say("message.transfer", destination="", accept_mode=_NONE, acquire_mode=0, **args)


def states_of() -> Iterator[State]:
    """Every state in the order of a conversation."""
    header = Say("HEADER", octets=DIALECT.protocol_header)
    start = (Step((header,), ("header", "connection.start")),)
    start_ok = _say(
        "connection.start-ok", 0, mechanism=Slot.MECHANISM, response=Slot.RESPONSE, locale="en_US"
    )
    tune = (*start, Step((start_ok,), ("connection.tune",)))
    tune_ok = _say("connection.tune-ok", 0, channel_max=Slot.CHANNEL_MAX, max_frame_size=Slot.FRAME_MAX)
    open_ = _say("connection.open", 0, virtual_host=Slot.VHOST)
    ready = (*tune, Step((tune_ok, open_), ("connection.open-ok",)))
    attached = (*ready, Step((_attach(CHANNEL, Slot.CONTAINER),), ("session.attached",)))
    session = (*attached, Step((_point(CHANNEL),)))
    one = frozenset((CHANNEL,))
    yield State("raw", (), ("protocol-header",), judged=True)
    yield State("header", (Step((header,)),), _START_OK)
    yield State("start", start, _START_OK)
    yield State("tune", tune, ("control/connection.tune-ok", "control/connection.tune-ok/bare"))
    yield State(
        "open", (*tune, Step((tune_ok,))), ("control/connection.open", "control/connection.open/bare")
    )
    yield State("ready", ready, ("control/session.attach", "control/connection.heartbeat"), judged=True)
    points = ("control/session.command-point", "control/session.detach")
    yield State("attached", attached, (*points, "control/session.request-timeout"), one, judged=True)
    yield State("session", session, _in_session(), one, judged=True)
    yield from _messages(session, one)
    small = _say("connection.tune-ok", 0, channel_max=SMALL_CHANNEL_MAX, max_frame_size=SMALL_FRAME_OCTETS)
    few = (*tune, Step((small, open_), ("connection.open-ok",)), *session[len(ready) :])
    yield State(
        "limits", few, ("content/message.transfer", "command/queue.declare", "control/session.attach"), one,
        frozenset(), SMALL_FRAME_OCTETS, SMALL_CHANNEL_MAX - 1, judged=True,
    )  # fmt: skip
    yield State("detached", (*session, closing(CHANNEL)), ("control/session.attach",))
    bye = _say("connection.close", 0, reply_code=200, reply_text="bye")
    yield State(
        "closing", (*session, Step((bye,))), ("control/connection.close-ok", "control/connection.heartbeat")
    )


_START_OK = ("control/connection.start-ok", "control/connection.start-ok/bare")


def _attach(channel: int, name: Argument) -> Say:
    return _say("session.attach", channel, name=name)


def _point(channel: int) -> Say:
    return _say("session.command-point", channel, command_id=0, command_offset=0)


_APART = ("file.", "stream.", "dtx.", "execution.result", "execution.exception", "message.resume")
"""Commands that hardly any broker has, or that a client says of what it was sent only."""
_CONTROLS = (
    "expected",
    "confirmed",
    "completed",
    "known-completed",
    "flush",
    "gap",
    "request-timeout",
    "detach",
)


def _in_session() -> tuple[str, ...]:
    """What a client may say in a session: every control and command, and messages of every kind."""
    controls = [f"control/session.{name}" for name in _CONTROLS]
    commands = [
        f"command/{c.name}"
        for c in DIALECT.commands.values()
        if c.segments is None and c.sent_by is not Side.SERVER and not c.name.startswith(_APART)
    ]
    kinds = ("content/message", "message/", "struct/", "type/")
    return (*commands, *controls, *(name for name in grammar(DIALECT.id) if name.startswith(kinds)))


_RECEIVER = (
    "command/message.accept", "command/message.reject", "command/message.release", "command/message.acquire",
    "command/message.flow", "command/message.cancel", "command/message.stop", "command/message.flush",
    "command/message.set-flow-mode", "control/session.completed", "control/session.flush",
)  # fmt: skip


def _messages(session: tuple[Step, ...], one: frozenset[int]) -> Iterator[State]:
    """A message of this connection has arrived; one is in transit up to its command, its header, a part of its body."""
    declare = _say("queue.declare", queue=Slot.QUEUE, exclusive=True, auto_delete=True)
    subscribe = _say(
        "message.subscribe", queue=Slot.QUEUE, destination="amqpspec.fuzz.d", accept_mode=_EXPLICIT, acquire_mode=0,
    )  # fmt: skip
    flows = [_say("message.flow", destination="amqpspec.fuzz.d", unit=unit, value=100_000) for unit in (0, 1)]
    sent = _transfer(routing_key=Slot.QUEUE, body=BODY_SENT)
    yield State(
        "consuming", (*session, Step((declare, subscribe, *flows, sent), ("message.transfer",))), _RECEIVER, one,
        judged=True,
    )  # fmt: skip
    row = {"destination": "", "accept_mode": _NONE, "acquire_mode": 0}
    begun = encode_frame(
        encode_instruction("message.transfer", row), type=COMMAND, flags=_FIRST, channel=CHANNEL
    )
    command = Say("TRANSFER…", octets=begun)
    yield State("content", (*session, Step((command,))), ("header/message", "body"), one)
    properties = Packed("message.delivery-properties", _properties("amqpspec.fuzz.none"))
    header = encode_frame(
        encode_header([properties]), type=LAYOUT.types["header"], flags=_MIDDLE, channel=CHANNEL
    )
    part = encode_frame(BODY_SENT, type=LAYOUT.types["body"], flags=_BEGUN, channel=CHANNEL)
    under_way = Step((command, Say("HEADER", octets=header), Say("BODY…", octets=part)))
    yield State("body", (*session, under_way), ("body/rest",), one)


_FLAGS = LAYOUT.flags
_WHOLE_SEGMENT = _FLAGS["first-frame"] | _FLAGS["last-frame"]
_FIRST, _MIDDLE = _FLAGS["first-segment"] | _WHOLE_SEGMENT, _WHOLE_SEGMENT
_BEGUN = _FLAGS["last-segment"] | _FLAGS["first-frame"]


def _properties(key: str) -> dict[str, Any]:
    return {"priority": 4, "delivery_mode": 1, "routing_key": key}


def octets_of(say: Say, values: Values) -> bytes:
    """One saying on the wire; what an offer does not fit into gets the least that is always allowed."""
    if not say.name:
        return say.octets
    fields: dict[str, Any] = filled(say.args, values)
    if "name" in fields and say.channel != CHANNEL:
        # Each channel has a separate session.
        fields["name"] += f".{say.channel}"
    for key in _BINARY & fields.keys():
        fields[key] = fields[key].encode() if isinstance(fields[key], str) else fields[key]
    if fields.get("max_frame_size", 0) > 0xFFFF:
        fields["max_frame_size"] = SMALL_FRAME_OCTETS
    if _BODY not in fields:
        return encode_assembly(say.name, say.channel, **fields)
    properties = Packed("message.delivery-properties", _properties(fields.pop(_KEY)))
    return encode_assembly(say.name, say.channel, header=[properties], **fields)


# --- what may follow

HANDSHAKE = HandshakeRules(
    opened_by="connection.open-ok",
    ends=frozenset({"connection.close"}),
    life=frozenset({"connection.heartbeat"}),
    mute=frozenset({"closing"}),
    filled=frozenset({"content", "body", "consuming"}),
    half_said=frozenset({"content", "body"}),
    answered=frozenset({"header"}),
    all_but_last=frozenset({"open"}),
    said_by={("tune", "connection.tune-ok"): ""},
)
_OPENS_OR_ENDS = frozenset({"session.attach", "session.detach", "session.attached", "session.detached",
                           "session.request-timeout", "session.timeout"})  # fmt: skip


def opens_or_ends(name: str) -> bool:
    """Whether a message opens or ends a channel, or something in one."""
    return name in _OPENS_OR_ENDS


def exchange_on(channel: int) -> Exchange:
    """A session is attached, and something asked in it."""
    sync = _say("execution.sync", channel, sync=True)
    attach = Step((_attach(channel, Slot.CONTAINER),), ("session.attached",))
    return Exchange((attach, Step((_point(channel), sync), ("session.completed",))), leaves_open=True)


def closing(channel: int) -> Step:
    """What detaches a session."""
    return Step((_say("session.detach", channel, name=Slot.CONTAINER),), ("session.detached",))


def can_be_repeated(steps: tuple[Step, ...]) -> bool:
    """Whether steps may be gone twice: entities that go with a session may be there a little longer."""
    return not any(say.name in ("queue.declare", "message.transfer") for step in steps for say in step.says)
