"""One session endpoint: its channels, windows and handles, and the frames that belong to it.

Knows: which handle is whose, how windows move, what becomes of frames after an error.
Must not know: sockets; what a link does with its messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from amqpspec.reference.amqp_1_0 import attaching, dispositions, flows, limits, wire
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.receiving import ReceivingEnd
from amqpspec.reference.amqp_1_0.sending import SendingEnd
from amqpspec.reference.amqp_1_0.sound import check
from amqpspec.wire.amqp_1_0.performatives import Composed

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.connection import Connection
    from amqpspec.reference.amqp_1_0.ends import End
    from amqpspec.reference.amqp_1_0.nodes import Held, Nodes
    from amqpspec.reference.amqp_1_0.sending import Outgoing

_OUTGOING_WINDOW = (1 << 31) - 1
_U32_MAX = (1 << 32) - 1


class Session:
    """One session."""

    def __init__(self, connection: Connection, channel: int, begin: Composed | None) -> None:
        self.connection, self.faulty, self.refuse = connection, connection.faulty, connection.refuse
        self.incoming, self.outgoing = channel, self._free_channel()
        self.discarding = self.ended = False
        self.ends: dict[int, End] = {}
        self.failed: dict[int, End] = {}
        self.rejected: set[int] = set()
        self.failed_names: set[tuple[bool, str]] = set()
        self.pending: deque[Outgoing] = deque()
        self.unsettled: dict[int, Held] = {}
        self.awaited: dict[int, tuple[ReceivingEnd, bytes]] = {}
        self.initial_outgoing_id = self.next_outgoing_id = self._initial_id()
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

    def _initial_id(self) -> int:
        return wire.plus(0, -2)

    def _free_channel(self) -> int:
        """The lowest channel that is free, -1 where the partner takes no more."""
        used = {session.outgoing for session in self.connection.sessions.values() if not session.ended}
        top = 0xFFFF if self.faulty("channel-max-of-partner-ignored") else self.connection.channel_max
        places = range(top + 1)
        if self.faulty("highest-channel-taken"):
            places = range(min(top, 40), -1, -1)
        if self.faulty("own-channel-used-twice"):
            return 0
        return next((channel for channel in places if channel not in used), -1)

    @property
    def nodes(self) -> Nodes:
        """The nodes of the virtual host."""
        return self.connection.nodes

    # --- begin

    def answer(self, begin: Composed) -> None:
        """Send the begin that answers the partner's."""
        if self.faulty("flow-before-begin"):
            self.send_flow()
        if self.faulty("begin-not-answered"):
            return
        channel: int | None = self.incoming
        if self.faulty("begin-answered-without-remote-channel"):
            channel = None
        if self.faulty("remote-channel-of-begin-is-own"):
            channel = self.outgoing + 1
        self.send(
            "begin",
            {
                "remote_channel": channel,
                "next_outgoing_id": self.next_outgoing_id,
                "incoming_window": None if self.faulty("begin-without-window") else self.incoming_window,
                "outgoing_window": _OUTGOING_WINDOW,
                "handle_max": limits.HANDLE_MAX,
            },
        )
        if self.faulty("unasked-begin-with-remote-channel"):
            self.connection.send(
                self.outgoing + 9, "begin", {"remote_channel": 999, "next_outgoing_id": 0,
                                             "incoming_window": 1, "outgoing_window": 1},
            )  # fmt: skip

    # --- output

    def send(self, name: str, fields: dict[str, Any], payload: bytes = b"") -> None:
        """One performative on this session's channel."""
        outlives = self.faulty("frames-after-end") or self.faulty("session-works-on-after-end")
        if not self.ended or outlives:
            self.connection.send(self.outgoing, name, fields, payload)

    def send_flow(self, end: End | None = None, *, echo: bool = False) -> None:
        """The state of the session, and of one link where it is told."""
        self.send("flow", flows.state_of(self, end, echo=echo))

    # --- frames in

    def on_frame(self, frame: Composed, payload: bytes) -> None:
        """A frame has come, other than begin."""
        if self.ended and not self.faulty("session-works-on-after-end"):
            if frame.name == "end":
                self._forget()
            elif self.faulty("discarded-frames-answered"):
                error = {"condition": "amqp:illegal-state", "description": "the session has ended"}
                self.connection.send(self.outgoing, "end", {"error": error})
            return
        check(frame, self.refuse)
        if frame.name == "transfer":
            self._on_transfer(frame, payload)
        elif frame.name == "flow":
            flows.on_flow(self, frame)
        elif frame.name == "disposition":
            dispositions.on_disposition(self, frame)
        elif frame.name == "attach":
            attaching.on_attach(self, frame)
        elif frame.name == "detach":
            self._on_detach(frame)
        else:
            self._on_end()

    def end_at(self, handle: Any, name: str) -> End | None:
        """The endpoint of a handle; refuses where there is none."""
        if handle in self.failed:
            self.refuse("links/errors/errant-link", f"{name} for a link that was detached for an error")
            return None
        end = self.ends.get(handle) if isinstance(handle, int) else None
        if self.faulty("handles-sought-by-own-number"):
            end = next((one for one in self.ends.values() if one.own_handle == handle), None)
        if end is None and not self.faulty("unattached-handles-passed-over"):
            rule = (
                "performatives/flow/handle/unattached"
                if name == "flow"
                else "definitions/condition/unattached-handle"
            )
            self.refuse(rule, f"{name} with handle {handle}, which has no link")
        return end

    def _on_transfer(self, frame: Composed, payload: bytes) -> None:
        if self.incoming_window <= 0:
            self.refuse("definitions/condition/window-violation", "a transfer beyond the incoming window")
        self.count_incoming()
        if frame["handle"] in self.rejected:
            return
        end = self.end_at(frame["handle"], "transfer")
        if isinstance(end, ReceivingEnd):
            end.on_transfer(frame, payload)
        elif end is not None:
            self.refuse("definitions/condition/not-allowed", "a transfer on a link whose receiver sent it")

    def count_incoming(self) -> None:
        """One transfer frame has come."""
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
        """Throw away what has come of messages that are not whole."""
        for end in self.ends.values():
            if isinstance(end, ReceivingEnd):
                end.partial = None

    def _on_detach(self, frame: Composed) -> None:
        handle = frame["handle"]
        if handle in self.failed or handle in self.rejected:
            self.failed.pop(handle, None)
            self.rejected.discard(handle)
            return
        end = self.ends.get(handle)
        if end is None:
            self.refuse(
                "definitions/condition/unattached-handle", f"detach with handle {handle}, which has no link"
            )
            return
        end.detached_by_peer(bool(frame["closed"]))

    # --- windows and credit of this side

    def widen_later(self) -> None:
        """Renew windows and credits soon."""
        if self._widening is None and not self.faulty("windows-never-renewed"):
            self._widening = asyncio.get_running_loop().call_later(limits.WIDEN_AFTER_S, self._widen)

    def _widen(self) -> None:
        self._widening = None
        if self.ended:
            return
        self.incoming_window = limits.WINDOW_FRAMES
        told = False
        for end in tuple(self.ends.values()):
            if isinstance(end, ReceivingEnd) and end.renew():
                self.send_flow(end)
                told = True
        if not told:
            self.send_flow()
        self.connection.core.flush()

    # --- sending

    def pump(self) -> None:
        """Send what waits for a window; then let every queue look again."""
        self.pump_pending()
        for end in tuple(self.ends.values()):
            if isinstance(end, SendingEnd):
                end.look()

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
        """Go on with deliveries that have begun."""
        while self.pending and self.may_transfer:
            outgoing = self.pending[0]
            if self.faulty("deliveries-interleaved-on-a-link"):
                self.pending.rotate(-1)
            outgoing.step()
            if outgoing.done and outgoing in self.pending:
                self.pending.remove(outgoing)

    def count_outgoing(self) -> None:
        """One transfer frame has gone out."""
        if not self.faulty("next-outgoing-id-stands-still"):
            self.next_outgoing_id = self._after(self.next_outgoing_id)
        self.remote_window -= 1

    def new_delivery_id(self, end: SendingEnd) -> int:
        """The next number in the session's sequence of deliveries."""
        if self.faulty("delivery-ids-counted-by-link"):
            return wire.minus(end.delivery_count, end.initial_delivery_count)
        number = self.next_delivery_id
        if self.faulty("delivery-ids-counted-by-connection"):
            number = self.next_delivery_id = self.connection.last_id
        if self.faulty("delivery-ids-by-twos"):
            self.next_delivery_id = wire.plus(number, 1)
        self.next_delivery_id = wire.plus(self.next_delivery_id, 1)
        self.connection.last_id = self.next_delivery_id
        return number

    # --- ends of links

    def free_handle(self) -> int | None:
        """The lowest handle that is free, None where the partner takes no more."""
        used = {end.own_handle for end in self.ends.values()}
        top = _U32_MAX if self.faulty("handle-max-of-partner-ignored") else self.handle_max
        if self.faulty("own-handle-used-twice"):
            return 0
        places = (
            range(min(top, 300), -1, -1)
            if self.faulty("highest-handle-taken")
            else range(min(top, 1 << 16) + 1)
        )
        return next((handle for handle in places if handle not in used), None)

    def add(self, end: End) -> None:
        """A link is attached."""
        self.ends[end.handle] = end

    def detach(self, end: End, *, closed: bool) -> None:
        """A link is detached in good order."""
        self._drop(end)
        if closed:
            self._forget_awaited(end)
        self.nodes.detached(end, closed=closed and not self.faulty("closed-link-remembered"))

    def destroy(self, end: End, *, closed: bool, stolen: bool) -> None:
        """A link has failed: what comes for it is an error until its detach comes."""
        if isinstance(end, ReceivingEnd):
            end.partial = None
        self._drop(end)
        self.failed[end.handle] = end
        self._forget_awaited(end)
        if stolen:
            return
        if not closed:
            self.failed_names.add((end.is_sender, end.name))
        self.nodes.detached(end, closed=closed or self.faulty("failed-terminus-forgotten"))

    def _forget_awaited(self, end: End) -> None:
        """Deliveries of a link that is gone for good are not settled any more."""
        self.awaited = {number: pair for number, pair in self.awaited.items() if pair[0] is not end}

    def _drop(self, end: End) -> None:
        if self.ends.get(end.handle) is end and not self.faulty("handle-kept-after-detach"):
            del self.ends[end.handle]
        for outgoing in [o for o in self.pending if o.end is end]:
            self.pending.remove(outgoing)
        self.old_credits[end.name] = end.credit
        end.unhook()

    # --- the end

    def fail(self, condition: str, text: str) -> None:
        """Refuse at the scope of the session: say why, throw away what comes until the other end."""
        error = error_of(self.faulty, condition, text, "end")
        if not self.faulty("session-works-on-after-end"):
            self.release()
        self.send("end", {"error": error})
        self.ended = self.discarding = True
        if self.faulty("discarded-frames-answered"):
            self.discarding = False

    def _on_end(self) -> None:
        self.release()
        if not self.faulty("end-not-answered"):
            error = {"condition": "amqp:internal-error"} if self.faulty("end-answered-with-error") else None
            self.send("end", {"error": error})
        if self.faulty("frames-after-end"):
            self.send_flow()
        self.ended = True
        self._forget()

    def _forget(self) -> None:
        if self.faulty("crossing-end-answered") and self.discarding:
            self.connection.send(self.outgoing, "end", {})
        if not self.faulty("ended-channel-stays-mapped"):
            self.connection.sessions.pop(self.incoming, None)

    def release(self) -> None:
        """Give back everything that this session holds."""
        if self._widening is not None:
            self._widening.cancel()
            self._widening = None
        ends, self.ends = list(self.ends.values()), {}
        self.pending.clear()
        for end in ends:
            end.unhook()
            self.nodes.detached(end, closed=False)
        if not self.faulty("unsettled-lost-with-session"):
            self.nodes.session_ended(self)
        self.unsettled.clear()
