"""Legal steps: which of them a history can take next, and how each is driven and compared with the model.

Knows: the peer's verbs, the model. Must not know: hypothesis, requirement rows.

What is proposed follows from what the case itself has done, never from the target's timing: the same choices make the
same steps against every target of the same powers. A step that finds nothing to do at its time does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.peer.amqp_1_0.arrivals import FrameArrived
from harness.peer.amqp_1_0.books import SERIAL, Link
from harness.peer.amqp_1_0.peer import Peer
from harness.peer.context import Context, Unmet
from harness.peer.events import Arrival
from harness.peer.line import Line
from harness.wire.amqp_1_0.message import encode_message
from harness.wire.transport import StreamEnded
from suites.amqp_1_0._histories_model import SECOND_MODE, Course, Fate, Message, Mismatch, Model, Reach

NODES = ("A", "B")
_CHANNELS, _HANDLES = (0, 3, 1), (0, 1, 5, 2)
_STARTS = (0, SERIAL - 3)
_CREDITS = (1, 3, 0, 10)
_COUNTS = (1, 2, 4)
_WINDOWS = (2, 5, 1)
_PIECES = (1, 3)
_OUTCOMES = ("accepted", "released", "rejected")
_LINKS_PER_SESSION = 3
_MOST_RETURNS = 3
_LOOKED_AT = 1000
_FRAME_OCTETS = 512
_LARGE_OCTETS = 1200


@dataclass(frozen=True, slots=True)
class Powers:
    """What a target offers, as far as histories depend on it."""

    channel_max: int
    handle_max: int
    second_mode: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One legal step: what to do, and to what; ``subject`` is a channel or the number of a link."""

    verb: str
    subject: int = 0
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _WORDS[self.verb].format(self.subject, *self.values)


_WORDS = {
    "begin": "begin channel {0} with next-outgoing-id {1} and incoming-window {2}",
    "end": "end channel {0}",
    "window": "widen the incoming-window of channel {0} by {1}",
    "attach": "attach link {0} on channel {1} as {2} of node {3}, handle {4}, {5}",
    "close": "detach link {0}, closed",
    "suspend": "settle all on link {0} and detach it {1} its credit, not closed",
    "reattach": "attach link {0} again on channel {1}, handle {2}",
    "send": "send {1} messages on link {0}, {2}, in {3} transfers each",
    "start": "send the first transfer of a delivery on link {0}",
    "finish": "send the last transfer of the delivery on link {0}",
    "abort": "abort the delivery on link {0}",
    "credit": "give link {0} a credit of {1}",
    "settle": "tell {1} of the oldest delivery on link {0}",
    "settle-all": "accept everything on channel {0} by one disposition",
    "look": "a round trip on channel {0}",
}


OPENING = (
    Step("begin", 0, (0, "open")),
    Step("attach", 0, (0, "sender", "A", 0, "unsettled")),
    Step("attach", 1, (0, "receiver", "A", 1, "unsettled")),
)
"""How every walk begins: with a way into a node, and one out of it."""


class Watched(Peer):
    """A peer that shows each frame to a model, in the order of the wire."""

    def __init__(self, context: Context, family: list[Line] | None = None) -> None:
        super().__init__(context, family)
        self.model, self.judges = Model(), True

    def noted(self, arrival: Arrival) -> Arrival:
        """Book it, then let the model judge; raises Mismatch."""
        arrival = super().noted(arrival)
        if self.judges and isinstance(arrival, FrameArrived):
            self.model.came(arrival)
        return arrival


@dataclass(eq=False)
class Walk:
    """One history on one connection."""

    peer: Watched
    powers: Powers
    large: bool = False
    windows: bool = False
    strict_about_closed: bool = False
    steps: list[Step] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    numbers: int = 0
    is_over: bool = False

    @property
    def model(self) -> Model:
        """The model of this history."""
        return self.peer.model

    def open(self) -> None:
        """The connection, a session, and addresses of the walk's own."""
        self.addresses = {node: self.peer.node(node.lower()) for node in NODES}
        self.peer.open_connection(**({"max_frame_size": _FRAME_OCTETS} if self.large else {}))

    def give_up(self, why: str = "") -> None:
        """Leave the connection as it is; nothing is judged any more."""
        self.is_over, self.peer.judges = True, False
        if why:
            self.peer.transport.note(why)
        self.peer.hang_up()

    # --- what can come next

    def options(self, verb: str) -> list[Step]:
        """The legal steps of a verb, the simplest first."""
        return list(_OPTIONS[verb](self))

    def fits(self, step: Step) -> bool:
        """Whether a step of another history is legal in this one, where its link may have another number."""
        if step.verb == "attach" and step.subject in self.model.reaches:
            return False
        alike = [
            replace(one, subject=step.subject) for one in self.options(step.verb) if one.verb == "attach"
        ]
        return step in alike or step in OPENING or step in self.options(step.verb)

    def _begins(self) -> Iterator[Step]:
        limit = self.powers.channel_max
        for channel in (c for c in _CHANNELS if c <= limit and c not in self.model.courses):
            for start in _STARTS:
                for window in _WINDOWS if self.windows else ("open",):
                    yield Step("begin", channel, (start, window))

    def _on_sessions(self, verb: str) -> Iterator[Step]:
        for channel in self.model.courses:
            for value in _WINDOWS if verb == "window" else ("",):
                yield Step(verb, channel, (value,))

    def _handles(self, channel: int) -> list[int]:
        used = {reach.link.handle for reach in self.model.live(channel=channel)}
        free = [handle for handle in _HANDLES if handle not in used and handle < self.powers.handle_max]
        return free if len(used) < _LINKS_PER_SESSION else []

    def _attaches(self) -> Iterator[Step]:
        modes = ("unsettled", "settled", *(("second",) if self.powers.second_mode else ()))
        fresh = max(self.model.reaches, default=-1) + 1
        for channel in self.model.courses:
            for handle in self._handles(channel):
                for node in NODES:
                    yield Step(
                        "attach", len(self.model.reaches), (channel, "sender", node, handle, "unsettled")
                    )
                    for mode in modes:
                        yield Step(
                            "attach", len(self.model.reaches), (channel, "receiver", node, handle, mode)
                        )

    def _reattaches(self) -> Iterator[Step]:
        for reach in self.model.reaches.values():
            for channel in self.model.courses if reach.state == "suspended" else ():
                for handle in self._handles(channel):
                    yield Step("reattach", reach.number, (channel, handle))

    def _on_links(
        self, verb: str, role: str, values: Sequence[tuple[Any, ...]] = ((),), opened: bool | None = None
    ) -> Iterator[Step]:
        for reach in self.model.live(role):
            if opened in (None, reach.begun):
                for value in values:
                    yield Step(verb, reach.number, value)

    # --- taking a step

    def take(self, step: Step) -> None:
        """Do it, and wait for all that is owed then; raises Mismatch."""
        self.steps.append(step)
        self.peer.transport.note(f"step {len(self.steps)}: {step}")
        self._judged(lambda: self._do(step))

    def _do(self, step: Step) -> None:
        _DOES[step.verb](self, step)
        self._owed()

    def finish(self) -> None:
        """A round trip on each session, close, and a look at what the nodes hold; raises Mismatch."""
        self._judged(self._finish)

    def _finish(self) -> None:
        for channel in list(self.model.courses):
            self._look(Step("look", channel))
        self._owed()
        for reach in self.model.live():
            self.model.parting(reach)
        self.peer.close()
        for channel in list(self.model.courses):
            self.model.ended(channel)
        self.peer.hang_up()
        for node in {message.node for message in self.model.messages.values()}:
            self._look_into(node)

    def _judged(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Unmet as unmet:
            raise Mismatch(unmet.expected, unmet.observed) from unmet
        except StreamEnded as ended:
            raise Mismatch("a connection that stays", f"connection {ended.how}") from ended
        over = self.peer.over(None)
        if over is not None and not self.peer.books.close_sent:
            raise Mismatch("a connection that stays", over.describe(self.peer.dialect))

    def _owed(self) -> None:
        what = self.model.owing()
        if not what:
            return
        self.peer.until(lambda: not self.model.owing(), what)

    def _look_into(self, node: str) -> None:
        """What a node holds in the end: all that waits there, perhaps what is loose, nothing else."""
        messages = {m.body: m for m in self.model.messages.values() if m.node == node}
        waiting = {m.body for m in messages.values() if m.fate is Fate.WAITING}
        other = Peer(self.peer.context, self.peer.family)
        found = [d.body for d in other.fetch(self.addresses[node], len(waiting), count=_LOOKED_AT)]
        other.close()
        other.hang_up()
        wrong = [
            body for body in found if body not in messages or messages[body].fate in (Fate.GONE, Fate.NEVER)
        ]
        if wrong:
            known = messages.get(wrong[0])
            raise Mismatch(f"no such message in node {node}", f"one {known.fate if known else 'unknown'}")
        if missing := waiting - set(found):
            raise Mismatch(f"{len(waiting)} messages left in node {node}", f"{len(missing)} of them missing")
        if len(found) != len(set(found)):
            raise Mismatch(f"each message once in node {node}", "one of them twice")

    # --- sessions

    def _begin(self, step: Step) -> None:
        start, window = step.values
        fields = {} if window == "open" else {"incoming_window": window}
        session = self.peer.begin(step.subject, next_outgoing_id=start, **fields)
        course = self.model.courses[step.subject] = Course(session)
        course.window = session.incoming_window

    def _end(self, step: Step) -> None:
        for reach in self.model.live(channel=step.subject):
            self.model.parting(reach)
        self.peer.end(step.subject)
        self.model.ended(step.subject)

    def _window(self, step: Step) -> None:
        course = self.model.courses[step.subject]
        wider = max(0, course.room) + step.values[0]
        course.window = course.came + wider
        self.peer.flow(step.subject, incoming_window=wider)

    def _look(self, step: Step) -> None:
        self.peer.barrier(step.subject)
        self.model.synchronized(step.subject)

    # --- links

    def _attach(self, step: Step) -> None:
        channel, role, node, handle, mode = step.values
        fields = {"snd_settle_mode": mode} if role == "receiver" and mode != "second" else {}
        if mode == "second":
            fields = {"rcv_settle_mode": mode}
        link = self._attached(channel, role, node, handle, self.peer.name("link"), fields)
        reach = Reach(step.subject, link.name, role, node, link)
        self.model.reaches[step.subject] = reach
        self._answered(reach)
        assert link.attached is not None
        reach.second = role == "receiver" and link.attached["rcv_settle_mode"] == SECOND_MODE

    def _attached(
        self, channel: int, role: str, node: str, handle: int, name: str, fields: dict[str, Any]
    ) -> Link:
        whole = self.peer.attach_fields(role, self.addresses[node], name=name, handle=handle, **fields)
        self.peer.send("attach", channel, **whole)
        return self.peer.session(channel).every_link[-1]

    def _answered(self, reach: Reach) -> None:
        link = reach.link
        self.peer.until(lambda: link.attached is not None, "attach", link=link)
        if link.refused:
            raise Mismatch("attach with both termini", "a refused link")
        assert link.attached is not None
        if tags := link.attached["unsettled"] or {}:
            raise Mismatch("nothing unsettled on a link with nothing unsettled", f"{len(tags)} in its attach")

    def _close(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        self.model.parting(reach)
        answer = self.peer.detach(reach.link)
        self.model.parted(reach, "closed")
        if self.strict_about_closed and answer["closed"] is not True:
            raise Mismatch("a closing detach in answer to a closing one", "detach without closed")

    def _suspend(self, step: Step) -> None:
        """Settle, then detach; a link on which deliveries came in between is left alone for good."""
        reach = self.model.reaches[step.subject]
        if reach.role == "receiver":
            if step.values[0] == "without":
                self._give(reach, 0)
                self._look(Step("look", reach.channel))
            for id in list(reach.held):
                self._settled(reach, id, "accepted")
            self._look(Step("look", reach.channel))
        self.model.parting(reach)
        answer = self.peer.detach(reach.link, closed=False)
        again = answer["closed"] is not True and not reach.held
        self.model.parted(reach, "suspended" if again else "closed")

    def _reattach(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        channel, handle = step.values
        reach.link = self._attached(channel, reach.role, reach.node, handle, reach.name, {})
        reach.state, reach.used, reach.allowed, reach.told_count = "attached", 0, [0], None
        self._answered(reach)
        assert reach.link.attached is not None
        reach.second = False

    # --- messages to the target

    def _message(self, reach: Reach, fate: Fate = Fate.SENT) -> tuple[Message, bytes]:
        self.numbers += 1
        body = f"{self.numbers}:".encode().ljust(_LARGE_OCTETS if self.large else 8, b"x")
        return self.model.new_message(reach.node, body, fate), encode_message(data=body)

    def _has_credit(self, reach: Reach) -> bool:
        """Whether the target gives credit: it need not, but most do after a moment."""
        try:
            self.peer.credit_for(reach.link, within_s=self.peer.context.patience.quiet_s)
        except Unmet:
            if self.peer.over(reach.link) is not None:
                raise
            return False
        return reach.link.session.remote_incoming_window >= max(_PIECES)

    def _has_room(self, reach: Reach) -> None:
        """Wait until the target takes one transfer more in the session."""
        session = reach.link.session
        self.peer.until(
            lambda: session.remote_incoming_window > 0, "a wider incoming-window", link=reach.link
        )

    def _send(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        count, how, pieces = step.values
        sent = [
            self._send_one(reach, how == "settled", pieces) for _ in range(count) if self._has_credit(reach)
        ]
        for outgoing in sent if how != "settled" else ():
            assert outgoing is not None
            self.peer.outcome(outgoing)

    def _send_one(self, reach: Reach, settled: bool, pieces: int) -> Any:
        message, octets = self._message(reach, Fate.LOOSE if settled else Fate.SENT)
        size = -(-len(octets) // pieces)
        cut = [octets[at : at + size] for at in range(0, len(octets), size)]
        for number, piece in enumerate(cut, start=1):
            more = number < len(cut)
            outgoing = self.peer.transfer(reach.link, message=piece, settled=settled, more=more, wait=False)
            self.model.sends(reach, outgoing, message)
        return outgoing

    def _start(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        reach.begun = True
        if not self._has_credit(reach):
            return
        message, octets = self._message(reach)
        outgoing = self.peer.transfer(reach.link, message=octets[:5], more=True, wait=False)
        self.model.sends(reach, outgoing, message)
        reach.opened = (outgoing, message)

    def _finish_delivery(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        reach.begun = False
        if reach.opened is None:
            return
        outgoing, message = reach.opened
        reach.opened = None
        self._has_room(reach)
        self.peer.transfer(reach.link, message=encode_message(data=message.body)[5:], wait=False)
        self.peer.outcome(outgoing)

    def _abort(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        reach.begun = False
        if reach.opened is None:
            return
        reach.opened[1].fate = Fate.NEVER
        reach.opened = None
        self._has_room(reach)
        self.peer.transfer(reach.link, aborted=True, wait=False)
        self._look(Step("look", reach.channel))

    # --- messages from the target

    def _credit(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        self._give(reach, step.values[0])
        self._owed()
        self._look(Step("look", reach.channel))

    def _give(self, reach: Reach, credit: int) -> None:
        course = self.model.courses[reach.channel]
        reach.allowed.append(reach.used + credit)
        self.peer.credit(reach.link, credit, incoming_window=max(0, course.room))

    def _settle(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        if reach.held:
            self._settled(reach, next(iter(reach.held)), step.values[0])

    def _settled(self, reach: Reach, id: int, outcome: str) -> None:
        delivery, message = reach.held[id]
        if outcome == "released" and message.returned >= _MOST_RETURNS:
            outcome = "accepted"
        self.model.settles(reach, id, outcome)
        self.peer.disposition(delivery, settled=not reach.second, state=outcome)
        if reach.second:
            done = self.peer.session(reach.channel).incoming[id]
            self.peer.until(
                lambda: done.settled_by_target, "a settled disposition of the sender", link=reach.link
            )

    def _settle_all(self, step: Step) -> None:
        held = [(r, id) for r in self.model.live(channel=step.subject) if not r.second for id in r.held]
        if any(r.second and r.held for r in self.model.live(channel=step.subject)) or not held:
            return
        order = [id for id in self.peer.session(step.subject).incoming if id in {id for _, id in held}]
        for reach, id in held:
            self.model.settles(reach, id, "accepted")
        self.peer.disposition(order[0], order[-1], channel=step.subject)


_DOES: dict[str, Callable[[Walk, Step], None]] = {
    "begin": Walk._begin,
    "end": Walk._end,
    "window": Walk._window,
    "look": Walk._look,
    "attach": Walk._attach,
    "close": Walk._close,
    "suspend": Walk._suspend,
    "reattach": Walk._reattach,
    "send": Walk._send,
    "start": Walk._start,
    "finish": Walk._finish_delivery,
    "abort": Walk._abort,
    "credit": Walk._credit,
    "settle": Walk._settle,
    "settle-all": Walk._settle_all,
}
_SENDS = [(count, how, pieces) for count in _COUNTS for how in ("unsettled", "settled") for pieces in _PIECES]
_OPTIONS: dict[str, Callable[[Walk], Iterator[Step]]] = {
    "begin": Walk._begins,
    "end": lambda walk: walk._on_sessions("end"),
    "window": lambda walk: walk._on_sessions("window"),
    "look": lambda walk: walk._on_sessions("look"),
    "attach": Walk._attaches,
    "reattach": Walk._reattaches,
    "close": lambda walk: walk._on_links("close", ""),
    "suspend": lambda walk: walk._on_links("suspend", "", [("with",), ("without",)], opened=False),
    "send": lambda walk: walk._on_links("send", "sender", _SENDS, opened=False),
    "start": lambda walk: walk._on_links("start", "sender", opened=False),
    "finish": lambda walk: walk._on_links("finish", "sender", opened=True),
    "abort": lambda walk: walk._on_links("abort", "sender", opened=True),
    "credit": lambda walk: walk._on_links("credit", "receiver", [(n,) for n in _CREDITS]),
    "settle": lambda walk: walk._on_links("settle", "receiver", [(o,) for o in _OUTCOMES]),
    "settle-all": lambda walk: walk._on_sessions("settle-all"),
}
