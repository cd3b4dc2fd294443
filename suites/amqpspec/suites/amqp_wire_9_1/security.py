"""Security: invalid data ends a channel or the connection, and a handshake that goes wrong is kept waiting first.

The draft says several seconds. Here, only the order of magnitude is judged.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.peer.context import Login
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds, judge_reaction, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._login import (
    CHALLENGE_ANSWER,
    CHALLENGE_MECHANISM,
    WRONG_PASSWORD,
    chooses_challenge,
)
from amqpspec.suites.amqp_0_9_1._wire import method_payload, shortstr, table
from amqpspec.suites.mechanisms import needs_mechanism

# The draft says several seconds. On a busy machine both ends of the measurement blur, so half a second
# more than an honest login is treated as intent.
_PAUSE_S = 0.5
"""The least that is treated as a pause, beyond what an honest login takes at that moment."""
_PATIENCE_S = 15.0
"""More than what is treated as several seconds."""
_TICKET = b"\x00\x00"


@on_channel("security.invalid-data", covers=["security/invalid-data"])
def invalid_data_in_a_method(peer: Peer) -> Verdict:
    """A method whose field announces more octets than it contains closes its channel or the connection."""
    # Ticket, name, bits, then a table of 0x7FFFFFFF octets: the largest size that stays positive with a sign.
    arguments = _TICKET + shortstr("q") + b"\x00" + table(b"", size=0x7FFFFFFF)
    peer.send_frame("method", method_payload(peer, "queue.declare", arguments))
    return outlived(peer, rejects_violation(peer))


@case("security.invalid-data.others-work-on", covers=["security/invalid-data"])
def invalid_data_hurts_nobody_else(peer: Peer) -> Verdict:
    """Invalid data on one connection does not affect another."""
    other = peer.another().open_channel()
    peer.open_channel()
    # The table holds one octet: a name that announces 255.
    arguments = _TICKET + shortstr("q") + b"\x00" + table(b"\xff")
    peer.send_frame("method", method_payload(peer, "queue.declare", arguments))
    verdict = rejects_violation(peer)
    peer.claim("another connection continues to work")
    other.barrier()
    return worst([verdict, equals(peer, other.ended, None, "end of the other connection")])


@case("security.negotiation-pause", covers=["security/negotiation-pause"], slow=True)
def failed_login_is_kept_waiting(peer: Peer) -> Verdict:
    """After a failed login, the server pauses in the order of seconds and then closes the socket."""
    return _paused(peer, _fail_to_log_in)


@case(
    "security.negotiation-pause.syntax",
    covers=["security/negotiation-pause", "security/negotiation-errors"],
    slow=True,
)
def broken_start_ok_is_kept_waiting(peer: Peer) -> Verdict:
    """After an undecodable start-ok, the server pauses in the order of seconds and then closes the socket."""
    return _paused(peer, _send_broken_start_ok)


@case("security.negotiation-errors.login", covers=["security/negotiation-errors"], slow=True)
def failed_login_ends(peer: Peer) -> Verdict:
    """After a failed login, the server closes the socket and sends no tune."""
    return _ends(peer, _fail_to_log_in)


@case("security.negotiation-errors.answer", covers=["security/negotiation-errors"], slow=True)
def failed_answer_ends(peer: Peer) -> Verdict:
    """The server closes the socket after a wrong answer to the login challenge, and never sends tune."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.claim("secure, then the socket closes")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER + WRONG_PASSWORD.encode())
    return judge_reaction(peer, peer.reaction(0, barrier=False, within_s=_PATIENCE_S))


@case("security.negotiation-errors.syntax", covers=["security/negotiation-errors"], slow=True)
def broken_start_ok_ends(peer: Peer) -> Verdict:
    """The server closes the socket after a start-ok that cannot be decoded."""
    return _ends(peer, _send_broken_start_ok)


@case(
    "security.negotiation-errors.oversized",
    covers=["security/negotiation-errors"],
    slow=True,
    destructive=True,
)
def oversized_start_ok_ends(peer: Peer) -> Verdict:
    """The server closes the socket after a start-ok that announces 4 GiB, without waiting for the data."""
    # A server may block new connections of a client that broke off many logins (security): one is open already.
    other = peer.another().open_channel()
    return outlived(peer, _ends(peer, _announce_too_much), other.barrier)


# --- steps of this module


def _fail_to_log_in(peer: Peer) -> None:
    needs_mechanism("PLAIN", peer.mechanisms)
    peer.login = Login(peer.login.user, WRONG_PASSWORD, peer.login.vhost)
    peer.start_ok(mechanism="PLAIN")


def _send_broken_start_ok(peer: Peer) -> None:
    peer.send_frame("method", method_payload(peer, "connection.start-ok", table(b"", size=1000)), 0)


def _announce_too_much(peer: Peer) -> None:
    # 64 KiB come, so that the announced 4 GiB look as if they would.
    filler = bytes(64 * 1024)
    peer.send_octets(peer.frame("method", filler, 0, size=0xFFFFFFFF)[:-1])


def _ends(peer: Peer, act: Callable[[Peer], None]) -> Verdict:
    """What is done to the handshake ends the socket, in whatever time, and there is no tune."""
    peer.greet()
    act(peer)
    # Before connection.open no channel can carry a barrier.
    return judge_reaction(peer, peer.reaction(0, barrier=False, within_s=_PATIENCE_S))


def _paused(peer: Peer, act: Callable[[Peer], None]) -> Verdict:
    """What is done to the handshake ends the socket, after a pause: on a busy machine, honest logins take long, too."""
    honest_s = _honest_login_s(peer)
    peer.greet()
    started_s = peer.now()
    act(peer)
    reaction = peer.reaction(0, barrier=False, within_s=_PATIENCE_S)
    verdict = judge_reaction(peer, reaction)
    tuned = any(isinstance(a, MethodArrived) and a.name == "connection.tune" for a in reaction.arrivals)
    if tuned or reaction.refusal is None:
        return verdict
    lasted_s = peer.now() - started_s
    # Measured again afterwards: the load may have grown since.
    honest_s = max(honest_s, _honest_login_s(peer))
    reported = (
        f"{reaction.describe(peer.dialect)} after {lasted_s:.1f} s; an honest login took {honest_s:.1f} s"
    )
    # What an honest login takes is no pause: it is the machine, or the target checking a password.
    paused = lasted_s - honest_s >= _PAUSE_S
    wanted = "the end after a pause of the order of seconds"
    return worst([verdict, holds(peer, paused, reported, wanted, seen=reaction)])


def _honest_login_s(peer: Peer) -> float:
    """How long the target takes from start-ok to tune just now, in seconds."""
    other = peer.another()
    other.greet()
    started_s = other.now()
    other.start_ok()
    other.expect("connection.tune", channel=0)
    lasted_s = other.now() - started_s
    other.hang_up()
    return lasted_s
