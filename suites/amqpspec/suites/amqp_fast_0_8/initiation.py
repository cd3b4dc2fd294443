"""The greeting: two octets, and what answers them (connection-initiation, frame-syntax)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict

_SOMEWHAT_LARGER, _LARGEST = 2, 255


@case("initiation.valid", covers=["initiation/valid", "initiation/version", "scenarios/preparing/challenge"])
def a_valid_greeting(peer: Peer) -> Verdict:
    """The octets 128 and 1 are answered with CHALLENGE, version 1."""
    peer.claim("CONNECTION CHALLENGE, version 1")
    return equals(peer, peer.greet()["version"], 1, "version")


@case("initiation.version-zero", covers=["syntax/initiation"])
def version_zero(peer: Peer) -> Verdict:
    """A greeting with version 0 is not a valid one."""
    peer.send_header(b"\x80\x00")
    return rejects_violation(peer, barrier=None)
