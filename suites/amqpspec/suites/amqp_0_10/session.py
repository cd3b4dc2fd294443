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


@case(
    "session.attachment.discarded",
    covers=["session/attachment/discarded", "session/attachment/attached-first"],
)
def control_without_session(peer: Peer) -> Verdict:
    """A control on a channel without a session is answered by detached, not-attached."""
    peer.open_connection()
    peer.send("session.flush", completed=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.attachment.commands", covers=["session/attachment/commands"])
def command_without_session(peer: Peer) -> Verdict:
    """A command on a channel without a session is refused."""
    peer.open_connection()
    peer.send("execution.sync", sync=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case(
    "session.detach-code.transport-busy",
    covers=["session/attach/one-session-per-transport", "session/detach-code/transport-busy"],
)
def channel_is_taken(peer: Peer) -> Verdict:
    """A channel that has a session takes no second one."""
    peer.open_session()
    peer.send("session.attach", name=peer.name("s").encode())
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.detach", covers=["session/detach/confirmed"])
def detach_is_answered(peer: Peer) -> Verdict:
    """Detach is answered by detached with the session's name and a code."""
    session = peer.open_session()
    peer.claim("detached, with the name and a code")
    answer = peer.detach()
    return holds(peer, answer["name"] == session.name and answer["code"] is not None, answer)


@case("session.attach.force", covers=["session/attach/force"])
def attached_by_force(peer: Peer) -> Verdict:
    """With force, a session that is attached elsewhere comes along."""
    session = peer.open_session()
    peer.claim("attached on the second channel")
    peer.attach(1, session.name, force=True)
    return holds(peer, True, "attached on the second channel")


@case(
    "session.request-timeout",
    covers=[
        "session/request-timeout/maximum-granted-timeout/conveyed",
        "session/request-timeout/maximum-granted-timeout/granted",
        "session/timeout",
    ],
)
def timeouts_are_told(peer: Peer) -> Verdict:
    """Each request-timeout is answered by one timeout, not above what was asked for."""
    peer.open_session()
    peer.claim("a timeout for each request, not above it")
    asked = (0, 30, 1)
    told = [peer.call_control("session.request-timeout", timeout=seconds)["timeout"] for seconds in asked]
    sound = all(value is not None and value <= most for value, most in zip(told, asked, strict=True))
    return holds(peer, sound, f"timeouts {told} for {list(asked)}")


@case(
    "session.flush",
    covers=["session/flush/earliest", "session/expected/response", "session/confirmed/on-request"],
)
def flush_is_answered(peer: Peer) -> Verdict:
    """A flush is answered by every set that it asks for."""
    peer.open_session()
    peer.barrier()
    peer.claim("expected, confirmed and completed")
    peer.send("session.flush", expected=True, confirmed=True, completed=True)
    for name in ("session.expected", "session.confirmed", "session.completed"):
        peer.expect(name)
    return holds(peer, True, "all three sets")
