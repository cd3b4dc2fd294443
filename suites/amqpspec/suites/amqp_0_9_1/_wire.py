"""Octets that the framing suites build by hand, and reactions to frames that may end everything.

Knows: the layout of payloads as the wire chapter draws it. Must not know: single cases.
Built without the codec on purpose where a case is about the layout itself.
"""

from __future__ import annotations

import struct

from amqpspec.peer.context import Unmet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.wire.methods.frames import Frame

_PAUSE_S = 0.05
UNDEFINED_FRAME_TYPE = 42
UNDEFINED_FRAME_TYPES = (0, 5, 6, 7, 9, 255)
"""Neither in the list of frame types nor in the grammar; 4 and 8 are the two heartbeats."""


def refuses_frame(peer: Peer, row: str = "") -> Verdict:
    """Like ``rejects_violation`` on channel 1, with the patience that endings take after the barrier."""
    # Brokers in use keep the socket open for seconds before they end it: the patience for an
    # answer would be too short.
    return judge_reaction(peer, peer.reaction(within_s=peer.context.patience.ending_s), row)


def refuses_content(peer: Peer, row: str = "") -> Verdict:
    """Like ``rejects_violation`` where a content may be left open: silence is waited for.

    No barrier, for it would be a method within a content, and refused as that.
    """
    return judge_reaction(peer, peer.reaction(barrier=False), row)


def shortstr(text: str | bytes) -> bytes:
    """A short string: one octet of length, then the string."""
    octets = text.encode() if isinstance(text, str) else text
    return bytes((len(octets),)) + octets


def method_payload(peer: Peer, name: str, arguments: bytes = b"") -> bytes:
    """The numbers of a method by name, then any octets in place of its arguments."""
    method = peer.dialect.methods[name]
    return struct.pack(">HH", method.class_id, method.method_id) + arguments


def table(fields: bytes, size: int | None = None) -> bytes:
    """A field table around octets that are its fields; ``size`` may be wrong."""
    return struct.pack(">I", len(fields) if size is None else size) + fields


def header_payload(
    peer: Peer,
    body_size: int = 0,
    *,
    class_name: str = "basic",
    weight: int = 0,
    flags: tuple[int, ...] = (0,),
    properties: bytes = b"",
) -> bytes:
    """A content header: class, weight, body size, words of property flags, and any octets in place of properties."""
    # PDF §4.2.6.1: class-id and weight of 16 bits, body size of 64, then words of flags of 16.
    class_id = peer.dialect.classes_by_name[class_name].index
    return struct.pack(f">HHQ{len(flags)}H", class_id, weight, body_size, *flags) + properties


def question(peer: Peer, channel: int = 1) -> bytes:
    """A method frame that a server answers at once; its payload ends in zero octets."""
    # Ending in zeros matters to cases that shift the end octet: what is in its place is never 0xCE.
    return peer.method_frame("exchange.declare", channel, exchange="amq.direct", passive=True)


def largest_payload(peer: Peer) -> int:
    """How many octets fit into a frame of the agreed size, header and end octet included."""
    return peer.frame_max_octets - peer.dialect.layout.overhead_octets


def begin_publish(peer: Peer, routing_key: str = "", exchange: str = "", channel: int = 1) -> None:
    """basic.publish alone: its content is still owed."""
    peer.send("basic.publish", channel=channel, exchange=exchange, routing_key=routing_key)


def send_content(peer: Peer, header: bytes, *bodies: bytes, queue: str = "") -> None:
    """basic.publish, with a content header and bodies that are built by hand.

    Without ``queue``, to one that does not exist: a server that tolerates a violation keeps nothing of it.
    """
    begin_publish(peer, queue or peer.name("nowhere"))
    peer.send_frame("header", header)
    for body in bodies:
        peer.send_frame("body", body)


def half_sent(peer: Peer) -> str:
    """Begin a content for a queue and leave it half sent; returns the queue, which outlives the connection."""
    # Shared, so that another connection can look into it once the refusal has ended this one.
    queue = peer.open_channel().queue(exclusive=False)
    send_content(peer, header_payload(peer, 9), b"half", queue=queue)
    return queue


def refuses_header(peer: Peer, payload: bytes) -> Verdict:
    """The payload as the header of a content without a body is refused."""
    peer.open_channel()
    queue = peer.queue()
    send_content(peer, payload, queue=queue)
    return refuses_content(peer)


def sent_method(peer: Peer, name: str) -> Frame:
    """The last frame with a method by name that the server has sent; others may have followed in the same write."""
    kind, ids = peer.dialect.layout.types["method"], method_payload(peer, name)
    return [f for f in peer.assembler.frames if f.type == kind and f.payload.startswith(ids)][-1]


def fetch(peer: Peer, queue: str, channel: int = 1) -> MethodArrived:
    """The message at the head of a queue, which may take its time to get there; raises Unmet if there is none."""
    # basic.publish has no reply, and a queue may be filled by another thread: the
    # first look can be too early.
    until_s = peer.now() + peer.patience_s
    while (message := peer.get(queue, channel)) is None:
        if peer.now() > until_s:
            raise Unmet("a message in the queue", "basic.get-empty")
        peer.wait(lambda arrival: False, _PAUSE_S)
    return message
