"""One client connection of the broker: its phase, channels and handles, refusals on every level, how it closes.

Knows: what may be sent in which phase, how a refusal is sent on its level. Must not know: sockets
(``BrokerConnection`` does), the effects of commands.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from amqpspec.reference.amqp_fast_0_8.carrier import Carrier
from amqpspec.reference.amqp_fast_0_8.channels import Channel
from amqpspec.reference.amqp_fast_0_8.destinations import Destinations, destinations_of
from amqpspec.reference.amqp_fast_0_8.handles import Handle
from amqpspec.reference.amqp_fast_0_8.limits import CLOSE_S, FRAME_MAX_OCTETS, PAUSE_S
from amqpspec.reference.amqp_fast_0_8.phases import BEFORE_OPEN, Phase
from amqpspec.reference.amqp_fast_0_8.pings import Pings
from amqpspec.reference.amqp_fast_0_8.wire import Splitter
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_fast_0_8.frames import command_frame

CODES = {code.name: code.value for code in DIALECT.reply_codes}
_SUCCESS = CODES["reply-success"]
_PLAIN_CODES = {
    "errors/destination": CODES["not-found"],
    "errors/connection": CODES["invalid-path"],
    "connection/tune/refused": CODES["invalid-field"],
}
"""Codes for what the ledger refuses with any code."""
_ANY_CODE = CODES["invalid-field"]
_LIMITS = ("tuning/channel-max", "tuning/handle-max")
_SIZES = ("frames/size-forms", "connection/response/size", "connection/tune/size")


class Connection(Carrier):
    """One connection; ``inbox`` adds its input. Ids are those that the current command names, 0 for none."""

    OPEN, MUTE, ENDED = Phase.OPEN, Phase.MUTE, Phase.ENDED
    GOING_DOWN, INTERNAL_ERROR, NO_ROOM = 507, 541, 506
    phase: Phase

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.phase = Phase.GREETING
        self.splitter = Splitter(self.refuse, self.faulty)
        self.channels: dict[int, Channel] = {}
        self.handles: dict[int, Handle] = {}
        self.closing_channels: set[int] = set()
        self.closing_handles: set[int] = set()
        self.frame_max_octets = FRAME_MAX_OCTETS
        self.aliases: dict[str, str] = {}
        self.client_name = ""
        self.asked_twice = False
        self.signs = self.pings = Pings(self)
        self.channel_id = self.handle_id = self.confirm_tag = self._code = 0

    @property
    def destinations(self) -> Destinations:
        """The destinations of the virtual host."""
        assert self.vhost is not None
        if self.faulty("virtual-hosts-share-destinations"):
            return destinations_of(self.core.vhosts["/"])
        return destinations_of(self.vhost)

    @property
    def deaf(self) -> bool:
        """Whether everything that arrives is ignored."""
        if self.phase is Phase.ENDED and self.faulty("works-on-behind-both-closes"):
            return False
        return self.silent or self.phase is Phase.PAUSE

    # --- input

    @abstractmethod
    def next_command(self) -> bool:
        """Handle the greeting or the next command, with its fragment; False if more octets are needed."""

    def take(self, data: bytes) -> None:
        """Handle every command that is whole."""
        if self.deaf:
            return
        self.splitter.feed(data)
        self.pings.received()
        while not self.deaf and self.guarded(self.next_command):
            if self.phase in BEFORE_OPEN and self.faulty("login-not-pipelined"):
                self.splitter.clear()
        if self.phase is Phase.OPEN and self.channels and self.faulty("commands-in-one-read-lost"):
            self.splitter.clear()

    def forget_frame(self) -> None:
        """Forget which channel and handle the last command named."""
        self.channel_id = self.handle_id = self.confirm_tag = self._code = 0

    # --- refusals

    def refuse(self, rule: str, text: str, code: int = 0) -> None:
        """Raise for a broken rule; return if a fault tolerates it, and then no clock ends the connection either.

        ``code`` is for rules that name none.
        """
        self._code = code or _PLAIN_CODES.get(rule, 0)
        if rule in _SIZES and self.faulty("dies-of-large-frames"):
            self.core.crash_soon()
        if rule in _LIMITS and self.faulty("dies-beyond-its-limits"):
            self.core.crash_soon()
        self.core.refuse(rule, text)
        if self.phase is not Phase.OPEN:
            self.after(None)

    def send_refusal(self, refused: RefusedError) -> None:
        """Tell the client what was refused, on the level where it belongs or the next wider one that is there."""
        refusal = refused.refusal
        if self.phase is Phase.CLOSING:
            self._close_again()
        elif refusal is None:
            self.after(None)
            self.phase = Phase.MUTE
        elif self.phase in BEFORE_OPEN and refusal.scope in (Scope.SOCKET, *_NARROW):
            self.pause()
        elif refusal.scope is Scope.SOCKET:
            self.end_socket()
        else:
            code = refusal.code or self._code or _ANY_CODE
            assert isinstance(code, int)
            if self.faulty("codes-without-severity"):
                code %= 100
            self._say_no(refusal.scope, code, refused.text)

    def _say_no(self, scope: Scope, code: int, text: str) -> None:
        handle, channel = self.handle_id, self.channel_id
        if scope is Scope.DELIVERY and handle in self.handles and self.confirm_tag:
            self.handles[handle].channel.say(
                "handle.reply",
                handle_id=handle,
                confirm_tag=self.confirm_tag,
                reply_code=code,
                reply_text=_shown(text),
            )
        elif scope in (Scope.DELIVERY, Scope.HANDLE) and handle:
            self.close_handle(handle, code, text)
        elif scope in _NARROW and channel:
            self.close_channel(channel, code, text)
        else:
            self.close(code, text)

    def pause(self) -> None:
        """An error before OPEN: pause, and end the socket silently (connection-error-handling)."""
        if not self.faulty("logins-can-be-repeated"):
            self.phase = Phase.PAUSE
        if self.faulty("refused-logins-end-at-once"):
            self.end_socket()
        else:
            self.after(self.core.handshake_pause_s or PAUSE_S, self.end_socket)

    # --- handles

    def close_handle(self, id: int, code: int, text: str) -> None:
        """Close a handle, and wait for the other CLOSE."""
        handle = self.handles.pop(id, None)
        self.closing_handles.add(id)
        fields: dict[str, Any] = {"handle_id": id, "reply_code": code, "reply_text": _shown(text)}
        if handle is None:
            self.write(command_frame("handle.close", **fields))
            return
        if not self.faulty("handle-in-error-reads-on"):
            handle.stop()
        handle.channel.say("handle.close", **fields)
        if self.faulty("error-on-handle-closes-other-channels"):
            for other in [id for id in self.channels if id != handle.channel.id]:
                self.close_channel(other, code, text)
        if self.faulty("error-on-handle-closes-its-neighbours"):
            for neighbour in [h for h in self.handles.values() if h.channel is handle.channel]:
                self.close_handle(neighbour.id, code, text)

    def handle_closed(self, id: int, answer: bool) -> None:
        """A client closes a handle: stop, and answer."""
        handle = self.handles[id]
        if not self.faulty("closed-handle-reads-on"):
            handle.stop()
        if not self.faulty("closed-handle-stays-open"):
            del self.handles[id]
        if answer:
            handle.channel.say("handle.close", handle_id=id, reply_code=_SUCCESS)
        if self.faulty("handle-close-takes-the-channel"):
            self.close_channel(handle.channel.id, _SUCCESS, "")

    # --- channels

    def close_channel(self, id: int, code: int, text: str) -> None:
        """Close a channel with all its handles, and wait for the other CLOSE."""
        if not self.faulty("channel-in-error-drops-replies"):
            self._write_out()
        self.drop_channel(id)
        self.closing_channels.add(id)
        self.write(command_frame("channel.close", channel_id=id, reply_code=code, reply_text=_shown(text)))

    def drop_channel(self, id: int) -> None:
        """Stop the handles of a channel and roll it back."""
        channel = self.channels.pop(id, None)
        if channel is None:
            return
        for handle in [h for h in self.handles.values() if h.channel is channel]:
            handle.stop()
            if not self.faulty("handles-outlive-their-channel"):
                del self.handles[handle.id]
        channel.release()
        if self.vhost is not None and self.faulty("temporary-queues-go-with-a-channel"):
            self.vhost.release_owner(self)

    # --- output

    def reply(self, name: str, **fields: Any) -> None:
        """One command on the connection."""
        self.write(command_frame(name, **fields))

    def flush(self) -> None:
        """Write what has gathered: the connection's own first, then channels by turns, one fragment at a time."""
        self._write_out()
        super().flush()

    def _write_out(self) -> None:
        while not self.silent and not self.congested:
            waiting = [channel for channel in self.channels.values() if channel.out]
            if not waiting and not self._release_held():
                return
            for channel in waiting:
                self.write(channel.out.popleft())

    def _release_held(self) -> bool:
        """Say what a fault held back on any channel; whether there was anything."""
        return sum(channel.release_held() for channel in self.channels.values()) > 0

    def pump(self) -> None:
        """Windows, or the socket, have changed: let every queue look again that this connection reads."""
        for handle in tuple(self.handles.values()):
            for consumer in tuple(handle.consumers):
                consumer.queue.dispatch()
        self.has_output()

    def sign_of_life(self) -> None:
        """Send a PING."""
        if self.phase is Phase.OPEN:
            self.reply("connection.ping")
            self.core.flush()

    # --- the end

    def close(self, code: Any, text: str) -> None:
        """Refuse on the level of the connection: say why, then wait for the other side's CLOSE."""
        if self.phase in (Phase.CLOSING, Phase.PAUSE) or self.silent:
            return
        if self.phase is Phase.GREETING:
            self.end_socket()
            return
        # What was done before the error has been confirmed.
        if not self.faulty("connection-in-error-drops-replies"):
            self._write_out()
        self.release()
        self._say_close(code, text)
        self.phase = Phase.CLOSING
        self.after(CLOSE_S, self.end_socket)
        if self.faulty("does-not-wait-for-the-other-close"):
            self.end_socket()

    def _say_close(self, code: int, text: str) -> None:
        self.reply("connection.close", reply_code=code, reply_text=_shown(text))

    def _close_again(self) -> None:
        if not self.faulty("close-not-repeated"):
            self._say_close(_ANY_CODE, "waiting for CLOSE")

    def close_again(self) -> None:
        """A command has arrived in place of the CLOSE that is waited for."""
        if self.faulty("works-on-behind-close"):
            self.reply("connection.ping")
        self._close_again()

    def closed_by_peer(self) -> None:
        """The other CLOSE has arrived: answer it unless ours is out, and end."""
        if self.phase is not Phase.CLOSING:
            self._write_out()
            self.release()
            if not self.faulty("close-not-answered"):
                self._say_close(_SUCCESS, "")
        elif self.faulty("answer-to-close-is-answered"):
            self._say_close(_SUCCESS, "")
        if self.faulty("socket-kept-after-close"):
            self.flush()
            self.after(None)
            self.phase = Phase.MUTE
            return
        self.end_socket()

    def release(self) -> None:
        """Give back everything that this connection holds."""
        if self.faulty("nothing-released-with-the-connection"):
            return
        for id in tuple(self.channels):
            self.drop_channel(id)
        if self.vhost is not None and not self.faulty("temporary-queues-outlive-the-connection"):
            self.vhost.release_owner(self)
        if not self.faulty("client-names-stay-taken"):
            self.client_name = ""


def _shown(text: str) -> bytes:
    """What fits into a short string, of a text that may quote what a client sent."""
    return text.encode("utf-8", "replace")[:255]


_NARROW = (Scope.DELIVERY, Scope.HANDLE, Scope.CHANNEL)

FAULTS = fault_table("""
dies-beyond-its-limits: after the refusal of one channel or handle too many, the broker is gone for every client
    [tuning/channel-max tuning/handle-max]
dies-of-large-frames: after the refusal of a frame that is too large, the broker is gone for every client
    [frames/size-forms connection/response/size connection/tune/size]
login-not-pipelined: commands that arrive in one read with a command of the login are lost
    [errors/no-waiting connection/tune/exchange]
commands-in-one-read-lost: the first part of an incomplete command is lost
    [frames/size-first]
refused-logins-end-at-once: an error of the negotiation ends the socket without a pause [connection/errors/pause]
logins-can-be-repeated: in the pause after an error of the negotiation, commands are still executed
    [connection/errors/pause]
handle-in-error-reads-on: a handle that is closed for an error still blocks its queue for others
    [scenarios/receiving/close]
channel-in-error-drops-replies: if a channel is closed for an error, earlier commands are not confirmed
    [channel/confirmation/asked]
connection-in-error-drops-replies: if the connection is closed for an error, earlier commands are not confirmed
    [channel/confirmation/asked]
error-on-handle-closes-its-neighbours: an error on a handle closes all handles of its channel
    [errors/destination scenarios/errors/detected]
closed-handle-reads-on: a handle that was closed still receives messages
    [scenarios/receiving/close handle/consume/subscription]
closed-handle-stays-open: a handle that was closed can still be used
    [handle/close/answered handle/summary/server/close]
handle-close-takes-the-channel: with a handle, its channel is closed [handle/close/ended]
error-on-handle-closes-other-channels: an error on a handle closes all other channels [channels/independent]
virtual-hosts-share-destinations: all virtual hosts have the same destinations [virtual-hosts/independent]
codes-without-severity: reply codes of errors lack their first digit [errors/reply-codes]
handles-outlive-their-channel: handles stay open when their channel closes [scenarios/errors/server-closes]
temporary-queues-go-with-a-channel: temporary queues are deleted when any channel closes [changes/temporary-queues]
does-not-wait-for-the-other-close: the socket ends directly after the broker's CONNECTION CLOSE
    [connection/close/reads-on connection/close/repeated]
close-not-repeated: a command after the broker's CONNECTION CLOSE is not answered
    [connection/close/repeated]
works-on-behind-close: after its CONNECTION CLOSE, the broker sends other commands [connection/close/repeated]
close-not-answered: CONNECTION CLOSE is not answered
    [connection/close/answered connection/summary/server/close connection/close/any-time]
answer-to-close-is-answered: the CONNECTION CLOSE that answers the broker's is answered [connection/close/ended]
works-on-behind-both-closes: commands after CONNECTION CLOSE are still executed [connection/close/released]
socket-kept-after-close: after both CLOSEs, the socket does not end [connection/close/ended]
nothing-released-with-the-connection: the unacknowledged messages of a connection are lost with it
    [connection/close/released connection/summary/server/physical-close]
temporary-queues-outlive-the-connection: temporary queues stay when their connection ends
    [changes/temporary-queues]
client-names-stay-taken: the name of a client is not freed when its connection ends [connection/open/client-name]
""")
