"""Section 1: greetings."""

from __future__ import annotations

from amqpspec.run.case import case
from amqpspec.run.oracles import holds, judge_reaction
from amqpspec.run.verdict import Verdict
from tests.toy.peer import Peer


@case("greeting.answered", covers=["greeting/answered"])
def a_greeting_is_answered(peer: Peer) -> Verdict:
    """A server answers the greeting with its own."""
    peer.claim("the greeting of the server")
    peer.open_connection()
    return holds(peer, True, "the greeting of the server")


@case("greeting.other-version", covers=["greeting/other-version"])
def another_version(peer: Peer) -> Verdict:
    """Another version is answered with the one that is served, then the connection ends."""
    peer.send_header(b"E\x02")
    return judge_reaction(peer, peer.reaction())
