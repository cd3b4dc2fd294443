"""Sessions (amqp-1.0 §2.5 to §2.5.4): links and deliveries on them, begun, ended, failed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._links import RECEIVER, SENDER, asked, bodies, filled, look, refused_bare
from amqpspec.suites.amqp_1_0._sessions import (
    UNATTACHED,
    breach_octets,
    failed_session,
    follow_each_other,
    heard_meanwhile,
)
from amqpspec.suites.amqp_1_0._transfers import credit_at_once

_AGAIN = 60
_CHANNEL = 3
_FREE_CHANNEL = 1
# Of the patience; no target that is sought tolerates less silence.
_SILENT_SHARE = 0.5

# --- links and deliveries of a session


@case("sessions.link-on-one-session", covers=["sessions/link-on-one-session"])
def link_on_two_sessions(peer: Peer) -> Verdict:
    """A link that is attached to a second session leaves the first one, or the target rejects the attach."""
    return worst(_twice_attached(peer.another(), role) for role in (SENDER, RECEIVER))


@case("sessions.delivery-sequence", covers=["sessions/delivery-sequence"])
def one_sequence_of_deliveries(peer: Peer) -> Verdict:
    """The deliveries on all links of a session are numbered in one sequence."""
    links = [peer.receiver(filled(peer, 3), credit=3) for _ in range(2)]
    peer.claim("six delivery-ids that follow each other")
    ids = [delivery.id for link in links for delivery in peer.deliveries(link, 3)]
    return holds(peer, follow_each_other(ids), f"delivery-ids {ids[:3]} and {ids[3:]}")


@case("sessions.delivery-sequence.of-partner", covers=["sessions/delivery-sequence"])
def one_sequence_of_the_partners_deliveries(peer: Peer) -> Verdict:
    """The target accepts deliveries on several links of a session numbered in one sequence."""
    links = [peer.sender(peer.node()) for _ in range(2)]
    for link in links:
        credit_at_once(peer, link, 2)
    peer.claim("an outcome of each delivery")
    sent = [peer.transfer(link, body) for body in bodies(2) for link in links]
    outcomes = [peer.outcome(outgoing).result for outgoing in sent]
    return equals(peer, outcomes, ["accepted"] * 4, "outcomes")


# --- begin


@in_session("sessions.begin.used-channel", covers=["sessions/begin/unused-channel"])
def begin_on_a_used_channel(peer: Peer) -> Verdict:
    """The target rejects a second begin on a channel that has a session."""
    peer.send("begin")
    return rejects_violation(peer)


@case(
    "sessions.begin.used-channel.own",
    covers=["sessions/begin/unused-channel", "sessions/begin/answer"],
)
def channels_of_the_target(peer: Peer) -> Verdict:
    """The target uses a different channel for each session of a connection."""
    sessions = [peer.begin(channel) for channel in range(3)]
    peer.claim("three channels")
    channels = [session.remote_channel for session in sessions]
    return holds(peer, len(set(channels)) == 3, f"channels {channels}")


@on_connection("sessions.begin.answer", covers=["sessions/begin/answer"])
def begin_is_answered(peer: Peer) -> Verdict:
    """The target answers each begin with a begin, and the session works."""
    peer.room_for_channel(1)
    peer.claim("begin for begin, twice, and sessions that answer")
    sessions = [peer.begin(channel) for channel in (0, 1)]
    for session in sessions:
        peer.barrier(session.channel)
    channels = [session.remote_channel for session in sessions]
    return holds(peer, channels[0] != channels[1], f"begin on channels {channels}")


@case("sessions.begin.answer.beside-failed", covers=["sessions/begin/answer"])
def begin_beside_a_session_that_failed(peer: Peer) -> Verdict:
    """The target accepts another session while it waits for the end of a failed one."""
    failed_session(peer)
    peer.room_for_channel(_FREE_CHANNEL)
    peer.claim("begin, and a session that answers")
    peer.begin(_FREE_CHANNEL)
    peer.barrier(_FREE_CHANNEL)
    return holds(peer, True, "begin, and a session that answers")


@on_connection("sessions.begin.lowest-channel", covers=["sessions/begin/lowest-channel"])
def lowest_channel(peer: Peer) -> Verdict:
    """The target uses the lowest free channel."""
    # Not the order in which the target should take its own.
    own = (4, 2, 3)
    peer.room_for_channel(max(own) + 1)
    sessions = [peer.begin(channel) for channel in own]
    peer.end(own[1])
    sessions.append(peer.begin(max(own) + 1))
    peer.claim("channels 0, 1, 2, and 1 again")
    return equals(peer, [session.remote_channel for session in sessions], [0, 1, 2, 1], "channels")


@case(
    "sessions.begin.remote-channel-empty",
    covers=["sessions/begin/remote-channel-empty", "performatives/begin/remote-channel/unset"],
)
def begin_of_ones_own_with_remote_channel(peer: Peer) -> Verdict:
    """The target rejects or tolerates a first begin that names a remote-channel."""
    # 0 may be the channel that the target takes next; 9 is far off.
    return worst(_begun_as_answer(peer.another(), channel) for channel in (0, UNATTACHED))


@in_session(
    "sessions.begin.remote-channel-empty.own",
    covers=["sessions/begin/remote-channel-empty", "performatives/begin/remote-channel/unset"],
)
def begins_of_the_target(peer: Peer) -> Verdict:
    """The target sends no begin whose remote-channel has no begin from the client."""
    peer.claim("no begin with remote-channel except the expected answer")
    peer.barrier()
    stray = [b for b in peer.take(_is("begin")) if b["remote_channel"] is not None]
    return holds(peer, not stray, f"{len(stray)} more: {[b['remote_channel'] for b in stray]}")


@on_connection("sessions.begin.remote-channel-set", covers=["sessions/begin/remote-channel-set"])
def begin_that_answers(peer: Peer) -> Verdict:
    """The target's begin names the channel of the begin that it answers."""
    peer.room_for_channel(_CHANNEL)
    peer.claim(f"begin with remote-channel {_CHANNEL}")
    peer.send("begin", _CHANNEL)
    return equals(peer, peer.expect("begin", channel=None)["remote_channel"], _CHANNEL, "remote-channel")


# --- end


@case("sessions.end.with-connection", covers=["sessions/end/with-connection"])
def end_with_close(peer: Peer) -> Verdict:
    """Unsettled deliveries are available again after the connection is closed."""
    return _back_again(peer, lambda other: other.close())


@case("sessions.end.with-socket", covers=["sessions/end/with-connection"])
def end_with_the_socket(peer: Peer) -> Verdict:
    """Unsettled deliveries are available again after the socket ends."""
    return _back_again(peer, lambda other: other.hang_up())


@case("sessions.end.with-socket.waiting", covers=["sessions/end/with-connection"])
def end_beside_one_who_waits(peer: Peer) -> Verdict:
    """The target delivers the unsettled deliveries of a lost socket to a receiver that waits silently."""
    address = filled(peer, 2)
    other = peer.another()
    deliveries = other.deliveries(other.receiver(address, credit=2, snd_settle_mode="unsettled"), 2)
    if any(delivery.settled for delivery in deliveries):
        raise OutOfReach("the target settles what it sends")
    waiting = peer.receiver(address, credit=2)
    peer.barrier()
    peer.claim("both messages, although neither side sends anything else")
    peer.keeps_alive = False
    other.hang_up()
    within_s = _SILENT_SHARE * peer.patience_s
    found = sorted(peer.delivery(waiting, within_s=within_s).body for _ in range(2))
    peer.keeps_alive = True
    return equals(peer, found, bodies(2), "bodies")


@in_session("sessions.end.handshake", covers=["sessions/end/handshake"])
def end_is_answered(peer: Peer) -> Verdict:
    """The target answers end with an end without an error, and the channel can be used again."""
    peer.claim("end without error, then begin again")
    end = peer.end()
    if end.error is not None:
        return holds(peer, False, end)
    peer.begin()
    peer.barrier()
    return holds(peer, True, "end without error, then begin again")


@case("sessions.end.channel-again", covers=["sessions/end/handshake"])
def begin_right_behind_end(peer: Peer) -> Verdict:
    """The target answers every begin sent directly after the answered end of a session on the same channel."""
    peer.begin(1)
    peer.claim(f"{_AGAIN} sessions on one channel, while the one on another channel continues")
    for number in range(_AGAIN):
        try:
            peer.begin()
            peer.end()
        except Unmet as unmet:
            # At which of them is chance where the target frees the channel after its answer.
            what = "begin after end" if number else "the first session"
            return holds(peer, False, f"no answer to {what}: {unmet.observed}", seen=unmet.seen)
    peer.barrier(1)
    return holds(peer, True, f"{_AGAIN} sessions")


@in_session("sessions.simultaneous-end", covers=["sessions/simultaneous-end"])
def ends_that_cross(peer: Peer) -> Verdict:
    """An end that crosses the target's end for an error answers it: no other end follows, the channel is free."""
    # In one write: the target fails the session and finds the other end after it, as if they had crossed.
    peer.send_octets(breach_octets(peer) + peer.frame("end"))
    try:
        end = peer.expect("end")
    except Unmet as unmet:
        why = f"no way to make a session of this target fail: {unmet.observed}"
        raise OutOfReach(why, unmet.seen) from unmet
    if end.condition is None:
        raise OutOfReach("the target detects no error in the frames before end", end)
    peer.claim("one end, then begin again on the channel")
    peer.begin()
    peer.barrier()
    return holds(peer, not peer.take(_is("end")), "a second end", "one end")


# --- errors


@in_session("sessions.errors.end", covers=["sessions/errors/end"])
def session_that_cannot_go_on(peer: Peer) -> Verdict:
    """Input that a session cannot process ends the session with an error."""
    peer.send_octets(breach_octets(peer))
    return rejects_violation(peer)


@case("sessions.errors.discard", covers=["sessions/errors/discard"])
def silence_behind_an_error(peer: Peer) -> Verdict:
    """After an end for an error, the target answers nothing until the client's end; then the channel is free."""
    # A second session for the round trip: the failed one answers nothing.
    peer.begin(_FREE_CHANNEL)
    failed_session(peer)
    address = peer.node()
    peer.claim("no answer until end, then begin again on the channel")
    peer.send("attach", **peer.attach_fields(SENDER, address, handle=0))
    peer.flow(echo=True)
    peer.send("transfer", handle=0, payload=b"x")
    stray = heard_meanwhile(peer, _FREE_CHANNEL)
    if stray:
        return holds(peer, False, stray)
    peer.send("end")
    peer.begin()
    peer.sender(address)
    return holds(peer, True, "silence, then a session that works")


# --- steps of this module


def _is(name: str) -> Any:
    return lambda arrival: arrival.name == name


def _twice_attached(peer: Peer, role: str) -> Verdict:
    """Attach a link on two sessions of a connection: whichever of both attachments goes, and how."""
    address, name = peer.node(), peer.name("link")
    first = peer.attach(role, address, name=name)
    peer.room_for_channel(1)
    second, refused = asked(peer, role, address, 1, name=name)
    if refused_bare(second):
        return holds(peer, True, refused)
    if refused.refusal is not None:
        return judge_reaction(peer, refused)
    # A target that gives the first attachment up does so soon; one that keeps both is judged by the reaction.
    with suppress(Unmet):
        peer.until(lambda: first.detached_by is not None, "detach", link=first, within_s=peer.patience_s / 5)
    return judge_reaction(peer, peer.reaction(link=first))


def _begun_as_answer(peer: Peer, remote_channel: int) -> Verdict:
    peer.open_connection()
    peer.send("begin", remote_channel=remote_channel)
    return borne(peer, peer.reaction())


def _back_again(peer: Peer, leave: Any) -> Verdict:
    """Two messages unsettled on each of two links of a session that goes are there for the next connection."""
    nodes = [filled(peer, 2) for _ in range(2)]
    other = peer.another()
    links = [other.receiver(address, credit=2, snd_settle_mode="unsettled") for address in nodes]
    if any(delivery.settled for link in links for delivery in other.deliveries(link, 2)):
        raise OutOfReach("the target settles what it sends")
    leave(other)
    peer.claim("the messages of both links again, each once")
    return worst(_once_more(peer, address) for address in nodes)


def _once_more(peer: Peer, address: str) -> Verdict:
    """The two messages of a node, taken out of it."""
    link = peer.receiver(address, credit=2)
    again = peer.deliveries(link, 2)
    for delivery in again:
        if not delivery.settled:
            peer.disposition(delivery)
    found = sorted(delivery.body for delivery in again)
    return equals(peer, (found, look(peer, address)), (bodies(2), []), "bodies, left in the node")
