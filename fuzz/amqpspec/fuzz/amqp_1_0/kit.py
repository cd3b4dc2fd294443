"""What families of AMQP 1.0 put together: frames with given fields, messages, deliveries, as octets.

Knows: the codec. Must not know: what is odd about what is put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.families.base import next_productions
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, walk
from amqpspec.wire.amqp_1_0.frames import performative_frame
from amqpspec.wire.amqp_1_0.message import encode_message

MESSAGE = encode_message(data=b"amqpspec")
QUEUE = "amqpspec.fuzz.q"
WINDOWS: dict[str, Any] = {
    "next_incoming_id": 0, "incoming_window": 2048, "next_outgoing_id": 0, "outgoing_window": 2048,
}  # fmt: skip


def say(name: str, /, channel: int = 0, **fields: Any) -> bytes:
    """A frame with one performative."""
    return performative_frame(name, channel, **fields)


def begin(channel: int = 0, **fields: Any) -> bytes:
    """A begin with windows."""
    return say(
        "begin",
        channel,
        **{"next_outgoing_id": 0, "incoming_window": 2048, "outgoing_window": 2048, **fields},
    )


def attach(name: str, handle: int, role: str = "sender", channel: int = 0, **fields: Any) -> bytes:
    """An attach to the queue of inputs."""
    ends = {"source": {"address": QUEUE}, "target": {"address": QUEUE}}
    count = {"initial_delivery_count": 0} if role == "sender" else {}
    return say("attach", channel, **{"name": name, "handle": handle, "role": role, **ends, **count, **fields})


def transfer(number: int = 0, payload: bytes = MESSAGE, handle: int = 0, **fields: Any) -> bytes:
    """The one transfer of a delivery."""
    tag = number.to_bytes(4, "big")
    own = {"handle": handle, "delivery_id": number, "delivery_tag": tag, "message_format": 0, "settled": True}
    return say("transfer", payload=payload, **{**own, **fields})


def flow(**fields: Any) -> bytes:
    """A flow with windows."""
    return say("flow", **{**WINDOWS, **fields})


def may(state: State, name: str) -> bool:
    """Whether a performative may legally come next."""
    return any(n.startswith((f"performative/{name}", f"sasl/{name}", f"server/{name}")) for n in state.next)


def has_link(state: State) -> bool:
    """Whether deliveries may come next on a link that is attached, and nothing was sent on it before."""
    return state.name in ("attached", "server-transfer")


CARRIERS: dict[str, str] = {
    "header": "performative/open", "open": "performative/begin", "session": "performative/attach",
    "attached": "section/amqp-value", "consuming": "performative/disposition", "sasl-header": "sasl/sasl-init",
    "sasl": "sasl/sasl-init", "server-mechanisms": "sasl/sasl-mechanisms", "server-outcome": "sasl/sasl-outcome",
    "server-open": "performative/open", "server-begin": "server/begin", "server-attach": "server/attach",
    "server-settled": "server/disposition", "server-transfer": "section/amqp-value",
}  # fmt: skip
"""The production into which values of any kind go, for each state."""

_PLACES = (
    "properties", "unsettled", "amqp-value", "state", "initial-response", "offered-capabilities",
    "sasl-server-mechanisms", "additional-data",
)  # fmt: skip
_INSIDE = "amqp-value.value"
"""The value in its section; in place of the section itself, it stands if none is."""


def value_places(state: State) -> Iterator[tuple[str, Node, Place]]:
    """Where a value of any type can be put in what follows: the production's name, its tree, the part."""
    wanted = CARRIERS.get(state.name)
    for production in next_productions("amqp-1-0", state):
        if production.name != wanted:
            continue
        for place in walk(production.tree):
            named = place.node.name in _PLACES or place.path.endswith(_INSIDE)
            if named and place.node.is_group and place.node.children:
                yield production.name, production.tree, place
