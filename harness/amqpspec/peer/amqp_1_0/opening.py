"""Opens a connection and begins sessions, step by step, and closes them.

Knows: headers, SASL, open, begin. Must not know: links, deliveries, verdicts.
"""

from __future__ import annotations

from typing import Any, Self

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, Session, number
from amqpspec.peer.amqp_1_0.connection import Connection
from amqpspec.peer.context import Context, OutOfReach, Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet
from amqpspec.peer.line import Line
from amqpspec.peer.sasl import BARE, Conversation, conversation
from amqpspec.wire.amqp_1_0.frames import HEADERS, header_id
from amqpspec.wire.greeting import ProtocolHeader

COUNTERPARTS = ("open", "begin", "attach", "detach", "end", "close")
_CONNECTION_WIDE = frozenset({"open", "close", "empty"})


class Opening(Connection):
    """A connection with handshake and sessions, and waiting for frames by name."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.mechanisms: tuple[str, ...] = ()
        self._secured = False

    # --- waiting

    def expect(
        self,
        *names: str,
        channel: int | None = 0,
        link: Link | None = None,
        handle: int | None = None,
        within_s: float | None = None,
    ) -> FrameArrived:
        """The next of these performatives on that channel (None: any); raises Unmet if the wait ends otherwise."""
        arrival = self.arrival(*names, channel=channel, link=link, handle=handle, within_s=within_s)
        if isinstance(arrival, FrameArrived) and _is(arrival, names, channel, link, handle):
            return arrival
        if isinstance(arrival, FrameArrived):
            self.keep(arrival)
        raise Unmet(" or ".join(names), arrival.describe(self.dialect), arrival)

    def arrival(
        self,
        *names: str,
        channel: int | None = 0,
        link: Link | None = None,
        handle: int | None = None,
        within_s: float | None = None,
    ) -> Arrival:
        """Like ``expect``, but returns any other end of the wait: a close, the session's end, the link's detach, or
        the like.
        """
        if link is not None:
            channel = link.session.channel

        def wanted(arrival: Arrival) -> bool:
            if _is(arrival, names, channel, link, handle) or _is(arrival, ("end",), channel, None, None):
                return True
            return link is not None and _is(arrival, ("detach",), None, link, None)

        return self.wait(wanted, self.patience_s if within_s is None else within_s)

    def pending(self, *names: str, channel: int | None = 0, link: Link | None = None) -> list[FrameArrived]:
        """Arrivals with these performatives that no wait has returned yet."""
        found = self.stashed(lambda a: _is(a, names, channel, link, None))
        return [a for a in found if isinstance(a, FrameArrived)]

    def expect_header(self, name: str | None = None, within_s: float | None = None) -> ProtocolHeader:
        """The target's protocol header, of that layer if one is named; raises Unmet for anything else."""
        wanted = "a protocol header" if name is None else f"the protocol header {name}"
        arrival = self.wait(
            lambda a: isinstance(a, HeaderArrived), self.patience_s if within_s is None else within_s
        )
        if not isinstance(arrival, HeaderArrived) or name not in (None, header_id(arrival.header.octets)):
            raise Unmet(wanted, arrival.describe(self.dialect), arrival)
        return arrival.header

    def call(self, name: str, /, channel: int = 0, **fields: Any) -> FrameArrived:
        """Send a performative and receive its counterpart; raises Unmet for any other arrival, or none.

        Raises OutOfReach for a channel or a handle that the target does not accept.
        """
        if name not in COUNTERPARTS:
            raise ValueError(f"{name}: expected one of {', '.join(COUNTERPARTS)}")
        if name == "begin":
            self.room_for_channel(channel)
        link = self._link_of(channel, fields) if name == "detach" else None
        self.send(name, channel, **fields)
        if name == "attach":
            link = self.session(channel).every_link[-1]
        return self.expect(name, channel=channel, link=link)

    def _link_of(self, channel: int, fields: dict[str, Any]) -> Link | None:
        handle = fields.get("handle")
        if isinstance(handle, Link):
            return handle
        session = self.books.sessions.get(channel)
        return None if session is None else session.links.get(number(handle, -1))

    def room_for_channel(self, channel: int) -> None:
        """Raises OutOfReach for a channel that the target does not accept."""
        if self.opened is not None and channel > self.channel_max:
            raise OutOfReach(f"channel-max is {self.channel_max}, the case needs channel {channel}")

    # --- the security layer

    @property
    def is_bare(self) -> bool:
        """Whether the login has no security layer."""
        return self.login.mechanism.upper() == BARE

    @property
    def first_header(self) -> bytes:
        """The protocol header that this target requires first."""
        return HEADERS["amqp" if self.is_bare else "sasl"]

    def secure(self) -> Self:
        """Complete the security layer, if there is one; the AMQP header is next."""
        if not self.is_bare and not self._secured:
            self.send_header("sasl")
            self.expect_header("sasl")
            self.sasl()
        return self

    def sasl(self, mechanism: str | None = None, response: bytes | None = None) -> FrameArrived:
        """SASL between the headers: mechanisms, login, and outcome, which must be ok."""
        self.offered()
        return self.log_in(mechanism, response)

    def offered(self) -> tuple[str, ...]:
        """The mechanisms that the target offers after its SASL header."""
        offer = self.expect("sasl-mechanisms", channel=None)
        self.mechanisms = tuple(str(name) for name in offer["sasl_server_mechanisms"] or ())
        return self.mechanisms

    def log_in(
        self, mechanism: str | None = None, response: bytes | None = None, **of_init: Any
    ) -> FrameArrived:
        """The login by an offered mechanism; ``of_init`` are fields of init, or a channel, and the like."""
        mechanism = (mechanism or self.login.mechanism).upper()
        if mechanism not in self.mechanisms:
            raise Unmet(f"the mechanism {mechanism}", f"an offer of {', '.join(self.mechanisms) or 'none'}")
        talk = conversation(mechanism, self.login, self.name("nonce"))
        first = talk.first() if response is None else response
        fields = {"mechanism": mechanism, "initial_response": first, **self._sasl_hostname(), **of_init}
        self.send("sasl-init", **fields)
        outcome = self._converse(talk)
        if outcome["code"] != 0:
            raise Unmet("sasl-outcome with code 0", outcome.describe(self.dialect), outcome)
        # The server's proof may arrive with the outcome: with SCRAM, a login counts after it was checked (RFC 5802).
        if isinstance(outcome["additional_data"], bytes) and outcome["additional_data"]:
            talk.answer(outcome["additional_data"])
        self._secured = True
        return outcome

    def _converse(self, talk: Conversation) -> FrameArrived:
        while True:
            said = self.expect("sasl-challenge", "sasl-outcome", channel=None)
            if said.name == "sasl-outcome":
                return said
            challenge = said["challenge"]
            answer = talk.answer(challenge if isinstance(challenge, bytes) else b"")
            self.send("sasl-response", response=answer)

    def _sasl_hostname(self) -> dict[str, Any]:
        return {} if self.hostname is None else {"hostname": self.hostname}

    # --- opening and closing

    def greet(self, header: bytes | str | None = None) -> ProtocolHeader:
        """The security layer, then the AMQP header, or other octets in its place; returns the target's answer."""
        self.secure()
        self.send_header(header)
        return self.expect_header("amqp" if header is None else None)

    def open(self, **fields: Any) -> FrameArrived:
        """Send open and receive the target's."""
        return self.call("open", **fields)

    def open_connection(self, **fields: Any) -> Self:
        """All steps before the first session; the fields are those of open."""
        self.greet()
        self.open(**fields)
        return self

    def begin(self, channel: int = 0, **fields: Any) -> Session:
        """Begin a session, and open the connection if necessary; returns the state of the session."""
        if self.opened is None:
            self.open_connection()
        self.call("begin", channel, **fields)
        return self.session(channel)

    def end(self, channel: int = 0, **fields: Any) -> FrameArrived:
        """Send end and receive the target's."""
        return self.call("end", channel, **fields)

    def close(self, **fields: Any) -> FrameArrived:
        """Send close and receive the target's."""
        return self.call("close", **fields)

    def leave(self, within_s: float) -> None:
        """Close what is still open, and wait a little for the answer; called after the verdict."""
        open_sent, close_sent = self.books.open_sent, self.books.close_sent
        if not self.dialled or not open_sent or close_sent or self.is_over() or self.opened is None:
            return
        self.send("close")
        until_s = self.now() + within_s
        # After its close, a peer reads until the other close arrives (§2.4.3).
        while not self.is_over() and self.now() < until_s:
            if isinstance(self.read(until_s), Ended | Garbled | Quiet):
                break


def _is(
    arrival: Arrival, names: tuple[str, ...], channel: int | None, link: Link | None, handle: int | None
) -> bool:
    if not isinstance(arrival, FrameArrived) or arrival.name not in names:
        return False
    if link is not None and arrival.link is not link:
        return False
    if handle is not None and arrival["handle"] != handle:
        return False
    wide = arrival.name in _CONNECTION_WIDE or arrival.name.startswith("sasl-")
    return channel is None or wide or link is not None or arrival.channel == channel
