"""The model of legal histories: what a target owes, and what it must not do, after any sequence of legal steps.

Knows: sessions, links, credit, windows, settlement, what nodes hold. Must not know: waiting, hypothesis, rows.

The model takes down what the case said before it is sent, and judges each frame of the target in the order of the wire.
What the specification leaves open (a message whose link ended unsettled, one that was rejected, one that was sent
settled) is loose: it may come, and is not owed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from amqpspec.peer.amqp_1_0.arrivals import RECEIVER
from amqpspec.peer.amqp_1_0.books import (
    TERMINAL,
    WINDOW,
    Delivery,
    FrameArrived,
    Link,
    Outgoing,
    Session,
    ahead,
    number,
    serial,
)
from amqpspec.peer.context import Unmet, owed
from amqpspec.suites.histories import Mismatch

SETTLED_MODE, UNSETTLED_MODE, SECOND_MODE = 0x1, 0x0, 0x1
_MODES = {"settled": SETTLED_MODE, "unsettled": UNSETTLED_MODE}


# SENT goes to WAITING by the outcome accepted, to LOOSE by others; WAITING to HELD or GONE by an
# unsettled or a settled delivery; HELD to GONE when accepted, to WAITING when released, to LOOSE when
# rejected or left behind. What was aborted is NEVER.
class Fate(StrEnum):
    """What the model knows of a message."""

    SENT = "sent, and no outcome reported"
    WAITING = "in its node"
    HELD = "unsettled at a receiver"
    LOOSE = "at the target's discretion"
    GONE = "accepted by a receiver"
    NEVER = "of a delivery that was not completed"


@dataclass(eq=False)
class Message:
    """A message by its body, and the node it was sent to."""

    body: bytes
    node: str
    fate: Fate = Fate.SENT
    returned: int = 0


@dataclass(eq=False)
class Reach:
    """A link between the case and a node; ``allowed`` are limits in deliveries, since it was attached, that the target
    may still know, the last one being the latest; ``dry`` is a link on which no credit came when it was waited for.
    """

    number: int
    name: str
    role: str
    node: str
    link: Link
    second: bool = False
    state: str = "attached"
    used: int = 0
    # The delivery-limit of amqp-1.0 §2.6.7. Flows cross with transfers: until a round trip, the target
    # may still go by an older one.
    allowed: list[int] = field(default_factory=lambda: [0])
    held: dict[int, tuple[Delivery, Message]] = field(default_factory=dict)
    partial: list[FrameArrived] = field(default_factory=list)
    begun: bool = False
    dry: bool = False
    leaving: bool = False
    opened: tuple[Outgoing, Message] | None = None
    told_count: int | None = None

    @property
    def channel(self) -> int:
        """The channel of its session."""
        return self.link.session.channel

    @property
    def credit(self) -> int:
        """How many deliveries the target may still send."""
        return self.allowed[-1] - self.used

    @property
    def initial(self) -> int:
        """Where the sending side began to count."""
        return number(owed(self.link.attached, "attach")["initial_delivery_count"], 0)


@dataclass(eq=False)
class Course:
    """A session: transfers counted, ids remembered; ``window`` is how many transfers in all the target may send."""

    session: Session
    # next-incoming-id plus incoming-window (amqp-1.0 §2.5.6), counted from the first transfer.
    window: int = WINDOW
    received: int = 0
    last_id: int | None = None
    told_next: int | None = None
    sent: dict[int, tuple[Outgoing, Message]] = field(default_factory=dict)
    ids: set[int] = field(default_factory=set)
    terminal: dict[tuple[bool, int], str] = field(default_factory=dict)

    @property
    def room(self) -> int:
        """How many transfers the target may still send."""
        return self.window - self.received


class Model:
    """Everything that is known of one history."""

    def __init__(self) -> None:
        self.courses: dict[int, Course] = {}
        self.reaches: dict[int, Reach] = {}
        self.messages: dict[bytes, Message] = {}
        self.checks = 0

    # --- what the case says

    def live(self, role: str = "", channel: int | None = None) -> list[Reach]:
        """The links that stand attached."""
        found = [r for r in self.reaches.values() if r.state == "attached" and role in ("", r.role)]
        return [r for r in found if channel is None or r.channel == channel]

    def new_message(self, node: str, body: bytes, fate: Fate = Fate.SENT) -> Message:
        """A message that is about to be sent."""
        message = self.messages[body] = Message(body, node, fate)
        return message

    def sends(self, reach: Reach, outgoing: Outgoing, message: Message) -> None:
        """A delivery was begun on a link."""
        self.courses[reach.channel].sent[outgoing.id] = (outgoing, message)

    def settles(self, reach: Reach, id: int, outcome: str) -> Message:
        """The case tells an outcome and settles."""
        _, message = reach.held.pop(id)
        message.fate = {"accepted": Fate.GONE, "released": Fate.WAITING}.get(outcome, Fate.LOOSE)
        message.returned += outcome != "accepted"
        return message

    def synchronized(self, channel: int) -> None:
        """A round trip on a session: the target knows all that was sent there; what waits for room may still arrive."""
        # Without room, transfers for an older, wider credit wait at the target for the window to open.
        if self.courses[channel].room <= 0:
            return
        for reach in self.live(channel=channel):
            reach.allowed = reach.allowed[-1:]

    def parting(self, reach: Reach) -> None:
        """A link is about to be detached: from now on, what it held can go elsewhere."""
        # detach and transfers cross: what still comes is not held, but loose.
        reach.leaving = True
        if self.stalled(reach):
            for message in self.waiting(reach.node):
                message.fate = Fate.LOOSE
        for _, message in reach.held.values():
            message.fate = Fate.LOOSE

    def parted(self, reach: Reach, state: str) -> None:
        """A link is no longer attached; what it held is the target's again, at a time of its choice."""
        reach.state, reach.leaving = state, False
        reach.held, reach.partial, reach.begun = {}, [], False
        if reach.opened is not None:
            reach.opened[1].fate = Fate.NEVER
            reach.opened = None

    def ended(self, channel: int) -> None:
        """A session has ended, with all of its links."""
        for reach in self.live(channel=channel):
            self.parted(reach, "closed")
        del self.courses[channel]

    # --- what is due

    def waiting(self, node: str) -> list[Message]:
        """What a node is sure to hold, free to be delivered."""
        return [m for m in self.messages.values() if m.node == node and m.fate is Fate.WAITING]

    def stalled(self, reach: Reach) -> bool:
        """Whether a receiver has credit in a session without room: messages can be in flight to it, unseen, and are
        lost with it if it is one that takes them settled.
        """
        had_credit = reach.role == "receiver" and max(reach.allowed) > reach.used
        return had_credit and self.courses[reach.channel].room <= 0

    def owing(self) -> str:
        """What the target has yet to do: a node holds messages, and a receiver has credit and room for them."""
        for reach in self.live("receiver"):
            # Owed to the node, not to this link: any of its receivers may get the message.
            if (
                not reach.leaving
                and reach.credit > 0
                and self.courses[reach.channel].room > 0
                and self.waiting(reach.node)
            ):
                count = min(reach.credit, len(self.waiting(reach.node)))
                return f"{count} of the messages of node {reach.node} on link {reach.number} or another one"
        return ""

    # --- what arrives

    def received(self, arrival: FrameArrived) -> None:
        """Judge a frame; raises Mismatch."""
        course = None if arrival.channel is None else self.courses.get(arrival.channel)
        if course is None or arrival.frame.performative is None:
            return
        self.checks += 1
        reach = next((r for r in self.live() if r.link is arrival.link), None)
        if arrival.name == "transfer":
            self._transferred(course, reach, arrival)
        elif arrival.name == "flow":
            _flowed(course, reach, arrival)
        elif arrival.name == "disposition":
            self._disposed(course, arrival)
        elif arrival.name == "attach" and arrival.link is not None:
            self._attached(arrival.link, arrival)

    def _attached(self, link: Link, arrival: FrameArrived) -> None:
        others = [other for other in link.session.every_link if other is not link and other.is_attached]
        if any(other.remote_handle == arrival["handle"] for other in others):
            raise Mismatch("attach with a handle that is free", f"handle {arrival['handle']}, in use")
        if arrival["role"] != RECEIVER and arrival["initial_delivery_count"] is None:
            raise Mismatch("initial-delivery-count in the attach of a sender", "none")

    # --- transfers

    def _transferred(self, course: Course, reach: Reach | None, arrival: FrameArrived) -> None:
        # Windows count transfers, continuations and aborts as well; credit counts deliveries.
        course.received += 1
        if course.room < 0:
            raise Mismatch(f"at most {course.window} transfers, the incoming-window", "one more")
        if reach is None or reach.role != "receiver":
            raise Mismatch("transfers on attached links of which the target is the sender", _where(arrival))
        if not reach.partial:
            self._first(course, reach, arrival)
        elif arrival["delivery_id"] not in (None, reach.partial[0]["delivery_id"]):
            raise Mismatch(
                "one delivery at a time on a link", f"delivery-id {arrival['delivery_id']} within another"
            )
        reach.partial.append(arrival)
        if arrival["aborted"] is True:
            reach.used, reach.partial = reach.used + 1, []
        elif arrival["more"] is not True:
            transfers, reach.partial = reach.partial, []
            reach.used += 1
            self._delivered(reach, Delivery(reach.link, transfers))

    def _first(self, course: Course, reach: Reach, arrival: FrameArrived) -> None:
        # max, not the last: the flow that took credit back may not have arrived.
        if reach.used >= max(reach.allowed):
            raise Mismatch(
                f"at most {max(reach.allowed)} deliveries on link {reach.number}, the credit", "one more"
            )
        id, tag = arrival["delivery_id"], arrival["delivery_tag"]
        if id is None or tag is None:
            raise Mismatch("delivery-id and delivery-tag on the first transfer", "none")
        # Forward as RFC 1982 compares; gaps are judged by sessions.delivery-sequence.
        if course.last_id is not None and ahead(id, course.last_id) <= 0:
            raise Mismatch(f"a delivery-id after {course.last_id}, the last one of the session", f"{id}")
        course.last_id = id
        course.ids.add(id)
        # Unique among what is unsettled (amqp-1.0 §2.6.12): settling frees a tag.
        if any(delivery.tag == tag for delivery, _ in reach.held.values()):
            raise Mismatch("a delivery-tag that no unsettled delivery has", f"{tag.hex()} again")

    def _delivered(self, reach: Reach, delivery: Delivery) -> None:
        mode = None if reach.link.attached is None else reach.link.attached["snd_settle_mode"]
        # The mode in the target's attach counts, whatever was requested; mixed lets anything pass.
        if delivery.settled is not (mode == SETTLED_MODE) and mode in _MODES.values():
            actual = "a settled delivery" if delivery.settled else "an unsettled delivery"
            raise Mismatch("deliveries as the snd-settle-mode of the target's attach has it", actual)
        body = body_of(delivery)
        message = self.messages.get(body) if isinstance(body, bytes) else None
        if message is None or message.node != reach.node:
            raise Mismatch(f"messages that were sent to node {reach.node}", f"{body!r:.60}")
        # SENT too: a message can be delivered before its sender learns the outcome.
        if message.fate not in (Fate.SENT, Fate.WAITING, Fate.LOOSE):
            raise Mismatch("messages that the node can hold", f"{_word(message)}, {message.fate}")
        message.fate = Fate.GONE if delivery.settled else Fate.LOOSE if reach.leaving else Fate.HELD
        if not delivery.settled:
            reach.held[delivery.id] = (delivery, message)

    # --- dispositions

    def _disposed(self, course: Course, arrival: FrameArrived) -> None:
        first = number(arrival["first"], -1)
        last = number(arrival["last"], first)
        to_receiver = arrival["role"] != RECEIVER
        # The role says whose ids these are: each direction has its own (amqp-1.0 §2.7.6).
        known = course.ids if to_receiver else course.sent.keys()
        if first not in known or last not in known:
            of = "the target" if to_receiver else "the case"
            raise Mismatch(f"dispositions of deliveries that {of} sent", f"delivery-ids {first} to {last}")
        if arrival.state not in TERMINAL:
            return
        # By distance, as the range can wrap (RFC 1982).
        for id in known:
            if ahead(id, first) >= 0 and ahead(last, id) >= 0:
                self._decided(course, (to_receiver, id), arrival.state)

    def _decided(self, course: Course, key: tuple[bool, int], state: str) -> None:
        # A terminal state never changes (amqp-1.0 §2.7.5, state).
        before = course.terminal.setdefault(key, state)
        if before != state:
            raise Mismatch(f"delivery {key[1]} to stay {before}", state)
        if key[0]:
            return
        outgoing, message = course.sent[key[1]]
        if message.fate is Fate.SENT and not outgoing.settled:
            message.fate = Fate.WAITING if state == "accepted" else Fate.LOOSE


def body_of(delivery: Delivery) -> object:
    """The body of a message; raises Mismatch if the octets are not a message."""
    try:
        body: object = delivery.body
    except Unmet as error:
        raise Mismatch("whole messages", str(error)) from error
    return body


# --- flows


def _flowed(course: Course, reach: Reach | None, arrival: FrameArrived) -> None:
    _session_flowed(course, arrival)
    if reach is None:
        return
    count = arrival["delivery_count"]
    if reach.role == "receiver":
        _used(reach, count, arrival["link_credit"])
    elif count is not None:
        # flow.delivery-count.receiver judges a flow without one; here, it would hide all the rest of a history.
        _counted(reach, count)


def _used(reach: Reach, count: int | None, credit: int | None) -> None:
    """The target counts what it has sent, and its credit is what remains of the granted one."""
    # Exact: flows and transfers come in one order, and no history drains, so only deliveries count. Whether one
    # counts from its first transfer or from its last is not specified (amqp-1.0 §2.6.7).
    if count is None:
        raise Mismatch(f"delivery-count in a flow of link {reach.number}", "none")
    used = ahead(count, reach.initial)
    if used != reach.used and not (reach.partial and used == reach.used + 1):
        wanted = f"delivery-count {serial(reach.initial + reach.used)} on link {reach.number}"
        raise Mismatch(wanted, f"delivery-count {count}")
    credits = sorted({max(0, limit - used) for limit in reach.allowed})
    if credit is not None and credit not in credits:
        wanted = f"link-credit {' or '.join(map(str, credits))} on link {reach.number}"
        raise Mismatch(wanted, f"link-credit {credit}")


def _counted(reach: Reach, count: int) -> None:
    """The target counts what came: no further than was sent, and never back."""
    # The initial delivery-count, as long as the target has reported none.
    before = (
        reach.told_count
        if reach.told_count is not None
        else serial(reach.link.delivery_count - reach.link.sent)
    )
    # A delivery that has begun may count already (amqp-1.0 §2.6.7).
    most = serial(reach.link.delivery_count + (reach.link.sending is not None))
    if ahead(count, before) < 0 or ahead(most, count) < 0:
        raise Mismatch(f"delivery-count from {before} to {most}", f"{count}")
    reach.told_count = count


def _session_flowed(course: Course, arrival: FrameArrived) -> None:
    session = course.session
    reported, begun = arrival["next_incoming_id"], session.begun
    before = session.initial_outgoing_id if course.told_next is None else course.told_next
    # It lags behind what was sent and never goes back (RFC 1982).
    if reported is None or ahead(reported, before) < 0 or ahead(session.next_outgoing_id, reported) < 0:
        raise Mismatch(f"next-incoming-id from {before} to {session.next_outgoing_id}", f"{reported}")
    course.told_next = reported
    next_id = serial(number(owed(begun, "begin")["next_outgoing_id"], 0) + course.received)
    if arrival["next_outgoing_id"] != next_id:
        raise Mismatch(f"next-outgoing-id {next_id}", f"{arrival['next_outgoing_id']}")


def _where(arrival: FrameArrived) -> str:
    return f"a transfer with handle {arrival['handle']} on channel {arrival.wire_channel}"


def _word(message: Message) -> str:
    return f"message {message.body.split(b':')[0].decode(errors='replace')}"
