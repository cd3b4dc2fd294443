"""The greeting: two octets, and what answers them (connection-initiation, frame-syntax), and CHALLENGE."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.events import Ended
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict

_LOGIN_FRAME_OCTETS = 4096


def _ends(peer: Peer, octets: bytes) -> Verdict:
    """A greeting ends the socket, and one that is valid does not lead on from there."""
    peer.send_header(octets)
    peer.send_octets(b"\x80\x01")
    verdict = rejects_violation(peer, barrier=None)
    asked = bool(peer.stashed(lambda a: a.kind == "connection.challenge"))
    return worst([verdict, holds(peer, not asked, "CHALLENGE" if asked else "no CHALLENGE")])


@case("initiation.valid", covers=["initiation/valid", "initiation/version", "scenarios/preparing/challenge"])
def a_valid_greeting(peer: Peer) -> Verdict:
    """The octets 128 and 1 are answered with CHALLENGE, version 1."""
    peer.claim("CONNECTION CHALLENGE, version 1")
    return equals(peer, peer.greet()["version"], 1, "version")


@case("initiation.in-pieces", covers=["initiation/valid"])
def a_greeting_in_pieces(peer: Peer) -> Verdict:
    """A greeting in two separate octets is valid; the target sends nothing before the second."""
    peer.claim("CONNECTION CHALLENGE after the second octet")
    peer.send_octets(b"\x80")
    early = peer.arrival("connection.challenge", within_s=peer.context.patience.quiet_s)
    peer.send_octets(b"\x01")
    peer.expect("connection.challenge")
    return equals(peer, early.kind, "nothing", "after the first octet")


@case("initiation.version-zero", covers=["syntax/initiation"])
def version_zero(peer: Peer) -> Verdict:
    """The target closes the socket after a greeting with version 0."""
    return _ends(peer, b"\x80\x00")


@case("initiation.higher-version", covers=["initiation/version", "connection/challenge/version"])
def a_higher_version(peer: Peer) -> Verdict:
    """The target answers a greeting with a higher version with CHALLENGE, version 1, or closes the socket."""
    verdicts = []
    for greeted in (2, 255):
        line = peer.another()
        line.claim("version 1, or the socket closes")
        line.send_header(bytes((0x80, greeted)))
        answer = line.wait(lambda a: a.kind == "connection.challenge", line.context.patience.ending_s)
        version = answer.get("version") if isinstance(answer, CommandArrived) else None
        ended = isinstance(answer, Ended) or line.closes(answer)
        verdicts.append(holds(line, ended or version == 1, answer))
    return worst(verdicts)


@case("initiation.protocol-ids", covers=["initiation/protocol-ids"])
def reserved_protocol_ids(peer: Peer) -> Verdict:
    """A greeting with a reserved protocol id is invalid."""
    return worst(_ends(peer.another(), bytes((id, 1))) for id in (129, 160))


@case("initiation.invalid", covers=["initiation/invalid"])
def no_protocol_at_all(peer: Peer) -> Verdict:
    """The target closes the socket, without sending anything, after octets that are no protocol greeting."""
    return worst(_ends(peer.another(), octets) for octets in (b"\x00\x01", b"\x7f\x01", b"\x01\x80"))


@case("challenge.version", covers=["connection/challenge/version"])
def challenge_with_the_version_asked_for(peer: Peer) -> Verdict:
    """The version in CHALLENGE is not higher than the client's."""
    peer.claim("a version of at most 1")
    version = peer.greet(b"\x80\x01")["version"]
    return holds(peer, version <= 1, f"version {version}")


@case("challenge.mechanisms", covers=["connection/challenge/mechanisms", "connection/challenge/plain"])
def mechanisms_are_listed_by_spaces(peer: Peer) -> Verdict:
    """CHALLENGE lists mechanisms as separate words, including PLAIN."""
    peer.claim("words separated by spaces, one of them PLAIN")
    listed = peer.greet()["mechanisms"]
    sound = all(word.replace("-", "").replace("_", "").isalnum() for word in listed.split(" "))
    return holds(peer, sound and "PLAIN" in listed.split(" "), f"mechanisms {listed!r}")


@case("challenge.size", covers=["connection/challenge/size"])
def a_challenge_is_small(peer: Peer) -> Verdict:
    """A CHALLENGE frame has at most 4096 octets."""
    peer.claim("a frame of at most 4096 octets")
    peer.greet()
    octets = peer.listener.largest_frame_octets
    return holds(peer, octets <= _LOGIN_FRAME_OCTETS, f"a frame of {octets} octets")
