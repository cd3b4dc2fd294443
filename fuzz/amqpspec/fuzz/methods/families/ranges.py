"""C7: ranges that expand: one number that represents any number of deliveries.

Knows: delivery tags and ids. Must not know: how a target walks a range.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, by_role, edges, locations_at, numbers_of
from amqpspec.fuzz.methods.kit import can_say, kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Role

_TAGS = (
    0,
    1,
    2,
    3,
    255,
    65_535,
    65_536,
    10**6,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    touches = ("basic/ack/multiple/exists-unknown", "basic/ack/multiple", "basic/reject/meaning")
    yield from locations_at(
        dialect_id, state, by_role(Role.DELIVERY, "delivery-tag"), numbers_of(edges), *touches
    )
    if can_say(dialect_id, state, "basic.ack"):
        yield Location("delivery-tag.multiple", lambda: _multiple(dialect_id), touches)
        yield Location("delivery-tag.repeated", lambda: _repeated(dialect_id), touches)


def _multiple(dialect_id: str) -> Iterator[Bend]:
    """Everything up to a tag, from one delivery to all that a number can count."""
    tools = kit(dialect_id)
    for name in ("basic.ack", "basic.nack"):
        for tag in _TAGS if tools.has(name) else ():
            yield Bend(f"{name} up to {tag}", (tools.method(name, delivery_tag=tag, multiple=True),))
            requeue = tools.method(name, delivery_tag=tag, multiple=True, requeue=True)
            yield Bend(f"{name} up to {tag}, requeued", (requeue,))


def _repeated(dialect_id: str) -> Iterator[Bend]:
    """The same delivery answered again and again, and in many ways."""
    tools = kit(dialect_id)
    for count in (2, 16, 256):
        yield Bend(f"{count} acks of one delivery", (tools.method("basic.ack", delivery_tag=1) * count,))
        reject = tools.method("basic.reject", delivery_tag=1, requeue=True)
        yield Bend(f"{count} rejects of one delivery", (reject * count,))
        recover = tools.method("basic.recover", requeue=True)
        yield Bend(f"{count} recovers", (recover * count,))
    down = (tools.method("basic.ack", delivery_tag=tag) for tag in range(64, 0, -1))
    yield Bend("acks from 64 down to 1", tuple(down))
