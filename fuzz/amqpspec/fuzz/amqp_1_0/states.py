"""The states of AMQP 1.0.

Knows: its layers, and what opens, begins, attaches and transfers. Must not know: what is bent in a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import performative_frame
from amqpspec.wire.amqp_1_0.message import encode_message

SENDER, RECEIVER = 0, 1
"""The handles that states attach; both on channel 0."""

LINKS = ("amqpspec-fuzz-sender", "amqpspec-fuzz-receiver")
"""The names of both links."""
_MESSAGE = encode_message(data=b"amqpspec")
_SASL = Say("SASL-HEADER", octets=HEADERS["sasl"])
_AMQP = Say("HEADER", octets=HEADERS["amqp"])


def _say(name: str, channel: int = 0, /, **args: Argument) -> Say:
    return Say(name.upper(), name, channel, tuple(args.items()))


def _attach(name: str, handle: int, role: str, **more: Argument) -> Say:
    address = (("address", Slot.QUEUE),)
    return _say("attach", name=name, handle=handle, role=role, source=address, target=address, **more)


def _begins(*starts: str) -> tuple[str, ...]:
    return tuple(name for name in grammar("amqp-1-0") if name.startswith(starts))


def states_of() -> Iterator[State]:
    """Every state in the order of a conversation."""
    init = _say("sasl-init", mechanism=Slot.MECHANISM, initial_response=Slot.RESPONSE, hostname=Slot.HOSTNAME)
    sasl = (Step((_SASL,), ("header", "sasl-mechanisms")),)
    known = (*sasl, Step((init,), ("sasl-outcome",)))
    header = (*known, Step((_AMQP,), ("header",)))
    opened = (
        *known,
        Step((_AMQP, _say("open", container_id=Slot.CONTAINER, hostname=Slot.HOSTNAME)), ("open",)),
    )
    begin = _say("begin", next_outgoing_id=0, incoming_window=2048, outgoing_window=2048)
    session = (*opened, Step((begin,), ("begin",)))
    sender = Step((_attach(LINKS[0], SENDER, "sender", initial_delivery_count=0),), ("attach", "flow"))
    attached = (*session, sender)
    one, first = frozenset((0,)), frozenset((SENDER,))
    inits = ("sasl/sasl-init", "sasl/sasl-init/bare")
    yield State("raw", (), ("protocol-header/amqp", "protocol-header/sasl"), judged=True)
    yield State("sasl-header", (Step((_SASL,)),), inits)
    yield State("sasl", sasl, inits)
    yield State("authenticated", known, ("protocol-header/amqp",))
    yield State("header", header, ("performative/open", "performative/open/bare"))
    begins = ("performative/begin", "performative/begin/bare", "frame/empty", "performative/close")
    yield State("open", opened, begins, judged=True)
    attaches = (
        "performative/attach",
        "performative/end",
        "performative/flow/bare",
        *_begins("source/", "target/"),
    )
    yield State("session", session, attaches, one, judged=True)
    transfers = _begins(
        "performative/transfer", "performative/flow", "performative/detach", "section/", "type/", "composite/"
    )
    yield State("attached", attached, transfers, one, first, judged=True)
    yield from _receiving(attached, one)
    more = _say(
        "transfer",
        handle=SENDER,
        delivery_id=0,
        delivery_tag=b"t0",
        message_format=0,
        more=True,
        payload=_MESSAGE[:6],
    )
    rest = ("performative/transfer/bare",)
    yield State("transfer", (*attached, Step((more,))), rest, one, first)
    yield State("session-ended", (*session, Step((_say("end"),), ("end",))), begins[:2])
    yield State("closing", (*session, Step((_say("close"),))), ("frame/empty",))


def _receiving(attached: tuple[Step, ...], one: frozenset[int]) -> Iterator[State]:
    """A delivery of this connection's message has arrived and is not settled."""
    receiver = _attach(LINKS[1], RECEIVER, "receiver")
    sent = _say(
        "transfer",
        handle=SENDER,
        delivery_id=0,
        delivery_tag=b"t0",
        message_format=0,
        settled=True,
        payload=_MESSAGE,
    )
    windows: dict[str, Argument] = {
        "next_incoming_id": Slot.NEXT_INCOMING,
        "incoming_window": 2048,
        "next_outgoing_id": 1,
        "outgoing_window": 2048,
    }
    credit = _say("flow", **windows, handle=RECEIVER, delivery_count=Slot.DELIVERY_COUNT, link_credit=10)
    steps = (*attached, Step((receiver,), ("attach",)), Step((sent, credit), ("transfer",)))
    answers = _begins("performative/disposition", "state/", "performative/flow", "performative/detach")
    yield State("consuming", steps, answers, one, frozenset((SENDER, RECEIVER)), judged=True)


def octets_of(say: Say, values: Values) -> bytes:
    """One saying on the wire."""
    if not say.name:
        return say.octets
    fields: dict[str, Any] = filled(say.args, values)
    payload = fields.pop("payload", b"")
    return performative_frame(say.name, say.channel, payload=payload, **fields)


def way_for(steps: tuple[Step, ...], mechanism: str) -> tuple[Step, ...]:
    """The steps of a way for a login; NONE leaves the security layer out after which states lie."""
    if mechanism != "NONE" or not any("sasl-outcome" in step.wait_for for step in steps):
        return steps
    return tuple(step for step in steps if not all("SASL" in say.words for say in step.says))


# --- what may follow

HANDSHAKE = HandshakeRules(
    opened_by="open",
    ends=frozenset({"close"}),
    life=frozenset({"empty"}),
    mute=frozenset({"closing"}),
    filled=frozenset({"consuming", "transfer"}),
    answered=frozenset({"sasl-header"}),
    all_but_last=frozenset({"header"}),
    said_by={("authenticated", "header"): "header"},
)
_OPENS_OR_ENDS = frozenset({"begin", "end", "attach", "detach"})


def opens_or_ends(name: str) -> bool:
    """Whether a message opens or ends a channel, or something in one."""
    return name in _OPENS_OR_ENDS


def exchange_on(channel: int) -> Exchange:
    """A session is begun and ended."""
    windows = (("next_outgoing_id", 0), ("incoming_window", 8), ("outgoing_window", 8))
    return Exchange(
        (
            Step((Say("BEGIN", "begin", channel, windows),), ("begin",)),
            Step((Say("END", "end", channel),), ("end",)),
        )
    )


def closing(channel: int) -> Step:
    """What ends a session."""
    return Step((Say("END", "end", channel),), ("end",))


def can_be_repeated(steps: tuple[Step, ...]) -> bool:
    """Whether steps may be gone twice: a link would return with what was unsettled on it."""
    return not any(say.name == "attach" for step in steps for say in step.says)
