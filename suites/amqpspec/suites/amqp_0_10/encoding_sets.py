"""Encoding: sets of command ids, in controls and in commands (type sequence-set).

Knows: ranges of ids, octets of commands. Must not know: targets.
"""

from __future__ import annotations

import struct

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._sessions import among, completed_now
from amqpspec.suites.amqp_0_10._wire import command_of, control_of, each_judged
from amqpspec.wire.amqp_0_10.instructions import encode_instruction
from amqpspec.wire.values import Raw

_MOST = 0xFFFFFFFF
_OUT_OF_ORDER = (((5, 6), (1, 2)), ((1, 4), (3, 6)), ((1, 2), (3, 4)), ((4, 1),))
"""Descending, overlapping, touching ranges, and one that ends before it begins."""


def _worked(peer: Peer, commands: int, start: int = 0) -> None:
    peer.knows = False
    peer.open_session(point=start)
    for _ in range(commands - 1):
        peer.send("execution.sync")
    peer.call("execution.sync")


@case("type.sequence-set.sent", covers=["type/sequence-set/layout"])
def sets_of_ours(peer: Peer) -> Verdict:
    """The server reads both ends of each range that the client sends: of seven ids, it removes 1 to 2 and 5."""
    _worked(peer, 7)
    peer.claim("ids 0, 3, 4 and 6")
    peer.send("session.known-completed", commands=((1, 2), (5, 5)))
    found = among(completed_now(peer), range(7))
    return equals(peer, found, [True, False, False, True, True, False, True], "reported completed")


@case("type.sequence-set.told", covers=["type/sequence-set/layout"])
def sets_of_the_target(peer: Peer) -> Verdict:
    """A set that the server sends, with a gap and across the end of 32 bits, is ordered and no ranges touch."""
    _worked(peer, 5, _MOST - 1)
    peer.send("session.known-completed", commands=((0, 0),))
    peer.claim("ranges in ascending order that do not touch: 4294967294 to 4294967295 and 1 to 2")
    return equals(peer, completed_now(peer), ((_MOST - 1, _MOST), (1, 2)), "ranges")


@case("type.sequence-set.empty", covers=["type/sequence-set/layout"])
def empty_sets(peer: Peer) -> Verdict:
    """The server accepts a set without ranges, and it changes nothing."""
    _worked(peer, 3)
    peer.claim("ids 0 to 2")
    peer.send("session.known-completed", commands=())
    return equals(peer, among(completed_now(peer), range(4)), [True, True, True, False], "reported completed")


@in_session("type.sequence-set.wide", covers=["type/sequence-set/layout"])
def wide_sets(peer: Peer) -> Verdict:
    """The server accepts a range of nearly half of all numbers, and the session continues to work."""
    peer.claim("no refusal")
    peer.send("session.known-completed", commands=((0x80000001, _MOST),))
    return allows(peer)


def _known(ranges: tuple[tuple[int, int], ...]) -> bytes:
    return encode_instruction("session.known-completed", {"commands": ranges})


@case("type.sequence-set.disjoint.control", covers=["type/sequence-set/disjoint"])
def disorder_in_controls(peer: Peer) -> Verdict:
    """A control with unordered ranges violates the type and may be refused."""
    return each_judged(peer, [control_of(_known(ranges)) for ranges in _OUT_OF_ORDER], borne)


@case("type.sequence-set.disjoint.command", covers=["type/sequence-set/disjoint"])
def disorder_in_commands(peer: Peer) -> Verdict:
    """A command with unordered ranges violates the type and may be refused."""
    wrong = [encode_instruction("message.accept", {"transfers": ranges}) for ranges in _OUT_OF_ORDER]
    return each_judged(peer, [command_of(octets) for octets in wrong], borne)


@case("type.sequence-set.cut", covers=["encoding/command/truncated", "type/sequence-set/layout"])
def cut_sets(peer: Peer) -> Verdict:
    """A set whose size is not a multiple of a pair is refused."""
    sizes = [struct.pack(">H", size) + bytes(size) for size in (1, 4, 12)]
    wrong = [encode_instruction("message.accept", {"transfers": Raw(octets)}) for octets in sizes]
    return each_judged(peer, [command_of(octets) for octets in wrong])
