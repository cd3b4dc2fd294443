"""What a target says, by name.

Knows: what is worth knowing of one thing that the target sent. Must not know: how it is read, what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from amqpspec.spec.model import Refusal

UNREADABLE = "unreadable octets"


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that the target said.

    ``limits`` are channel-max and frame-max if it offers them; ``remote`` is the channel that a session of AMQP 1.0
    answers; ``mechanisms`` are those that AMQP 1.0 offers; a login that failed is not ``good``. ``idle_s`` is how
    long it tolerates silence, 0 if it does not say; ``blames_silence`` is a close that gives silence as its reason.
    ``product`` and ``version`` are those that an open of AMQP 1.0 names. ``next_outgoing`` is the number that its
    begin gives to the first transfer of the target.
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
    next_outgoing: int | None = None


Decode = Callable[[bytes], Iterator[Heard]]
"""Octets in, what became complete with them out; never raises."""
