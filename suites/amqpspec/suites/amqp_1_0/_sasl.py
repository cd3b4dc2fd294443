"""Steps that cases about the login share: attempts on connections of their own, and how a target answers.

Knows: SASL frames, successful logins. Must not know: single cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import MissingHook, OutOfReach
from amqpspec.peer.events import Arrival, Ended, HeaderArrived, Reaction
from amqpspec.peer.sasl import Conversation
from amqpspec.record.rows import Outcome
from amqpspec.run.oracles import holds, verdict_on, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about, plain_frame
from amqpspec.suites.mechanisms import needs_mechanism
from amqpspec.wire.amqp_1_0.frames import SASL_FRAME, encode_frame

OK, AUTH = 0, 1
_REFUSED = (1, 2, 3, 4)
_NO_PASSWORD = ("ANONYMOUS", "EXTERNAL")
REFUSED_LOGIN = "sasl-outcome code 1, or another refusal"
_SCRAM = ("SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512")
_SCRAM_STEPS = 3
EMPTY_SASL_FRAME = encode_frame(b"", 0, SASL_FRAME)


def greeted(peer: Peer) -> tuple[str, ...]:
    """The headers of the SASL layer, then the mechanisms on offer; raises OutOfReach if a run has no such layer."""
    if peer.is_bare:
        raise OutOfReach("the run logs in without a security layer")
    peer.send_header("sasl")
    peer.expect_header("sasl")
    return peer.offered()


def offers(peer: Peer, mechanism: str) -> tuple[str, ...]:
    """Like ``greeted``; raises OutOfReach if a mechanism is not offered, MissingHook if no password is known."""
    offered = greeted(peer)
    needs_mechanism(mechanism, offered)
    _password_known(peer)
    return offered


def _password_known(peer: Peer) -> None:
    if peer.login.mechanism.upper() in _NO_PASSWORD:
        raise MissingHook(f"the run logs in with {peer.login.mechanism}: no password is known")


def plain(peer: Peer, *, user: str | None = None, password: str | None = None) -> bytes:
    """A message of PLAIN; name and password are those of the run if none are given."""
    name = peer.login.user if user is None else user
    return f"\0{name}\0{peer.login.password if password is None else password}".encode()


def init(peer: Peer, response: bytes | None, mechanism: str = "PLAIN") -> bytes:
    """A sasl-init as octets that are not booked."""
    return peer.exact("sasl-init", mechanism=mechanism, initial_response=response, hostname=peer.hostname)


# --- what a target says


def answer(peer: Peer, within_s: float | None = None) -> Arrival:
    """The result of the login next: a challenge, an outcome, the answer to a begin, or an end."""
    within_s = peer.context.patience.ending_s if within_s is None else within_s
    # An open proves nothing: a target may write its own before it has read any (amqp-1.0 §2.4.1).
    return peer.arrival("sasl-challenge", "sasl-outcome", "begin", channel=None, within_s=within_s)


def is_outcome(arrival: Arrival, *codes: int) -> bool:
    """Whether it is an outcome with one of these codes."""
    return isinstance(arrival, FrameArrived) and arrival.name == "sasl-outcome" and arrival["code"] in codes


def lets_in(arrival: Arrival) -> bool:
    """Whether a target serves who sent what was sent: by a good outcome, or by a begin in answer to one."""
    return is_outcome(arrival, OK) or (isinstance(arrival, FrameArrived) and arrival.name == "begin")


def let_in(peer: Peer, arrival: Arrival, row: str = "") -> Verdict:
    """The login is good, and an open after the AMQP header is answered."""
    if not is_outcome(arrival, OK):
        return holds(peer, False, arrival, row=row)
    peer.send_header("amqp")
    peer.expect_header("amqp")
    peer.open()
    return holds(peer, True, f"{arrival.describe(peer.dialect)}, then open", row=row)


def turned_away(peer: Peer, arrival: Arrival, row: str = "") -> Verdict:
    """The login is refused by the outcome for what the client gave; another one, or an end alone, is not strict."""
    if is_outcome(arrival, AUTH):
        return holds(peer, True, arrival, row=row)
    verdict = holds(peer, False, arrival, row=row)
    kept_out = is_outcome(arrival, *_REFUSED) or isinstance(arrival, Ended)
    return replace(verdict, outcome=Outcome.NONSTRICT) if kept_out else verdict


def each_turned_away(peer: Peer, responses: Mapping[str, bytes | None], mechanism: str = "PLAIN") -> Verdict:
    """Every one of these responses is refused, each on a separate connection."""
    verdicts = []
    for what, response in responses.items():
        other = peer.another()
        greeted(other)
        other.send_octets(init(other, response, mechanism))
        verdicts.append(about(turned_away(peer, answer(other)), what))
        other.hang_up()
    return worst(verdicts)


def kept_out(peer: Peer, arrival: Arrival, row: str = "") -> Verdict:
    """What no rule says how to refuse: an end, a refusal and silence are all fine; to be served is not."""
    if lets_in(arrival):
        return holds(peer, False, arrival, "no login by that", row)
    return verdict_on(peer, Outcome.OBSERVED, peer.claimed or "no login by that", arrival)


def going_on(peer: Peer) -> bytes:
    """What follows the AMQP header after a login, as octets that are not booked: an open and a begin."""
    opening = peer.exact("open", container_id=peer.container_id, hostname=peer.hostname)
    return opening + plain_frame(peer, "begin")


def last_answer(peer: Peer) -> Arrival:
    """A target's reaction to a broken login: success, a challenge, silence, or the end."""
    arrival = answer(peer)
    while is_outcome(arrival, *_REFUSED) or isinstance(arrival, HeaderArrived):
        arrival = answer(peer)
    return arrival


def watched(peer: Peer) -> Reaction:
    """The same as a reaction, which a row judges."""
    return peer.reaction_of([last_answer(peer)])


def each_kept_out(peer: Peer, sent: Mapping[str, bytes]) -> Verdict:
    """None of these octets, after the mechanisms and before an AMQP header and an open, logs in."""
    verdicts = []
    for what, octets in sent.items():
        other = peer.another()
        greeted(other)
        other.send_octets(octets)
        verdicts.append(about(kept_out(peer, last_answer(other)), what))
        other.hang_up()
    return worst(verdicts)


def scram_of(peer: Peer) -> tuple[str, ...]:
    """The variants of SCRAM that are offered; raises OutOfReach if there are none, MissingHook without a password."""
    offered = greeted(peer)
    known = tuple(name for name in offered if name in _SCRAM)
    if not known:
        raise OutOfReach(f"the target offers {', '.join(offered) or 'nothing'}, the case needs SCRAM")
    _password_known(peer)
    return known


def said_by_scram(peer: Peer, mechanism: str, talk: Conversation) -> Arrival:
    """The last word about a login by SCRAM, on a separate connection."""
    other = peer.another()
    greeted(other)
    other.send_octets(init(other, talk.first(), mechanism))
    for _ in range(_SCRAM_STEPS):
        arrival = answer(other)
        if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-challenge":
            break
        # A server may tell what is wrong in a challenge of its own, which is answered by nothing (RFC 5802 §7).
        told = arrival["challenge"].startswith(b"e=")
        response = b"" if told else talk.answer(arrival["challenge"])
        other.send_octets(other.exact("sasl-response", response=response))
    other.hang_up()
    return arrival


def logs_in(peer: Peer, **of_init: Any) -> Verdict:
    """A login on a separate connection, with the given init, is accepted."""
    other = peer.another()
    greeted(other)
    return holds(peer, True, other.log_in(**of_init))
