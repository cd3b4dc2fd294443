"""The login (amqp-1.0 Part 5, §5.3): SASL headers, frames, mechanisms, outcomes, and the AMQP header behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.login import Scram, conversation
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, HeaderArrived, Quiet
from amqpspec.run.amqp_1_0.oracles import well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._sasl import (
    EMPTY_SASL_FRAME,
    OK,
    REFUSED_LOGIN,
    answer,
    each_kept_out,
    each_turned_away,
    greeted,
    header_and_open,
    init,
    is_outcome,
    kept_out,
    last_answer,
    let_in,
    lets_in,
    offers,
    plain,
    said_by_scram,
    scram_of,
    turned_away,
    watched,
)
from amqpspec.wire.amqp_1_0.frames import HEADERS, SASL_FRAME, TypedFrame, encode_frame

_LARGEST_OCTETS = 512
_TOO_LARGE_OCTETS = 4096
_LONG_BUDGET_S = 120.0
_HEADER_OCTETS = len(HEADERS["amqp"])
# Protocol header and frame header, which have eight octets each.
_BODY_AT = 2 * _HEADER_OCTETS
_OUTCOMES = range(5)


# --- headers and frames


@case("sasl.header", covers=["sasl/header"])
def header_of_the_layer(peer: Peer) -> Verdict:
    """The SASL header is answered by the same one, before any frame."""
    peer.claim("protocol header 3 1 0 0, then sasl-mechanisms")
    if peer.is_bare:
        greeted(peer)
    peer.send_header("sasl")
    first = peer.read(peer.now() + peer.patience_s)
    if not isinstance(first, HeaderArrived) or first.header.octets != HEADERS["sasl"]:
        return holds(peer, False, first)
    return holds(peer, True, peer.expect("sasl-mechanisms", channel=None))


@case("sasl.mechanisms.announced", covers=["sasl/mechanisms/announced"])
def mechanisms_come_first(peer: Peer) -> Verdict:
    """The target names its mechanisms without waiting for anything but the header."""
    if peer.is_bare:
        greeted(peer)
    peer.send_header("sasl")
    peer.expect_header("sasl")
    peer.claim("sasl-mechanisms first")
    first = peer.read(peer.now() + peer.patience_s)
    return holds(peer, isinstance(first, FrameArrived) and first.name == "sasl-mechanisms", first)


@case("sasl.mechanisms.list", covers=["sasl/mechanisms/list"])
def mechanisms_are_named(peer: Peer) -> Verdict:
    """The list of mechanisms is an array of symbols with one of them at least."""
    offered = greeted(peer)
    peer.claim("one mechanism or more, as symbols")
    names = all(name and name.isascii() and not name.isspace() for name in offered)
    return worst(
        (
            holds(peer, bool(offered) and names, f"mechanisms {', '.join(offered) or 'none'}"),
            well_formed(peer),
        )
    )


@case("sasl.frame.type", covers=["sasl/frame/type"])
def type_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames are of type 1."""
    return equals(peer, {frame.frame_type for frame in _own_frames(peer)}, {SASL_FRAME}, "frame types")


@case("sasl.frame.channel-zero", covers=["sasl/frame/channel-zero"])
def channel_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames have zeros where AMQP frames have their channel."""
    return equals(peer, {frame.channel for frame in _own_frames(peer)}, {0}, "octets 6 and 7")


@case("sasl.frame.doff", covers=["sasl/frame/doff"])
def offset_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames have no extended header."""
    return equals(peer, {frame.doff for frame in _own_frames(peer)}, {2}, "data offsets")


@case("sasl.frame.own-size", covers=["sasl/frame/max-size"])
def size_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames have 512 octets at most."""
    largest = max(len(frame.octets) for frame in _own_frames(peer))
    return holds(peer, largest <= _LARGEST_OCTETS, f"a frame of {largest} octets", "at most 512 octets")


@case("sasl.frame.own-body", covers=["sasl/frame/body"])
def body_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames hold one SASL type each, and nothing behind it."""
    frames = _own_frames(peer)
    right = all(frame.name.startswith("sasl-") and not frame.payload for frame in frames)
    names = ", ".join(
        frame.name + (f" and {len(frame.payload)} octets" if frame.payload else "") for frame in frames
    )
    return holds(peer, right, names, "one SASL type a frame")


@case("sasl.frame.channel-ignored", covers=["sasl/frame/channel-ignored"])
def octets_of_the_channel(peer: Peer) -> Verdict:
    """A login whose frame has other octets than zeros for its channel is as good as any."""
    peer.claim("sasl-outcome code 0")
    return worst(_login(peer, channel=channel) for channel in (1, 65535))


@case("sasl.frame.extended-header-ignored", covers=["sasl/frame/extended-header-ignored"])
def extended_header_of_a_login(peer: Peer) -> Verdict:
    """A login whose frame has an extended header is as good as any."""
    peer.claim("sasl-outcome code 0")
    return worst(_login(peer, extended=bytes(octets)) for octets in (4, 64))


@case("sasl.frame.largest", covers=["sasl/frame/max-size"])
def largest_frame(peer: Peer) -> Verdict:
    """A frame of 512 octets is read like a short one: the same wrong password is refused in the same way."""
    offers(peer, "PLAIN")
    peer.send_octets(init(peer, plain(peer, password="x")))
    short = answer(peer)
    other = peer.another()
    greeted(other)
    room = _LARGEST_OCTETS - len(init(other, plain(other, password="x" * 256))) + 256
    peer.claim(f"{short.describe(peer.dialect)}, as with a short frame")
    other.send_octets(init(other, plain(other, password="x" * room)))
    return equals(peer, answer(other).describe(peer.dialect), short.describe(peer.dialect), "answer")


@case("sasl.frame.too-large", covers=["sasl/frame/max-size"])
def oversized_initial_response(peer: Peer) -> Verdict:
    """A login in a frame of more than 512 octets is refused or borne, never left without an answer or let in."""
    offers(peer, "PLAIN")
    peer.claim("an end, or a refused login")
    peer.send_octets(init(peer, plain(peer, password="x" * _TOO_LARGE_OCTETS)))
    arrival = answer(peer)
    refused = isinstance(arrival, Ended) or is_outcome(arrival, *_OUTCOMES[1:])
    if not refused:
        return holds(peer, False, arrival)
    return observed_either_way(peer, "refused as a login" if not isinstance(arrival, Ended) else "ended")


@case("sasl.frame.empty", covers=["sasl/frame/empty"])
def empty_frame(peer: Peer) -> Verdict:
    """An empty SASL frame ends the login: what follows it is not heard."""
    greeted(peer)
    peer.send_octets(EMPTY_SASL_FRAME + _right_init(peer))
    return judge_reaction(peer, watched(peer))


@case("sasl.frame.body", covers=["sasl/frame/body"])
def frames_of_other_bodies(peer: Peer) -> Verdict:
    """A SASL frame with a body that is none lets nobody in: an open, a string, nothing but a null."""
    peer.claim("no login by a body that is no SASL frame")
    go_on = header_and_open(peer)
    bodies = {"open": go_on[_BODY_AT:], "a string": b"\xa1\x05PLAIN", "null": b"\x40"}
    frames = {what: encode_frame(body, 0, SASL_FRAME) + go_on for what, body in bodies.items()}
    return each_kept_out(peer, frames)


# --- the exchange


@case("sasl.negotiation.open-first", covers=["sasl/negotiation/choose"])
def open_without_a_login(peer: Peer) -> Verdict:
    """Who goes on to AMQP without a login, by its header or an open alone, is not served."""
    peer.claim("no open without a login")
    go_on = header_and_open(peer)
    return each_kept_out(peer, {"header and open": go_on, "open": go_on[_HEADER_OCTETS:]})


@case("sasl.negotiation.open-while-challenged", covers=["sasl/negotiation/choose"])
def open_before_the_outcome(peer: Peer) -> Verdict:
    """An open in place of the response to a challenge is not served."""
    offered = greeted(peer)
    mechanism = next((name for name in offered if name.startswith("SCRAM-")), "PLAIN")
    response = f"n,,n={peer.login.user},r=0123456789abcdef".encode() if mechanism != "PLAIN" else None
    peer.send_octets(init(peer, response, mechanism))
    arrival = answer(peer)
    peer.claim("no open before the outcome")
    if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-challenge":
        return kept_out(peer, arrival)
    peer.send_octets(header_and_open(peer)[_HEADER_OCTETS:])
    return kept_out(peer, last_answer(peer))


@case("sasl.negotiation.response-first", covers=["sasl/negotiation/steps"])
def response_without_a_challenge(peer: Peer) -> Verdict:
    """A response that no challenge asked for is no login, though it holds what a login would."""
    greeted(peer)
    peer.claim("no login by a response without a challenge")
    peer.send_octets(peer.exact("sasl-response", response=plain(peer)) + header_and_open(peer))
    return kept_out(peer, last_answer(peer))


@case("sasl.negotiation.roles", covers=["sasl/negotiation/roles"])
def client_plays_the_server(peer: Peer) -> Verdict:
    """Mechanisms, a challenge or a good outcome from the client let nobody in."""
    peer.claim("no login by the server's own frames")
    frames: dict[str, dict[str, Any]] = {
        "sasl-mechanisms": {"sasl_server_mechanisms": ("ANONYMOUS",)},
        "sasl-challenge": {"challenge": b""},
        "sasl-outcome": {"code": 0},
    }
    go_on = header_and_open(peer)
    return each_kept_out(peer, {name: peer.exact(name, **fields) + go_on for name, fields in frames.items()})


@case("sasl.negotiation.silence", covers=["sasl/negotiation/silence"], slow=True, budget_s=_LONG_BUDGET_S)
def silent_client(peer: Peer) -> Verdict:
    """A client that says nothing behind the mechanisms is given up or waited for, and never let in."""
    greeted(peer)
    peer.claim("an end, or nothing")
    arrival = answer(peer)
    if isinstance(arrival, Ended | Quiet):
        return observed_either_way(peer, "gives up" if isinstance(arrival, Ended) else "waits on")
    return turned_away(peer, arrival)


# --- init


@case("sasl.init.unsupported", covers=["sasl/init/unsupported"])
def mechanism_not_offered(peer: Peer) -> Verdict:
    """A mechanism that the target does not offer fails the login, whatever its response is."""
    offered = greeted(peer)
    peer.claim(REFUSED_LOGIN)
    names = [name for name in ("X-AMQPSPEC", "PLAINER", "ANONYMOUS", "EXTERNAL") if name not in offered]
    return worst([each_turned_away(peer, {name: plain(peer)}, name) for name in names])


@case("sasl.init.initial-response", covers=["sasl/init/initial-response"])
def plain_without_a_response(peer: Peer) -> Verdict:
    """PLAIN without an initial response is asked for it or refused; a response of no octets is refused."""
    offers(peer, "PLAIN")
    peer.claim("an empty challenge or a refused login")
    return worst((about(_asked(peer, None), "no response"), about(_asked(peer, b""), "no octets")))


@case("sasl.init.hostname", covers=["sasl/init/hostname"])
def init_without_hostname(peer: Peer) -> Verdict:
    """A login without a hostname is let in."""
    peer.claim("sasl-outcome code 0")
    return _login(peer, hostname=OMIT)


# --- PLAIN


@case("sasl.plain.right", covers=["sasl/plain/right", "sasl/outcome/then-headers"])
def right_password(peer: Peer) -> Verdict:
    """The user's name and password are let in, and the AMQP header is answered behind it."""
    offers(peer, "PLAIN")
    peer.claim("sasl-outcome code 0, then open")
    peer.send_octets(init(peer, plain(peer)))
    return let_in(peer, answer(peer))


@case("sasl.plain.wrong-password", covers=["sasl/plain/wrong-password"], slow=True)
def wrong_passwords(peer: Peer) -> Verdict:
    """Every other password than the user's is refused, however near it comes."""
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
    """A password of no octets is refused."""
    offers(peer, "PLAIN")
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, {"no password": plain(peer, password="")})


@case("sasl.plain.unknown-user", covers=["sasl/plain/unknown-user"])
def unknown_users(peer: Peer) -> Verdict:
    """A name that no user has is refused, with a password that another has; so is no name."""
    offers(peer, "PLAIN")
    names = {"an unknown name": "nobody-of-that-name", "no name": "", "a longer name": peer.login.user + "x"}
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, {what: plain(peer, user=name) for what, name in names.items()})


@case("sasl.plain.malformed", covers=["sasl/plain/malformed"])
def messages_of_other_parts(peer: Peer) -> Verdict:
    """A message of PLAIN with fewer or more than three parts is refused."""
    offers(peer, "PLAIN")
    right = plain(peer)
    wrong = {"two parts": right[1:], "four parts": right + b"\0x", "a name alone": peer.login.user.encode()}
    peer.claim(REFUSED_LOGIN)
    return each_turned_away(peer, dict(wrong))


# --- SCRAM


@case("sasl.challenge.scram", covers=["sasl/challenge/scram"])
def right_proof(peer: Peer) -> Verdict:
    """A login by SCRAM is let in, and the target proves that it knows the password as well."""
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
    """A login by SCRAM with another password, or of a user that is not there, is refused."""
    known = scram_of(peer)
    peer.claim(REFUSED_LOGIN)
    wrong = {
        "another password": replace(peer.login, password="not-" + peer.login.password),
        "an unknown user": replace(peer.login, user="nobody-of-that-name"),
    }
    return worst(
        about(
            turned_away(peer, said_by_scram(peer, mechanism, Scram(mechanism, login))), f"{mechanism}, {what}"
        )
        for mechanism in known
        for what, login in wrong.items()
    )


@case("sasl.response.scram-binding", covers=["sasl/response/scram-binding"])
def wrong_binding(peer: Peer) -> Verdict:
    """A SCRAM response that repeats another nonce or binding is refused, though its proof covers what it says."""
    known = scram_of(peer)
    peer.claim(REFUSED_LOGIN)
    found = []
    for mechanism in known:
        spoilt = {
            "another nonce": Scram(mechanism, peer.login, more_nonce="x"),
            "another binding": Scram(mechanism, peer.login, binding="y,,"),
        }
        for what, talk in spoilt.items():
            verdict = turned_away(peer, said_by_scram(peer, mechanism, talk))
            found.append(about(verdict, f"{mechanism}, {what}"))
    return worst(found)


# --- the outcome


@case("sasl.outcome.code", covers=["sasl/outcome/code", "sasl/outcome/additional-data"])
def outcome_of_a_refused_login(peer: Peer) -> Verdict:
    """A wrong password is told by code 1."""
    return turned_away(peer, _refused(peer))


@case("sasl.outcome.additional-data", covers=["sasl/outcome/additional-data"])
def data_of_a_refused_login(peer: Peer) -> Verdict:
    """The outcome of a refused login carries no additional data."""
    arrival = _refused(peer)
    if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-outcome":
        return observed_either_way(peer, "no outcome", arrival)
    return equals(peer, "additional_data" in arrival.given, False, "additional data")


@case("sasl.terminated.closed", covers=["sasl/terminated/closed"], slow=True)
def second_attempt(peer: Peer) -> Verdict:
    """Behind a refused login the connection ends; the right password comes too late."""
    _refused(peer)
    peer.claim("the end, and no second attempt")
    peer.send_octets(init(peer, plain(peer)) + header_and_open(peer))
    arrival = answer(peer)
    return holds(peer, isinstance(arrival, Ended), arrival)


@case("sasl.terminated.shut-down-first", covers=["sasl/terminated/shut-down-first"], slow=True)
def end_of_a_refused_login(peer: Peer) -> Verdict:
    """Behind a refused login the stream ends in good order: it is not reset."""
    first = _refused(peer)
    end = first if isinstance(first, Ended) else peer.expect_end()
    return holds(peer, isinstance(end, Ended) and end.how == "fin", end, "connection ended (FIN)")


@case("sasl.outcome.then-headers", covers=["sasl/outcome/then-headers"])
def open_without_a_second_header(peer: Peer) -> Verdict:
    """Behind the outcome an open without the AMQP header before it is not served."""
    greeted(peer)
    peer.log_in()
    peer.send_octets(header_and_open(peer)[_HEADER_OCTETS:])
    return judge_reaction(peer, watched(peer))


# --- steps of this module


def _own_frames(peer: Peer) -> list[TypedFrame]:
    """What the target writes during a login."""
    greeted(peer)
    peer.log_in()
    return list(peer.listener.frames)


def _login(peer: Peer, **of_init: Any) -> Verdict:
    """A login on a connection of its own, its init as told, is let in."""
    other = peer.another()
    greeted(other)
    return holds(peer, True, other.log_in(**of_init))


def _right_init(peer: Peer) -> bytes:
    mechanism = peer.login.mechanism.upper()
    return init(peer, conversation(mechanism, peer.login).first(), mechanism)


def _asked(peer: Peer, response: bytes | None) -> Verdict:
    """What becomes of a login by PLAIN with no message, or one of no octets."""
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
    """What a wrong password is answered by; raises Unmet where it lets in."""
    offers(peer, "PLAIN")
    peer.send_octets(init(peer, plain(peer, password="not-" + peer.login.password)))
    arrival = answer(peer)
    if lets_in(arrival):
        raise Unmet("a refused login", arrival.describe(peer.dialect), arrival)
    return arrival


def _password_of_another(peer: Peer) -> str:
    """The password of another user, one that is none where the run knows no other."""
    others = (login.password for login in peer.context.logins.values())
    return next((word for word in others if word != peer.login.password), "not-" + peer.login.password)
