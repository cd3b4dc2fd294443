"""Steps that cases about messages share.

Knows: the peer's verbs. Must not know: verdicts, targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NOT_ACQUIRED, UNLIMITED, Peer
from amqpspec.suites.amqp_0_10._entities import bodies, send, soon
from amqpspec.wire.amqp_0_10.serial import SerialSet
from amqpspec.wire.amqp_0_10.values import Packed

Ids = tuple[tuple[int, int], ...]
SHARED = {"exclusive": False}
"""A queue that other sessions use, too."""


def fill(peer: Peer, queue: str, *messages: bytes, channel: int = 0) -> str:
    """Put messages into a queue; returns its name."""
    for body in messages:
        send(peer, None, queue, body, channel)
    return queue


def ids(transfers: Iterable[AssemblyArrived]) -> Ids:
    """The ids of transfers, as ranges of a sequence-set."""
    return SerialSet.of((one.id, one.id) for one in transfers if one.id is not None).ranges


def answer(
    peer: Peer, name: str, transfers: Sequence[AssemblyArrived], channel: int = 0, **args: Any
) -> Packed | None:
    """Send message.accept, reject, release or acquire about transfers, and take what answers it; raises Unmet."""
    if name == "reject":
        args.setdefault("code", 0)
    told = peer.call(f"message.{name}", channel, transfers=ids(transfers), **args)
    return told if isinstance(told, Packed) else None


def acquired(peer: Peer, transfers: Sequence[AssemblyArrived], channel: int = 0) -> Ids:
    """What message.acquire says that it has acquired."""
    result = answer(peer, "acquire", transfers, channel)
    assert result is not None
    return tuple(result.fields.get("transfers") or ())


def deliveries(peer: Peer, destination: str, channel: int = 0) -> list[AssemblyArrived]:
    """What has arrived for a subscription and was not taken yet."""
    found = peer.pending("message.transfer", channel=channel)
    for other in found:
        if other["destination"] != destination:
            peer.keep(other)
    return [transfer for transfer in found if transfer["destination"] == destination]


def flushed(peer: Peer, destination: str, channel: int = 0) -> list[AssemblyArrived]:
    """All that the credit of a subscription brings: flush is complete when that has gone out, and leaves none."""
    peer.call("message.flush", channel, destination=destination)
    return deliveries(peer, destination, channel)


def looked_at(
    peer: Peer, queue: str, channel: int = 0, *, accept_mode: int = EXPLICIT
) -> list[AssemblyArrived]:
    """Everything in a queue that can be had, as it is shown to who does not acquire."""
    return _shown(peer, queue, channel, peer.name("look"), accept_mode)


def _shown(peer: Peer, queue: str, channel: int, name: str, accept_mode: int) -> list[AssemblyArrived]:
    peer.subscribe(
        queue,
        channel,
        destination=name,
        messages=None,
        octets=None,
        acquire_mode=NOT_ACQUIRED,
        accept_mode=accept_mode,
    )
    peer.flow(name, channel, messages=UNLIMITED, octets=UNLIMITED)
    return flushed(peer, name, channel)


def contents(transfers: Iterable[AssemblyArrived]) -> list[bytes]:
    """The bodies of transfers."""
    return [transfer.body for transfer in transfers]


def count_of(peer: Peer, queue: str, channel: int = 0) -> int:
    """How many messages of a queue can be had: what a query counts may hold those that someone has already."""
    name = peer.name("count")
    shown = _shown(peer, queue, channel, name, EXPLICIT)
    peer.call("message.cancel", channel, destination=name)
    return len(shown)


def has_on_offer_soon(peer: Peer, queue: str, count: int, channel: int = 0) -> bool:
    """Whether this many messages of a queue can be had: no text says how soon what is given back is there again."""
    return soon(peer, lambda: count_of(peer, queue, channel) == count)


def bodies_soon(peer: Peer, queue: str, count: int, channel: int = 0) -> list[bytes]:
    """The bodies of everything in a queue, taken out of it as soon as it has this many messages on offer."""
    has_on_offer_soon(peer, queue, count, channel)
    return bodies(peer, queue, channel)
