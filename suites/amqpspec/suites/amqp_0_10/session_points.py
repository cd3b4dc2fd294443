"""Class session: which ids commands have, and where a command continues (command-point).

Knows: ids, offsets, frames of commands. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._sessions import among, completed_now, fails, half_a_declare, lasting
from amqpspec.suites.amqp_0_10._wire import each_judged
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, LAST_FRAME, LAST_SEGMENT, encode_frame
from amqpspec.wire.amqp_0_10.instructions import BODY

_LAST_IDS = 0xFFFFFFFE


@case("session.command-point.before-commands", covers=["session/command-point/before-commands"])
def command_without_point(peer: Peer) -> Verdict:
    """A command on a newly attached channel without a command-point detaches the session."""
    peer.open_connection()
    peer.attach()
    peer.send("execution.sync", sync=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.command-point.before-commands.named", covers=["session/command-point/before-commands"])
def session_without_point_is_named(peer: Peer) -> Verdict:
    """Detached after a missing command-point names the right session, whatever was detached before."""
    peer.open_connection()
    session = peer.attach()
    peer.send("session.detach", name=peer.name("other").encode())
    peer.expect("session.detached")
    peer.send("execution.sync", sync=True)
    peer.claim("detached, with the name of the session")
    return equals(peer, peer.expect("session.detached")["name"], session.name, "name")


@case(
    "session.command-point.attached-again",
    covers=["session/command-point/newly-attached-transports/detached"],
)
def command_without_another_point(peer: Peer) -> Verdict:
    """Each new attachment of a session requires a command-point before the first command."""
    session = peer.open_session(timeout_s=60)
    peer.barrier()
    peer.detach()
    peer.attach(0, session.name)
    peer.send("execution.sync", sync=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case("session.command-point.numbering", covers=["session/command-point/numbering"])
def numbers_of_commands(peer: Peer) -> Verdict:
    """Commands are numbered from the command-point on, across the end of 32 bits: 4294967294 to 1."""
    peer.knows = False
    peer.open_session(point=_LAST_IDS)
    peer.claim("ids 4294967294 to 1 completed, and an exception for command 2")
    for _ in range(3):
        peer.send("execution.sync")
    peer.call("execution.sync")
    told = among(completed_now(peer), [_LAST_IDS - 1, _LAST_IDS, _LAST_IDS + 1, 0, 1, 2])
    wanted = ([False, True, True, True, True, False], 2)
    return equals(peer, (told, fails(peer)), wanted, "reported completed, failed")


@in_session("session.command-point.again", covers=["session/command-point/numbering"])
def another_point(peer: Peer) -> Verdict:
    """A second command-point on the same attachment renumbers the commands after it."""
    peer.claim("an exception for command 1001")
    peer.call("execution.sync")
    peer.point(0, 1000)
    peer.call("execution.sync")
    return equals(peer, fails(peer), 1001, "command")


@in_session("session.command-point.own", covers=["session/command-point/numbering"])
def points_of_the_target(peer: Peer) -> Verdict:
    """The server sends a command-point before its own commands and numbers them consecutively."""
    names = [peer.queue() for _ in "123"]
    peer.claim("a command-point before the first result, and consecutive ids")
    for name in names:
        peer.send("queue.query", queue=name)
    ids = [peer.expect("execution.result").id for _ in names]
    first = ids[0]
    wanted = None if first is None else [first, first + 1, first + 2]
    return equals(peer, ids, wanted or "three numbers", "ids")


# --- where a command continues


def _points(peer: Peer, offset: int) -> None:
    peer.point(0, peer.sessions[0].next_id or 0, offset)


@case(
    "session.command-point.zero-offset.segment",
    covers=[
        "session/command-point/zero-offset/framing-error",
        "session/command-point/zero-offset/next-frame",
    ],
    destructive=True,
)
def body_behind_a_point(peer: Peer) -> Verdict:
    """After a command-point without an offset, a segment that does not begin a command is a framing error."""

    def act(one: Peer) -> None:
        _points(one, 0)
        flags = FIRST_FRAME | LAST_FRAME | LAST_SEGMENT
        one.send_octets(encode_frame(b"body", type=BODY, flags=flags))

    return each_judged(peer, [act], barrier=False)


@case(
    "session.command-point.zero-offset.frame",
    covers=["session/command-point/zero-offset/framing-error"],
    destructive=True,
)
def rest_behind_a_point(peer: Peer) -> Verdict:
    """After a command-point without an offset, the second half of a command is a framing error."""

    def act(one: Peer) -> None:
        _, _, second = half_a_declare(one)
        _points(one, 0)
        one.send_octets(second)

    return each_judged(peer, [act], barrier=False)


@case(
    "session.command-point.nonzero-offset",
    covers=[
        "session/command-point/nonzero-offset/framing-error",
        "session/command-point/nonzero-offset/next-frame",
    ],
    needs=["session-resume"],
)
def command_behind_an_offset(peer: Peer) -> Verdict:
    """After a command-point with an offset, a frame that begins a command is a framing error."""
    lasting(peer)
    _points(peer, 10)
    peer.send("execution.sync", sync=True)
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)
