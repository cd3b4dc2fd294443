"""Connections: the login: passwords, challenges and what may not come in their place (amqp-0-9-1 class connection)."""

from __future__ import annotations

from dataclasses import replace

from amqpspec.peer.context import Login
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, holds, judge_reaction
from amqpspec.run.verdict import Verdict

# A demonstration plugin of RabbitMQ that asks back: the user's name in start-ok, then the password in a
# sentence. PLAIN and AMQPLAIN are over in one round.
CHALLENGE_MECHANISM = "RABBIT-CR-DEMO"
CHALLENGE_ANSWER = b"My password is "
WRONG_PASSWORD = "not the password"


@case("connection.secure.wrong-password", covers=["connection/secure"], slow=True)
def wrong_password(peer: Peer) -> Verdict:
    """A wrong password is no proof: there is no tune."""
    peer.greet()
    peer.login = Login(peer.login.user, WRONG_PASSWORD)
    peer.start_ok(mechanism="PLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.empty-password", covers=["connection/secure"], slow=True)
def empty_password(peer: Peer) -> Verdict:
    """An empty password is a wrong one: there is no tune."""
    peer.greet()
    peer.login = replace(peer.login, password="")
    peer.start_ok(mechanism="PLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.empty-name", covers=["connection/secure"], slow=True)
def empty_name_and_password(peer: Peer) -> Verdict:
    """Neither a name nor a password is no proof: there is no tune."""
    peer.greet()
    peer.login = replace(peer.login, user="", password="")
    peer.start_ok(mechanism="PLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.amqplain-empty-password", covers=["connection/secure"], slow=True)
def empty_password_by_amqplain(peer: Peer) -> Verdict:
    """An empty password by AMQPLAIN is a wrong one: there is no tune."""
    if b"AMQPLAIN" not in peer.greet()["mechanisms"].split():
        return does_not_apply(peer, "AMQPLAIN is not offered")
    peer.login = replace(peer.login, password="")
    peer.start_ok(mechanism="AMQPLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.empty-answer", covers=["connection/secure"])
def empty_answer_to_challenge(peer: Peer) -> Verdict:
    """An answer to a challenge with an empty password in it is no proof: there is no tune."""
    if not _chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.tune-ok-instead", covers=["connection/grammar", "connection/secure"])
def open_while_challenged(peer: Peer) -> Verdict:
    """While a challenge waits for its answer, tune-ok and open do not get past the login."""
    if not _chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.tune-ok", channel=0, frame_max=peer.dialect.layout.min_size_octets)
    # tune-ok has no reply. connection.open behind it makes a server that took it show so.
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.open-instead", covers=["connection/grammar", "connection/secure"])
def open_alone_while_challenged(peer: Peer) -> Verdict:
    """While a challenge waits for its answer, open alone does not get past the login."""
    if not _chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.unknown-user", covers=["connection/secure"], slow=True)
def unknown_user(peer: Peer) -> Verdict:
    """A user whom the server does not know gets no tune."""
    peer.greet()
    peer.login = Login(peer.name("nobody"), peer.login.password)
    peer.start_ok(mechanism="PLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.amqplain-wrong-password", covers=["connection/secure"], slow=True)
def wrong_password_by_amqplain(peer: Peer) -> Verdict:
    """A wrong password by AMQPLAIN is no proof: there is no tune."""
    if b"AMQPLAIN" not in peer.greet()["mechanisms"].split():
        return does_not_apply(peer, "AMQPLAIN is not offered")
    peer.login = Login(peer.login.user, WRONG_PASSWORD)
    peer.start_ok(mechanism="AMQPLAIN")
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.malformed-response", covers=["connection/secure"], slow=True)
def malformed_response(peer: Peer) -> Verdict:
    """A response that is none of PLAIN's, though the right words are in it, is no proof."""
    peer.greet()
    # Without the zero octets that RFC 4616 puts before name and password.
    peer.start_ok(mechanism="PLAIN", response=f"{peer.login.user}{peer.login.password}".encode())
    return rejects_violation(peer, 0, barrier=False)


@case("connection.secure.without-response", covers=["connection/secure"], slow=True)
def no_initial_response(peer: Peer) -> Verdict:
    """PLAIN without a response brings a challenge that can be answered, or the end, but no tune."""
    peer.greet()
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
    """A mechanism of two rounds brings a challenge first, and tune only for the right answer."""
    if not _chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.claim("secure, then tune for the right answer")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER + peer.login.password.encode())
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "secure, then tune")


@case("connection.secure.wrong-answer", covers=["connection/secure"])
def wrong_answer_to_challenge(peer: Peer) -> Verdict:
    """A wrong answer to a challenge is no proof: there is no tune."""
    if not _chooses_challenge(peer):
        return does_not_apply(peer, f"{CHALLENGE_MECHANISM} is not offered")
    peer.expect("connection.secure", channel=0)
    peer.send("connection.secure-ok", channel=0, response=CHALLENGE_ANSWER + WRONG_PASSWORD.encode())
    return rejects_violation(peer, 0, barrier=False)


# --- steps of this module


def _chooses_challenge(peer: Peer) -> bool:
    """Pick the mechanism that takes two rounds, where it is offered; the first round carries the name."""
    if CHALLENGE_MECHANISM.encode() not in peer.greet()["mechanisms"].split():
        return False
    peer.start_ok(mechanism=CHALLENGE_MECHANISM, response=peer.login.user.encode())
    return True
