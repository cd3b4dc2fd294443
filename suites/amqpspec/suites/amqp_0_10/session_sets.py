"""Class session: what both ends report about commands (expected, confirmed, completed, known-completed, flush).

Knows: controls and the books of a session. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue
from amqpspec.suites.amqp_0_10._entities import after_restart
from amqpspec.suites.amqp_0_10._sessions import (
    LAST_OFFSET,
    State,
    among,
    completed_now,
    expected_now,
    half_a_declare,
    lasting,
    state,
    told_now,
)
from amqpspec.wire.amqp_0_10.serial import MODULUS, SerialSet, in_words

_MANY = 70
_WHOLE = (0, LAST_OFFSET)


def _worked(peer: Peer, commands: int, start: int = 0) -> None:
    """A session with this many commands, all of them reported completed, none of them known to be."""
    peer.knows = False
    peer.open_session(point=start)
    for _ in range(commands - 1):
        peer.send("execution.sync")
    peer.call("execution.sync")


# --- expected


@in_session("session.expected.never-spontaneous", covers=["session/expected/never-spontaneous"])
def expected_unasked(peer: Peer) -> Verdict:
    """The server sends no expected unless a flush requests it."""
    peer.claim("no expected without a flush that requests it")
    queue = peer.queue()
    for at in range(_MANY):
        peer.publish(queue, b"%d" % at, sync=at % 2 == 0)
    peer.send("session.flush", confirmed=True, completed=True)
    peer.barrier()
    found = peer.pending("session.expected", channel=None)
    return holds(peer, not found, f"{len(found)} times expected")


@case("session.expected.new", covers=["session/expected/commands-empty-means-new-session"])
def expected_of_a_new_session(peer: Peer) -> Verdict:
    """A new session expects no ids before its command-point, and expects some after commands."""
    peer.open_connection()
    peer.attach()
    peer.claim("no ids, then some")
    # After the command-point alone, a target that takes its counters for state of the session expects an id (3.5.2).
    before = expected_now(peer)
    peer.point()
    peer.call("execution.sync")
    return equals(peer, [bool(before), bool(expected_now(peer))], [False, True], "ids expected")


@case("session.expected.next", covers=["session/expected/include-next-command"])
def expected_next(peer: Peer) -> Verdict:
    """The server expects the id after the highest received one, even if it wraps to 0."""
    _worked(peer, 3)
    _worked_again = peer.another()
    _worked(_worked_again, 2, MODULUS - 2)
    peer.claim("3 among the ids, and 0")
    told = [expected_now(peer), expected_now(_worked_again)]
    found = [among(ranges, [number])[0] for ranges, number in zip(told, (3, 0), strict=True)]
    return holds(peer, all(found), " and ".join(in_words(ranges) or "none" for ranges in told))


def _overlaps(told: State) -> list[int]:
    """The ids that a set lists among the commands and among the fragments."""
    pairs = ((told.expected, told.expected_parts), (told.confirmed, told.confirmed_parts))
    return [number for ranges, parts in pairs for number in parts if among(ranges, [number])[0]]


def _wholes(told: State) -> list[int]:
    """The ids of fragments that are whole commands."""
    parts = (*told.expected_parts.items(), *told.confirmed_parts.items())
    return [number for number, ranges in parts if _WHOLE in ranges]


def _half_way(peer: Peer) -> State:
    """What is reported while half of a third command has arrived."""
    for _ in "12":
        peer.call("execution.sync")
    _, first, _ = half_a_declare(peer)
    peer.number()
    peer.send_octets(first)
    return state(peer)


@case(
    "session.expected.fragments",
    covers=["session/expected/no-overlaps", "session/expected/include-next-command"],
    needs=["session-resume"],
)
def expected_half_way(peer: Peer) -> Verdict:
    """If half of a command has arrived, no id is both a command and a fragment, and the id is expected."""
    lasting(peer)
    peer.claim("the rest of command 2, or all of it, but not both")
    told = _half_way(peer)
    waited_for = among(told.expected, [2])[0] or 2 in told.expected_parts
    return holds(peer, waited_for and not _overlaps(told), str(told))


@case("session.expected.fragments.minimal", covers=["session/expected/minimal-fragments"])
def expected_whole(peer: Peer) -> Verdict:
    """Commands that are expected as a whole are not listed as fragments."""
    _worked(peer, 2)
    peer.claim("no fragments")
    told = told_now(peer, "expected")
    fragments = getattr(told["fragments"], "items", ())
    return holds(peer, not fragments, f"commands {told['commands']}, fragments {told['fragments']}")


# --- confirmed


@in_session(
    "session.confirmed.fragments",
    covers=["session/confirmed/no-overlaps", "session/confirmed/minimal-fragments"],
)
def confirmed_half_way(peer: Peer) -> Verdict:
    """No id is confirmed both as a command and as a fragment, and no fragment is a whole command."""
    peer.claim("no id twice, and no whole command among the fragments")
    told = _half_way(peer)
    return holds(peer, not _overlaps(told) and not _wholes(told), str(told))


@case("session.confirmed.as-completed", covers=["session/confirmed/as-completed"])
def confirmed_and_completed(peer: Peer) -> Verdict:
    """Completed commands are confirmed; more commands may be confirmed."""
    _worked(peer, 3)
    peer.claim("commands 0 to 2 completed and confirmed")
    told = state(peer)
    ids = [0, 1, 2]
    if among(told.completed, ids) != [True] * 3 or among(told.confirmed, ids) != [True] * 3:
        return holds(peer, False, str(told))
    same = told.completed == told.confirmed
    return observed_either_way(peer, "the same sets" if same else "more is confirmed than completed")


@on_queue("session.confirmed.spontaneous", covers=["session/confirmed/spontaneous"])
def confirmed_unasked(peer: Peer, queue: str) -> Verdict:
    """Confirmed may arrive without a flush, and contains only ids of commands that were sent."""
    peer.claim("no confirmed, or ids of commands that were sent")
    for at in range(_MANY):
        peer.publish(queue, b"%d" % at)
    peer.barrier()
    sent = SerialSet.of([(0, (peer.sessions[0].next_id or 1) - 1)])
    told = peer.pending("session.confirmed")
    foreign = [list(a["commands"] or ()) for a in told if not _within(a["commands"] or (), sent)]
    if foreign:
        return holds(peer, False, f"{foreign[0]} of {sent}")
    return observed_either_way(peer, "spontaneously" if told else "on request only")


def _within(ranges: tuple[tuple[int, int], ...], sent: SerialSet) -> bool:
    return all(lower in sent and upper in sent for lower, upper in ranges)


@case("session.confirmed.durability", covers=["session/confirmed/durability"], restarts=True)
def confirmed_and_stored(peer: Peer) -> Verdict:
    """Confirmed persistent messages in a durable queue survive a restart."""
    peer.knows = False
    peer.open_session()
    queue = peer.queue(durable=True)
    ids = {peer.publish(queue, b"%d" % at, delivery={"delivery_mode": 2}): b"%d" % at for at in range(3)}
    peer.barrier()
    # What is completed counts as confirmed.
    confirmed = completed_now(peer)
    promised = [body for number, body in ids.items() if number is not None and among(confirmed, [number])[0]]
    after = after_restart(peer)
    after.claim("every message that was confirmed")
    found = [transfer.body for transfer in after.drain(queue)]
    return equals(after, [body for body in promised if body not in found], [], "confirmed and lost")


# --- completed, and known to be


def _known(peer: Peer, name: str) -> Verdict:
    _worked(peer, 4)
    peer.send("session.known-completed", commands=((0, 1), (3, 3)))
    peer.call("execution.sync")
    peer.claim("ids 2 and 4, and none of 0, 1 and 3")
    found = among(tuple(told_now(peer, name)["commands"] or ()), range(5))
    return equals(peer, found, [False, False, True, False, True], name)


@case(
    "session.completed.exclude-known-complete", covers=["session/completed/commands/exclude-known-complete"]
)
def known_completed(peer: Peer) -> Verdict:
    """Completed leaves out commands in known-completed, and includes the others and later ones."""
    return _known(peer, "completed")


@case(
    "session.confirmed.exclude-known-complete", covers=["session/confirmed/commands/exclude-known-complete"]
)
def known_confirmed(peer: Peer) -> Verdict:
    """Confirmed leaves out commands in known-completed, and includes the others and later ones."""
    return _known(peer, "confirmed")


@case(
    "session.completed.exclude-known-complete.wrapped",
    covers=["session/completed/commands/exclude-known-complete"],
)
def known_completed_over_the_end(peer: Peer) -> Verdict:
    """Sets wrap at the end of 32 bits: of 4294967294 to 1, the two in the middle are known."""
    _worked(peer, 4, MODULUS - 2)
    peer.send("session.known-completed", commands=((MODULUS - 1, 0),))
    peer.call("execution.sync")
    peer.claim("ids 4294967294, 1 and 2")
    found = among(completed_now(peer), [MODULUS - 2, MODULUS - 1, 0, 1, 2])
    return equals(peer, found, [True, False, False, True, True], "reported completed")


def _results(peer: Peer, count: int) -> list[int]:
    """The ids of this many commands of the target, about which it was sent nothing."""
    peer.polite = False
    peer.open_session()
    queue = peer.queue()
    for _ in range(count):
        peer.send("queue.query", queue=queue)
    ids = [peer.expect("execution.result").id for _ in range(count)]
    return [number for number in ids if number is not None]


@case(
    "session.completed.timely",
    covers=["session/completed/timely-reply/no-delay", "session/completed/known-completed-reply"],
)
def timely_replies(peer: Peer) -> Verdict:
    """The server answers each completed with timely-reply with a known-completed that covers it."""
    ids = _results(peer, 2)
    peer.claim("known-completed, twice, with the reported ids")
    found = []
    for number in ids:
        peer.send("session.completed", commands=((number, number),), timely_reply=True)
        found.append(among(peer.expect("session.known-completed")["commands"] or (), [number])[0])
    return equals(peer, found, [True, True], "covered")


@case("session.completed.delayed", covers=["session/completed/delayed-reply"])
def delayed_replies(peer: Peer) -> Verdict:
    """Without timely-reply, the server may delay known-completed until a completed with timely-reply."""
    ids = _results(peer, 2)
    peer.claim("both ids in known-completed, at the latest after the second completed")
    peer.send("session.completed", commands=((ids[0], ids[0]),))
    peer.barrier()
    early = peer.pending("session.known-completed")
    # What is known is not reported again.
    first = ids[1] if early else ids[0]
    peer.send("session.completed", commands=((first, ids[1]),), timely_reply=True)
    late = [peer.expect("session.known-completed")]
    peer.barrier()
    late += peer.pending("session.known-completed")
    known = [tuple(a["commands"] or ()) for a in (*early, *late)]
    if not all(any(among(ranges, [number])[0] for ranges in known) for number in ids):
        return holds(peer, False, f"known-completed for {' and '.join(map(in_words, known))} of {ids}")
    return observed_either_way(peer, "at once" if early else "put off")


@case("session.completed.merged", covers=["session/completed/merged-reply"])
def merged_replies(peer: Peer) -> Verdict:
    """The server may answer several completed with one known-completed, which covers all of them."""
    ids = _results(peer, 3)
    peer.claim("all ids in known-completed")
    for number in ids[:-1]:
        peer.send("session.completed", commands=((ids[0], number),))
    peer.send("session.completed", commands=((ids[0], ids[-1]),), timely_reply=True)
    replies = [peer.expect("session.known-completed")]
    peer.barrier()
    replies += peer.pending("session.known-completed")
    known = [among(reply["commands"] or (), ids) for reply in replies]
    if not all(any(column) for column in zip(*known, strict=True)):
        return holds(peer, False, f"known-completed for {known} of {ids}")
    return observed_either_way(peer, "one for each" if len(replies) == len(ids) else "one for several")


@case("session.known-completed.stateless", covers=["session/known-completed/stateless"])
def echoed_ids(peer: Peer) -> Verdict:
    """Known-completed covers the ids of completed and may contain others."""
    ids = _results(peer, 2)
    told = ((ids[0], ids[1]),)
    peer.claim("known-completed that covers the ids")
    peer.send("session.completed", commands=told, timely_reply=True)
    reply = tuple(peer.expect("session.known-completed")["commands"] or ())
    if among(reply, ids) != [True, True]:
        return holds(peer, False, f"{in_words(reply) or 'no ids'} for {in_words(told)}")
    return observed_either_way(peer, "the very ids" if reply == told else "others besides")
