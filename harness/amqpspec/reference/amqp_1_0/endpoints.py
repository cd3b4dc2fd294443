"""Common parts of both kinds of link endpoints: a name, two handles, a terminus, and the ends of a link.

Knows: detach in both directions. Must not know: messages; ``sending`` and ``receiving`` do.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import Any, Protocol

from amqpspec.reference.amqp_1_0.carrier import Carrier
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.nodes import SentDelivery, Terminus
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed

STOLEN = "amqp:link:stolen"
FIRST, SECOND = 0, 1
UNSETTLED, SETTLED = 0, 1
_KEYS = count(1)


class PendingDelivery(Protocol):
    """An outgoing delivery, as its session sees it."""

    done: bool

    @property
    def endpoint(self) -> LinkEndpoint:
        """The link that it goes over."""

    def step(self) -> None:
        """Send the next transfer."""


class LinkHost(Protocol):
    """A session, as its links see it.

    ``pending`` are deliveries that have begun to go out, ``unsettled`` what was sent under which delivery-id, and
    ``awaited`` what came under which and waits until its sender settles it. ``latest`` is the delivery that began last.
    """

    connection: Carrier
    outgoing: int
    pending: deque[PendingDelivery]
    unsettled: dict[int, SentDelivery]
    awaited: dict[int, tuple[LinkEndpoint, bytes]]
    latest: Any

    @property
    def may_transfer(self) -> bool:
        """Whether one more transfer may go out."""

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault tolerates it."""

    def fail(self, condition: str, text: str) -> None:
        """Refuse at the scope of the session."""

    def send(self, name: str, fields: dict[str, Any], payload: bytes = b"") -> None:
        """Send one performative."""

    def widen_later(self) -> None:
        """Renew windows and credits soon."""

    def pump_pending(self) -> None:
        """Continue with deliveries that have begun."""

    def count_outgoing(self) -> None:
        """One transfer frame has gone out."""

    def new_delivery_id(self, sent_on_link: int) -> int:
        """The next number in the session's sequence of deliveries."""

    def detach(self, endpoint: LinkEndpoint, *, closed: bool) -> None:
        """A link is detached cleanly."""

    def destroy(self, endpoint: LinkEndpoint, *, closed: bool, stolen: bool) -> None:
        """A link has failed."""


class LinkEndpoint:
    """One link endpoint of the broker."""

    is_sender = False

    def __init__(self, session: LinkHost, attach: Composed, own_handle: int, terminus: Terminus) -> None:
        self.session, self.own_handle, self.terminus = session, own_handle, terminus
        self.handle = attach.get("handle", 0)
        self.faulty = session.faulty
        self.key = next(_KEYS)
        self.attached = True
        self.delivery_count = self.credit = 0
        self.snd_settle_mode: int = attach["snd_settle_mode"]
        self.rcv_settle_mode: int = attach["rcv_settle_mode"]
        self.only_resumes = self.closed = False

    @property
    def name(self) -> str:
        """The link's name."""
        return self.terminus.name

    # --- the end

    def fail(self, condition: str, text: str, *, closed: bool = False, info: Any = None) -> None:
        """Refuse at the scope of the link: say why, destroy the endpoint, wait for the other detach."""
        if not self.attached:
            return
        shown = "amqp:link:detach-forced" if self._misnamed(condition) else condition
        error = error_of(self.faulty, shown, text, "detach", info)
        self.closed = closed
        if not self.faulty("failed-endpoint-works-on"):
            self.session.destroy(self, closed=closed, stolen=condition == STOLEN)
        self.send_detach(closed=closed, error=error)

    def _misnamed(self, condition: str) -> bool:
        if condition == STOLEN:
            return self.faulty("stolen-link-told-as-forced")
        return condition == "amqp:resource-deleted" and self.faulty("deleted-node-told-as-forced")

    def detached_by_peer(self, closed: bool) -> None:
        """The partner has detached: answer, free both handles; the terminus stays unless the link is closed.

        The answer closes what the detach closed (1.0 §2.6.6); without that, the link is suspended and may be resumed.
        """
        closing = closed and not self.faulty("closing-detach-answered-without-closed")
        if self.faulty("every-detach-closes"):
            closing = closed = True
        self.session.detach(self, closed=closed)
        if not self.faulty("detach-not-answered"):
            self.send_detach(closed=closing, error=None)

    def send_detach(self, *, closed: bool, error: dict[str, Any] | None) -> None:
        """One detach."""
        handle = None if self.faulty("detach-without-handle") else self.own_handle
        self.session.send("detach", {"handle": handle, "closed": closed or None, "error": error})

    def forget_partial(self) -> None:
        """Discard what has arrived of a delivery that is not whole: nothing, where the broker sends."""

    def settled_by_sender(self, tag: bytes) -> None:
        """The partner, as sender, has settled a delivery: nothing to do, where the broker sends."""

    def unhook(self) -> None:
        """Stop whatever this endpoint does."""
        self.attached = False
        if self.terminus.endpoint is self:
            self.terminus.endpoint = None

    # --- flow

    def on_flow(self, flow: Composed) -> None:
        """The partner has reported its state of the link."""
        raise NotImplementedError

    def renew_credit(self) -> bool:
        """Give new credit if it is due; whether there is something to tell."""
        return False

    def dispatch(self) -> None:
        """Credit or windows have changed: let the node look for something to send."""

    def link_state(self) -> dict[str, Any]:
        """The link's part of a flow."""
        raise NotImplementedError


FAULTS = fault_table("""
stolen-link-told-as-forced: the link that was stolen is detached as by force
    [links/names/stolen definitions/condition/stolen]
deleted-node-told-as-forced: links to a node that is deleted are detached as by force
    [definitions/condition/resource-deleted]
detach-not-answered: a detach is not answered
    [links/detaching/announce links/detaching/fully-detached links/closing/answer]
detach-without-handle: the broker's detach lacks the handle [performatives/detach/mandatory]
closing-detach-answered-without-closed: a closing detach is answered by one that does not close [links/closing/answer]
every-detach-closes: every detach is treated and answered as a closing one [links/detaching/fully-detached
    links/detaching/announce links/detaching/by-delivery-id performatives/disposition/detached-links
    performatives/disposition/detached-links/applied links/establishing/unsettled-state]
failed-endpoint-works-on: an endpoint continues to work after its detach for an error
    [links/errors/destroyed links/errors/errant-link definitions/condition/errant-link links/errors/detach-with-error]
""")
