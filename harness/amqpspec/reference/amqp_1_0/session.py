"""One session endpoint: its channels, windows and handles, and the frames that belong to it.

Knows: the links of handles, how windows move, what happens to frames after an error. Must not know: sockets, what a
link does with its messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from amqpspec.reference.amqp_1_0 import limits, wire
from amqpspec.reference.amqp_1_0.carrier import Carrier
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint, PendingDelivery
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.flow_state import state_of
from amqpspec.reference.amqp_1_0.nodes import Nodes, SentDelivery
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed

_U32_MAX = (1 << 32) - 1


class Session:
    """One session."""

    def __init__(self, connection: Carrier, incoming: int, outgoing: int, begin: Composed | None) -> None:
        self.connection, self.faulty, self.refuse = connection, connection.faulty, connection.refuse
        self.incoming, self.outgoing = incoming, outgoing
        self.discarding = self.ended = False
        """``ended``: the broker's end is out (END_SENT); ``discarding``: it was for an error (1.0 §2.5.5)."""
        self.endpoints: dict[int, LinkEndpoint] = {}
        self.failed: dict[int, LinkEndpoint] = {}
        """Links detached for an error, by the partner's handle: anything but its detach is errant (§2.6.5)."""
        self.rejected: set[int] = set()
        """Handles of links that were refused: what came before the partner knew of it is passed over (§2.6.3)."""
        self.failed_names: set[tuple[bool, str]] = set()
        """Links that have failed, by role and name: they can be resumed, not attached again (§2.6.5)."""
        self.pending: deque[PendingDelivery] = deque()
        self.unsettled: dict[int, SentDelivery] = {}
        self.awaited: dict[int, tuple[LinkEndpoint, bytes]] = {}
        """What came in mode second, by delivery-id: the receiver settles once the sender has (§2.7.5)."""
        self.errant: dict[int, LinkEndpoint] = {}
        """What waited so when its link failed, by delivery-id: it is never settled (§2.6.5)."""
        # Two before the end of the range, so that the third transfer of every session wraps around (RFC 1982).
        self.initial_outgoing_id = self.next_outgoing_id = wire.plus(0, -2)
        self.next_delivery_id = 0
        self.incoming_window = limits.WINDOW_FRAMES
        self.next_incoming_id = begin.get("next_outgoing_id", 0) if begin else 0
        if self.faulty("next-incoming-id-counted-from-zero"):
            self.next_incoming_id = 0
        self.remote_window = begin.get("incoming_window", 0) if begin else 0
        self.handle_max = begin["handle_max"] if begin else _U32_MAX
        self.received = False
        self.latest: Any = None
        self.old_credits: dict[str, int] = {}
        self._widening: asyncio.TimerHandle | None = None

    @property
    def nodes(self) -> Nodes:
        """The nodes of the virtual host."""
        return self.connection.nodes

    # --- output

    def send(self, name: str, fields: dict[str, Any], payload: bytes = b"") -> None:
        """One performative on this session's channel."""
        outlives = self.faulty("frames-after-end") or self.faulty("session-works-on-after-end")
        if not self.ended or outlives:
            self.connection.send(self.outgoing, name, fields, payload)

    def send_flow(self, endpoint: LinkEndpoint | None = None, *, echo: bool = False) -> None:
        """The state of the session, and of one link if it is given."""
        self.send("flow", state_of(self, endpoint, echo=echo))

    # --- links

    def endpoint_at(self, handle: Any, name: str) -> LinkEndpoint | None:
        """The endpoint of a handle; refuses if there is none."""
        if handle in self.failed:
            self.refuse("links/errors/errant-link", f"{name} for a link that was detached for an error")
            return None
        endpoint = self.endpoints.get(handle) if isinstance(handle, int) else None
        if self.faulty("handles-sought-by-own-number"):
            endpoint = next((one for one in self.endpoints.values() if one.own_handle == handle), None)
        if endpoint is None and not self.faulty("unattached-handles-passed-over"):
            rule = (
                "performatives/flow/handle/unattached"
                if name == "flow"
                else "definitions/condition/unattached-handle"
            )
            self.refuse(rule, f"{name} with handle {handle}, which has no link")
        return endpoint

    # --- windows and credit of this side

    def count_incoming(self) -> None:
        """One transfer frame has arrived; renew the window before it is used up, so that the partner need not stop."""
        self.received = True
        if not self.faulty("next-incoming-id-stands-still"):
            self.next_incoming_id = self._after(self.next_incoming_id)
        self.incoming_window -= 1
        if self.incoming_window <= limits.WINDOW_FRAMES // 2:
            self.widen_later()

    def _after(self, number: int) -> int:
        """The next serial number."""
        following = wire.plus(number, 1)
        return 1 if following == 0 and self.faulty("ids-wrap-to-one") else following

    def forget_partial(self) -> None:
        """Discard what has arrived of messages that are not whole."""
        for endpoint in self.endpoints.values():
            endpoint.forget_partial()

    def widen_later(self) -> None:
        """Renew windows and credits soon; not at once, or a burst beyond either would never be seen as one."""
        if self._widening is None and not self.faulty("windows-never-renewed"):
            self._widening = asyncio.get_running_loop().call_later(limits.WIDEN_AFTER_S, self._widen)

    def _widen(self) -> None:
        self._widening = None
        if self.ended:
            return
        self.incoming_window = limits.WINDOW_FRAMES
        sent = False
        for endpoint in tuple(self.endpoints.values()):
            if endpoint.renew_credit():
                self.send_flow(endpoint)
                sent = True
        if not sent:
            self.send_flow()
        self.connection.core.flush()

    # --- sending

    def pump(self) -> None:
        """Send what waits for a window; then let every queue look again."""
        self.pump_pending()
        for endpoint in tuple(self.endpoints.values()):
            endpoint.dispatch()

    @property
    def may_transfer(self) -> bool:
        """Whether the partner's window and the socket take one more transfer."""
        if self.ended and not self.faulty("frames-after-end"):
            return False
        if self.received and self.faulty("sessions-receive-only"):
            return False
        open_ = self.remote_window > 0 or self.faulty("incoming-window-of-partner-ignored")
        return open_ and not self.connection.congested

    def pump_pending(self) -> None:
        """Continue deliveries that have begun, the first one to its end: they must not mix on a link (§2.6.14)."""
        while self.pending and self.may_transfer:
            outgoing = self.pending[0]
            if self.faulty("deliveries-interleaved-on-a-link"):
                self.pending.rotate(-1)
            outgoing.step()
            if outgoing.done and outgoing in self.pending:
                self.pending.remove(outgoing)

    def count_outgoing(self) -> None:
        """One transfer frame has gone out: the partner's window is smaller until its next flow (§2.5.6)."""
        if not self.faulty("next-outgoing-id-stands-still"):
            self.next_outgoing_id = self._after(self.next_outgoing_id)
        self.remote_window -= 1

    def new_delivery_id(self, sent_on_link: int) -> int:
        """The next number in the session's sequence of deliveries."""
        if self.faulty("delivery-ids-counted-by-link"):
            return sent_on_link
        number = self.next_delivery_id
        if self.faulty("delivery-ids-counted-by-connection"):
            number = self.next_delivery_id = self.connection.last_id
        if self.faulty("delivery-ids-by-twos"):
            self.next_delivery_id = wire.plus(number, 1)
        self.next_delivery_id = wire.plus(self.next_delivery_id, 1)
        self.connection.last_id = self.next_delivery_id
        return number

    # --- handles

    def free_handle(self) -> int | None:
        """The lowest handle that is free, None if the partner takes no more."""
        used = {endpoint.own_handle for endpoint in self.endpoints.values()}
        top = _U32_MAX if self.faulty("handle-max-of-partner-ignored") else self.handle_max
        if self.faulty("own-handle-used-twice"):
            return 0
        places = (
            range(min(top, 300), -1, -1)
            if self.faulty("highest-handle-taken")
            else range(min(top, 1 << 16) + 1)
        )
        return next((handle for handle in places if handle not in used), None)

    def detach(self, endpoint: LinkEndpoint, *, closed: bool) -> None:
        """A link is detached cleanly."""
        self._drop(endpoint)
        if closed:
            self._forget_awaited(endpoint)
        self.nodes.detached(endpoint, closed=closed and not self.faulty("closed-link-remembered"))

    def destroy(self, endpoint: LinkEndpoint, *, closed: bool, stolen: bool) -> None:
        """A link has failed: what arrives for it is an error until its detach comes (§2.6.5).

        Its name has failed with it, unless the link was closed or is attached elsewhere: it may only be resumed.
        """
        endpoint.forget_partial()
        self._drop(endpoint)
        self.failed[endpoint.handle] = endpoint
        self.errant |= dict.fromkeys(self._forget_awaited(endpoint), endpoint)
        if stolen:
            return
        if not closed:
            self.failed_names.add((endpoint.is_sender, endpoint.name))
        if self.faulty("names-of-closed-links-stay-failed"):
            self.failed_names.add((endpoint.is_sender, endpoint.name))
        self.nodes.detached(endpoint, closed=closed or self.faulty("failed-terminus-forgotten"))

    def _forget_awaited(self, endpoint: LinkEndpoint) -> list[int]:
        """Deliveries of a link that is gone permanently are not settled any more; their delivery-ids."""
        cancelled = [number for number, pair in self.awaited.items() if pair[0] is endpoint]
        for number in cancelled:
            del self.awaited[number]
        return cancelled

    def _drop(self, endpoint: LinkEndpoint) -> None:
        if self.endpoints.get(endpoint.handle) is endpoint and not self.faulty("handle-kept-after-detach"):
            del self.endpoints[endpoint.handle]
        for outgoing in [o for o in self.pending if o.endpoint is endpoint]:
            self.pending.remove(outgoing)
        self.old_credits[endpoint.name] = endpoint.credit
        endpoint.unhook()

    # --- the end

    def fail(self, condition: str, text: str) -> None:
        """Refuse at the scope of the session: say why, discard what arrives until the other end (1.0 §2.5.4)."""
        error = error_of(self.faulty, condition, text, "end")
        if not self.faulty("session-works-on-after-end"):
            self.release()
        self.send("end", {"error": error})
        self.ended = self.discarding = True
        if self.faulty("discarded-frames-answered"):
            self.discarding = False

    def ended_by_peer(self) -> None:
        """The partner has ended the session: so does the broker."""
        self.release()
        if not self.faulty("end-not-answered"):
            error = {"condition": "amqp:internal-error"} if self.faulty("end-answered-with-error") else None
            self.send("end", {"error": error})
        if self.faulty("frames-after-end"):
            self.send_flow()
        self.ended = True
        self._forget()

    def on_frame_after_end(self, name: str) -> None:
        """A frame has arrived after the broker's end: only the partner's own end means anything (1.0 §2.5.5)."""
        if name == "end":
            self._forget()
        elif self.faulty("discarded-frames-answered"):
            error = {"condition": "amqp:illegal-state", "description": "the session has ended"}
            self.connection.send(self.outgoing, "end", {"error": error})

    def _forget(self) -> None:
        if self.faulty("crossing-end-answered") and self.discarding:
            self.connection.send(self.outgoing, "end", {})
        if not self.faulty("ended-channel-stays-mapped"):
            self.connection.forget(self.incoming)

    def release(self) -> None:
        """Give back everything that this session holds."""
        if self._widening is not None:
            self._widening.cancel()
            self._widening = None
        endpoints, self.endpoints = list(self.endpoints.values()), {}
        self.pending.clear()
        for endpoint in endpoints:
            endpoint.unhook()
            self.nodes.detached(endpoint, closed=False)
        if not self.faulty("unsettled-lost-with-session"):
            self.nodes.session_ended(self)
        self.unsettled.clear()  # delivery-ids mean nothing beyond their session; termini keep deliveries by tag


FAULTS = fault_table("""
end-not-answered: an end is not answered [sessions/end/handshake]
end-answered-with-error: an end is answered by an end with an error [sessions/end/handshake]
frames-after-end: a flow follows the broker's end [sessions/states/end-rcvd sessions/states/end-sent]
crossing-end-answered: an end that crosses the broker's is answered by another one [sessions/simultaneous-end]
ended-channel-stays-mapped: the channel of a session that has ended cannot be used again
    [sessions/simultaneous-end sessions/end/handshake sessions/errors/discard]
session-works-on-after-end: after its end for an error, the broker continues to work
    [sessions/errors/discard sessions/states/discarding]
discarded-frames-answered: frames that arrive after an end for an error are errors again
    [sessions/states/discarding sessions/errors/discard]
unsettled-lost-with-session: what is unsettled when a session ends is lost [sessions/end/with-connection]
incoming-window-of-partner-ignored: the broker sends beyond the partner's window
    [sessions/flow/incoming-window sessions/flow/remote-incoming-window sessions/flow/window-formula]
next-incoming-id-counted-from-zero: next-incoming-id begins at zero
    [sessions/flow/initial-outgoing-id sessions/flow/outgoing-id-arithmetic]
next-incoming-id-stands-still: next-incoming-id does not change [sessions/flow/next-incoming-id]
next-outgoing-id-stands-still: next-outgoing-id does not change [sessions/flow/outgoing-id-arithmetic]
ids-wrap-to-one: serial numbers leave out zero
    [sessions/flow/outgoing-id-arithmetic definitions/sequence-no/arithmetic]
windows-never-renewed: windows and credit are not renewed
    [definitions/condition/window-violation sessions/states/mapped]
sessions-receive-only: nothing is sent on a session that has received a transfer [sessions/states/mapped]
delivery-ids-by-twos: delivery-ids grow by two [sessions/delivery-sequence links/delivery-ids-per-session]
delivery-ids-counted-by-link: each link counts delivery-ids for itself
    [sessions/delivery-sequence links/delivery-ids-per-session]
delivery-ids-counted-by-connection: sessions of a connection share one count of delivery-ids
    [links/delivery-ids-per-session]
own-handle-used-twice: all links of the broker have handle 0 [performatives/attach/handle/free model/many-links]
highest-handle-taken: links use the highest free handle [performatives/attach/handle/lowest]
handle-max-of-partner-ignored: links get handles beyond the partner's handle-max
    [performatives/begin/handle-max/respected]
handles-sought-by-own-number: frames are sorted by the broker's own handles
    [links/handles/differ definitions/handle/different]
handle-kept-after-detach: detach does not free the handle [links/handles/until-detach
    performatives/detach/handle-freed definitions/handle/reuse links/detaching/fully-detached]
unattached-handles-passed-over: frames with a handle that has no link are passed over
    [definitions/condition/unattached-handle links/handles/until-detach performatives/flow/handle/unattached
    sessions/errors/end]
closed-link-remembered: the terminus of a closed link stays [performatives/detach/closed links/closing/answer]
names-of-closed-links-stay-failed: a link that the broker has closed for an error can only be resumed
    [performatives/detach/closed]
failed-terminus-forgotten: a detach for an error takes the terminus with it
    [links/errors/destroyed links/errors/resume]
""")
