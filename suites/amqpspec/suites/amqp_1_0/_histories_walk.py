"""Walks: how each step of a history is driven, and compared with the model.

Knows: the peer's verbs, the model. Must not know: hypothesis, requirement rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Context, Unmet, owed
from amqpspec.peer.events import Arrival
from amqpspec.peer.line import Line
from amqpspec.suites.amqp_1_0._histories_model import (
    SECOND_MODE,
    Course,
    Fate,
    Message,
    Model,
    Reach,
    body_of,
)
from amqpspec.suites.amqp_1_0._histories_steps import NODES, Menu, Powers, Step, Style
from amqpspec.suites.histories import Driven, Mismatch
from amqpspec.wire.amqp_1_0.message import encode_message

# Brokers give up a message that keeps coming back, so it is accepted in the end.
_MOST_RETURNS = 3
_LOOKED_AT = 1000
_FRAME_OCTETS = 512
# Three frames of 512 octets, the smallest size there is.
_LARGE_OCTETS = 1200
# As many transfers as the longest way of sending takes.
_ROOM = 3


class Watched(Peer):
    """A peer that shows each frame to a model, in the order of the wire."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.model, self.judges = Model(), True

    def noted(self, arrival: Arrival) -> Arrival:
        """Record it, then let the model judge; raises Mismatch."""
        # The model judges by the books: they have to know of the frame first.
        arrival = super().noted(arrival)
        if self.judges and isinstance(arrival, FrameArrived):
            self.model.received(arrival)
        return arrival


class Walk(Driven):
    """One history on one connection."""

    peer: Watched

    def __init__(self, peer: Watched, powers: Powers, style: Style) -> None:
        super().__init__()
        self.peer, self.model, self.style = peer, peer.model, style
        self.menu = Menu(peer.model, powers, style)
        self.addresses: dict[str, str] = {}
        self.numbers = 0

    def open(self) -> None:
        """The connection, a session, and addresses of the walk's own."""
        self.addresses = {node: self.peer.node(node.lower()) for node in NODES}
        self.peer.open_connection(**({"max_frame_size": _FRAME_OCTETS} if self.style.large else {}))

    def give_up(self, why: str = "") -> None:
        """Leave the connection as it is; nothing is judged any more."""
        self.peer.judges = False
        super().give_up(why)

    # --- taking a step

    def _do(self, step: Step) -> None:
        _DOES[step.verb](self, step)
        self._owed()

    def _finish(self) -> None:
        """A round trip on each session, close, and a check of what the nodes hold."""
        for channel in list(self.model.courses):
            self._look(Step("look", channel))
        self._owed()
        # close ends all links: what they hold is the target's again, at a time of its choice.
        for reach in self.model.live():
            self.model.parting(reach)
        self.peer.close()
        for channel in list(self.model.courses):
            self.model.ended(channel)
        # Some targets give back what was unsettled only when the socket is gone.
        self.peer.hang_up()
        for node in dict.fromkeys(message.node for message in self.model.messages.values()):
            self._look_into(node)

    def _judged(self, act: Callable[[], object]) -> None:
        super()._judged(act)
        # A close that no one asked for, even if the step waited for nothing.
        over = self.peer.over(None)
        if over is not None and not self.peer.books.close_sent:
            raise Mismatch("an open connection", over.describe(self.peer.dialect))

    def _owed(self) -> None:
        what = self.model.owing()
        if not what:
            return
        self.peer.until(lambda: not self.model.owing(), what)

    def _look_into(self, node: str) -> None:
        """What a node holds in the end: all that waits there, perhaps what is loose, nothing else."""
        messages: dict[object, Message] = {m.body: m for m in self.model.messages.values() if m.node == node}
        waiting: set[object] = {m.body for m in messages.values() if m.fate is Fate.WAITING}
        # A plain peer: its frames are no part of the history.
        other = Peer(self.peer.context, self.peer.lines)
        fetched = other.fetch(self.addresses[node], len(waiting), count=_LOOKED_AT)
        found = [body_of(delivery) for delivery in fetched]
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
        # The window counts from here on (amqp-1.0 §2.5.6): the room that is left is named again.
        wider = max(0, course.room) + step.values[0]
        course.window = course.received + wider
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
        reach.second = role == "receiver" and owed(link.attached, "attach")["rcv_settle_mode"] == SECOND_MODE

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
        # Reattached, not resumed (amqp-1.0 §2.7.3); whether null or empty, another case judges.
        if tags := owed(link.attached, "attach")["unsettled"] or {}:
            raise Mismatch("nothing unsettled on a link with nothing unsettled", f"{len(tags)} in its attach")

    def _close(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        self.model.parting(reach)
        answer = self.peer.detach(reach.link)
        self.model.parted(reach, "closed")
        if self.style.closing and answer["closed"] is not True:
            raise Mismatch("a closing detach in answer to a closing one", "detach without closed")

    def _suspend(self, step: Step) -> None:
        """Settle, then detach; if that left deliveries unsettled, another link replaces this one later."""
        reach = self.model.reaches[step.subject]
        if reach.role == "receiver":
            # Then nothing can be in flight when detach is sent; with credit, something can.
            if step.values[0] == "without":
                self._give(reach, 0)
                self._look(Step("look", reach.channel))
            for id in list(reach.held):
                self._settled(reach, id, "accepted")
            self._look(Step("look", reach.channel))
        self.model.parting(reach)
        answer = self.peer.detach(reach.link, closed=False)
        # With anything unsettled the link would have to be resumed: not a matter of histories.
        if answer["closed"] is True or reach.held:
            reach.name = self.peer.name("link")
        self.model.parted(reach, "suspended")

    def _reattach(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        channel, handle = step.values
        reach.link = self._attached(channel, reach.role, reach.node, handle, reach.name, {})
        # A new endpoint has no credit and counts again (amqp-1.0 §2.6.7).
        reach.state, reach.used, reach.allowed, reach.told_count = "attached", 0, [0], None
        self._answered(reach)
        reach.second = False

    # --- messages to the target

    def _message(self, reach: Reach, fate: Fate = Fate.SENT) -> tuple[Message, bytes]:
        self.numbers += 1
        body = f"{self.numbers}:".encode().ljust(_LARGE_OCTETS if self.style.large else 8, b"x")
        return self.model.new_message(reach.node, body, fate), encode_message(data=body)

    def _has_credit(self, reach: Reach) -> bool:
        """Whether the target gives credit, and room for what takes most of it: it need not, but most do by and by."""
        # How soon they come is the target's affair, and must not decide what is walked: they are waited for with all
        # patience, and never again on a link where they did not arrive.
        link = reach.link
        try:
            if not reach.dry:
                self.peer.credit_for(link)
                self.peer.until(lambda: link.session.remote_incoming_window >= _ROOM, "room", link=link)
        except Unmet:
            if self.peer.over(link) is not None:
                raise
            reach.dry = True
        return not reach.dry

    def _has_room(self, reach: Reach) -> None:
        """Wait until the target takes one transfer more in the session."""
        session = reach.link.session
        self.peer.until(
            lambda: session.remote_incoming_window > 0, "a wider incoming-window", link=reach.link
        )

    def _send(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        count, how, pieces = step.values
        if how == "mixed":
            sent = self._send_mixed(reach, count, pieces)
        else:
            sent = [self._send_one(reach, pieces) for _ in range(count) if self._has_credit(reach)]
        # Before the next step, so that the model knows where each message is.
        for outgoing in sent:
            self.peer.outcome(outgoing)

    def _send_one(self, reach: Reach, pieces: int) -> Outgoing:
        octets, outgoing = self._octets(reach, pieces, settled=False)
        self.peer.send_octets(octets)
        return outgoing

    def _send_mixed(self, reach: Reach, count: int, pieces: int) -> list[Outgoing]:
        """Settled and unsettled ones alternately, in one write: as many of each, as far as credit goes."""
        written, sent = b"", []
        for _ in range(count):
            for settled in (True, False):
                if not self._has_credit(reach):
                    break
                octets, outgoing = self._octets(reach, pieces, settled=settled)
                written += octets
                sent += [] if settled else [outgoing]
        self.peer.send_octets(written)
        return sent

    def _octets(self, reach: Reach, pieces: int, *, settled: bool) -> tuple[bytes, Outgoing]:
        # The target reveals nothing about what was sent settled, and may drop it.
        message, octets = self._message(reach, Fate.LOOSE if settled else Fate.SENT)
        chunk = -(-len(octets) // pieces) if pieces > 1 else None  # as the largest frame has it
        written = self.peer.transfer_octets(reach.link, message=octets, settled=settled, chunk=chunk)
        outgoing = owed(reach.link.last_outgoing, "an attached link")
        self.model.sends(reach, outgoing, message)
        return written, outgoing

    def _start(self, step: Step) -> None:
        reach = self.model.reaches[step.subject]
        reach.begun = True
        if not self._has_credit(reach):
            return
        # Five octets have nothing of the body in them yet.
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
        # In as many transfers as it takes, each of which waits for the window.
        self.peer.transfer(reach.link, message=encode_message(data=message.body)[5:])
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
        # An abort has no answer.
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
        # In mode second a receiver tells the outcome, and settles after the sender (amqp-1.0 §2.8.3).
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
        # In the order of arrival, not sorted: ids wrap.
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
