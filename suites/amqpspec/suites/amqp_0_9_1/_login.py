"""A login of two rounds: a mechanism with a challenge, its right and wrong answers.

Knows: the demonstration plugin of RabbitMQ that asks back. Must not know: single cases.
"""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.suites.mechanisms import needs_mechanism

# The user's name in start-ok, then the password in a sentence. PLAIN and AMQPLAIN are over in one round.
CHALLENGE_MECHANISM = "RABBIT-CR-DEMO"
CHALLENGE_ANSWER = b"My password is "
WRONG_PASSWORD = "not the password"


def greeted_with(peer: Peer, mechanism: str) -> None:
    """Receive connection.start, which offers a mechanism; raises OutOfReach if it does not."""
    peer.greet()
    needs_mechanism(mechanism, peer.mechanisms)


def chooses_challenge(peer: Peer) -> bool:
    """Pick the mechanism with two rounds if it is offered; the first round carries the name."""
    if CHALLENGE_MECHANISM.encode() not in peer.greet()["mechanisms"].split():
        return False
    peer.start_ok(mechanism=CHALLENGE_MECHANISM, response=peer.login.user.encode())
    return True
