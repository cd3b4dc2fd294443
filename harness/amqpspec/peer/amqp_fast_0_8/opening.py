"""The steps to an open handle: greeting, login, tuning, OPEN on each level; and the target's announcements.

Knows: the opening commands. Must not know: messages, reactions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from amqpspec.peer.amqp_fast_0_8.arrivals import CLOSES, CommandArrived, is_reply
from amqpspec.peer.amqp_fast_0_8.connection import Connection
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Arrival
from amqpspec.peer.line import Line

RIGHTS = ("producer", "consumer", "browser")


class Opening(Connection):
    """A connection with handshake, channels and handles."""

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        super().__init__(context, lines)
        self.proposed: dict[str, Any] = {}
        self.tuned: dict[str, int] = {}
        self.channel_of: dict[int, int] = {}
        self.is_open = False

    def another(self, role: str | None = None, vhost: str | None = None) -> Self:
        """A second connection, not yet opened, as the default or another principal, to a virtual host by name."""
        return self.introduced(type(self)(self.context, self.lines), role, vhost)

    # --- step by step

    def greet(self, octets: bytes | None = None) -> CommandArrived:
        """Send the greeting and receive CHALLENGE; raises Unmet."""
        self.send_header(octets)
        return self.expect("connection.challenge")

    def respond(self, mechanism: str = "PLAIN", responses: Any = None) -> None:
        """Answer CHALLENGE for the peer's login, or with other values."""
        self.send(
            "connection.response",
            mechanism=mechanism,
            responses=self.credentials() if responses is None else responses,
        )

    def credentials(self) -> dict[str, str]:
        """The responses for PLAIN."""
        return {"LOGIN": self.login.user, "PASSWORD": self.login.password}

    def take_tune(self) -> CommandArrived:
        """Receive the target's TUNE, whose options are then in ``proposed``; raises Unmet."""
        tune = self.expect("connection.tune")
        self.proposed = tune["options"].plain()
        return tune

    def log_in(self) -> CommandArrived:
        """All steps up to the target's TUNE; returns it."""
        self.greet()
        self.respond()
        return self.take_tune()

    def tune(self, dictionary: Any = None, **options: int) -> None:
        """Send TUNE with options and, optionally, a dictionary."""
        self.tuned |= options
        self.send("connection.tune", options=options, dictionary=dictionary or {})

    def open(self, **fields: Any) -> CommandArrived:
        """Send CONNECTION OPEN for the virtual host of the login; returns the REPLY. Raises Unmet."""
        usual = {"virtual_path": self.login.vhost, "client_name": self.client_name}
        reply = self.call("connection.open", **{**usual, **fields})
        self.is_open = True
        return reply

    # --- all at once

    def open_connection(self, dictionary: Any = None, **options: int) -> Self:
        """All steps to an open connection; options are sent in a TUNE of the peer."""
        self.log_in()
        if options or dictionary:
            self.tune(dictionary, **options)
        self.open()
        return self

    def open_channel(self, channel: int = 1, **fields: Any) -> Self:
        """One open channel; opens the connection if necessary. Raises Unmet."""
        if not self.is_open:
            self.open_connection()
        self.call("channel.open", channel_id=channel, **fields)
        return self

    def open_handle(self, handle: int = 1, channel: int = 1, **fields: Any) -> Self:
        """One open handle, by default with all rights; opens connection and channel if necessary."""
        if not self.is_open:
            self.open_channel(channel)
        if not set(fields) & set(RIGHTS):
            fields |= dict.fromkeys(RIGHTS, True)
        self.channel_of[handle] = channel
        self.call("handle.open", handle_id=handle, channel_id=channel, **fields)
        return self

    def limit(self, option: str, default: int = 0) -> int:
        """An integer option that the target proposed; ``default`` if it did not."""
        value = self.proposed.get(option, default)
        return value if isinstance(value, int) else default

    @property
    def frame_max_octets(self) -> int:
        """The largest frame and fragment that the target accepts: the proposed size, or the minimum."""
        proposed = self.limit("FRAME_MAX")
        return proposed if proposed > 0 else self.dialect.layout.min_frame_max_octets

    # --- requests

    def call(self, command: str, **fields: Any) -> CommandArrived:
        """Send a command that requests confirmation, and receive it; raises Unmet for any other arrival."""
        tag = fields.pop("confirm_tag", 0) or self.fresh_tag()
        self.send(command, confirm_tag=tag, **fields)
        tier = command.partition(".")[0]
        return self.confirmation(
            tag,
            handle=fields.get("handle_id", 1) if tier == "handle" else 0,
            channel=fields.get("channel_id", 1 if tier == "channel" else 0),
        )

    def confirmation(self, tag: int, handle: int = 0, channel: int = 0) -> CommandArrived:
        """The REPLY with a tag; raises Unmet if it is an error, or if channel or handle are closed instead."""
        ids = self._places(handle, channel)

        def wanted(arrival: Arrival) -> bool:
            return is_reply(arrival, tag) or _closes(arrival, ids)

        arrival = self.wait(wanted, self.patience_s)
        if is_reply(arrival, tag) and arrival.refusal is None:
            assert isinstance(arrival, CommandArrived)
            return arrival
        raise Unmet(f"a REPLY with confirm-tag {tag}", arrival.describe(self.dialect), arrival)

    def expect(
        self, *names: str, handle: int = 0, channel: int = 0, within_s: float | None = None
    ) -> CommandArrived:
        """The next of these commands, for that handle or channel if one is named; raises Unmet."""
        arrival = self.arrival(*names, handle=handle, channel=channel, within_s=within_s)
        if isinstance(arrival, CommandArrived) and arrival.name in names:
            return arrival
        raise Unmet(" or ".join(names), arrival.describe(self.dialect), arrival)

    def arrival(
        self, *names: str, handle: int = 0, channel: int = 0, within_s: float | None = None
    ) -> Arrival:
        """Like ``expect``, but returns any other end of the wait: a CLOSE, the end, garbled octets, or Quiet."""
        ids = {key: id for key, id in (("handle_id", handle), ("channel_id", channel)) if id}

        def wanted(arrival: Arrival) -> bool:
            if not isinstance(arrival, CommandArrived):
                return False
            found = arrival.name in names and all(arrival.get(key) == id for key, id in ids.items())
            return found or _closes(arrival, self._places(handle, channel))

        return self.wait(wanted, self.patience_s if within_s is None else within_s)

    def _places(self, handle: int, channel: int) -> dict[str, int]:
        """The ids in a CLOSE that concern a handle or a channel."""
        channel = channel or self.channel_of.get(handle, 0)
        return {key: id for key, id in (("handle_id", handle), ("channel_id", channel)) if id}


def _closes(arrival: Arrival, ids: Mapping[str, int]) -> bool:
    """Whether a CLOSE concerns one of these ids."""
    if not isinstance(arrival, CommandArrived) or arrival.name not in CLOSES:
        return False
    return any(arrival.get(key) == id for key, id in ids.items())
