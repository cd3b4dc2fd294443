"""What a target says, by name.

Knows: what is worth knowing of one thing that the target sent. Must not know: how it is read, what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from amqpspec.fuzz.states.model import Values
from amqpspec.spec.model import Refusal

UNREADABLE = "unreadable octets"


@dataclass(frozen=True, slots=True)
class Counters:
    """What a begin, an attach or a flow of AMQP 1.0 says about its window and credit (amqp-1.0 §2.5.6, §2.6.7).

    ``handle`` is the target's own.
    """

    next_outgoing_id: int | None = None
    next_incoming_id: int | None = None
    incoming_window: int | None = None
    handle: int | None = None
    initial_delivery_count: int | None = None
    delivery_count: int | None = None
    link_credit: int | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that the target said.

    ``limits`` are channel-max and frame-max if it offers them; ``remote`` is the channel that a session of AMQP 1.0
    answers; ``mechanisms`` are those that it offers; a login that failed is not ``good``. ``idle_s`` is how
    long it tolerates silence, 0 if it does not say; ``blames_silence`` is a close that gives silence as its reason.
    ``product`` and ``version`` are those that it announces; ``counters`` are in begin, attach, flow.
    """

    name: str
    refusal: Refusal | None = None
    limits: tuple[int, int] | None = None
    payload: bytes = b""
    channel: int = 0
    remote: int | None = None
    mechanisms: tuple[str, ...] = ()
    good: bool = True
    idle_s: float = 0.0
    blames_silence: bool = False
    product: str = ""
    version: str = ""
    counters: Counters | None = None


Decode = Callable[[bytes], Iterator[Heard]]
"""Octets in, what became complete with them out; never raises."""


def learned(values: Values, said: Heard) -> Values:
    """The values of a conversation, with those that the target has said."""
    if said.limits is None and said.counters is None:
        return values
    known: dict[str, Any] = {}
    if said.limits is not None:
        known["channel_max"], known["frame_max_octets"] = said.limits
    if (counters := said.counters) is not None:
        known["next_incoming"] = counters.next_outgoing_id
        known["delivery_count"] = counters.initial_delivery_count
    changed = {name: value for name, value in known.items() if value not in (None, getattr(values, name))}
    return replace(values, **changed) if changed else values
