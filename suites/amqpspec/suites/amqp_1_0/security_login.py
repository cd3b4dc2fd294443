"""Logging in (amqp-1.0 §5.3.3): mechanisms chosen, PLAIN, SCRAM, outcomes, and the AMQP header after them."""

from __future__ import annotations

from dataclasses import replace

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended
from amqpspec.peer.sasl import Scram
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._sasl import (
    OK,
    REFUSED_LOGIN,
    answer,
    each_turned_away,
    going_on,
    greeted,
    init,
    is_outcome,
    last_answer,
    let_in,
    lets_in,
    logs_in,
    offers,
    plain,
    said_by_scram,
    scram_of,
    turned_away,
    watched,
)
from amqpspec.suites.mechanisms import needs_mechanism
from amqpspec.wire.amqp_1_0.frames import HEADERS

# --- init


@case("sasl.init.unsupported", covers=["sasl/init/unsupported"])
def mechanism_not_offered(peer: Peer) -> Verdict:
    """A mechanism that the target does not offer fails the login, whatever the response."""
    offered = greeted(peer)
    peer.claim(REFUSED_LOGIN)
    names = [name for name in ("X-AMQPSPEC", "PLAINER", "ANONYMOUS", "EXTERNAL") if name not in offered]
    return worst([each_turned_away(peer, {name: plain(peer)}, name) for name in names])


@case("sasl.init.initial-response", covers=["sasl/init/initial-response"])
def plain_without_a_response(peer: Peer) -> Verdict:
    """The target challenges or rejects PLAIN without an initial response, and rejects an empty response."""
    offers(peer, "PLAIN")
    peer.claim("an empty challenge or a refused login")
    return worst((about(_asked(peer, None), "no response"), about(_asked(peer, b""), "no octets")))


@case("sasl.mechanisms.announced.anonymous", covers=["sasl/mechanisms/announced"])
def anonymous_login(peer: Peer) -> Verdict:
    """A client that chooses ANONYMOUS is logged in if the target offers it."""
    needs_mechanism("ANONYMOUS", greeted(peer))
    peer.claim("sasl-outcome code 0, then open")
    peer.send_octets(init(peer, b"anyone", "ANONYMOUS"))
    return let_in(peer, answer(peer))


@case("sasl.init.hostname", covers=["sasl/init/hostname"])
def init_without_hostname(peer: Peer) -> Verdict:
    """A login without a hostname succeeds."""
    peer.claim("sasl-outcome code 0")
    return logs_in(peer, hostname=OMIT)


# --- PLAIN


@case("sasl.plain.right", covers=["sasl/plain/right", "sasl/outcome/then-headers"])
def right_password(peer: Peer) -> Verdict:
    """The target accepts the user's name and password, and answers the AMQP header after the login."""
    offers(peer, "PLAIN")
    peer.claim("sasl-outcome code 0, then open")
    peer.send_octets(init(peer, plain(peer)))
    return let_in(peer, answer(peer))


@case("sasl.plain.wrong-password", covers=["sasl/plain/wrong-password"], slow=True)
def wrong_passwords(peer: Peer) -> Verdict:
    """The target rejects every password other than the user's, however similar it is."""
    offers(peer, "PLAIN")
    right = peer.login.password
    near = {
        "another one": "not-" + right,
        "one letter more": right + "x",
        "one letter less": right[:-1] or "x",
        "another case": right.swapcase() if right.swapcase() != right else right + right,
        "the password of another user": _password_of_another(peer),
    }
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, {what: plain(peer, password=word) for what, word in near.items()})


@case("sasl.plain.empty-password", covers=["sasl/plain/empty-password"])
def empty_password(peer: Peer) -> Verdict:
    """The target rejects an empty password."""
    offers(peer, "PLAIN")
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, {"no password": plain(peer, password="")})


@case("sasl.plain.unknown-user", covers=["sasl/plain/unknown-user"])
def unknown_users(peer: Peer) -> Verdict:
    """The target rejects an unknown or empty user name with the password of another user."""
    offers(peer, "PLAIN")
    names = {"an unknown name": "nobody-of-that-name", "no name": "", "a longer name": peer.login.user + "x"}
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, {what: plain(peer, user=name) for what, name in names.items()})


@case("sasl.plain.malformed", covers=["sasl/plain/malformed"])
def messages_of_other_parts(peer: Peer) -> Verdict:
    """The target rejects PLAIN without a password; it accepts or rejects a valid message in two or four parts."""
    offers(peer, "PLAIN")
    name, right = peer.login.user.encode(), plain(peer)
    peer.claim(REFUSED_LOGIN)
    verdicts = [each_turned_away(peer, {"only a name": name, "a name in three parts": b"\0" + name + b"\0"})]
    for what, response in {"two parts": right[1:], "four parts": right + b"\0x"}.items():
        other = peer.another()
        greeted(other)
        other.send_octets(init(other, response))
        arrival = answer(other)
        let_in = is_outcome(arrival, OK)
        verdicts.append(
            observed_either_way(peer, f"{what}: logged in")
            if let_in
            else about(turned_away(peer, arrival), what)
        )
    return worst(verdicts)


# --- SCRAM


@case("sasl.challenge.scram", covers=["sasl/challenge/scram"])
def right_proof(peer: Peer) -> Verdict:
    """A login by SCRAM succeeds, and the target proves that it knows the password."""
    peer.claim("sasl-outcome code 0 with the proof of the server, or a second challenge that has it")
    found = []
    for mechanism in scram_of(peer):
        other = peer.another()
        greeted(other)
        outcome = other.log_in(mechanism)
        challenges = sum(frame.name == "sasl-challenge" for frame in other.listener.frames)
        proven = challenges > 1 or bool(outcome["additional_data"])
        found.append(holds(peer, proven, f"{mechanism}: {'proven' if proven else 'no proof of the server'}"))
    return worst(found)


@case("sasl.response.scram-proof", covers=["sasl/response/scram-proof"])
def wrong_proof(peer: Peer) -> Verdict:
    """The target rejects a SCRAM login with a wrong password or an unknown user."""
    known = scram_of(peer)
    peer.claim(REFUSED_LOGIN)
    wrong = {
        "another password": replace(peer.login, password="not-" + peer.login.password),
        "an unknown user": replace(peer.login, user="nobody-of-that-name"),
    }
    return worst(
        about(
            turned_away(peer, said_by_scram(peer, mechanism, Scram(mechanism, login, peer.name("nonce")))),
            f"{mechanism}, {what}",
        )
        for mechanism in known
        for what, login in wrong.items()
    )


@case("sasl.response.scram-binding", covers=["sasl/response/scram-binding"])
def wrong_binding(peer: Peer) -> Verdict:
    """The target rejects a SCRAM response with another nonce or binding, although its proof is valid for it."""
    known = scram_of(peer)
    peer.claim(REFUSED_LOGIN)
    found = []
    for mechanism in known:
        spoilt = {
            "another nonce": Scram(mechanism, peer.login, peer.name("nonce"), more_nonce="x"),
            "another binding": Scram(mechanism, peer.login, peer.name("nonce"), binding="y,,"),
        }
        for what, talk in spoilt.items():
            verdict = turned_away(peer, said_by_scram(peer, mechanism, talk))
            found.append(about(verdict, f"{mechanism}, {what}"))
    return worst(found)


# --- the outcome


@case("sasl.outcome.code", covers=["sasl/outcome/code", "sasl/outcome/additional-data"])
def outcome_of_a_refused_login(peer: Peer) -> Verdict:
    """The target reports a wrong password with code 1."""
    return turned_away(peer, _refused(peer))


@case("sasl.outcome.additional-data", covers=["sasl/outcome/additional-data"])
def data_of_a_refused_login(peer: Peer) -> Verdict:
    """The outcome of a failed login contains no additional data."""
    arrival = _refused(peer)
    if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-outcome":
        return observed_either_way(peer, "no outcome", arrival)
    return equals(peer, "additional_data" in arrival.given, False, "additional data")


@case("sasl.terminated.closed", covers=["sasl/terminated/closed"], slow=True)
def second_attempt(peer: Peer) -> Verdict:
    """The connection ends after a failed login, whether the client retries with the right password or continues."""
    go_on = HEADERS["amqp"] + going_on(peer)
    found = []
    for what, octets in {"a second attempt": init(peer, plain(peer)) + go_on, "going on": go_on}.items():
        other = peer.another()
        _refused(other)
        peer.claim("the socket closes, whatever follows")
        other.send_octets(octets)
        arrival = last_answer(other)
        found.append(about(holds(peer, isinstance(arrival, Ended), arrival), what))
    return worst(found)


@case("sasl.terminated.shut-down-first", covers=["sasl/terminated/shut-down-first"], slow=True)
def end_of_a_refused_login(peer: Peer) -> Verdict:
    """The stream ends without a reset after a failed login."""
    first = _refused(peer)
    end = first if isinstance(first, Ended) else peer.expect_end()
    return holds(peer, isinstance(end, Ended) and end.how == "fin", end, "connection ended (FIN)")


@case("sasl.outcome.then-headers", covers=["sasl/outcome/then-headers"])
def open_without_a_second_header(peer: Peer) -> Verdict:
    """A client that sends open after the outcome without the AMQP header is not served."""
    greeted(peer)
    peer.log_in()
    peer.send_octets(going_on(peer))
    return judge_reaction(peer, watched(peer))


# --- steps of this module


def _asked(peer: Peer, response: bytes | None) -> Verdict:
    """What happens to a login by PLAIN with no message, or one of no octets."""
    other = peer.another()
    greeted(other)
    other.send_octets(init(other, response))
    arrival = answer(other)
    if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-challenge":
        return turned_away(peer, arrival)
    other.send_octets(other.exact("sasl-response", response=plain(other)))
    arrival = answer(other)
    return holds(peer, is_outcome(arrival, OK), f"a challenge, then {arrival.describe(peer.dialect)}")


def _refused(peer: Peer) -> Arrival:
    """The answer to a wrong password; raises Unmet if the login succeeds."""
    offers(peer, "PLAIN")
    peer.send_octets(init(peer, plain(peer, password="not-" + peer.login.password)))
    arrival = answer(peer)
    if lets_in(arrival):
        raise Unmet("a refused login", arrival.describe(peer.dialect), arrival)
    return arrival


def _password_of_another(peer: Peer) -> str:
    """The password of another user, one that is none if the run knows no other."""
    others = (login.password for login in peer.context.logins.values())
    return next((word for word in others if word != peer.login.password), "not-" + peer.login.password)
