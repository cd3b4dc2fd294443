"""A client of few words for conversations with the 1.0 reference broker over a real socket."""

from __future__ import annotations

from typing import Any

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame
from amqpspec.wire.amqp_1_0.performatives import Performative
from amqpspec.wire.greeting import ProtocolHeader
from tests.reference.line import Line

WINDOWS: dict[str, Any] = {"next_outgoing_id": 0, "incoming_window": 1000, "outgoing_window": 1000}


class Talk(Line):
    """One connection: sends performatives, receives performatives."""

    def __init__(self, url: str) -> None:
        super().__init__(url, TypedReader())
        self.payload = b""
        self.channel = 0

    # --- saying

    def say(self, performative: str, channel: int = 0, payload: bytes = b"", /, **fields: Any) -> None:
        self.octets(performative_frame(performative, channel, payload=payload, **fields))

    # --- hearing

    def hear(self, *names: str) -> Performative:
        """The next performative, which has to be one of these; empty frames are passed over."""
        while True:
            frame = self.next()
            assert isinstance(frame, TypedFrame), f"expected {names}, actual {frame}"
            if frame.name == "empty":
                continue
            assert frame.performative is not None and not frame.problems, f"{frame} {frame.problems}"
            assert not names or frame.name in names, (
                f"expected {names}, actual {frame.performative.describe()}"
            )
            self.payload, self.channel = frame.payload, frame.channel
            return frame.performative

    def header(self) -> bytes:
        frame = self.next()
        assert isinstance(frame, ProtocolHeader), frame
        return frame.octets

    # --- the usual

    def open(self, **fields: Any) -> Performative:
        self.octets(HEADERS["amqp"])
        assert self.header() == HEADERS["amqp"]
        self.say("open", **{"container_id": "talk", **fields})
        return self.hear("open")

    def begin(self, channel: int = 0, **fields: Any) -> Performative:
        self.say("begin", channel, **{**WINDOWS, **fields})
        return self.hear("begin")

    def ready(self, **fields: Any) -> Talk:
        self.open(**fields)
        self.begin()
        return self

    def sender(self, address: str, handle: int = 0, name: str | None = None, **fields: Any) -> Performative:
        """Attach as a sender, and take the credit."""
        self.say(
            "attach",
            **{
                "name": name or f"to-{address}",
                "handle": handle,
                "role": "sender",
                "source": {"address": "here"},
                "target": {"address": address},
                "initial_delivery_count": 0,
                **fields,
            },
        )
        attach = self.hear("attach")
        if attach["target"] is not None:
            self.hear("flow")
        return attach

    def receiver(
        self, address: str | None, handle: int = 1, name: str | None = None, **fields: Any
    ) -> Performative:
        self.say(
            "attach",
            **{
                "name": name or f"from-{address}",
                "handle": handle,
                "role": "receiver",
                "source": {"address": address},
                "target": {"address": "here"},
                **fields,
            },
        )
        return self.hear("attach")

    def credit(self, credit: int, handle: int = 1, **fields: Any) -> None:
        self.say(
            "flow",
            **{
                **WINDOWS,
                "next_incoming_id": (1 << 32) - 2,
                "handle": handle,
                "link_credit": credit,
                **fields,
            },
        )

    def transfer(self, body: bytes, number: int = 0, handle: int = 0, **fields: Any) -> None:
        known = {"delivery_id": number, "delivery_tag": b"%d" % number, "message_format": 0}
        self.say("transfer", 0, body, **{"handle": handle, **known, **fields})

    def echo(self) -> Performative:
        """Nothing more has been said: the next word answers this question."""
        self.say("flow", **WINDOWS, next_incoming_id=(1 << 32) - 2, echo=True)
        return self.hear("flow")


def ready(url: str, **fields: Any) -> Talk:
    """A connection with a session on channel 0."""
    return Talk(url).ready(**fields)
