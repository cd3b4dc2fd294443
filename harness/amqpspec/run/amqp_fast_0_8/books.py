"""The books of one connection of AMQP/Fast: what both sides have opened, asked for and left unfinished.

Knows: which command opens, closes, asks for or answers what. Must not know: which of that is allowed.
Each side continues until its own CLOSE: what it sends may have crossed the other one. So what is open is a question of
the side that uses it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.errors import WireError


@dataclass(slots=True)
class Resource:
    """A channel, or a handle, and which sides have closed it."""

    args: Mapping[str, Any]
    closed: set[Side] = field(default_factory=set)

    def __getitem__(self, key: str) -> Any:
        return self.args[key]


@dataclass(slots=True)
class Arriving:
    """A message of one side of which more fragments are to come; ``body_octets`` is None until its head is there."""

    handle: int
    args: Mapping[str, Any]
    octets: bytes = b""
    body_octets: int | None = None
    sent_octets: int = 0

    def take(self, fragment: bytes) -> None:
        """Another fragment; once the head is known, octets are counted and not kept."""
        if self.body_octets is None and not self.args["recovery"]:
            self.octets += fragment
            try:
                head, body = decode_opening(self.octets)
            except WireError:
                return
            self.body_octets, self.sent_octets, self.octets = int(head["body_size"]), len(body), b""
        else:
            self.sent_octets += len(fragment)

    @property
    def is_too_long(self) -> bool:
        """Whether there is more of it than its head announced."""
        return self.body_octets is not None and self.sent_octets > self.body_octets


class Books:
    """What has happened so far; ``follow`` takes every command in order, after it was checked."""

    def __init__(self) -> None:
        self.times: Counter[tuple[Side, str]] = Counter()
        self.channels: dict[int, Resource] = {}
        self.handles: dict[int, Resource] = {}
        self.proposed: Mapping[str, Any] = {}
        self.chosen: dict[str, Any] = {}
        self.asked: Counter[int] = Counter()
        """Confirm-tags that wait for a REPLY."""
        self.consuming: set[int] = set()
        self.queries: Counter[int] = Counter()
        self.browses: Counter[int] = Counter()
        self.creating: Counter[int] = Counter()
        """CONSUMEs by handle that may be answered by CREATED."""
        self.prepared: set[tuple[Side, int]] = set()
        """PREPAREs, by sender and handle, that wait for READY."""
        self.arriving: dict[tuple[Side, int], Arriving] = {}
        """Messages in progress, by sender and channel."""
        self.delivered: dict[int, set[int]] = {}
        """By channel, the numbers of whole messages that were delivered and are neither acknowledged nor given back."""
        self.last_number: dict[int, int] = {}
        self.seen_channels: set[int] = set()
        self.seen_handles: set[int] = set()
        self.shown = 0
        """How many messages were shown to a BROWSE."""
        self.resuming: set[tuple[Side, int]] = set()
        """Senders and handles that may send the rest of a message: READY has arrived."""
        self.without_ack: set[int] = set()

    # --- what is open

    def has_channel(self, id: int, side: Side) -> bool:
        """Whether a channel is open for a side."""
        return id in self.channels and side not in self.channels[id].closed

    def has_handle(self, id: int, side: Side) -> bool:
        """Whether a handle is open for a side."""
        handle = self.handles.get(id)
        return (
            handle is not None and side not in handle.closed and self.has_channel(handle["channel_id"], side)
        )

    def channel_of(self, frame: CommandFrame) -> int:
        """The channel that a command is about, 0 for none that is known."""
        if "channel_id" in frame.args:
            return int(frame.args["channel_id"])
        handle = self.handles.get(frame.args.get("handle_id", 0))
        return 0 if handle is None else int(handle["channel_id"])

    def sent(self, side: Side, name: str) -> int:
        """How often a side has sent a command."""
        return self.times[side, name]

    def message_with(self, side: Side, frame: CommandFrame) -> Arriving:
        """The message that a fragment belongs to as it is with this fragment, which is not entered yet."""
        known = self.arriving.get((side, self.channel_of(frame)))
        message = Arriving(frame.args["handle_id"], frame.args) if known is None else replace(known)
        message.take(frame.fragment)
        return message

    # --- following

    def follow(self, side: Side, frame: CommandFrame) -> None:
        """Enter a command."""
        self.times[side, frame.name] += 1
        args = frame.args
        if frame.command is None or frame.command.sent_by not in (side, Side.BOTH):
            return
        if side is Side.CLIENT and args.get("confirm_tag") and not args.get("partial"):
            self.asked[args["confirm_tag"]] += 1
        if frame.name in _ENTRIES:
            _ENTRIES[frame.name](self, side, frame)

    def _tune(self, side: Side, frame: CommandFrame) -> None:
        options = frame.args["options"].plain()
        if side is Side.SERVER:
            self.proposed = options
        else:
            self.chosen |= options

    def _reply(self, side: Side, frame: CommandFrame) -> None:
        self.asked[frame.args["confirm_tag"]] -= 1
        if frame.name == "handle.reply" and frame.args["reply_code"] >= 300:
            self.browses[frame.args["handle_id"]] -= 1

    def _open_channel(self, side: Side, frame: CommandFrame) -> None:
        id = frame.args["channel_id"]
        self.channels[id] = Resource(frame.args)
        self.seen_channels.add(id)
        self.delivered[id] = set()
        self.last_number[id] = 0

    def _close_channel(self, side: Side, frame: CommandFrame) -> None:
        id = frame.args["channel_id"]
        if id not in self.channels:
            return
        self.channels[id].closed.add(side)
        if self.channels[id].closed == {Side.CLIENT, Side.SERVER}:
            del self.channels[id]
            for handle in [h for h, book in self.handles.items() if book["channel_id"] == id]:
                self._forget_handle(handle)

    def _open_handle(self, side: Side, frame: CommandFrame) -> None:
        self.handles[frame.args["handle_id"]] = Resource(frame.args)
        self.seen_handles.add(frame.args["handle_id"])

    def _close_handle(self, side: Side, frame: CommandFrame) -> None:
        id = frame.args["handle_id"]
        if id not in self.handles:
            return
        self.handles[id].closed.add(side)
        self.prepared -= {(Side.CLIENT, id), (Side.SERVER, id)}
        if self.handles[id].closed == {Side.CLIENT, Side.SERVER}:
            self._forget_handle(id)

    def _forget_handle(self, id: int) -> None:
        del self.handles[id]
        self.consuming.discard(id)
        self.without_ack.discard(id)
        for counted in (self.queries, self.browses, self.creating):
            counted.pop(id, None)
        self.prepared -= {(Side.CLIENT, id), (Side.SERVER, id)}

    def _consume(self, side: Side, frame: CommandFrame) -> None:
        id = frame.args["handle_id"]
        self.consuming.add(id)
        self.creating[id] += bool(frame.args["dynamic"])
        self.without_ack |= {id} if frame.args["no_ack"] else set()

    def _message(self, side: Side, frame: CommandFrame) -> None:
        place = side, self.channel_of(frame)
        args, id = frame.args, frame.args["handle_id"]
        arriving = self.arriving.setdefault(place, Arriving(id, args))
        arriving.take(frame.fragment)
        if not args["partial"]:
            del self.arriving[place]
            self.resuming.discard((side, id))
            if side is Side.SERVER:
                self._notified(place[1], args)

    def _notified(self, channel: int, args: Mapping[str, Any]) -> None:
        if not args["delivered"]:
            self.browses[args["handle_id"]] -= 1
            self.shown += 1
            return
        self.last_number[channel] = args["message_nbr"]
        if args["handle_id"] not in self.without_ack:
            self.delivered.setdefault(channel, set()).add(args["message_nbr"])

    def _ack(self, side: Side, frame: CommandFrame) -> None:
        open_numbers = self.delivered.get(frame.args["channel_id"], set())
        open_numbers -= {n for n in open_numbers if n <= frame.args["message_nbr"]}

    def _unget(self, side: Side, frame: CommandFrame) -> None:
        self.delivered.get(self.channel_of(frame), set()).discard(frame.args["message_nbr"])

    def _end_transaction(self, side: Side, frame: CommandFrame) -> None:
        self.delivered[frame.args["channel_id"]] = set()

    def _prepare(self, side: Side, frame: CommandFrame) -> None:
        self.prepared.add((side, frame.args["handle_id"]))

    def _ready(self, side: Side, frame: CommandFrame) -> None:
        asker = Side.SERVER if side is Side.CLIENT else Side.CLIENT
        self.prepared.discard((asker, frame.args["handle_id"]))
        self.resuming.add((asker, frame.args["handle_id"]))

    def _query(self, side: Side, frame: CommandFrame) -> None:
        self.queries[frame.args["handle_id"]] += 1

    def _index(self, side: Side, frame: CommandFrame) -> None:
        self.queries[frame.args["handle_id"]] -= 1

    def _browse(self, side: Side, frame: CommandFrame) -> None:
        self.browses[frame.args["handle_id"]] += 1

    def _created(self, side: Side, frame: CommandFrame) -> None:
        self.creating[frame.args["handle_id"]] -= 1


_ENTRIES: Mapping[str, Callable[[Books, Side, CommandFrame], None]] = {
    "connection.tune": Books._tune,
    "connection.reply": Books._reply,
    "channel.open": Books._open_channel,
    "channel.ack": Books._ack,
    "channel.commit": Books._end_transaction,
    "channel.rollback": Books._end_transaction,
    "channel.reply": Books._reply,
    "channel.close": Books._close_channel,
    "handle.open": Books._open_handle,
    "handle.send": Books._message,
    "handle.consume": Books._consume,
    "handle.unget": Books._unget,
    "handle.query": Books._query,
    "handle.browse": Books._browse,
    "handle.created": Books._created,
    "handle.notify": Books._message,
    "handle.index": Books._index,
    "handle.prepare": Books._prepare,
    "handle.ready": Books._ready,
    "handle.reply": Books._reply,
    "handle.close": Books._close_handle,
}
