"""Conduct of a server of AMQP 0-10: frames and instructions of both peers, and what only servers send."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.run.clients.mirror import SERVER, clear, declare_mirrored
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_10 import frames, instructions, sessions
from amqpspec.suites.clients_0_10._books import fields, frame_of, ids, instruction_of, is_command
from amqpspec.wire.amqp_0_10.serial import add, distance
from amqpspec.wire.conversation import Conversation, Said

_UNSTUCK_OCTETS = 64 << 10
_CLOSES = ("connection.close", "connection.close-ok")
_ABOUT_COMMANDS = ("session.completed", "session.confirmed", "execution.result")
_ATTACHMENTS = ("session.attach", "session.attached", "session.detach", "session.detached")
_STEPS = {
    "greeting": ("connection.start",),
    "connection.start-ok": ("connection.secure", "connection.tune"),
    "connection.secure-ok": ("connection.secure", "connection.tune"),
    "connection.open": ("connection.open-ok", "connection.redirect"),
}
_HANDSHAKE = {name for names in _STEPS.values() for name in names}


@conduct("server.handshake.order", covers=["server/handshake/order"], role=SERVER)
def keeps_the_order_of_the_handshake(talk: Conversation) -> Iterator[Looked]:
    """The server sends start, challenges, tune and open-ok in order, each in answer to the client."""
    asked: list[tuple[str, ...]] = []
    for said in clear(talk):
        if said.sender is Side.CLIENT:
            asked += [_STEPS[said.name]] if said.name in _STEPS else []
        elif said.name in _HANDSHAKE:
            kept = bool(asked) and said.name in asked[0]
            yield Looked(said, kept, f"expected {' or '.join(asked[0]) if asked else 'none of them'}")
            asked = asked[1:]


@conduct("server.side", covers=["server/side"], role=SERVER)
def sends_only_what_servers_send(talk: Conversation) -> Iterator[Looked]:
    """The server sends no control or command that only clients send."""
    for said in talk.by_server():
        instruction = instruction_of(said)
        if instruction is not None and instruction.row is not None:
            yield Looked(said, instruction.row.sent_by is not Side.CLIENT)


@conduct(
    "server.frame.size", covers=["server/connection/tune-ok/max-frame-size/max-frame-size/sent"], role=SERVER
)
def keeps_the_frame_size(talk: Conversation) -> Iterator[Looked]:
    """No frame of the server after tune-ok exceeds the agreed size."""
    limit = None
    for said in clear(talk):
        frame = frame_of(said)
        if said.name == "connection.tune-ok" and said.sender is Side.CLIENT:
            limit = fields(said).get("max_frame_size")
        elif said.sender is Side.SERVER and frame is not None and limit is not None:
            yield Looked(said, frame.size <= limit, f"{frame.size} octets, agreed are {limit}")


@conduct("server.session.attached", covers=["server/session/attachment/attached-first"], role=SERVER)
def works_on_attached_channels(talk: Conversation) -> Iterator[Looked]:
    """The server sends session controls and commands only on a channel on which the client has attached a session.

    What the server sends until it answers a detach may cross it. If an attach is waiting for its answer, detached may
    be about an earlier session.
    """
    asked: set[int] = set()
    waiting: dict[int, int] = defaultdict(int)
    for said in clear(talk):
        if said.sender is Side.CLIENT and said.name == "session.attach":
            asked.add(said.channel)
            waiting[said.channel] += 1
        elif said.sender is Side.SERVER and said.name in ("session.attached", "session.detached"):
            if said.name == "session.detached" and not waiting[said.channel]:
                asked.discard(said.channel)
            waiting[said.channel] = max(0, waiting[said.channel] - 1)
        is_meant = said.name.startswith("session.") and said.name not in _ATTACHMENTS
        if said.sender is Side.SERVER and (is_meant or is_command(said)):
            yield Looked(said, said.channel in asked, f"no session on channel {said.channel}")


@conduct("server.session.command-point", covers=["server/session/command-point"], role=SERVER)
def says_where_its_commands_begin(talk: Conversation) -> Iterator[Looked]:
    """The server sends command-point before its first command on a newly attached channel."""
    begun: set[int] = set()
    for said in clear(talk):
        if said.name == "session.attach":
            begun.discard(said.channel)
        elif said.sender is Side.SERVER and said.name == "session.command-point":
            begun.add(said.channel)
        elif said.sender is Side.SERVER and is_command(said):
            yield Looked(said, said.channel in begun, "no command-point before it")


@conduct("server.completed", covers=["server/session/completed/known"], role=SERVER)
def completes_what_was_sent(talk: Conversation) -> Iterator[Looked]:
    """The server's confirmed, completed and result name only commands that the client sent."""
    following: dict[int, int] = {}
    gaps: frozenset[int] = frozenset()
    for said in clear(talk):
        next_id = following.get(said.channel)
        if said.sender is Side.CLIENT:
            if said.name == "session.command-point":
                following[said.channel] = fields(said).get("command_id", 0)
            elif said.name in ("session.attach", "session.gap"):
                # Commands in a gap are completed without being sent; numbering begins again at the next point.
                following.pop(said.channel, None)
                gaps = gaps | {said.channel} if said.name == "session.gap" else gaps - {said.channel}
            elif is_command(said) and next_id is not None:
                following[said.channel] = add(next_id, 1)
        elif said.name in _ABOUT_COMMANDS and next_id is not None and said.channel not in gaps:
            # What precedes the command-point was sent on an earlier attachment of the session.
            strange = [id for id in _about(said) if distance(next_id, id) >= 0]
            yield Looked(said, not strange, f"never sent: {strange[:3]}")


def _about(said: Said) -> list[int]:
    """The ids of the client's commands that a frame of the server names."""
    args = fields(said)
    return (
        sorted(ids(args.get("commands"))) if said.name != "execution.result" else [args.get("command_id", 0)]
    )


@conduct("server.transfer.destination", covers=["server/message/transfer/destination"], role=SERVER)
def transfers_to_subscriptions(talk: Conversation) -> Iterator[Looked]:
    """The destination of each transfer belongs to a subscription of the client on that session."""
    known: dict[int, set[str]] = defaultdict(set)
    for said in clear(talk):
        name = fields(said).get("destination", "")
        if said.sender is Side.CLIENT and said.name == "message.subscribe":
            known[said.channel].add(name)
        elif said.sender is Side.SERVER and said.name == "message.transfer":
            yield Looked(said, name in known[said.channel], f"no subscription to {name!r}")


@conduct("server.heartbeat.interval", covers=["server/connection/heartbeat/missed"], role=SERVER)
def sends_heartbeats(talk: Conversation) -> Iterator[Looked]:
    """An idle server is never silent for more than twice the client's heartbeat delay.

    A client that does not read keeps a server from being seen: only pauses count before which so little came that the
    server cannot have been stuck.
    """
    delay_s = next((fields(s).get("heartbeat", 0) for s in talk.by_client("connection.tune-ok")), 0)
    octets = 0
    for said, later in pairwise(talk.by_server()) if delay_s else ():
        octets += said.octets
        gap_s = (later.at_ns - said.at_ns) / 1e9
        if said.name not in ("greeting", *_HANDSHAKE - {"connection.open-ok"}) and octets <= _UNSTUCK_OCTETS:
            why = f"{gap_s:.1f} s of silence after it, the delay is {delay_s} s"
            yield Looked(said, gap_s <= 2 * delay_s or later.octets > _UNSTUCK_OCTETS, why)


@conduct("server.close.last", covers=["server/connection/close"], role=SERVER)
def sends_nothing_behind_its_close(talk: Conversation) -> Iterator[Looked]:
    """After its close the server sends only close-ok, and nothing after close-ok."""
    said = list(talk.by_server())
    first = next((at for at, s in enumerate(said) if s.name in _CLOSES), len(said))
    for close in said[first : first + 1]:
        allowed = ("connection.heartbeat", *_CLOSES[1:]) if close.name == _CLOSES[0] else ()
        rest = [s for s in said[first + 1 :] if s.name not in allowed]
        yield Looked(rest[0] if rest else close, not rest, f"after {close.name}")


_RULES = (
    ("frame.version", "transport/frame/version", frames.__dict__["case_version"],
     "The two highest bits of each server frame's flags are zero"),
    ("frame.reserved", "transport/frame/reserved-bits", frames.__dict__["case_reserved"],
     "All reserved bits of each server frame are zero"),
    ("frame.type", "segment-type/values", frames.__dict__["case_type"],
     "The server sends only frames of defined types"),
    ("frame.track.defined", "transport/tracks/reserved", frames.__dict__["case_track.defined"],
     "The server sends frames only on tracks 0 and 1"),
    ("frame.size.least", "transport/frame/size-below-header", frames.counts_the_header,
     "No frame of the server announces a size below that of its header"),
    ("frame.flags", "transport/assemblies/flags", frames.sets_flags_in_order,
     "The flags of a server's frames mark segments and assemblies without contradiction"),
    ("frame.segment-type", "transport/frame/segment-type", frames.keeps_the_type_of_a_segment,
     "All frames of a server's segment have the same type"),
    ("frame.track.control", "track/control/zero", frames.sends_controls_on_track_zero,
     "The server sends controls on track 0"),
    ("frame.track.command", "track/command/one", frames.sends_commands_on_track_one,
     "The server sends commands on track 1"),
    ("close.codes", "connection/close/reason", frames.closes_with_a_code_of_the_specification,
     "The reply code of the server's close is one that the specification defines"),
    ("control.readable", "encoding/control/layout", instructions.__dict__["case_control.readable"],
     "Each control of a server consists of codes, packing flags and the announced fields only"),
    ("command.readable", "encoding/command/layout", instructions.__dict__["case_command.readable"],
     "Each command of a server consists of codes, session header, packing flags and fields only"),
    ("class.known", "encoding/command/unknown-class", instructions.__dict__["case_class.known"],
     "A server sends no control or command of an undefined class"),
    ("code.known", "encoding/command/unknown-command", instructions.__dict__["case_code.known"],
     "A server sends no control or command that its class does not define"),
    ("fields", "encoding/struct/required-field", instructions.__dict__["case_fields"],
     "Controls, commands and structs of a server contain their required fields"),
    ("map.keys", "map/distinct-keys", instructions.__dict__["case_map.keys"],
     "No map of a server contains a key twice"),
    ("ranges", "type/sequence-set/disjoint", instructions.__dict__["case_ranges"],
     "The ranges of a server's set are ordered, and neither overlap nor touch"),
    ("header.once", "encoding/header-segment/one-of-each", instructions.__dict__["case_header.once"],
     "A server's header segment contains no struct twice"),
    ("segments", "encoding/segments/unexpected", instructions.__dict__["case_segments"],
     "A server's header and body segments follow only commands that have them, and in this order"),
    ("session.expected", "session/expected/never-spontaneous", sessions.sends_expected_on_request_only,
     "A server sends expected only in answer to a flush that requests it"),
)  # fmt: skip
for _id, _row, _rule, _title in _RULES:
    declare_mirrored(globals(), f"server.{_id}", f"server/{_row}", _title, _rule)
