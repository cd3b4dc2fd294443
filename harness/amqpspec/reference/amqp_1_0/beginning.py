"""Begin: the broker's channel for a session, and its answer (1.0 §2.5.1, §2.7.2).

Knows: the fields of begin. Must not know: what happens in a session.
"""

from __future__ import annotations

from amqpspec.reference.amqp_1_0 import limits
from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.amqp_1_0.flow_state import OUTGOING_WINDOW
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table


def free_channel(connection: Connection) -> int:
    """The lowest free channel, -1 if the partner allows no more.

    Each side numbers its own: the channel on which the broker sends need not be the one on which it receives.
    """
    used = {session.outgoing for session in connection.sessions.values() if not session.ended}
    top = 0xFFFF if connection.faulty("channel-max-of-partner-ignored") else connection.channel_max
    places = range(top + 1)
    if connection.faulty("highest-channel-taken"):
        places = range(min(top, 40), -1, -1)
    if connection.faulty("own-channel-used-twice"):
        return 0
    return next((channel for channel in places if channel not in used), -1)


def answer_begin(session: Session) -> None:
    """Send the begin that answers the partner's; ``remote-channel`` says which one it answers."""
    faulty = session.faulty
    if faulty("flow-before-begin"):
        session.send_flow()
    if faulty("begin-not-answered"):
        return
    channel: int | None = session.incoming
    if faulty("begin-answered-without-remote-channel"):
        channel = None
    if faulty("remote-channel-of-begin-is-own"):
        channel = session.outgoing + 1
    session.send(
        "begin",
        {
            "remote_channel": channel,
            "next_outgoing_id": session.next_outgoing_id,
            "incoming_window": None if faulty("begin-without-window") else session.incoming_window,
            "outgoing_window": OUTGOING_WINDOW,
            "handle_max": limits.HANDLE_MAX,
        },
    )
    if faulty("unasked-begin-with-remote-channel"):
        unasked = {"remote_channel": 999, "next_outgoing_id": 0, "incoming_window": 1, "outgoing_window": 1}
        session.connection.send(session.outgoing + 9, "begin", unasked)


FAULTS = fault_table("""
channel-max-of-partner-ignored: sessions get channels beyond the partner's channel-max
    [performatives/open/channel-max/respected connections/opening/limits-after]
begin-not-answered: a begin is not answered [sessions/begin/answer sessions/states/begin-sent]
begin-answered-without-remote-channel: the answer to begin has no remote-channel
    [sessions/begin/remote-channel-set performatives/begin/remote-channel/answer]
remote-channel-of-begin-is-own: the answer to begin names another channel
    [performatives/begin/remote-channel/answer connections/channels/by-direction]
unasked-begin-with-remote-channel: the broker begins an unrequested session with a remote channel
    [sessions/begin/remote-channel-empty performatives/begin/remote-channel/unset]
begin-without-window: the broker's begin lacks the incoming-window [performatives/begin/mandatory]
highest-channel-taken: sessions use the highest free channel [sessions/begin/lowest-channel]
own-channel-used-twice: all sessions of the broker have channel 0
    [sessions/begin/unused-channel sessions/begin/answer model/many-sessions]
flow-before-begin: the broker sends a flow before its begin
    [sessions/states/begin-rcvd performatives/flow/next-incoming-id/unset]
""")
