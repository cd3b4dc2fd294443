"""The states of a connection (amqp-1.0 §2.4.6, §2.4.7): what arrives too early, twice, or after a close.

Where the target stands when it comes: START (no header), HDR_EXCH (headers out, no open), OPENED, CLOSE_SENT and
DISCARDING (its close is out), CLOSE_RCVD (the other close has arrived), END. The pipelined states are with opening.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import Ended, Garbled
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import rejects_violation, without_effect
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, verdict_on, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._connections import (
    LYING_LIST,
    PLAIN_FRAMES,
    UNKNOWN_PERFORMATIVE,
    behind_close,
    closing,
    frames_of,
    listen,
    nothing_behind_close,
    plain_frame,
    until_failure,
)
from amqpspec.suites.amqp_1_0._headers import answer_to, first_header, judge_answer
from amqpspec.suites.amqp_1_0._links import bodies, fill
from amqpspec.wire.amqp_1_0.frames import HEADERS

_PIPELINED = 8
_LINKS = 3
_MESSAGES = 40
# Ten seconds for the handshake are usual.
_LONG_S = 12


@case(
    "connections.states.frame-before-header",
    covers=["version/unparseable", "connections/states/legal-frames"],
)
def frame_in_place_of_a_header(peer: Peer) -> Verdict:
    """START: the target answers an open without a header before it with a header, then ends the stream."""
    return judge_answer(peer, answer_to(peer, peer.exact("open", container_id="c")))


@case("connections.states.header-mismatch", covers=["connections/states/header-mismatch"])
def open_behind_a_wrong_header(peer: Peer) -> Verdict:
    """START: the target ends the stream after a header of another version and does not answer the open after it."""
    peer.connect()
    # In one write: the open is there before the target has answered the header.
    octets = first_header(peer, minor=1) + peer.exact("open", container_id="c")
    verdict = judge_reaction(peer, answer_to(peer, octets))
    return worst((verdict, equals(peer, [frame.name for frame in frames_of(peer)], [], "frames")))


@case(
    "connections.states.second-header-before-open",
    covers=["connections/opening/open-first", "connections/states/legal-frames"],
)
def second_header_in_place_of_open(peer: Peer) -> Verdict:
    """HDR_EXCH: the target rejects a second header in place of open."""
    peer.greet()
    peer.send_header("amqp")
    return rejects_violation(peer, barrier=False)


@case("connections.states.close-before-open", covers=["performatives/open/first-frame"])
def close_before_open(peer: Peer) -> Verdict:
    """HDR_EXCH: a close without open ends the connection with or without an error; the target sends open first."""
    peer.greet()
    peer.send("close")
    reaction = peer.reaction(barrier=False)
    ended = reaction.closing is not None or reaction.refusal is not None
    names = [frame.name for frame in frames_of(peer)]
    reported = f"{reaction.describe(peer.dialect)}; frames: {', '.join(names) or 'none'}"
    # Either its own open comes before its close, or a bare end comes before both (amqp-1.0 §2.7.1).
    in_order = names in ([], ["open"], ["open", "close"])
    return holds(peer, ended and in_order, reported, "the end, open before close", seen=reaction)


@on_connection("connections.states.second-header", covers=["connections/states/legal-frames"])
def second_header(peer: Peer) -> Verdict:
    """OPENED: the target rejects a second header: read as a frame, it has a data offset of zero."""
    # Read as a frame: 41 4D 51 50 is a size of about 1 GB, the next octet a data offset of zero, which
    # makes it malformed at once.
    peer.send_header("amqp")
    return rejects_violation(peer)


@on_connection("connections.states.second-open", covers=["connections/states/legal-frames"])
def second_open(peer: Peer) -> Verdict:
    """OPENED: the target rejects or ignores a second open; it does not answer with another open."""
    peer.send("open")
    reaction = peer.reaction()
    # Closed, though without an error that says why.
    if reaction.closing is not None and reaction.refusal is None:
        return verdict_on(peer, Outcome.NONSTRICT, "a refusal, or no effect", reaction)
    opens = sum(frame.name == "open" for frame in frames_of(peer))
    return without_effect(peer, reaction, "the second open was answered" if opens > 1 else "")


@in_session("connections.states.order", covers=["connections/states/legal-frames"])
def order_of_the_target(peer: Peer) -> Verdict:
    """OPENED to END: the target sends one open, then the frames of the session, then one close."""
    peer.barrier()
    peer.end()
    peer.close()
    peer.expect_end(peer.context.patience.quiet_s)
    names = [frame.name for frame in frames_of(peer) if frame.name in ("open", "begin", "end", "close")]
    return equals(peer, names, ["open", "begin", "end", "close"], "frames")


@case(
    "connections.states.pipelined-close",
    covers=["connections/closing/pipelined-with-open", "connections/states/legal-frames"],
)
def close_before_the_answers(peer: Peer) -> Verdict:
    """OC_PIPE, CLOSE_PIPE: the target sends open first and close last if open to close arrive before its open."""
    peer.connect()
    peer.claim("open first, close on channel 0 last")
    # OC_PIPE: header, open and close go out before any answer; CLOSE_PIPE: the headers are exchanged,
    # open and close still wait for theirs.
    # Several times: where another process writes what arrives after the close, it does not always come too late.
    ways = (False, True) * _PIPELINED
    return until_failure(_pipelined_close(peer.another(), greet_first) for greet_first in ways)


@case("connections.states.close-sent", covers=["connections/states/close-sent"])
def silence_behind_close(peer: Peer) -> Verdict:
    """CLOSE_SENT: the target sends nothing after its close, although three links have credit and messages wait."""
    address = fill(peer, peer.node(), *bodies(_MESSAGES))
    links = [peer.receiver(address) for _ in range(_LINKS)]
    peer.claim("nothing after close")
    # In one write with close: transfers of three links are ready to go when it is read.
    octets = b"".join(peer.frame("flow", handle=link, link_credit=_MESSAGES) for link in links)
    peer.send_octets(octets + peer.frame("close"))
    peer.expect("close")
    return nothing_behind_close(peer, peer.expect_end())


@in_session("connections.states.close-received", covers=["connections/states/close-sent"])
def frames_behind_the_other_close(peer: Peer) -> Verdict:
    """CLOSE_RCVD: the target answers close, but no frame after it."""
    peer.claim("close, and nothing after it")
    more = b"".join(plain_frame(peer, name) for name in PLAIN_FRAMES)
    peer.send_octets(peer.frame("close") + more)
    peer.expect("close")
    return nothing_behind_close(peer, peer.expect_end(peer.context.patience.quiet_s))


@case("connections.states.discarding", covers=["connections/states/discarding"])
def frames_behind_an_error(peer: Peer) -> Verdict:
    """DISCARDING: after a close for an error, the target silently ignores all frames up to the client's close."""
    peer.claim("silence after the target's close")
    other = closing(peer)
    for name in PLAIN_FRAMES:
        other.send_octets(plain_frame(other, name))
    other.send_octets(other.exact("open", container_id="c"))
    return _silence(peer, other)


@case("connections.states.discarding.breaches", covers=["connections/states/discarding"])
def breaches_behind_an_error(peer: Peer) -> Verdict:
    """DISCARDING: the target also silently ignores further violations."""
    peer.claim("silence after the target's close")
    other = closing(peer)
    other.send_frame(UNKNOWN_PERFORMATIVE)
    other.send_frame(LYING_LIST)
    other.send_frame(b"", frame_type=2)
    other.send_empty()
    return _silence(peer, other)


@in_session("connections.states.end", covers=["connections/states/end"])
def silence_behind_both(peer: Peer) -> Verdict:
    """END: after both closes, the target sends nothing more, whatever it receives."""
    peer.claim("nothing after both closes")
    peer.close()
    # A frame, a header, a second close: what each state before would have answered.
    peer.send_octets(plain_frame(peer, "begin", 1) + HEADERS["amqp"] + plain_frame(peer, "close"))
    return nothing_behind_close(peer, peer.expect_end(peer.context.patience.quiet_s))


@case("connections.states.opened.stands", covers=["connections/opened-stands"], slow=True)
def connections_that_stand(peer: Peer) -> Verdict:
    """A connection with a session and one with only an open outlive the time that a target allows for opening."""
    bare = peer.another()
    bare.open_connection()
    peer.begin()
    peer.claim(f"a session that answers after {_LONG_S} s, on both connections")
    # In turns: each sends signs of life while it listens.
    for _ in range(_LONG_S):
        for own in (peer, bare):
            # The target may have an idle timeout without announcing it: that is no mandatory field (amqp-1.0 §2.7.1).
            own.send_empty()
            listen(own, 0.5)
    peer.barrier()
    bare.begin()
    bare.barrier()
    return holds(peer, True, "both sessions answer")


# --- steps of this module


def _pipelined_close(peer: Peer, greet_first: bool) -> Verdict:
    """Open, begin and close in one write, with the header or after its answer."""
    if greet_first:
        peer.greet()
    else:
        peer.secure()
        peer.send_header("amqp")
    peer.send_octets(peer.frame("open") + peer.frame("begin") + peer.frame("close"))
    if not greet_first:
        peer.expect_header("amqp")
    peer.expect("close")
    peer.expect_end(peer.context.patience.quiet_s)
    reported = [(frame.name, frame.channel) for frame in frames_of(peer)]
    names = [name for name, _ in reported]
    right = (
        reported[0] == ("open", 0)
        and reported[-1] == ("close", 0)
        and all(names.count(name) <= 1 for name in ("open", "begin", "end", "close"))
        and set(names) <= {"open", "begin", "flow", "empty", "end", "close"}
    )
    return holds(peer, right, ", ".join(f"{name} on channel {channel}" for name, channel in reported))


def _silence(peer: Peer, other: Peer) -> Verdict:
    """Nothing comes on the other connection, before and after the close that is sent now."""
    arrival = other.expect_end(other.context.patience.quiet_s)
    other.send("close")
    if not isinstance(arrival, Ended | Garbled):
        arrival = other.expect_end(other.context.patience.quiet_s)
    more = [frame.name for frame in behind_close(other)]
    if isinstance(arrival, Garbled):
        more.append(arrival.describe(peer.dialect))
    return equals(peer, more, [], "after close")
