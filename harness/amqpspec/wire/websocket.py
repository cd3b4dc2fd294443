"""The client's side of a WebSocket, without I/O: a stream of octets in binary messages, both ways.

Knows: wsproto, the subprotocol ``amqp`` (AMQP WebSocket Binding 1.0, §2). Must not know: sockets, what the octets mean.
Frames of AMQP and messages of WebSocket have nothing to do with each other (§2.4): messages come in as the stream that
they carry, piece by piece and never whole, so that no length that a server claims asks for memory.
"""

from __future__ import annotations

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.frame_protocol import CloseReason
from wsproto.handshake import H11Handshake
from wsproto.utilities import ProtocolError

from amqpspec.wire.errors import WireError, shown

SUBPROTOCOL = "amqp"
MESSAGE_OCTETS = 1 << 15
"""The longest message that is sent: what servers take by default begins at twice that."""
_HTTP = b"HTTP/"
_SHOWN_OCTETS = 24
_HANDSHAKE, _STREAM = "handshake of server→client", "messages of server→client"
_NORMAL = 1000


class WebSocket:
    """One connection, from the handshake on; begin by sending ``hello``.

    ``error`` says what the server did against the rules, once it did; ``is_over`` that it has closed. Octets that came
    before either are handed out first. ``pong`` answers the latest ping and is to be sent when there is room.
    """

    def __init__(self, authority: str, path: str) -> None:
        """``authority`` is host and port, ``path`` what HTTP asks for; raises UnicodeError if there is no host."""
        self._handshake = H11Handshake(ConnectionType.CLIENT)
        self.hello = self._handshake.send(Request(host=authority, target=path, subprotocols=[SUBPROTOCOL]))
        self._connection: Connection | None = None
        self._begun = b""
        self._octets = 0
        self.pong = b""
        self.is_over = False
        self.error: WireError | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server has agreed."""
        return self._connection is not None

    def take(self, octets: bytes) -> bytes:
        """The octets of the stream in what came."""
        if not octets or self.is_over or self.error is not None:
            return b""
        try:
            if self._connection is None:
                self._shake(octets)
            else:
                self._connection.receive_data(octets)
            return self._unpacked()
        except WireError as error:
            self.error = error
            return b""

    def pack(self, octets: bytes) -> bytes:
        """Octets of the stream as messages; none once the server has closed."""
        if self._connection is None or self._connection.state is not ConnectionState.OPEN:
            return b""
        parts = (octets[at : at + MESSAGE_OCTETS] for at in range(0, len(octets), MESSAGE_OCTETS))
        return b"".join(self._connection.send(BytesMessage(data=part)) for part in parts)

    def bye(self) -> bytes:
        """Our close, or our answer to the server's; empty if it has been sent."""
        open_for_it = (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)
        if self._connection is None or self._connection.state not in open_for_it:
            return b""
        close: bytes = self._connection.send(CloseConnection(code=_NORMAL))
        return close

    # --- the handshake

    def unanswered(self, actual: str) -> WireError:
        """What is wrong where the answer does not arrive, or not whole."""
        return _unagreed(f"{actual} behind {shown(self._begun)}" if self._begun else actual)

    def _shake(self, octets: bytes) -> None:
        self._begun = (self._begun + octets)[:_SHOWN_OCTETS]
        if not self._begun.startswith(_HTTP[: len(self._begun)]):
            raise _unagreed(f"no HTTP: {shown(self._begun)}")
        try:
            self._handshake.receive_data(octets)
            for event in self._handshake.events():
                self._agree(event)
        except (ProtocolError, ValueError) as error:
            if isinstance(error, WireError):
                raise
            raise _unagreed(str(error)) from error

    def _agree(self, event: Event) -> None:
        if isinstance(event, RejectConnection):
            to = next((value for name, value in event.headers if name.lower() == b"location"), b"")
            where = f" to {shown(to.decode('latin-1'))}" if to else ""
            raise _unagreed(f"HTTP {event.status_code}{where}")
        if isinstance(event, AcceptConnection):
            if event.subprotocol != SUBPROTOCOL:
                raise _unagreed("HTTP 101 without subprotocol")
            self._connection = self._handshake.connection

    # --- messages

    def _unpacked(self) -> bytes:
        plain = bytearray()
        for event in self._connection.events() if self._connection is not None else ():
            if isinstance(event, BytesMessage):
                plain += event.data
            elif self._is_end(event, self._octets + len(plain)):
                break
        self._octets += len(plain)
        return bytes(plain)

    def _is_end(self, event: Event, at_octet: int) -> bool:
        """Take notice of what is no octet of the stream; whether nothing more is to be read."""
        assert self._connection is not None
        if isinstance(event, Ping) and self._connection.state is ConnectionState.OPEN:
            self.pong = self._connection.send(event.response())
        elif isinstance(event, TextMessage):
            self.error = _text(at_octet)
        elif isinstance(event, CloseConnection):
            self.is_over = self._connection.state in (ConnectionState.REMOTE_CLOSING, ConnectionState.CLOSED)
            if not self.is_over:  # wsproto tells what breaks the rules as if it were a close
                self.error = _broken(event, at_octet)
        return self.is_over or self.error is not None


def _broken(event: CloseConnection, at_octet: int) -> WireError:
    """What breaks the rules, as wsproto reports it.

    Text is reported as text, even if it is not UTF-8: wsproto may deliver the octets before the bad one alone, so that
    the complaint would depend on how they are cut. The reason in a close frame is also UTF-8, but no message.
    """
    reason = str(event.reason)
    if event.code == CloseReason.INVALID_FRAME_PAYLOAD_DATA and "CLOSE" not in reason:
        return _text(at_octet)
    return WireError(_STREAM, at_octet, "frames of RFC 6455", reason)


def _text(at_octet: int) -> WireError:
    return WireError(_STREAM, at_octet, "binary messages", "a text message")


def _unagreed(actual: str) -> WireError:
    return WireError(_HANDSHAKE, 0, f"HTTP 101 with subprotocol {SUBPROTOCOL}", actual)
