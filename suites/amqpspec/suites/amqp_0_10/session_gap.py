"""Class session: commands that will never arrive (gap).

Knows: sets of ids, halves of commands. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._sessions import among, completed_now, half_a_declare, told_now
from amqpspec.suites.amqp_0_10._wire import queues_there

_NEEDS = ("gap",)


def _goes_on(peer: Peer, at: int) -> None:
    """The next command is the one after the gap, whether a target counts it so by itself or not."""
    peer.point(0, at)


@in_session("session.gap.next-commands", covers=["session/gap/next-commands"], needs=_NEEDS)
def commands_behind_a_gap(peer: Peer) -> Verdict:
    """The commands after a gap are executed."""
    peer.call("execution.sync")
    peer.claim("both queues")
    peer.send("session.gap", commands=((1, 5),))
    _goes_on(peer, 6)
    queues = [peer.queue() for _ in "12"]
    return equals(peer, queues_there(peer, queues), queues, "queues")


@case(
    "session.gap.completed",
    covers=["session/gap/gap-confirmation-and-completion", "session/gap/next-commands"],
    needs=_NEEDS,
)
def gap_is_complete(peer: Peer) -> Verdict:
    """All ids in the two ranges of a gap are reported completed; ids outside them are not."""
    return _told(peer, "completed")


@case("session.gap.confirmed", covers=["session/gap/gap-confirmation-and-completion"], needs=_NEEDS)
def gap_is_confirmed(peer: Peer) -> Verdict:
    """All ids in the two ranges of a gap are reported confirmed; ids outside them are not."""
    return _told(peer, "confirmed")


def _told(peer: Peer, name: str) -> Verdict:
    peer.knows = False
    peer.open_session()
    peer.call("execution.sync")
    peer.claim(f"ids 0, 1 to 3 and 6 {name}")
    peer.send("session.gap", commands=((1, 3), (6, 6)))
    found = among(tuple(told_now(peer, name)["commands"] or ()), range(8))
    return equals(peer, found, [True, True, True, True, False, False, True, False], name)


@in_session("session.gap.aborted", covers=["session/gap/aborted-commands"], needs=_NEEDS)
def gap_over_half_a_command(peer: Peer) -> Verdict:
    """A gap aborts a command that arrived in part; the next command is executed."""
    peer.call("execution.sync")
    lost, first, _ = half_a_declare(peer)
    peer.send_octets(first)
    peer.claim("the queue after the gap, and not the one in it")
    peer.send("session.gap", commands=((1, 1),))
    _goes_on(peer, 2)
    kept = peer.queue()
    return equals(peer, queues_there(peer, [lost, kept]), [kept], "queues")


@in_session(
    "session.gap.stays-completed", covers=["session/gap/completed-or-confirmed-commands"], needs=_NEEDS
)
def gap_over_completed_commands(peer: Peer) -> Verdict:
    """Completed commands remain completed and effective if a gap contains their ids."""
    queues = [peer.queue() for _ in "12"]
    peer.barrier()
    peer.claim("ids 0 to 3 completed, and both queues")
    peer.send("session.gap", commands=((0, 1),))
    told = among(completed_now(peer), range(4))
    found = (told, queues_there(peer, queues))
    return equals(peer, found, ([True] * 4, queues), "completed, queues")
