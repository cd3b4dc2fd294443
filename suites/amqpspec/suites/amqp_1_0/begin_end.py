"""begin and end (amqp-1.0 §2.7.2, §2.7.8): what they have to say, channels, handle-max, errors."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import HANDLE_MAX
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation, well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._links import RECEIVER, SENDER
from amqpspec.suites.amqp_1_0._sessions import UNATTACHED, failed_session

_MANDATORY = ("next_outgoing_id", "incoming_window", "outgoing_window")
_CHANNELS = (4, 0, 9)

# --- begin


@case("begin.mandatory.missing", covers=["performatives/begin/mandatory"])
def begin_without_what_it_has_to_carry(peer: Peer) -> Verdict:
    """The target rejects begin without next-outgoing-id, incoming-window or outgoing-window."""
    return worst(_refused_without(peer.another(), field) for field in _MANDATORY)


@on_connection("begin.mandatory.empty", covers=["performatives/begin/mandatory"])
def empty_begin(peer: Peer) -> Verdict:
    """The target rejects begin with an empty list."""
    peer.send_octets(peer.exact("begin"))
    return rejects_violation(peer)


@case("begin.mandatory.own", covers=["performatives/begin/mandatory"])
def begin_of_the_target(peer: Peer) -> Verdict:
    """The target's begin contains all mandatory fields, with valid values."""
    return well_formed(peer, owed(peer.begin().begun, "begin"))


@case("begin.remote-channel.unset", covers=["performatives/begin/remote-channel/unset"])
def begin_with_the_channel_of_another_session(peer: Peer) -> Verdict:
    """The target rejects or tolerates a first begin that names the channel of an existing session."""
    session = peer.begin()
    peer.room_for_channel(1)
    peer.send("begin", 1, remote_channel=session.remote_channel)
    return borne(peer, peer.reaction(1))


@on_connection("begin.remote-channel.answer", covers=["performatives/begin/remote-channel/answer"])
def begin_that_answers(peer: Peer) -> Verdict:
    """The target's answering begin names the channel of the client's begin."""
    peer.room_for_channel(max(_CHANNELS))
    peer.claim(f"remote-channel {', '.join(map(str, _CHANNELS))}")
    reported = []
    for channel in _CHANNELS:
        peer.send("begin", channel)
        reported.append(peer.expect("begin", channel=None)["remote_channel"])
    return equals(peer, reported, list(_CHANNELS), "remote-channel")


@case("begin.handle-max.respected", covers=["performatives/begin/handle-max/respected"])
def one_link_for_the_target(peer: Peer) -> Verdict:
    """With a handle-max of zero, the target uses handle 0 only, whatever the client attaches."""
    session = peer.begin(handle_max=0)
    address = peer.node()
    peer.claim("no handle of the target above 0")
    # Two attaches, where the target takes two: the answer to one of them would need handle 1.
    for handle, role in enumerate((SENDER, RECEIVER)[: session.remote_handle_max + 1]):
        peer.send("attach", **peer.attach_fields(role, address, handle=handle))
    with suppress(Unmet):  # one answer is all that may come: the full patience is for the one that may not
        peer.until(lambda: all(link.attached for link in session.every_link), "attach", session=session)
    handles = sorted({attach["handle"] for attach in peer.pending("attach")})
    return holds(peer, set(handles) <= {0}, f"handles {handles}")


@case("begin.handle-max.exceeded", covers=["performatives/begin/handle-max/exceeded"])
def handle_above_the_limit(peer: Peer) -> Verdict:
    """An attach with a handle above the target's handle-max closes the connection."""
    session = peer.begin()
    # 4294967295 is the highest handle that can be written.
    if session.remote_handle_max >= HANDLE_MAX:
        raise OutOfReach("the target names no handle-max")
    peer.send("attach", **peer.attach_fields(SENDER, handle=session.remote_handle_max + 1))
    return rejects_violation(peer)


# --- end


@case("end.error", covers=["performatives/end/error"])
def error_of_an_end(peer: Peer) -> Verdict:
    """An end for an error states more about it than the condition."""
    error = owed(failed_session(peer).error, "an error")
    reported = error.get("description") or error.get("info")
    return holds(
        peer, bool(reported), f"description {reported!r}" if reported else "neither description nor info"
    )


@in_session("end.error.of-partner", covers=["sessions/end/handshake"])
def end_with_an_error(peer: Peer) -> Verdict:
    """The target answers an end with an error with an end, and the connection stays open."""
    peer.claim("end, then a new session")
    peer.end(error={"condition": "amqp:internal-error", "description": f"handle {UNATTACHED}"})
    peer.begin()
    peer.barrier()
    return holds(peer, True, "end, then a new session")


# --- steps of this module


def _refused_without(peer: Peer, field: str) -> Verdict:
    peer.open_connection()
    missing: dict[str, Any] = {field: None}
    peer.send("begin", **missing)
    return rejects_violation(peer)
