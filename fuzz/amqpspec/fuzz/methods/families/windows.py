"""C8: windows, credit and pauses.

Knows: numbers that limit what is in progress, and switches that pause it. Must not know: how a target schedules.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, by_role, edges, locations_at, numbers_of
from amqpspec.fuzz.methods.kit import can_say, kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Role


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    if state.name != "tune":
        touches = ("basic/qos/prefetch-size", "basic/qos/prefetch-count")
        yield from locations_at(dialect_id, state, by_role(Role.SEQUENCE), numbers_of(edges), *touches)
    if can_say(dialect_id, state, "basic.qos") or state.name == "consuming":
        yield Location("qos.repeated", lambda: _repeated(dialect_id), ("basic/qos/global",))
        yield Location(
            "flow.toggled", lambda: _toggled(dialect_id), ("channel/flow/bidirectional", "channel/flow-ok")
        )


def _repeated(dialect_id: str) -> Iterator[Bend]:
    tools = kit(dialect_id)
    for count in (2, 32, 512):
        for whole in (False, True):
            says = (
                tools.method("basic.qos", prefetch_count=number % 65_536, **{"global": whole})
                for number in range(65_536 - count // 2, 65_536 + count - count // 2)
            )
            yield Bend(f"{count} windows, global {whole}", (b"".join(says),))


def _toggled(dialect_id: str) -> Iterator[Bend]:
    tools = kit(dialect_id)
    pause, go_on = (tools.method("channel.flow", active=active) for active in (False, True))
    for count in (1, 2, 32, 512):
        yield Bend(f"paused {count} times", (pause * count,))
        yield Bend(f"paused and let go {count} times", ((pause + go_on) * count,))
    yield Bend("paused, then a message", (pause, tools.publish(b"x")))
    yield Bend("flow-ok that nobody asked for", (tools.method("channel.flow-ok", active=True) * 8,))
