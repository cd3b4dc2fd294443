"""The state of a connection on both sides, as the peer knows it: sessions, links, deliveries, windows, credit.

Knows: the effect of each performative sent and received. Must not know: octets, waiting, verdicts.

This module never judges: it ignores inconsistencies, so that a case can violate any rule and observe the target.
Received frames are also here: they know their link, and links, sessions and deliveries keep their frames.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.frames import TypedFrame
from amqpspec.wire.amqp_1_0.message import Message, decode_message
from amqpspec.wire.errors import WireError

SERIAL = 1 << 32
# In practice unlimited. Differences of half of the serial numbers, or more, are undefined (RFC 1982).
WINDOW = 1 << 30
HANDLE_MAX = SERIAL - 1
_CLOSES = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}
SCOPES = {**_CLOSES, "disposition": Scope.DELIVERY}
"""The performatives and states that end or reject something."""
_NO_CONDITION = "an error without a condition"
TERMINAL = ("accepted", "rejected", "released", "modified")


def serial(number: int) -> int:
    """A number as one of serial arithmetic."""
    return number % SERIAL


def ahead(later: int, earlier: int) -> int:
    """How far one serial number is ahead of another; below zero if it is behind."""
    # Serial numbers wrap, so that "ahead" means less than half of them (§2.8.10, RFC 1982).
    distance = serial(later - earlier)
    return distance - SERIAL if distance >= SERIAL >> 1 else distance


@dataclass(frozen=True, slots=True, eq=False)
class FrameArrived(Arrival):
    """A frame of the target.

    ``channel`` is the case's number of the session, if the frame belongs to one; ``link`` is the link of the target's
    handle, or of the name in attach.
    """

    frame: TypedFrame
    channel: int | None = None
    link: Link | None = None

    @property
    def name(self) -> str:
        """The performative's name, ``empty`` for a frame without one, ``type-N`` for an undefined type."""
        return self.frame.name

    @property
    def performative(self) -> Composed:
        """The performative of the frame; raises LookupError if it has none."""
        if self.frame.performative is None:
            raise LookupError(f"{self.name} frame: expected a performative, actual: none")
        return self.frame.performative

    def __getitem__(self, key: str) -> Any:
        return self.performative[key]

    @property
    def given(self) -> frozenset[str]:
        """The keys of the fields that were sent and are not null."""
        return frozenset() if self.frame.performative is None else self.frame.performative.given

    @property
    def payload(self) -> bytes:
        """The octets after the performative."""
        return self.frame.payload

    @property
    def wire_channel(self) -> int:
        """The channel number in the frame, which is the target's own."""
        return self.frame.channel

    @property
    def error(self) -> Composed | None:
        """The error in a close, end, detach or rejected state."""
        held: Composed | None = self.frame.performative
        if held is not None and self.name in ("disposition", "transfer"):
            held = _composed(held["state"])
        return None if held is None else _composed(held.get("error"))

    @property
    def condition(self) -> str | None:
        """The condition of that error, None if there is none."""
        error = self.error
        if error is None:
            return None
        condition = error["condition"]
        return str(condition) if isinstance(condition, str) else _NO_CONDITION

    @property
    def state(self) -> str:
        """The name of the delivery state in a transfer or disposition; empty if there is none."""
        if self.name not in ("disposition", "transfer"):
            return ""
        state = _composed(self["state"])
        return "" if state is None else state.name

    @property
    def kind(self) -> str:
        """The performative with its condition, state or code."""
        if self.name in _CLOSES:
            return f"{self.name} {self.condition or 'without error'}"
        if self.name.startswith("sasl-outcome"):
            return f"{self.name} {self['code']}"
        return " ".join(filter(None, (self.name, self.state, self.condition if self.state else "")))

    @property
    def says_no(self) -> bool:
        """Whether it ends something or rejects a delivery."""
        return self.state == "rejected" if self.name == "disposition" else self.name in _CLOSES

    @property
    def refusal(self) -> Refusal | None:
        """Its refusal; a close without an error is none."""
        silent = self.name in _CLOSES and self.condition is None
        return None if silent or not self.says_no else Refusal(SCOPES[self.name], self.condition)

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports: closes with their error, other frames with their channel."""
        if self.name in _CLOSES:
            return f"{self.name} {self._why()}"
        if self.name == "disposition":
            role = "receiver" if self["role"] else "sender"
            settled = "settled" if self["settled"] else "unsettled"
            why = f" {self._why()}" if self.condition else ""
            return f"disposition of the {role}, {self.state or 'no state'}, {settled}{why}"
        if self.name.startswith("sasl-outcome"):
            return f"sasl-outcome code {self['code']}"
        return f"{self.name} on channel {self.wire_channel}"

    def _why(self) -> str:
        error = self.error
        if error is None:
            return "without error"
        text = " ".join(str(error.get("description", "")).encode("utf-8", "replace").decode().split())
        return f"{self.condition} ({text[:200]!r})" if text else f"{self.condition}"


@dataclass(slots=True, eq=False)
class Outgoing:
    """A delivery to the target: its tag and id, and its outcome."""

    id: int
    tag: Any
    link: Link | None
    settled: bool = False
    state: Composed | None = None
    settled_by_target: bool = False

    @property
    def outcome(self) -> str:
        """The name of the latest state from the target; empty if there is none yet."""
        return "" if self.state is None else self.state.name

    @property
    def result(self) -> str:
        """As ``outcome``; settlement without a state is ``accepted``, for the receiver is done with it."""
        return self.outcome or ("accepted" if self.settled_by_target else "")

    @property
    def is_decided(self) -> bool:
        """Whether the target has reported a terminal state, or settled it."""
        return self.settled_by_target or self.outcome in TERMINAL


@dataclass(eq=False)
class Delivery:
    """A complete delivery of the target, with its transfers."""

    link: Link
    transfers: list[FrameArrived] = field(default_factory=list)
    settled_by_target: bool = False
    state_by_target: Composed | None = None

    @property
    def id(self) -> int:
        """The delivery-id; -1 if the target sent none."""
        return number(self.transfers[0]["delivery_id"], -1)

    @property
    def tag(self) -> bytes:
        """The delivery-tag."""
        tag = self.transfers[0]["delivery_tag"]
        return tag if isinstance(tag, bytes) else b""

    @property
    def format(self) -> int | None:
        """The message-format of the first transfer."""
        format = self.transfers[0]["message_format"]
        return format if isinstance(format, int) else None

    @property
    def settled(self) -> bool:
        """Whether it was sent settled."""
        return any(t["settled"] is True for t in self.transfers)

    @property
    def resume(self) -> bool:
        """Whether it resumes an earlier delivery."""
        return self.transfers[0]["resume"] is True

    @property
    def state(self) -> str:
        """The name of the state in its transfers; empty if there is none."""
        return next((t.state for t in reversed(self.transfers) if t.state), "")

    @cached_property
    def payload(self) -> bytes:
        """The octets of all transfers together."""
        return b"".join(t.payload for t in self.transfers)

    @cached_property
    def message(self) -> Message:
        """The message; raises Unmet for invalid octets, because the target sent them."""
        try:
            return decode_message(self.payload)
        except WireError as error:
            raise Unmet("a message that can be decoded", str(error)) from error

    @property
    def body(self) -> Any:
        """The message's body as plain Python: octets for data."""
        return self.message.body


@dataclass(slots=True, eq=False)
class Link:
    """A link from the peer's side; ``role`` and ``handle`` are those of the peer."""

    session: Session
    name: str
    handle: int
    role: str
    address: Any = None
    attached: FrameArrived | None = None
    detached_by: FrameArrived | None = None
    detach_sent: bool = False
    remote_handle: int | None = None
    delivery_count: int = 0
    credit: int = 0
    available: int | None = None
    drain: bool = False
    flow: FrameArrived | None = None
    sending: Outgoing | None = None
    last_outgoing: Outgoing | None = None
    sent: int = 0
    inbox: deque[Delivery] = field(default_factory=deque)
    partial: list[FrameArrived] = field(default_factory=list)
    aborted: int = 0
    transfers: int = 0
    begun: int = 0

    @property
    def is_sender(self) -> bool:
        """Whether the peer is the sender."""
        return self.role == "sender"

    @property
    def is_attached(self) -> bool:
        """Whether both sides attached and neither detached."""
        return self.attached is not None and self.detached_by is None and not self.detach_sent

    @property
    def refused(self) -> bool:
        """Whether the target answered attach without a terminus of its own."""
        return self.attached is not None and self.attached["target" if self.is_sender else "source"] is None

    @property
    def max_message_size(self) -> int:
        """The largest message that the target accepts, in octets; 0 for no limit."""
        return 0 if self.attached is None else number(self.attached["max_message_size"], 0)


@dataclass(slots=True, eq=False)
class Session:
    """A session from the peer's side: ``channel`` is the peer's number, ``remote_channel`` the target's."""

    channel: int
    initial_outgoing_id: int = 0
    next_outgoing_id: int = 0
    incoming_window: int = WINDOW
    outgoing_window: int = WINDOW
    next_delivery_id: int = 0
    remote_channel: int | None = None
    begun: FrameArrived | None = None
    ended_by: FrameArrived | None = None
    end_sent: bool = False
    next_incoming_id: int | None = None
    remote_incoming_window: int = 0
    remote_outgoing_window: int = 0
    remote_handle_max: int = HANDLE_MAX
    flow: FrameArrived | None = None
    links: dict[int, Link] = field(default_factory=dict)
    by_remote_handle: dict[int, Link] = field(default_factory=dict)
    every_link: list[Link] = field(default_factory=list)
    outgoing: dict[int, Outgoing] = field(default_factory=dict)
    incoming: dict[int, Delivery] = field(default_factory=dict)

    @property
    def is_mapped(self) -> bool:
        """Whether both sides began and neither ended."""
        return self.begun is not None and self.ended_by is None and not self.end_sent

    @property
    def free_handle(self) -> int:
        """The lowest handle that no link of the peer uses."""
        used = {handle for handle, link in self.links.items() if not link.detach_sent}
        return next(handle for handle in range(len(used) + 1) if handle not in used)

    def link_named(self, name: Any, role: str) -> Link | None:
        """The link with that name in that role: one that waits for its answer, otherwise the newest."""
        found = [link for link in self.every_link if link.name == name and link.role == role]
        return next((link for link in found if link.attached is None), found[-1] if found else None)


def number(value: Any, instead: int) -> int:
    """A whole number; any other value is replaced by the default."""
    return value if isinstance(value, int) and not isinstance(value, bool) else instead


def _composed(value: Any) -> Composed | None:
    return value if isinstance(value, Composed) else None
