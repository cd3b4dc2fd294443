"""The SASL layer (amqp-1.0 §5.3.1, §5.3.2): its headers, its frames, and the order in which they come."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import Ended, HeaderArrived, Quiet
from amqpspec.peer.sasl import conversation
from amqpspec.run.amqp_1_0.oracles import well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._sasl import (
    EMPTY_SASL_FRAME,
    answer,
    each_kept_out,
    going_on,
    greeted,
    init,
    is_outcome,
    kept_out,
    last_answer,
    logs_in,
    offers,
    plain,
    turned_away,
    watched,
)
from amqpspec.suites.mechanisms import needs_mechanism
from amqpspec.wire.amqp_1_0.frames import HEADER_OCTETS, HEADERS, SASL_FRAME, TypedFrame, encode_frame

_LARGEST_OCTETS = 512
_TOO_LARGE_OCTETS = 1024
_LONG_BUDGET_S = 120.0
_OUTCOMES = range(5)


# --- headers and frames


@case("sasl.header", covers=["sasl/header"])
def header_of_the_layer(peer: Peer) -> Verdict:
    """The target answers the SASL header with the same header, before any frame."""
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
    """The target sends its mechanisms after the header without waiting for anything else."""
    if peer.is_bare:
        greeted(peer)
    peer.send_header("sasl")
    peer.expect_header("sasl")
    peer.claim("sasl-mechanisms first")
    first = peer.read(peer.now() + peer.patience_s)
    return holds(peer, isinstance(first, FrameArrived) and first.name == "sasl-mechanisms", first)


@case("sasl.mechanisms.list", covers=["sasl/mechanisms/list"])
def mechanisms_are_named(peer: Peer) -> Verdict:
    """The list of mechanisms is an array of at least one symbol."""
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
    """The target's SASL frames have zeros where AMQP frames have the channel."""
    return equals(peer, {frame.channel for frame in _own_frames(peer)}, {0}, "octets 6 and 7")


@case("sasl.frame.doff", covers=["sasl/frame/doff"])
def offset_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames have no extended header."""
    return equals(peer, {frame.doff for frame in _own_frames(peer)}, {2}, "data offsets")


@case("sasl.frame.own-size", covers=["sasl/frame/max-size"])
def size_of_own_frames(peer: Peer) -> Verdict:
    """The target's SASL frames have at most 512 octets."""
    largest = max(len(frame.octets) for frame in _own_frames(peer))
    return holds(peer, largest <= _LARGEST_OCTETS, f"a frame of {largest} octets", "at most 512 octets")


@case("sasl.frame.own-body", covers=["sasl/frame/body"])
def body_of_own_frames(peer: Peer) -> Verdict:
    """Each of the target's SASL frames contains one SASL type, and nothing after it."""
    frames = _own_frames(peer)
    right = all(frame.name.startswith("sasl-") and not frame.payload for frame in frames)
    names = ", ".join(
        frame.name + (f" and {len(frame.payload)} octets" if frame.payload else "") for frame in frames
    )
    return holds(peer, right, names, "one SASL type a frame")


@case("sasl.frame.channel-ignored", covers=["sasl/frame/channel-ignored"])
def octets_of_the_channel(peer: Peer) -> Verdict:
    """A login succeeds in a frame with nonzero octets in place of the channel."""
    peer.claim("sasl-outcome code 0")
    return worst(logs_in(peer, channel=channel) for channel in (1, 65535))


@case("sasl.frame.extended-header-ignored", covers=["sasl/frame/extended-header-ignored"])
def extended_header_of_alogs_in(peer: Peer) -> Verdict:
    """A login succeeds in a frame with an extended header."""
    peer.claim("sasl-outcome code 0")
    return worst(logs_in(peer, extended=bytes(octets)) for octets in (4, 64))


@case("sasl.frame.largest", covers=["sasl/frame/max-size"])
def largest_frame(peer: Peer) -> Verdict:
    """The target reads a frame of 512 octets like a short one: it rejects a wrong password in the same way."""
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
    """The target rejects a login in a frame of more than 512 octets: it ends the connection or fails the login."""
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
    """An empty SASL frame ends the login: the target ignores the frames that follow."""
    greeted(peer)
    peer.send_octets(EMPTY_SASL_FRAME + _right_init(peer))
    return judge_reaction(peer, watched(peer))


@case("sasl.frame.body", covers=["sasl/frame/body"], slow=True)
def frames_of_other_bodies(peer: Peer) -> Verdict:
    """A SASL frame with an invalid body (an open, a string, only a null) does not log the client in."""
    peer.claim("no login by a body that is no SASL frame")
    go_on = HEADERS["amqp"] + going_on(peer)
    bodies = {
        "open": peer.exact("open", container_id=peer.container_id)[HEADER_OCTETS:],
        "a string": b"\xa1\x05PLAIN",
        "null": b"\x40",
    }
    frames = {what: encode_frame(body, 0, SASL_FRAME) + go_on for what, body in bodies.items()}
    return each_kept_out(peer, frames)


# --- the exchange


@case("sasl.negotiation.open-first", covers=["sasl/negotiation/choose"], slow=True)
def open_without_a_login(peer: Peer) -> Verdict:
    """A client that continues with AMQP without a login, with a header or only an open, is not served."""
    peer.claim("no open without a login")
    go_on = HEADERS["amqp"] + going_on(peer)
    return each_kept_out(peer, {"header and open": go_on, "open": going_on(peer)})


@case("sasl.negotiation.open-while-challenged", covers=["sasl/negotiation/choose"])
def open_before_the_outcome(peer: Peer) -> Verdict:
    """A client that sends open in place of the response to a challenge is not served."""
    offered = greeted(peer)
    mechanism = next((name for name in offered if name.startswith("SCRAM-")), "PLAIN")
    needs_mechanism(mechanism, offered)
    response = f"n,,n={peer.login.user},r=0123456789abcdef".encode() if mechanism != "PLAIN" else None
    peer.send_octets(init(peer, response, mechanism))
    arrival = answer(peer)
    peer.claim("no open before the outcome")
    if not isinstance(arrival, FrameArrived) or arrival.name != "sasl-challenge":
        return kept_out(peer, arrival)
    peer.send_octets(going_on(peer))
    return kept_out(peer, last_answer(peer))


@case("sasl.negotiation.response-first", covers=["sasl/negotiation/steps"])
def response_without_a_challenge(peer: Peer) -> Verdict:
    """A response without a challenge does not log the client in, although it contains the login data."""
    greeted(peer)
    peer.claim("no login by a response without a challenge")
    peer.send_octets(peer.exact("sasl-response", response=plain(peer)) + HEADERS["amqp"] + going_on(peer))
    return kept_out(peer, last_answer(peer))


@case("sasl.negotiation.roles", covers=["sasl/negotiation/roles"], slow=True)
def client_plays_the_server(peer: Peer) -> Verdict:
    """Mechanisms, a challenge or a successful outcome from the client do not log the client in."""
    peer.claim("no login by the server's own frames")
    frames: dict[str, dict[str, Any]] = {
        "sasl-mechanisms": {"sasl_server_mechanisms": ("ANONYMOUS",)},
        "sasl-challenge": {"challenge": b""},
        "sasl-outcome": {"code": 0},
    }
    go_on = HEADERS["amqp"] + going_on(peer)
    return each_kept_out(peer, {name: peer.exact(name, **fields) + go_on for name, fields in frames.items()})


@case("sasl.negotiation.silence", covers=["sasl/negotiation/silence"], slow=True, budget_s=_LONG_BUDGET_S)
def silent_client(peer: Peer) -> Verdict:
    """The target drops or waits for a client that sends nothing after the mechanisms, and never logs it in."""
    greeted(peer)
    peer.claim("an end, or nothing")
    arrival = answer(peer)
    if isinstance(arrival, Ended | Quiet):
        return observed_either_way(peer, "gives up" if isinstance(arrival, Ended) else "waits on")
    return turned_away(peer, arrival)


# --- steps of this module


def _own_frames(peer: Peer) -> list[TypedFrame]:
    """What the target writes during a login."""
    greeted(peer)
    peer.log_in()
    return list(peer.listener.frames)


def _right_init(peer: Peer) -> bytes:
    mechanism = peer.login.mechanism.upper()
    return init(peer, conversation(mechanism, peer.login, peer.name("nonce")).first(), mechanism)
