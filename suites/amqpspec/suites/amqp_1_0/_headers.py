"""Protocol headers, and what a target does about those that it does not want."""

from __future__ import annotations

from dataclasses import replace

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import Ended, HeaderArrived, Quiet, Reaction
from amqpspec.record.rows import Outcome
from amqpspec.run.oracles import judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.wire.amqp_1_0.frames import header_id


def protocol_header(id: int, major: int = 1, minor: int = 0, revision: int = 0) -> bytes:
    """A protocol header of any layer and version."""
    return b"AMQP" + bytes((id, major, minor, revision))


def first_header(peer: Peer, major: int = 1, minor: int = 0, revision: int = 0) -> bytes:
    """The header of the layer that this target wants first, in any version."""
    # Octet 4 is the protocol id: the layer stays as the target wants it, so that the version alone is wrong.
    return protocol_header(peer.first_header[4], major, minor, revision)


def answer_to(peer: Peer, octets: bytes) -> Reaction:
    """What the target does about octets in place of its first header.

    Where the stream has not ended within the patience for answers, the right header follows: a target that passes over
    the wrong one continues then. A later end is no answer: it may be that of the time limit for logins, or the target
    took the wrong header for a right one, and ends because of the second.
    """
    peer.send_header(octets)
    first = peer.reaction(barrier=False, within_s=peer.patience_s)
    if not isinstance(first.arrivals[-1], Quiet):
        return first
    peer.send_header(peer.first_header)
    more = peer.reaction(barrier=False)
    arrivals = (*first.arrivals[:-1], *more.arrivals)
    headers = [arrival for arrival in arrivals if isinstance(arrival, HeaderArrived)]
    logs_in = any(isinstance(a, FrameArrived) and a.name.startswith("sasl") for a in more.arrivals)
    goes_on = len(headers) > 1 or logs_in
    return Reaction(arrivals[:-1] if goes_on else arrivals)


def judge_answer(peer: Peer, reaction: Reaction) -> Verdict:
    """A header in answer, then the end, as the row wants it; frames in between are not strict.

    That the stream ends straight after the header is the matter of the states of a connection.
    """
    verdict = judge_reaction(peer, reaction)
    # A target that opens and closes between header and end has named its version and left: the
    # purpose is served, not the wording.
    answered = bool(reaction.arrivals) and isinstance(reaction.arrivals[0], HeaderArrived)
    if verdict.outcome is Outcome.FAIL and answered and isinstance(reaction.arrivals[-1], Ended):
        return replace(verdict, outcome=Outcome.NONSTRICT)
    return verdict


def header_in(reaction: Reaction) -> bytes:
    """The first header in a reaction; empty if there is none."""
    return next((a.header.octets for a in reaction.arrivals if isinstance(a, HeaderArrived)), b"")


def names_version(octets: bytes) -> bool:
    """Whether a header is one of AMQP 1.0.0, of any layer that the specification has."""
    return header_id(octets) is not None


def reported(octets: bytes) -> str:
    """A description of a header."""
    return f"protocol header {' '.join(map(str, octets[4:]))}" if octets else "no protocol header"
