"""Class session: what survives a lost channel, and what is repeated on another one (request-timeout, replay).

Knows: lost connections, the books of a session, octets of commands. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows
from amqpspec.run.case import case
from amqpspec.run.oracles import borne_aloud, equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._sessions import (
    LAST_OFFSET,
    among,
    elsewhere,
    expected_now,
    half_a_declare,
    lasting,
    state,
)
from amqpspec.suites.amqp_0_10._wire import declaring, queues_there, send_command, send_control
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, FIRST_SEGMENT, LAST_SEGMENT, encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_instruction
from amqpspec.wire.amqp_0_10.serial import MODULUS

_NEEDS = ("session-resume",)
_CUT_OCTETS = 10


def _point_behind(peer: Peer) -> None:
    """Continue with the next command."""
    peer.point(0, peer.sessions[0].next_id or 0)


@case("session.request-timeout.preserved", covers=["session/request-timeout/preserved"], needs=_NEEDS)
def state_is_kept(peer: Peer) -> Verdict:
    """On another connection, a session still knows the received commands and has its exclusive queue."""
    session = lasting(peer)
    queue = peer.queue(exclusive=True, auto_delete=True)
    peer.publish(queue, b"kept", sync=True)
    peer.barrier()
    following = session.next_id or 0
    peer.claim("the next id expected, all before it completed, and the queue with its message")
    other = elsewhere(peer, session)
    told = state(other)
    _point_behind(other)
    known = among(told.expected, [following]) + among(told.completed, range(following))
    found = (all(known), bodies(other, queue))
    return equals(other, found, (True, [b"kept"]), "sets as before, bodies")


@case("session.request-timeout.detached", covers=["session/request-timeout/preserved"], needs=_NEEDS)
def state_is_kept_behind_detach(peer: Peer) -> Verdict:
    """A session that was detached properly is kept for its timeout too, on the same connection."""
    session = lasting(peer)
    queue = peer.queue(exclusive=True, auto_delete=True)
    peer.detach()
    peer.claim("the next id expected, and the queue")
    peer.reattach(session, 1, force=False)
    found = among(expected_now(peer, 1), [session.next_id or 0])
    peer.point(1, session.next_id or 0)
    return equals(peer, (found, queues_there(peer, [queue], 1)), ([True], [queue]), "expected, queues")


@case("session.request-timeout.withdrawn", covers=["session-layer/timeout/zero"], needs=_NEEDS)
def timeout_taken_back(peer: Peer) -> Verdict:
    """After the timeout is set to 0 again, no state of a session is kept."""
    session = lasting(peer)
    peer.queue(exclusive=True)
    peer.call_control("session.request-timeout", timeout=0)
    peer.detach()
    peer.claim("a new session")
    peer.attach(0, session.name)
    return equals(peer, expected_now(peer), (), "expected")


@case("session.request-timeout.back", covers=["session/request-timeout/preserved"], needs=_NEEDS, slow=True)
def timeout_stops_where_a_session_is_back(peer: Peer) -> Verdict:
    """A session that is attached again within its timeout does not expire later."""
    session = lasting(peer, timeout_s=2)
    queue = peer.queue(exclusive=True, auto_delete=True)
    peer.detach()
    peer.reattach(session, 1, force=False)
    peer.wait(lambda arrival: False, 3.0)
    peer.claim("the next id expected, and the queue")
    found = among(expected_now(peer, 1), [session.next_id or 0])
    peer.point(1, session.next_id or 0)
    return equals(peer, (found, queues_there(peer, [queue], 1)), ([True], [queue]), "expected, queues")


# --- commands of the client


@case("session.replay.known", covers=["session-layer/replay/known-commands"], needs=_NEEDS)
def replayed_commands(peer: Peer) -> Verdict:
    """Commands that are replayed after a lost connection are executed once, and so are new ones."""
    session = lasting(peer, point=MODULUS - 2)
    queue = peer.queue()
    first = session.next_id or 0
    commands = [peer.transferring(queue, b"%d" % at) for at in range(4)]
    for octets in commands[:3]:
        peer.number()
        peer.send_octets(octets)
    peer.barrier()
    peer.claim("four messages, each once, in order")
    other = elsewhere(peer, session)
    state(other)
    # The fourth takes the number of a barrier that was carried out: it has to be sent under a new one.
    behind = session.next_id or 0
    other.point(0, first)
    for octets in commands[:3]:
        other.send_octets(octets)
    session.next_id = behind
    other.point(0, behind)
    other.number()
    other.send_octets(commands[3])
    other.barrier()
    return equals(other, bodies(other, queue), [b"0", b"1", b"2", b"3"], "bodies")


@case("session.replay.lost", covers=["session-layer/replay/known-commands"], needs=_NEEDS)
def replay_of_what_was_lost(peer: Peer) -> Verdict:
    """If two of five commands arrived and all are sent again, each is executed once, in order."""
    session = lasting(peer)
    queue = peer.queue()
    first = session.next_id or 0
    commands = [peer.transferring(queue, b"%d" % at) for at in range(5)]
    for octets in commands[:2]:
        peer.number()
        peer.send_octets(octets)
    peer.send("session.flush", completed=True)
    peer.expect("session.completed")
    peer.claim("five messages, each once, in order")
    other = elsewhere(peer, session)
    state(other)
    other.point(0, first)
    for octets in commands:
        other.send_octets(octets)
    session.next_id = first + len(commands)
    other.barrier()
    return equals(other, bodies(other, queue), [b"0", b"1", b"2", b"3", b"4"], "bodies")


@case(
    "session.resume.half-a-command",
    covers=["session/command-point/nonzero-offset/next-frame", "session/expected/no-overlaps"],
    needs=_NEEDS,
)
def rest_of_a_command(peer: Peer) -> Verdict:
    """A command that arrived in part continues where the server expects it, and is executed."""
    session = lasting(peer)
    peer.barrier()
    name, first, second = half_a_declare(peer)
    number = peer.number() or 0
    peer.send_octets(first)
    state(peer)
    peer.claim("the rest of the command, or all of it, expected; then the queue")
    other = elsewhere(peer, session)
    told = state(other)
    if number in told.expected_parts:
        if told.expected_parts[number] != ((_CUT_OCTETS, LAST_OFFSET),):
            return holds(other, False, str(told))
        other.point(0, number, _CUT_OCTETS)
        other.send_octets(second)
    else:
        other.point(0, number)
        other.send_octets(first + second)
    other.completion(number)
    return equals(other, queues_there(other, [name]), [name], "queues")


@case(
    "session.resume.empty-frame",
    covers=["session/command-point/zero-offset/next-frame", "session/expected/no-overlaps"],
    needs=_NEEDS,
)
def command_behind_an_empty_frame(peer: Peer) -> Verdict:
    """If only an empty frame of a command arrived, the command is sent from its start and executed."""
    session = lasting(peer)
    peer.barrier()
    name, octets = declaring(peer)
    number = peer.number() or 0
    peer.send_octets(encode_frame(b"", type=COMMAND, flags=FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME))
    state(peer)
    peer.claim("the queue")
    other = elsewhere(peer, session)
    state(other)
    other.point(0, number)
    other.completion(send_command(other, octets) or 0)
    return equals(other, queues_there(other, [name]), [name], "queues")


# --- commands of the target


@case("session.resume.commands-of-the-target", covers=["session/request-timeout/preserved"], needs=_NEEDS)
def target_sends_again(peer: Peer) -> Verdict:
    """The server repeats commands that were not completed with their ids, but not a completed one."""
    session = lasting(peer)
    queues = [peer.queue() for _ in "123"]
    for name in queues:
        peer.send("queue.query", queue=name)
    before = [peer.expect("execution.result") for _ in queues]
    ids = [result.id for result in before]
    peer.claim("the second and the third result again, with their ids")
    peer.send("session.completed", commands=((ids[0], ids[0]),), timely_reply=True)
    peer.expect("session.known-completed")
    other = elsewhere(peer, session)
    # Of the three, the first only is reported as completed: a polite answer would report all that was read.
    session.finished = session.finished - session.finished
    again = [other.expect("execution.result") for _ in queues[1:]]
    found = [(result.id, result["command_id"]) for result in again]
    wanted = [(result.id, result["command_id"]) for result in before[1:]]
    if found != wanted:
        return equals(other, found, wanted, "ids")
    _point_behind(other)
    other.barrier()
    more = other.pending("execution.result")
    return holds(other, not more, f"{len(more)} results more")


# --- fragments


@case("type.byte-ranges", covers=["type/byte-ranges"], needs=_NEEDS)
def fragments_of_ours(peer: Peer) -> Verdict:
    """The server reads ranges of octets up to 64 bits wide, and the session continues to work."""
    lasting(peer)
    peer.claim("the server accepts expected and confirmed with fragments")
    ranges = ((0, 9), (1 << 32, (1 << 63) + 1), (LAST_OFFSET - 1, LAST_OFFSET))
    parts = [{"command_id": MODULUS - 1, "byte_ranges": ranges}, {"command_id": 0, "byte_ranges": ()}]
    peer.send("session.confirmed", commands=(), fragments=parts)
    peer.send("session.expected", commands=(), fragments=parts)
    return allows(peer)


@case("type.byte-ranges.size", covers=["type/byte-ranges"], needs=_NEEDS)
def fragments_of_the_target(peer: Peer) -> Verdict:
    """If the server reports fragments, their ranges begin where the received part of a command ended."""
    session = lasting(peer)
    _, first, _ = half_a_declare(peer)
    number = peer.number()
    peer.send_octets(first)
    peer.claim("no fragments, or one from octet 10 on")
    told = state(elsewhere(peer, session))
    begins = {key: ranges[0][0] for key, ranges in told.expected_parts.items() if ranges}
    sound = not told.expected_parts or begins == {number: _CUT_OCTETS}
    return holds(peer, sound, str(told))


def _ranges_refused(peer: Peer, ranges: tuple[tuple[int, int], ...]) -> Verdict:
    lasting(peer)
    parts = [{"command_id": 0, "byte_ranges": ranges}]
    send_control(peer, encode_instruction("session.confirmed", {"commands": (), "fragments": parts}))
    return borne_aloud(peer, peer.reaction(barrier=True, within_s=peer.patience_s))


@case("byte-ranges.ascending", covers=["byte-ranges/ascending"], needs=_NEEDS)
def descending_ranges(peer: Peer) -> Verdict:
    """Ranges of octets in descending order violate the type and may be refused."""
    return _ranges_refused(peer, ((20, 29), (0, 9)))


@case("byte-ranges.disjoint", covers=["byte-ranges/disjoint"], needs=_NEEDS)
def overlapping_ranges(peer: Peer) -> Verdict:
    """Ranges of octets that overlap violate the type and may be refused."""
    return _ranges_refused(peer, ((0, 9), (9, 19)))
