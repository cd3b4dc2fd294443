"""Class session: attaching to channels, and what both ends say of commands.

Knows: controls and the books of a session. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict


@case("session.attach.answered", covers=["session/attach/answered", "encoding/response/channel"])
def attach_is_answered(peer: Peer) -> Verdict:
    """Attach is answered by attached with the same name, on each of two channels."""
    peer.open_connection()
    peer.claim("attached, with the name that was asked for, on the same channel")
    wanted = {channel: peer.name("s").encode() for channel in (0, 1)}
    names = {}
    for channel, name in wanted.items():
        peer.send("session.attach", channel, name=name)
        names[channel] = peer.expect("session.attached", channel=channel)["name"]
    return equals(peer, names, wanted, "names")


@case(
    "session.detach-code.session-busy",
    covers=["session/attach/one-transport-per-session", "session/detach-code/session-busy"],
)
def session_busy(peer: Peer) -> Verdict:
    """A session that is attached on one channel is not attached on another one of the same connection."""
    session = peer.open_session()
    peer.send("session.attach", 1, name=session.name)
    return rejects_violation(peer, 1, barrier=False, within_s=peer.patience_s)


@case("session.command-point.before-commands", covers=["session/command-point/before-commands"])
def command_without_point(peer: Peer) -> Verdict:
    """A command on a newly attached channel without a command-point detaches the session."""
    peer.open_connection()
    peer.attach()
    peer.send("execution.sync", sync=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.header.sync", covers=["session/header/sync"])
def sync_flag(peer: Peer) -> Verdict:
    """Of two commands with the sync flag, each is told complete without being asked for."""
    peer.open_session()
    peer.claim("completion of each command that has the sync flag")
    ids = [
        peer.send("exchange.declare", exchange="amq.direct", type="direct", passive=True, sync=True)
        for _ in "12"
    ]
    for number in ids:
        peer.completion(number)
    return holds(peer, True, "both were told complete")
