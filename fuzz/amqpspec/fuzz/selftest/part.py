"""What the self-test asks a driver: frames of a client, where defects can strike, and the inside of a reference broker.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.selftest.frames import ClientFrame, FrameCondition
from amqpspec.reference.model import Consumer, Message

Connection = Any
"""A connection of a reference broker: its ``core``, its ``user``, its ``transport``."""


@dataclass(frozen=True, slots=True)
class BrokerSeams:
    """Where a defect can be put into a reference broker.

    ``inbox`` is the class of connections whose ``on_frame`` takes each frame that comes in; ``frame_of`` says which
    one it is. ``consumers`` are those of a connection, and ``deliver`` hands a consumer a message that no one
    has sent there. ``beside`` gives a frame another channel: the next one.
    """

    inbox: Any
    frame_of: Callable[[Any], ClientFrame]
    consumers: Callable[[Connection], Iterable[Consumer]]
    deliver: Callable[[Consumer, Message], None]
    beside: Callable[[Any], Any] = lambda incoming: replace(incoming, channel=incoming.channel + 1)


class SelftestPart(Part, Protocol):
    """How planted defects are put into a dialect's reference broker.

    ``rare`` and ``common`` are frames at which they strike; no way into a state, no sentinel and no canary sends any
    of them.
    """

    rare: FrameCondition | None = None
    common: FrameCondition | None = None

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """Frames at which a kind of defect strikes, by what the place is called."""
        places = {"rare": self.rare, "common": self.common}
        return {name: frames for name, frames in places.items() if frames is not None}

    def frames_in(self, octets: bytes) -> Iterator[ClientFrame]:
        """The whole frames in a client's octets, up to the first that cannot be cut, without protocol headers."""
        return iter(())

    def seams(self) -> BrokerSeams:
        """The inside of the dialect's reference broker."""
        raise NotImplementedError


def selftest_part(dialect_id: str) -> SelftestPart:
    """What a dialect's driver says about its reference broker."""
    return cast(SelftestPart, loaded_driver(dialect_id))


def frames_in(dialect_id: str, octets: bytes) -> Iterator[ClientFrame]:
    """The whole frames in a client's octets."""
    return selftest_part(dialect_id).frames_in(octets)


def is_met(condition: FrameCondition, dialect_id: str, octets: bytes) -> bool:
    """Whether octets of a client hold a frame that a condition means."""
    return any(map(condition.is_at, frames_in(dialect_id, octets)))
