"""What a conversation has made so far: sessions, links and deliveries, as the client began them.

Knows: serial numbers. Must not know: how frames change it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amqpspec.peer.amqp_1_0.books import number, serial
from amqpspec.wire.amqp_1_0.frames import Performative
from amqpspec.wire.conversation import Said

RECEIVER = True


@dataclass(slots=True, eq=False)
class Delivery:
    """A delivery of either side; ``settled`` names the peer that settled it first, and is empty until then."""

    id: int
    tag: bytes
    link: Link
    format: Any = None
    is_resumed: bool = False
    settled: str = ""
    state: Any = None


@dataclass(slots=True, eq=False)
class Link:
    """A link as the client attached it: ``attach`` is its own, ``answer`` the server's."""

    session: Session
    handle: int
    attach: Performative
    answer: Performative | None = None
    is_detached: bool = False
    sent: int = 0
    """Deliveries that the client has begun on it."""
    credit_to: int | None = None
    """The delivery-count up to which the server's credit goes at most."""
    is_draining: bool = False
    partial: Delivery | None = None
    unsettled: dict[bytes, Delivery] = field(default_factory=dict)
    """What the client sent and neither side has settled, by tag."""

    def is_again(self, other: Link) -> bool:
        """Whether it is the same link, perhaps attached again: one of the same name and direction in its session."""
        names = (self.attach["name"], self.is_sender)
        return self.session is other.session and names == (other.attach["name"], other.is_sender)

    @property
    def is_sender(self) -> bool:
        """Whether the client sends on it."""
        return self.attach["role"] is not RECEIVER

    @property
    def delivery_count(self) -> int:
        """The delivery-count of a client that sends: the initial one, and one for each delivery."""
        return serial(number(self.attach["initial_delivery_count"], 0) + self.sent)


@dataclass(slots=True, eq=False)
class Session:
    """A session that the client began: ``begin`` is its own, ``answer`` the server's."""

    channel: int
    begin: Performative
    answer: Performative | None = None
    is_ended: bool = False
    sent: int = 0
    """Transfers of the client."""
    received: int = 0
    """Transfers of the server."""
    window_to: int | None = None
    """The transfer-id up to which the server's window goes at most."""
    last_id: int | None = None
    proves_begin: bool = False
    """Whether the client has shown that it read the server's begin."""
    links: dict[int, Link] = field(default_factory=dict)
    unpaired: list[list[Said]] = field(default_factory=list)
    """What the server said on each link that it attached and the client has not, from its attach to its detach."""
    by_server_handle: dict[int, Link] = field(default_factory=dict)
    outgoing: dict[int, Delivery] = field(default_factory=dict)
    incoming: dict[int, Delivery] = field(default_factory=dict)
    server_partial: dict[int, Delivery] = field(default_factory=dict)

    @property
    def next_outgoing_id(self) -> int:
        """The id of the client's next transfer."""
        return serial(number(self.begin["next_outgoing_id"], 0) + self.sent)
