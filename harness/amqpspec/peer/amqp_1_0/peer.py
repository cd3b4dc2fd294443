"""The peer that a case of AMQP 1.0 uses: messages, their outcomes, and the target's reactions to violations.

Knows: the conversation from a container's side. Must not know: sockets, files, how verdicts are reported.

``call`` sends a performative and receives its counterpart. A missing answer raises ``Unmet``: before ``claim`` it
blocks the case, after ``claim`` it is a failure.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

from amqpspec.peer.amqp_1_0.booking import covers
from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.watching import Watching
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.peer.events import Ended, Garbled, Quiet
from amqpspec.wire.amqp_1_0.message import encode_message

FETCHED = 1000
_LEAST_CHUNK = 1


class Peer(Watching):
    """One connection with the methods for cases. ``another`` returns an additional, independent one."""

    def another(
        self, role: str | None = None, vhost: str | None = None, container_id: str | None = None
    ) -> Self:
        """A second connection, not yet opened: another principal, another host, or the same container."""
        peer = self.introduced(type(self)(self.context, self.lines), role, vhost)
        peer.container_id = container_id or peer.container_id
        return peer

    # --- to the target

    def transfer_octets(
        self,
        link: Link,
        body: bytes = b"",
        *,
        message: bytes | None = None,
        settled: Any = False,
        more: bool = False,
        aborted: bool = False,
        chunk: int | None = None,
        **fields: Any,
    ) -> bytes:
        """The transfers of a delivery as octets, recorded as sent; see ``transfer``."""
        pieces = self._pieces(link, body, message, settled, more, aborted, chunk, fields)
        return b"".join(self._piece(link.session.channel, payload, own) for payload, own in pieces)

    def _pieces(
        self,
        link: Link,
        body: bytes,
        message: bytes | None,
        settled: Any,
        more: bool,
        aborted: bool,
        chunk: int | None,
        fields: dict[str, Any],
    ) -> list[tuple[bytes, dict[str, Any]]]:
        """The payload and the fields of each transfer of a delivery."""
        if message is None:
            message = b"" if aborted else encode_message(data=body)
        fields = {"handle": link, "settled": settled, **fields}
        if aborted:
            fields["aborted"] = True
        step = max(_LEAST_CHUNK, chunk or self._room(link, fields))
        pieces = [message[at : at + step] for at in range(0, len(message), step)] or [b""]
        last = {**fields, "more": True} if more else fields
        return [*((piece, {**fields, "more": True}) for piece in pieces[:-1]), (pieces[-1], last)]

    def _piece(self, channel: int, payload: bytes, fields: dict[str, Any]) -> bytes:
        return self.frame("transfer", channel, payload=payload, **fields)

    def _room(self, link: Link, fields: dict[str, Any]) -> int:
        """How many octets of a message fit into one frame."""
        usual = {"delivery_id": 0xFFFFFFFF, "delivery_tag": bytes(32), "message_format": 0, "more": True}
        octets = self.exact("transfer", **{**usual, **fields, "handle": link.handle})
        return self.max_frame_octets - len(octets)

    def transfer(
        self,
        link: Link,
        body: bytes = b"",
        *,
        message: bytes | None = None,
        settled: Any = False,
        more: bool = False,
        aborted: bool = False,
        chunk: int | None = None,
        wait: bool = True,
        **fields: Any,
    ) -> Outgoing:
        """Send a delivery, in as many transfers as necessary, or in pieces of ``chunk`` octets.

        ``message`` is encoded sections in place of ``body`` as data. With ``more`` the delivery stays open: the next
        transfer on the link continues it. Waits for credit, unless ``wait`` is off.
        """
        if wait and link.sending is None:
            self.credit_for(link)
        before, session = link.sending, link.session
        for payload, own in self._pieces(link, body, message, settled, more, aborted, chunk, fields):
            if wait:
                self.room_for(link)
            self._write_whole(self._piece(session.channel, payload, own))
        return owed(before or link.last_outgoing, "an attached link")

    def outcome(self, outgoing: Outgoing, within_s: float | None = None) -> Outgoing:
        """Wait until the target has reported the outcome of a delivery; raises Unmet if it does not."""
        self.until(
            lambda: outgoing.is_decided, "an outcome of the delivery", link=outgoing.link, within_s=within_s
        )
        self.take(lambda a: a.name == "disposition" and a.channel is not None and _tells(a, outgoing))
        return outgoing

    def send_message(self, address: Any, body: bytes, channel: int = 0, **fields: Any) -> Outgoing:
        """Send one message over a separate link; raises Unmet if the target does not accept it."""
        link = self.sender(address, channel)
        outgoing = self.outcome(self.transfer(link, body, **fields))
        if outgoing.result != "accepted":
            raise Unmet("accepted", outgoing.result)
        self.detach(link)
        return outgoing

    # --- from the target

    def delivery(self, link: Link, within_s: float | None = None) -> Delivery:
        """The next complete delivery on a link; raises Unmet if none arrives."""
        self.until(lambda: bool(link.inbox), "a delivery", link=link, within_s=within_s)
        delivery = link.inbox.popleft()
        taken = {id(transfer) for transfer in delivery.transfers}
        self.take(lambda a: id(a) in taken)
        return delivery

    def deliveries(self, link: Link, count: int) -> list[Delivery]:
        """The next deliveries, this many; raises Unmet if fewer arrive."""
        return [self.delivery(link) for _ in range(count)]

    def received(self, link: Link) -> list[Delivery]:
        """Deliveries on a link that no wait has returned yet; does not wait."""
        return [self.delivery(link) for _ in range(len(link.inbox))]

    def drain(self, link: Link, within_s: float | None = None) -> list[Delivery]:
        """Have the target use or discard the credit of a link; returns its deliveries. Raises Unmet."""
        before = link.flow
        self.flow(link=link, drain=True)
        self.until(
            lambda: link.credit == 0 or _gave_up(link, before), "a link drained", link=link, within_s=within_s
        )
        return self.received(link)

    def disposition(
        self,
        first: Delivery | Outgoing | int,
        last: Delivery | Outgoing | int | None = None,
        *,
        channel: int | None = None,
        **fields: Any,
    ) -> None:
        """Report a state of deliveries as their receiver, by default ``accepted`` and settled."""
        if channel is None:
            channel = 0 if isinstance(first, int) or first.link is None else first.link.session.channel
        usual: dict[str, Any] = {"first": _id(first), "settled": True, "state": "accepted"}
        if last is not None:
            usual["last"] = _id(last)
        self.send("disposition", channel, **{**usual, **fields})

    def fetch(
        self, address: Any, at_least: int = 0, *, count: int = FETCHED, channel: int = 0
    ) -> list[Delivery]:
        """Check the contents of a node: receive and accept its messages over a separate link.

        Waits for the expected number of messages, then for further ones until a round trip after some silence.
        """
        own, fresh = self._own_session(channel)
        link = self.receiver(address, own, credit=count)
        with suppress(Unmet):
            self.until(lambda: len(link.inbox) >= at_least, "deliveries", link=link)
        self.barrier(own)
        self._listen(self.context.patience.quiet_s)
        self.barrier(own)
        found = self.received(link)
        for delivery in found:
            if not delivery.settled:
                self.disposition(delivery)
        self.detach(link)
        if fresh:
            with suppress(Unmet):
                self.end(own)
        return found

    def _own_session(self, channel: int) -> tuple[int, bool]:
        """A separate session, if the target accepts one more; returns also whether it was begun for this."""
        try:
            channel = self.free_channel() if self.opened is not None else channel
        except OutOfReach:
            return channel, False
        self.begin(channel)
        return channel, True

    def _listen(self, for_s: float) -> None:
        """Read and keep arrivals until nothing arrives for this time; ends in time if the target never pauses."""
        until_s = self.now() + self.patience_s
        while not isinstance(arrival := self.read(self.now() + for_s), Quiet):
            if isinstance(arrival, Ended | Garbled):
                return
            self.keep(arrival)
            if self.now() > until_s:
                return


def _id(delivery: Delivery | Outgoing | int) -> int:
    """The delivery-id; raises Unmet if the target sent none."""
    if isinstance(delivery, int):
        return delivery
    if delivery.id < 0:
        raise Unmet("a delivery-id on the target's delivery", "none")
    return delivery.id


def _tells(disposition: FrameArrived, outgoing: Outgoing) -> bool:
    """Whether a disposition is about a single delivery; one about several may be needed again."""
    alone = disposition["last"] in (None, disposition["first"])
    same = outgoing.link is not None and disposition.channel == outgoing.link.session.channel
    return alone and same and disposition["role"] is True and covers(disposition, outgoing.id)


def _gave_up(link: Link, before: FrameArrived | None) -> bool:
    flow = link.flow
    return flow is not None and flow is not before and flow["link_credit"] == 0
