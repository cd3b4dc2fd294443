"""Section 2: questions and answers."""

from __future__ import annotations

from amqpspec.run.case import case
from amqpspec.run.oracles import equals, judge_reaction
from amqpspec.run.verdict import Verdict
from tests.toy.peer import Peer


@case("ask.answered", covers=["ask/answered"])
def an_ask_is_answered(peer: Peer) -> Verdict:
    """An ask is answered with its own octets."""
    peer.open_connection()
    peer.claim("the octets that were asked")
    return equals(peer, [peer.ask(b"one"), peer.ask(b"other")], [b"one", b"other"], "answers")


@case("ask.empty", covers=["ask/empty"])
def an_empty_ask(peer: Peer) -> Verdict:
    """An ask without octets is refused."""
    peer.open_connection()
    peer.send("ask")
    return judge_reaction(peer, peer.reaction())


@case("frame.type.undefined", covers=["frame/type"])
def an_undefined_type(peer: Peer) -> Verdict:
    """A frame of a type that is not defined is refused."""
    peer.open_connection()
    peer.send(99, b"what")
    return judge_reaction(peer, peer.reaction())


@case("frame.size.zero", covers=["frame/size"])
def a_frame_without_a_type(peer: Peer) -> Verdict:
    """A frame without a type is refused."""
    peer.open_connection()
    peer.send_octets(b"\0")
    return judge_reaction(peer, peer.reaction())
