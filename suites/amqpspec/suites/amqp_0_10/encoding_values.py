"""The published document, chapter 5: values within commands that are sound and values that are not.

Knows: structures that are sound and structures that are not. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.peer import NONE, PRE_ACQUIRED, Peer
from amqpspec.peer.events import Quiet, Reaction
from amqpspec.record.rows import Outcome
from amqpspec.run.case import case
from amqpspec.run.oracles import (
    borne_aloud,
    equals,
    holds,
    judge_reaction,
    observed_either_way,
    outlived,
    verdict_on,
    worst,
)
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._wire import (
    Act,
    command_of,
    each_judged,
    queues_there,
    reaction_to,
)
from amqpspec.wire.amqp_0_10 import malformed
from amqpspec.wire.amqp_0_10.instructions import (
    HeaderEntry,
    encode_instruction,
)
from amqpspec.wire.amqp_0_10.values import Packed, Raw, Value

_DELIVERY, _MESSAGE = "message.delivery-properties", "message.message-properties"
_PLAIN: Mapping[str, Any] = {"priority": 4, "delivery_mode": 1}


def _addressed(queue: str) -> Packed:
    return Packed(_DELIVERY, {**_PLAIN, "routing_key": queue})


def _transferring(headers: Any) -> Act:
    """An act that transfers a message with these application headers."""

    def act(peer: Peer) -> None:
        peer.publish(peer.queue(), message={"application_headers": headers})

    return act


@in_session("encoding.type-codes.skipping", covers=["encoding/type-codes/skipping"])
def unknown_type_codes(peer: Peer) -> Verdict:
    """A value of an unknown type does not prevent the server from reading the values after it."""
    headers = {"a": Value(0x0F, b"\x01"), "b": Value(0x9F, b"two"), "known": "last"}
    peer.publish(peer.queue(), message={"application_headers": headers})
    peer.claim("the message is accepted, or refused because its type is not supported")
    reaction = peer.reaction()
    if reaction.refusal is None and reaction.closing is None:
        return verdict_on(peer, Outcome.OBSERVED, peer.claimed, reaction)
    return judge_reaction(peer, reaction)


@case("encoding.type-codes.reserved", covers=["encoding/type-codes/reserved"])
def reserved_type_codes(peer: Peer) -> Verdict:
    """Application headers with values of reserved types may be refused."""
    headers = ({"a": Value(code, Raw(b"\x01\x02\x03\x04"))} for code in (0xB0, 0xBF, 0xE0, 0xEF))
    return each_judged(peer, map(_transferring, headers), borne_aloud)


def _malformed_maps() -> dict[str, Raw]:
    entry = b"\x01a\x02\x07"
    return {
        "count too high": malformed.counted("map", entry, 2),
        "count too low": malformed.counted("map", entry * 2, 1),
        "count of all ones": malformed.counted("map", entry, 0xFFFFFFFF),
        "size too low for a count": malformed.sized("map", b"\0\0"),
        "key beyond the end": malformed.counted("map", b"\xffa\x02\x07", 1),
        "value cut": malformed.counted("map", b"\x01a\x22\x00\x01", 1),
        "list with a count too high": malformed.counted(
            "map", b"\x01a\xa9" + malformed.counted("list", b"", 7), 1
        ),
        "array without its count": malformed.counted(
            "map", b"\x01a\xaa" + malformed.sized("array", b"\x02"), 1
        ),
    }


@case("encoding.map.malformed", covers=["encoding/map/malformed"])
def malformed_maps(peer: Peer) -> Verdict:
    """Application headers with inconsistent sizes or counts may be refused."""
    reactions = {name: reaction_to(peer, _transferring(value)) for name, value in _malformed_maps().items()}
    verdict = worst(borne_aloud(peer, reaction) for reaction in reactions.values())
    if verdict.outcome is not Outcome.OBSERVED:
        return verdict
    taken = [name for name, reaction in reactions.items() if reaction.refusal is None]
    return observed_either_way(peer, f"not refused: {', '.join(taken) or 'none'}")


@case("encoding.map.nested", covers=["encoding/map/malformed"], destructive=True)
def deep_maps(peer: Peer) -> Verdict:
    """A map with deeply nested lists is refused or accepted, and the server continues to run."""
    act = _transferring(malformed.counted("map", b"\x01a\xa9" + malformed.nested(5_000), 1))
    reaction = reaction_to(peer, act)
    peer.claim("a refusal, or the message accepted; then another connection")
    verdict = outlived(peer, _either_way(peer, reaction))
    if verdict.outcome is not Outcome.FAIL:
        peer.open_session()
        peer.barrier()
    return verdict


def _either_way(peer: Peer, reaction: Reaction) -> Verdict:
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    return holds(peer, not isinstance(reaction.arrivals[-1], Quiet), reaction)


@case("map.distinct-keys", covers=["map/distinct-keys"])
def keys_that_stand_twice(peer: Peer) -> Verdict:
    """A map that contains a key twice may be refused."""
    value = malformed.counted("map", b"\x01a\x02\x07\x01a\x02\x08", 2)
    return each_judged(peer, [_transferring(value)], borne_aloud)


@case("struct32.first-six-octets", covers=["struct32/first-six-octets"])
def structs_without_codes(peer: Peer) -> Verdict:
    """A struct of a header segment that is too short for its codes is refused."""

    def act(octets: bytes) -> Act:
        def send(one: Peer) -> None:
            entries: list[HeaderEntry | Raw] = [_addressed(one.queue()), Raw(octets)]
            one.send("message.transfer", header=entries, accept_mode=NONE, acquire_mode=PRE_ACQUIRED)

        return send

    wrong = (b"\0\0\0\0", b"\0\0\0\x01\x04", b"\0\0\0\xff\x04\x03\x00\x00", b"\0\0\0\x02\x04")
    return each_judged(peer, map(act, wrong))


@case("encoding.declared-queues-stay", covers=["encoding/command/truncated"])
def refused_commands_have_no_effect(peer: Peer) -> Verdict:
    """A command that cannot be decoded has no effect."""
    name = peer.will_clean("queue", peer.name("q"))
    octets = encode_instruction("queue.declare", {"queue": name, "arguments": {"a": 1}}, sync=True)
    reaction_to(peer, command_of(octets[:-1]))
    peer.open_session()
    peer.claim("no queue of that name")
    return equals(peer, queues_there(peer, [name]), [], "queues")
