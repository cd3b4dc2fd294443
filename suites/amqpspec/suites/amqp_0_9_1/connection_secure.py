"""Connections: the login: passwords, challenges and what may not come in their place (amqp-0-9-1 class connection)."""

from __future__ import annotations

from dataclasses import replace

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._login import (
    CHALLENGE_ANSWER,
    CHALLENGE_MECHANISM,
    WRONG_PASSWORD,
    chooses_challenge,
    greeted_with,
)


@case("connection.secure.wrong-password", covers=["connection/secure"], slow=True)
def wrong_password(peer: Peer) -> Verdict:
    """The server sends no tune after a wrong password."""
    return _refuses_login(peer, "PLAIN", password=WRONG_PASSWORD)


@case("connection.secure.empty-password", covers=["connection/secure"], slow=True)
def empty_password(peer: Peer) -> Verdict:
    """The server sends no tune after an empty password."""
    return _refuses_login(peer, "PLAIN", password="")


@case("connection.secure.empty-name", covers=["connection/secure"], slow=True)
def empty_name_and_password(peer: Peer) -> Verdict:
    """The server sends no tune after an empty user name and an empty password."""
    return _refuses_login(peer, "PLAIN", user="", password="")


@case("connection.secure.amqplain-empty-password", covers=["connection/secure"], slow=True)
def empty_password_by_amqplain(peer: Peer) -> Verdict:
    """The server sends no tune after an empty password in AMQPLAIN."""
    return _refuses_login(peer, "AMQPLAIN", password="")


@case("connection.secure.empty-answer", covers=["connection/secure"])
def empty_answer_to_challenge(peer: Peer) -> Verdict:
    """The server sends no tune after an answer to a challenge that contains an empty password."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.tune-ok-instead", covers=["connection/grammar", "connection/secure"])
def open_while_challenged(peer: Peer) -> Verdict:
    """tune-ok and open in place of the answer to a challenge do not bypass the login."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.tune-ok", channel=0, frame_max=peer.dialect.layout.min_size_octets)
    # tune-ok has no reply. connection.open after it makes a server that took it show so.
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.open-instead", covers=["connection/grammar", "connection/secure"])
def open_alone_while_challenged(peer: Peer) -> Verdict:
    """open in place of the answer to a challenge does not bypass the login."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.unknown-user", covers=["connection/secure"], slow=True)
def unknown_user(peer: Peer) -> Verdict:
    """The server sends no tune to an unknown user."""
    return _refuses_login(peer, "PLAIN", user=peer.name("nobody"))


@case("connection.secure.amqplain-wrong-password", covers=["connection/secure"], slow=True)
def wrong_password_by_amqplain(peer: Peer) -> Verdict:
    """The server sends no tune after a wrong password in AMQPLAIN."""
    return _refuses_login(peer, "AMQPLAIN", password=WRONG_PASSWORD)


@case("connection.secure.malformed-response", covers=["connection/secure"], slow=True)
def malformed_response(peer: Peer) -> Verdict:
    """A response that is not in the format of PLAIN is rejected, even if it contains the right credentials."""
    greeted_with(peer, "PLAIN")
    # Without the zero octets that RFC 4616 puts before name and password.
    peer.start_ok(mechanism="PLAIN", response=f"{peer.login.user}{peer.login.password}".encode())
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.without-response", covers=["connection/secure"], slow=True)
def no_initial_response(peer: Peer) -> Verdict:
    """After PLAIN without a response, the server sends a challenge that can be answered or closes, but never tunes."""
    greeted_with(peer, "PLAIN")
    peer.start_ok(mechanism="PLAIN", response=b"")
    reaction = peer.reaction(0, barrier=False)
    last = reaction.arrivals[-1]
    if not isinstance(last, MethodArrived) or last.name != "connection.secure":
        return judge_reaction(peer, reaction)
    peer.claim("tune once the challenge is answered")
    peer.send("connection.secure-ok", channel=0, response=peer.credentials("PLAIN"))
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "secure, then tune")


@case("connection.secure.challenge", covers=["connection/secure"])
def challenge_and_answer(peer: Peer) -> Verdict:
    """With a mechanism of two rounds, the server first sends a challenge, and tune only after the right answer."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.claim("secure, then tune for the right answer")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER + peer.login.password.encode())
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "secure, then tune")


@case("connection.secure.wrong-answer", covers=["connection/secure"])
def wrong_answer_to_challenge(peer: Peer) -> Verdict:
    """The server sends no tune after a wrong answer to a challenge."""
    if not chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER + WRONG_PASSWORD.encode())
    return rejects_violation(peer, 0, barrier=False)


# --- steps of this module


def _refuses_login(peer: Peer, mechanism: str, **wrong: str) -> Verdict:
    """A login by a mechanism, with another user or password than the peer's, is refused."""
    greeted_with(peer, mechanism)
    peer.login = replace(peer.login, **wrong)
    peer.start_ok(mechanism=mechanism)
    return rejects_violation(peer, 0, barrier=False)
