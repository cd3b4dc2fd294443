"""Controls about commands: the first id, and which commands are expected, confirmed, completed or skipped.

Knows: sets of command ids. Must not know: the effects of commands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.reference.amqp_0_10.attaching import request_timeout
from amqpspec.reference.amqp_0_10.connection import Channel
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.outgoing import ids_of
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.serial import SerialSet, add

CONTROLS = Handlers[Callable[[Session, Channel, Order], None]]()
"""The controls that need a session on their channel."""
CONTROLS["session.request-timeout"] = request_timeout
_COMMANDS = DIALECT.layout.tracks["command"]
_COMMAND_INVALID, _FEW = 503, 1 << 16
_LAST_OFFSET = (1 << 64) - 1
_NOTHING = SerialSet()


@CONTROLS.register("session.command-point")
def command_point(session: Session, channel: Channel, order: Order) -> None:
    """Set the id of the next command, and the offset at which it continues."""
    number, offset = order["command_id"], order["command_offset"]
    if session.faulty("command-ids-read-backwards"):
        number = int.from_bytes(number.to_bytes(4, "little"), "big")
    partial, session.partial = session.partial, None
    goes_on = offset or session.faulty("empty-frames-begin-commands")
    if goes_on and partial is not None and (number, offset) == (session.next_in, partial.octets):
        channel.tracks[_COMMANDS] = partial
    session.next_in, session.pointed, channel.point = number, True, offset


# --- answers to flush


@CONTROLS.register("session.flush")
def flush(session: Session, channel: Channel, order: Order) -> None:
    """Send the requested sets."""
    if session.faulty("flush-ignored"):
        return
    if order["expected"]:
        session.control("session.expected", **_expected(session, channel))
    if order["confirmed"]:
        session.control("session.confirmed", **_confirmed(session))
    if order["completed"]:
        session.tell_completed()


def _expected(session: Session, channel: Channel) -> dict[str, Any]:
    """The id after the highest received one, and the missing part of that one if it is incomplete; empty if there is
    none.
    """
    partial = session.partial or channel.tracks.get(_COMMANDS)
    under_way = partial if partial is not None and partial.begun else None
    following = session.next_in
    if following is None and session.faulty("new-sessions-expect"):
        return {"commands": ((0, 0),)}
    if following is None or not (session.has_state or under_way):
        return {"commands": ()}
    if session.faulty("next-command-not-expected"):
        following = add(following, 1)
    if under_way is None and session.faulty("whole-commands-expected-as-fragments"):
        return {"commands": ((add(following, 1),) * 2,), "fragments": [_rest_of(following, 0)]}
    if under_way is None:
        return {"commands": ((following, following),)}
    first = following if session.faulty("fragments-expected-as-commands") else add(following, 1)
    received = under_way.octets + 12 * session.faulty("fragments-count-frame-headers")
    return {"commands": ((first, add(following, 1)),), "fragments": [_rest_of(following, received)]}


def _rest_of(number: int, offset: int) -> dict[str, Any]:
    return {"command_id": number, "byte_ranges": ((offset, _LAST_OFFSET),)}


def _confirmed(session: Session) -> dict[str, Any]:
    """The completed commands: nothing is confirmed earlier, and nothing in part."""
    ranges = session.completed.ranges
    if not ranges:
        return {"commands": ()}
    if session.faulty("confirmed-fragments-overlap"):
        return {"commands": ranges, "fragments": [_rest_of(ranges[0][0], 0)]}
    if session.faulty("whole-commands-confirmed-as-fragments"):
        return {"commands": (), "fragments": [_rest_of(number, 0) for number in session.completed]}
    return {"commands": ranges}


# --- progress of both sides


@CONTROLS.register("session.completed")
def completed(session: Session, channel: Channel, order: Order) -> None:
    """The client has completed commands of the broker."""
    ids = ids_of(order["commands"])
    session.outgoing.has(ids)
    unanswered = session.faulty("completed-never-answered") or (
        order["timely_reply"] and session.faulty("timely-reply-ignored")
    )
    if not unanswered:
        known = _NOTHING if session.faulty("known-completed-empty") else ids
        session.control("session.known-completed", commands=known.ranges)
    for listener in session.on_completed:
        listener(ids)
    _note_report(session, order)


@CONTROLS.register("session.confirmed")
def confirmed(session: Session, channel: Channel, order: Order) -> None:
    """Commands of the broker will be done, and need not be sent again."""
    session.outgoing.has(ids_of(order["commands"]))
    _note_report(session, order)


@CONTROLS.register("session.expected")
def expected(session: Session, channel: Channel, order: Order) -> None:
    """The client waits for commands that it has neither confirmed nor completed."""
    _note_report(session, order)


def _note_report(session: Session, order: Order) -> None:
    if order["fragments"] and session.faulty("fragments-not-understood"):
        session.fail(_COMMAND_INVALID, "fragments")
    session.outgoing.reported(order.name, session.carrier, session.channel)


@CONTROLS.register("session.known-completed")
def known_completed(session: Session, channel: Channel, order: Order) -> None:
    """The client knows of completions: they need not be sent again."""
    ids = ids_of(order["commands"])
    if session.faulty("ends-of-ranges-not-read"):
        ids = ids_of((first, first) for first, _ in order["commands"] or ())
    if not ids and session.faulty("no-ids-mean-all"):
        ids = session.completed
    if len(ids) > _FEW and session.faulty("wide-ranges-refused"):
        session.fail(_COMMAND_INVALID, "too many ids")
    if not session.faulty("known-completed-forgotten"):
        session.completed, session.reported = session.completed - ids, session.reported - ids


@CONTROLS.register("session.gap")
def gap(session: Session, channel: Channel, order: Order) -> None:
    """Skipped commands count as completed; an incomplete one is discarded."""
    if session.faulty("gap-ignored"):
        return
    ids = ids_of(order["commands"])
    if session.faulty("gap-undoes-completion"):
        session.completed = session.completed - ids
    elif not session.faulty("gap-not-completed"):
        session.note(ids)
    session.has_state = session.has_state or bool(ids)
    session.stalled = session.faulty("nothing-behind-a-gap")
    if session.next_in is not None and session.next_in in ids:
        if not session.faulty("gap-keeps-what-came-in-part"):
            channel.tracks.pop(_COMMANDS, None)
            session.partial = None
        session.next_in = next(
            add(last, 1) for first, last in ids.ranges if session.next_in in SerialSet(((first, last),))
        )


@CONTROLS.register("session.timeout")
def pass_over(session: Session, channel: Channel, order: Order) -> None:
    """The client's timeout has no effect: the broker requests none."""


FAULTS = fault_table("""
command-ids-read-backwards: the id of a command-point is read with its lowest octet first
    [encoding/byte-order type/sequence-no]
empty-frames-begin-commands: once an empty frame of a command arrived, the command cannot be sent from its beginning
    [session/command-point/zero-offset/next-frame]
flush-ignored: flush is not answered
    [session/flush/earliest session/expected/response session/confirmed/on-request]
new-sessions-expect: a session that has received nothing yet still expects a command
    [session/expected/commands-empty-means-new-session]
next-command-not-expected: expected begins two after the highest id received
    [session/expected/include-next-command]
whole-commands-expected-as-fragments: the next command is expected as fragments [session/expected/minimal-fragments]
fragments-expected-as-commands: a command received in part is also expected as a whole
    [session/expected/no-overlaps type/byte-ranges]
fragments-count-frame-headers: the received octets of a command include its frame headers
    [type/byte-ranges session/command-point/nonzero-offset/next-frame]
confirmed-fragments-overlap: a confirmed command is also listed as a fragment
    [session/confirmed/no-overlaps]
whole-commands-confirmed-as-fragments: whole commands are confirmed as fragments
    [session/confirmed/minimal-fragments session/confirmed/as-completed]
completed-never-answered: completed is never answered
    [session/completed/known-completed-reply session/completed/timely-reply/no-delay
    session/completed/delayed-reply session/completed/merged-reply]
timely-reply-ignored: completed with timely-reply is not answered
    [session/completed/timely-reply/no-delay]
known-completed-empty: known-completed names no ids [session/known-completed/stateless
    session/completed/known-completed-reply session/completed/merged-reply]
no-ids-mean-all: an empty set of ids means all ids [type/sequence-set/layout]
wide-ranges-refused: a set of more than 65,536 ids ends the session [type/sequence-set/layout]
ends-of-ranges-not-read: only the first id of a range counts [type/sequence-set/layout]
known-completed-forgotten: completions are reported again after known-completed
    [session/completed/commands/exclude-known-complete session/confirmed/commands/exclude-known-complete]
fragments-not-understood: controls with fragments end the session [type/byte-ranges]
gap-ignored: gap changes nothing [session/gap/gap-confirmation-and-completion session/gap/next-commands
    session/gap/aborted-commands]
nothing-behind-a-gap: no command after a gap is executed [session/gap/next-commands]
gap-not-completed: ids in a gap do not count as completed [session/gap/gap-confirmation-and-completion]
gap-undoes-completion: a completed command in a gap no longer counts as completed
    [session/gap/completed-or-confirmed-commands]
gap-keeps-what-came-in-part: a command received in part stays open after a gap
    [session/gap/aborted-commands]
""")
