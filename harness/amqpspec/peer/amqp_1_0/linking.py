"""Links: attach to nodes, give credit, wait for credit, detach; and round trips that prove silence.

Knows: attach, detach, flow, barriers. Must not know: messages, verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, Session, number
from amqpspec.peer.amqp_1_0.opening import Opening
from amqpspec.peer.context import OutOfReach, Unmet, Withheld
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet

SCRATCH = "amqpspec.barrier"
"""The queue for round trips of cases without one: nothing is ever sent to it."""

_NEAR, _FAR = {"sender": "source", "receiver": "target"}, {"sender": "target", "receiver": "source"}


class Linking(Opening):
    """A connection with links."""

    _scratch = ""

    # --- nodes

    def address_of(self, name: str) -> str:
        """The address under which the target knows a queue."""
        return self.context.nodes.address_of(name)

    def node(self, hint: str = "q") -> str:
        """The address of a queue for the case.

        The queue is created unless the target creates it when a link attaches; raises MissingHook if that fails.
        """
        address = self.address_of(self.will_clean("queue", self.name(hint)))
        if self.context.make_node is not None:
            self.context.make_node(self.context, self.login.vhost, address)
        return address

    # --- attaching and detaching

    def try_attach(self, role: str, address: Any = None, channel: int = 0, **fields: Any) -> Link:
        """Attach and wait for any answer: see ``attached``, ``refused`` and ``detached_by`` of the link, ``ended_by``
        of its session, ``closed_by``.

        Begins the session if necessary. Raises OutOfReach if no handle is left, Unmet if no answer arrives.
        """
        if channel not in self.books.sessions:
            self.begin(channel)
        session = self.session(channel)
        if number(fields.get("handle"), session.free_handle) > session.remote_handle_max:
            raise OutOfReach(f"handle-max is {session.remote_handle_max}, the case needs one link more")
        self.send("attach", channel, **self.attach_fields(role, address, **fields))
        link = session.every_link[-1]
        self.until(lambda: link.attached is not None or self.over(link) is not None, "attach")
        if link.refused and _asks(fields, _FAR[role]):
            with suppress(Unmet):
                self.until(lambda: link.detached_by is not None, "detach", session=session)
        self.take(lambda a: a.name == "attach" and a.link is link)
        return link

    def attach_fields(self, role: str, address: Any = None, **fields: Any) -> dict[str, Any]:
        """The fields of an attach to a node: the peer's terminus is empty, the other one has the address."""
        if address is None and _FAR[role] not in fields:
            address = self.node()
        return {"role": role, _NEAR[role]: {}, _FAR[role]: {"address": address}, **fields}

    def attach(self, role: str, address: Any = None, channel: int = 0, **fields: Any) -> Link:
        """Attach in a role; raises Unmet if the target refuses the link."""
        link = self.try_attach(role, address, channel, **fields)
        if (over := self.over(link)) is not None:
            raise Unmet("an attached link", over.describe(self.dialect), over)
        if link.refused and _asks(fields, _FAR[role]):
            raise Unmet("an attached link", f"attach without {_FAR[role]}")
        return link

    def sender(self, address: Any = None, channel: int = 0, **fields: Any) -> Link:
        """A link to send to a node; ``credit_for`` waits for credit."""
        return self.attach("sender", address, channel, **fields)

    def receiver(self, address: Any = None, channel: int = 0, *, credit: int = 0, **fields: Any) -> Link:
        """A link to receive from a node, with credit if some is given."""
        link = self.attach("receiver", address, channel, **fields)
        if credit:
            self.credit(link, credit)
        return link

    def detach(self, link: Link, closed: bool = True, **fields: Any) -> FrameArrived:
        """Send detach and receive the target's."""
        return self.call("detach", link.session.channel, **{"handle": link, "closed": closed, **fields})

    # --- credit

    def flow(self, channel: int = 0, link: Link | None = None, **fields: Any) -> None:
        """Send flow, for a link if one is named."""
        if link is not None:
            channel = link.session.channel
            fields = {"handle": link, **fields}
        self.send("flow", channel, **fields)

    def credit(self, link: Link, credit: int, **fields: Any) -> None:
        """Give the target credit on a link."""
        self.flow(link=link, link_credit=credit, **fields)

    def credit_for(self, link: Link, at_least: int = 1, within_s: float | None = None) -> int:
        """Wait for credit from the target; returns the amount. Raises Withheld if it does not arrive, Unmet if it
        cannot.
        """
        what = f"credit for {at_least}"
        self._until_given(lambda: link.credit >= at_least, what, link=link, within_s=within_s)
        return link.credit

    def room_for(self, link: Link) -> None:
        """Wait for room for one transfer in the target's window; raises Withheld if none is given, Unmet if that
        cannot happen.

        The window counts transfers, as credit counts deliveries (§2.5.6).
        """
        session = link.session
        self._until_given(lambda: session.remote_incoming_window > 0, "room in the window", link=link)

    # --- round trips

    def barrier(self, channel: int | None = 0) -> None:
        """A round trip after everything that was sent, in a session, or (None) in a separate one.

        Other arrivals are kept for later waits. Raises Unmet if no answer arrives.
        """
        if channel is None:
            self._session_barrier(self.free_channel())
            return
        link = self.send_scratch(channel)
        self.until(lambda: link.attached is not None, "an answer to attach", session=link.session)
        self.leave_scratch(link)

    def echo(self, channel: int = 0, link: Link | None = None, **fields: Any) -> FrameArrived:
        """Request the target's state, of a link if one is named, and receive its flow."""
        channel = channel if link is None else link.session.channel
        self.pending("flow", channel=channel)
        self.flow(channel, link, echo=True, **fields)
        return self.expect("flow", channel=channel, link=link)

    def free_channel(self) -> int:
        """A channel without a session, preferably one that never had a session; raises OutOfReach.

        The answer on it must not depend on whether channels can be reused, which other cases test.
        """
        known = self.books.sessions
        fresh = next(c for c in range(len(known) + 1) if c not in known)
        if self.opened is None or fresh <= self.channel_max:
            return fresh
        ended = [c for c, session in known.items() if session.end_sent and session.ended_by]
        self.room_for_channel(min(ended, default=fresh))
        return min(ended, default=fresh)

    def send_scratch(self, channel: int) -> Link:
        """Send an attach that the target must answer; returns the link."""
        session = self.session(channel)
        if session.free_handle > session.remote_handle_max:
            raise OutOfReach(f"handle-max is {session.remote_handle_max}, no handle is left for a barrier")
        fields = self.attach_fields("sender", self._known_address(), name=self.name("barrier"))
        self.send("attach", channel, **fields)
        return session.every_link[-1]

    def leave_scratch(self, link: Link) -> None:
        """Detach the link after the answer, and discard the arrivals about it."""
        if not link.refused and link.is_attached:
            self.send("detach", link.session.channel, handle=link, closed=True)
        with suppress(Unmet):
            self.until(lambda: link.detached_by is not None, "detach", session=link.session)
        self.take(lambda a: a.link is link)
        link.session.every_link.remove(link)

    def _session_barrier(self, channel: int) -> None:
        self.call("begin", channel)
        with suppress(Unmet):
            self.call("end", channel)

    def _known_address(self) -> Any:
        links = [link for session in self.books.sessions.values() for link in session.every_link]
        known = [
            link for link in links if isinstance(link.address, str) and link.is_attached and not link.refused
        ]
        known.sort(key=lambda link: not link.is_sender)
        return known[0].address if known else self._scratch_address()

    def _scratch_address(self) -> str:
        if not self._scratch:
            self._scratch = self.node("barrier") if self.context.nodes.are_made else self.address_of(SCRATCH)
        return self._scratch

    # --- waiting for a state

    def until(
        self,
        done: Callable[[], bool],
        what: str,
        *,
        link: Link | None = None,
        session: Session | None = None,
        within_s: float | None = None,
    ) -> None:
        """Read until the state satisfies the condition; arrivals are kept.

        Raises Unmet if it does not happen in time, or cannot happen any more.
        """
        within_s = self.patience_s if within_s is None else within_s
        until_s = self.now() + within_s
        while not done():
            if (over := self.over(link, session)) is not None:
                raise Unmet(what, over.describe(self.dialect), over)
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                arrival = Quiet(within_s)
            if isinstance(arrival, Ended | Garbled | Quiet):
                raise Unmet(what, arrival.describe(self.dialect), arrival)
            self.keep(arrival)

    def _until_given(
        self, done: Callable[[], bool], what: str, *, link: Link, within_s: float | None = None
    ) -> None:
        """Like ``until``, for what a target gives when it likes: credit (§2.6.7) and room in its window (§2.5.6)."""
        try:
            self.until(done, what, link=link, within_s=within_s)
        except Unmet as unmet:
            if isinstance(unmet.seen, Quiet):
                raise Withheld(unmet.expected, unmet.observed, unmet.seen) from unmet
            raise

    def over(self, link: Link | None, session: Session | None = None) -> Arrival | None:
        """The arrival that ended the link, the session or the connection, if there is one."""
        session = session or (None if link is None else link.session)
        if link is not None and link.detached_by is not None:
            return link.detached_by
        if session is not None and session.ended_by is not None:
            return session.ended_by
        return self.closed_by or (None if self.ended is None else Ended(self.ended))

    def take(self, wanted: Callable[[FrameArrived], bool]) -> list[FrameArrived]:
        """Remove and return the wanted frames that have already arrived."""
        found = self.stashed(lambda a: isinstance(a, FrameArrived) and wanted(a))
        return [a for a in found if isinstance(a, FrameArrived)]


def _asks(fields: Mapping[str, Any], terminus: str) -> bool:
    """Whether an attach requests a terminus of the target."""
    return fields.get(terminus, {}) is not None
