"""Class session: attaching to channels, and what both ends report about commands.

Knows: controls and the books of a session. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_arrival, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._sessions import expected_now, fails, told_now
from amqpspec.suites.amqp_0_10._wire import queues_there


@case("session.attach.answered", covers=["session/attach/answered", "encoding/response/channel"])
def attach_is_answered(peer: Peer) -> Verdict:
    """The server answers attach with attached and the same name, on each of two channels."""
    peer.open_connection()
    peer.claim("attached, with the requested name, on the same channel")
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
    """A session that is attached on one channel cannot be attached on another one of the same connection."""
    session = peer.open_session()
    peer.send("session.attach", 1, name=session.name)
    return rejects_violation(peer, 1, barrier=False, within_s=peer.patience_s)


@in_session("session.header.sync", covers=["session/header/sync"])
def sync_flag(peer: Peer) -> Verdict:
    """Each command with the sync flag is reported complete without a flush."""
    peer.claim("completion of each command that has the sync flag")
    ids = [
        peer.send("exchange.declare", exchange="amq.direct", type="direct", passive=True, sync=True)
        for _ in "12"
    ]
    for number in ids:
        peer.completion(number)
    return holds(peer, True, "both were reported complete")


@case(
    "session.attachment.discarded",
    covers=["session/attachment/discarded", "session/attachment/attached-first"],
)
def control_without_session(peer: Peer) -> Verdict:
    """The server answers a control on a channel without a session with detached, not-attached."""
    peer.open_connection()
    peer.send("session.flush", completed=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.attachment.commands", covers=["session/attachment/commands"])
def command_without_session(peer: Peer) -> Verdict:
    """A command on a channel without a session is refused and has no effect."""
    peer.open_connection()
    name = peer.will_clean("queue", peer.name("none"))
    peer.send("queue.declare", queue=name, sync=True)
    reaction = peer.reaction(barrier=False, within_s=peer.patience_s)
    other = peer.another()
    other.open_session()
    there = bool(queues_there(other, [name]))
    return holds(peer, False, f"queue {name!r} was declared") if there else judge_reaction(peer, reaction)


@in_session(
    "session.detach-code.transport-busy",
    covers=["session/attach/one-session-per-transport", "session/detach-code/transport-busy"],
)
def channel_is_taken(peer: Peer) -> Verdict:
    """A channel that has a session accepts no second one."""
    peer.send("session.attach", name=peer.name("s").encode())
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.detach", covers=["session/detach/confirmed"])
def detach_is_answered(peer: Peer) -> Verdict:
    """The server answers detach with detached, the session's name and a code."""
    session = peer.open_session()
    peer.claim("detached, with the name and a code")
    answer = peer.call_control("session.detach", name=session.name)
    return holds(peer, answer["name"] == session.name and answer["code"] is not None, answer)


@in_session("session.detach.unknown", covers=["session/attachment/discarded"])
def detach_of_another_session(peer: Peer) -> Verdict:
    """The server answers detach of a session of another channel with not-attached, and detaches nothing."""
    peer.claim("detached, not-attached, with the name that was sent, and the session continues to work")
    name = peer.name("other").encode()
    peer.send("session.detach", name=name)
    answer = peer.arrival("session.detached")
    if not isinstance(answer, AssemblyArrived) or answer["name"] != name:
        return judge_arrival(peer, answer)
    peer.barrier()
    # The channel has a session, so that the definition of not-attached does not fit either.
    if answer.code == "normal":
        return observed_either_way(peer, "detached normally, and nothing is detached")
    return judge_arrival(peer, answer)


@case("session.attach.force", covers=["session/attach/force"])
def attached_by_force(peer: Peer) -> Verdict:
    """With force, a session moves to another channel of its connection and releases the first one."""
    session = peer.open_session()
    peer.claim("attached on the second channel, detached on the first, which accepts another session")
    peer.attach(1, session.name, force=True)
    peer.expect("session.detached", "session.detach")
    peer.point(1)
    peer.barrier(1)
    peer.open_session(0)
    peer.barrier(0)
    return holds(peer, True, "detached there, attached here, both work")


@case("session.attach.force.other-connection", covers=["session/attach/force"])
def attached_by_force_elsewhere(peer: Peer) -> Verdict:
    """With force, a session moves to another connection and releases its channel on the first one."""
    session = peer.open_session()
    other = peer.another()
    other.open_connection()
    peer.claim("attached on the second connection, detached on the first, and both work")
    other.attach(0, session.name, force=True)
    other.point()
    other.barrier()
    peer.expect("session.detached", "session.detach")
    peer.open_session()
    peer.barrier()
    return holds(peer, True, "detached there, attached here, both work")


@case("session.attach.busy.other-connection", covers=["session/attach/one-transport-per-session"])
def busy_on_another_connection(peer: Peer) -> Verdict:
    """A session that is attached on one connection cannot be attached on another one."""
    session = peer.open_session()
    other = peer.another()
    other.open_connection()
    other.send("session.attach", name=session.name)
    return rejects_violation(other, barrier=False, within_s=peer.patience_s)


@case("session.attach.idempotence", covers=["session/attach/idempotence"])
def attached_twice(peer: Peer) -> Verdict:
    """A repeated attach on the same channel is answered with attached, and command ids continue."""
    session = peer.open_session()
    peer.barrier()
    peer.claim("attached, and the next command has the next id")
    for force in (False, True):
        peer.call_attach(session, force)
    number = session.next_id
    return equals(peer, fails(peer), number, "command")


@case("session.attach.scoping", covers=["session/attach/scoping", "session/name"], hooks=["second-user"])
def one_name_for_two_users(peer: Peer) -> Verdict:
    """Two users can attach sessions of the same name at once, and the sessions are independent."""
    name = peer.name("shared").encode()
    users = [peer, peer.another("second")]
    for user in users:
        user.open_connection()
    peer.claim("attached for both; each counts its own commands")
    for start, user in zip((0, 100), users, strict=True):
        user.attach(0, name)
        user.point(0, start)
        user.barrier()
    return equals(peer, [fails(user) for user in users], [2, 102], "commands")


@in_session(
    "session.request-timeout",
    covers=[
        "session/request-timeout/maximum-granted-timeout/conveyed",
        "session/request-timeout/maximum-granted-timeout/granted",
        "session/timeout",
    ],
)
def timeouts_are_told(peer: Peer) -> Verdict:
    """The server answers each request-timeout with one timeout that is not above the requested value."""
    peer.claim("one timeout for each request, not above it")
    asked = (0, 30, 1)
    told = [peer.call_control("session.request-timeout", timeout=seconds)["timeout"] for seconds in asked]
    sound = all(value is not None and value <= most for value, most in zip(told, asked, strict=True))
    return holds(peer, sound, f"timeouts {told} for {list(asked)}")


@in_session("session.flush", covers=["session/flush/earliest", "session/expected/response"])
def flush_is_answered(peer: Peer) -> Verdict:
    """The server answers a flush with the requested sets: expected and completed."""
    peer.barrier()
    peer.claim("expected and completed")
    peer.send("session.flush", expected=True, completed=True)
    for name in ("session.expected", "session.completed"):
        peer.expect(name)
    return holds(peer, True, "both sets")


@in_session("session.confirmed.on-request", covers=["session/confirmed/on-request"])
def confirmed_on_request(peer: Peer) -> Verdict:
    """The server answers each flush that requests confirmed."""
    peer.barrier()
    peer.claim("confirmed, twice")
    told = [told_now(peer, "confirmed") for _ in "12"]
    return holds(peer, True, told[-1])


@case("session-layer.timeout.zero", covers=["session-layer/timeout/zero"])
def nothing_kept(peer: Peer) -> Verdict:
    """With timeout 0, a session that was detached is new when it is attached again."""
    session = peer.open_session(timeout_s=0)
    peer.barrier()
    peer.detach()
    peer.claim("a new session: nothing expected")
    peer.attach(0, session.name)
    return equals(peer, expected_now(peer), (), "expected")
