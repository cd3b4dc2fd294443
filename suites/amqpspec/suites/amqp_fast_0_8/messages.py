"""Messages: fragments, frames, heads, writing (message-fragmentation to the write-procedure)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import MessageArrived
from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX, on_handle, on_queue, topic
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_LARGEST_BODY = (1 << 32) - 1
_FAR_FUTURE = (1 << 31) - 2
"""Within the range of a signed 32-bit ``time_t``: the text does not say which times a server can represent."""


def _read(peer: Peer, **tuning: int) -> str:
    """Handle 1 sends, handle 2 reads; returns the name of the queue."""
    peer.open_connection(**tuning)
    peer.open_channel()
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    return name


@case(
    "messages.fragments.large",
    covers=["messages/fragments/large", "handle/send/consecutive", "channels/fair-sharing"],
)
def large_messages_in_fragments(peer: Peer) -> Verdict:
    """Messages of 5000, 65536 and 200000 octets are sent and delivered in fragments, and arrive complete."""
    name = _read(peer, FRAME_MAX=LEAST_FRAME_MAX)
    bodies = [bytes((n,)) * size for n, size in enumerate((5000, 65_536, 200_000))]
    peer.claim("whole bodies, in fragments of at most 1024 octets")
    for body in bodies:
        peer.store(name, body, 1)
    messages = peer.deliveries(3, 2)
    largest = peer.listener.largest_fragment_octets
    sound = [m.body for m in messages] == bodies and largest <= LEAST_FRAME_MAX
    return holds(peer, sound, f"bodies of {[len(m.body) for m in messages]} octets, fragments of {largest}")


@on_handle("messages.fragments.not-mixed", covers=["messages/fragments/not-mixed"])
def mixed_fragments_are_refused(peer: Peer) -> Verdict:
    """A message on another handle of the channel before the first message is complete is refused."""
    peer.open_handle(2)
    name = topic(peer)
    message = encode_message(b"in two parts")
    for handle in (1, 2):
        parts = peer.fragments(name, message, handle, chunk=len(message) - 3, service_type=TOPIC)
        peer.send_octets(parts[0])
    return rejects_violation(peer, 1, 2, barrier="ping")


@case("messages.fragments.interleaved", covers=["messages/fragments/interleaved"])
def fragments_alternate_on_two_channels(peer: Peer) -> Verdict:
    """Fragments of two messages, alternating on two channels, make two complete messages."""
    peer.open_channel(1)
    peer.open_channel(2)
    peer.open_handle(1, 1)
    peer.open_handle(2, 2)
    names = [peer.queue(1), peer.queue(2)]
    bodies = [b"a" * 900, b"b" * 700]
    peer.claim("both messages, whole")
    parts = [
        peer.fragments(name, encode_message(body), handle, chunk=200)
        for handle, (name, body) in enumerate(zip(names, bodies, strict=True), start=1)
    ]
    for place in range(max(map(len, parts))):
        peer.send_octets(b"".join(part[place] for part in parts if place < len(part)))
    seen = [peer.left_in(name, channel) for channel, name in enumerate(names, start=1)]
    return equals(peer, seen, [[body] for body in bodies], "messages")


@case(
    "messages.frames.carriers",
    covers=["messages/frames/carriers", "handle/send/behind", "handle/notify/behind"],
)
def data_follows_send_and_notify(peer: Peer) -> Verdict:
    """Message data directly follows SEND and NOTIFY, and the next command directly follows the data."""
    name = _read(peer)
    peer.claim("both messages, and a PING between them")
    whole = [peer.fragments(name, encode_message(body), 1)[0] for body in (b"first", b"second")]
    ping = peer.octets("connection.ping", respond=True)
    # The first message comes in one piece with what follows, the second octet by octet.
    peer.send_octets(whole[0] + ping)
    for at in range(len(whole[1])):
        peer.send_octets(whole[1][at : at + 1])
    peer.expect("connection.ping")
    return equals(peer, peer.bodies(2, 2), [b"first", b"second"], "bodies")


@on_handle("messages.frames.size", covers=["messages/frames/size"])
def fragment_size_is_exact(peer: Peer) -> Verdict:
    """Octets beyond fragment-size are read as the next frame, and are invalid."""
    name = topic(peer)
    message = encode_message(b"x")
    # After the size, four octets: a frame of two octets that does not end in CE.
    sent = peer.octets(
        "handle.send",
        service_type=TOPIC,
        dest_name=name,
        fragment=message + b"\0\2\x0e\x0e",
        fragment_size=len(message),
    )
    peer.send_octets(sent)
    return rejects_violation(peer, barrier="ping")


@case("messages.frames.size.sent", covers=["messages/frames/size", "messages/frames/partial"])
def fragment_sizes_that_the_target_sends(peer: Peer) -> Verdict:
    """NOTIFY's fragment sizes add up to the message, and partial is zero on last and single fragments."""
    name = _read(peer, FRAME_MAX=LEAST_FRAME_MAX)
    peer.claim("partial on all fragments but the last, sizes that add up")
    peer.publish_all(name, [b"", b"s", b"l" * 3000], 1)
    messages = peer.deliveries(3, 2)
    partial = [[f.args["partial"] for f in m.frames] for m in messages]
    wanted = [[True] * (len(m.frames) - 1) + [False] for m in messages]
    sizes = [sum(len(f.fragment) for f in m.frames) for m in messages]
    sound = sizes == [len(encode_message(m.body)) for m in messages]
    return holds(peer, sound and partial == wanted, f"partial {partial}, sizes {sizes}")


@case("messages.writing.partial", covers=["messages/writing/partial", "messages/frames/partial"])
def a_message_ends_with_partial_zero(peer: Peer) -> Verdict:
    """A message is not delivered before its fragment with partial zero, which may be empty."""
    name = _read(peer)
    parts = peer.fragments(name, encode_message(b"first and rest"), 1, chunk=12)
    peer.claim("nothing before the last fragment, the whole message after it")
    for part in parts[:-1]:
        peer.send_octets(part)
    peer.ping()
    early = peer.received(2)
    peer.send_octets(parts[-1])
    body = peer.delivery(2).body
    last = peer.octets("handle.send", service_type=1, dest_name=name, partial=False)
    more = peer.octets(
        "handle.send", service_type=1, dest_name=name, partial=True, fragment=encode_message(b"e")
    )
    peer.send_octets(more + last)
    return equals(peer, (early, body, peer.delivery(2).body), ([], b"first and rest", b"e"), "messages")


@case("messages.writing.cut", covers=["messages/writing/cut"])
def a_message_is_cut_anywhere(peer: Peer) -> Verdict:
    """A message in fragments of 1, 7 and 30 octets, which also split its head, arrives complete."""
    name = _read(peer)
    peer.claim("three whole messages")
    for chunk in (1, 7, 30):
        peer.publish(name, b"chunk %d" % chunk, 1, chunk=chunk, identifier="i" * 20)
    seen = [(m.body, m.head["identifier"]) for m in peer.deliveries(3, 2)]
    return equals(peer, seen, [(b"chunk %d" % n, "i" * 20) for n in (1, 7, 30)], "bodies and identifiers")


# --- heads


@on_handle("messages.head.persistent", covers=["messages/head/persistent"], restarts=True)
def persistent_messages_survive(peer: Peer) -> Verdict:
    """Two persistent messages of different priorities survive a restart with bodies and flags, each once."""
    name = peer.named_queue("durable")
    for body, priority in ((b"one", 0), (b"two", 9)):
        peer.store(name, body, 1, persistent=True, priority=priority)
    peer.claim("both messages after the restart")
    peer.context.restart()
    other = peer.another().open_channel()
    other.reader(name, 1, dynamic=True)
    messages = other.deliveries(2, 1)
    other.ack(messages[-1].number)
    other.close_handle(1)
    seen = sorted((m.body, m.head["persistent"]) for m in messages)
    wanted = [(b"one", True), (b"two", True)]
    return equals(peer, (seen, other.left_in(name)), (wanted, []), "bodies and flags, messages left")


@on_queue("messages.head.priority", covers=["messages/head/priority"])
def priorities(peer: Peer, name: str) -> Verdict:
    """A message of each priority arrives with its priority; whether high ones overtake others is recorded."""
    for priority in range(10):
        peer.store(name, b"%d" % priority, 1, priority=priority)
    peer.reader(name, 2)
    peer.claim("ten messages with their priorities")
    messages = peer.deliveries(10, 2)
    pairs = [(int(m.body), m.head["priority"]) for m in messages]
    order = [number for number, _ in pairs]
    if sorted(order) != list(range(10)) or any(one != two for one, two in pairs):
        return holds(peer, False, f"bodies and priorities {pairs}")
    return observed_either_way(peer, "high priorities first" if order[0] >= 5 else "in the order of arrival")


@case("messages.head.expiration", covers=["messages/head/expiration"])
def expiration(peer: Peer) -> Verdict:
    """A message that expires in the far future arrives; one that expired long ago may be dropped."""
    name = _read(peer)
    peer.claim("the message that has not expired")
    peer.store(name, b"expired", 1, expiration=1)
    peer.store(name, b"future", 1, expiration=_FAR_FUTURE)
    first = peer.delivery(2)
    if first.body == b"expired":
        return _told(peer, peer.delivery(2), "expired messages are delivered")
    return _told(peer, first, "expired messages are dropped")


def _told(peer: Peer, message: MessageArrived, way: str) -> Verdict:
    sound = (message.body, message.head["expiration"]) == (b"future", _FAR_FUTURE)
    return observed_either_way(peer, way) if sound else holds(peer, False, f"a message {message.body!r}")


@on_queue("messages.head.no-expiration", covers=["messages/head/no-expiration"])
def no_expiration(peer: Peer, name: str) -> Verdict:
    """Messages with an expiration of zero arrive, also from a queue in which they waited."""
    peer.claim("both messages")
    peer.store(name, b"waits", 1, expiration=0)
    peer.barrier()
    peer.reader(name, 2)
    peer.store(name, b"passes", 1, expiration=0)
    return equals(peer, peer.bodies(2, 2), [b"waits", b"passes"], "bodies")


def _default(peer: Peer, field: str, opened: str, usual: str) -> Verdict:
    """An empty field stays empty or takes the value of its handle; one that is set stays as it is."""
    peer.open_channel()
    peer.call("handle.open", handle_id=1, producer=True, **{field: opened})
    peer.call("handle.open", handle_id=3, producer=True)
    name = peer.queue()
    peer.reader(name, 2)
    peer.claim(f"{field} empty or as in the handle, and unchanged if it was set")
    peer.store(name, b"1", 1)
    peer.store(name, b"2", 3)
    own: dict[str, Any] = {field: "own/value"}
    peer.store(name, b"3", 1, **own)
    seen = [m.head[field] for m in peer.deliveries(3, 2)]
    sound = seen[0] in ("", opened) and seen[1] in ("", usual) and seen[2] == "own/value"
    return holds(peer, sound, f"{field} {seen}")


@case("messages.head.mime-type", covers=["messages/head/mime-type", "handle/open/mime-type"])
def default_mime_types(peer: Peer) -> Verdict:
    """An empty MIME type stays empty or becomes the handle's; the default of a handle is application/octet-stream."""
    return _default(peer, "mime_type", "image/png", "application/octet-stream")


@case("messages.head.encoding", covers=["messages/head/encoding", "handle/open/encoding"])
def default_encodings(peer: Peer) -> Verdict:
    """An empty encoding stays empty or becomes the handle's; the default of a handle is binary."""
    return _default(peer, "encoding", "base64", "binary")


@case("messages.head.body-size", covers=["messages/head/body-size"])
def body_sizes_that_lie(peer: Peer) -> Verdict:
    """A body shorter or longer than its head announces is refused."""
    verdicts = []
    for size in (3, 5, 0):
        line = peer.another().open_handle(1)
        name = line.queue()
        parts = line.fragments(name, encode_message(b"four", body_size=size), 1, confirm_tag=0x0102)
        line.send_octets(b"".join(parts))
        verdicts.append(rejects_violation(line))
    return worst(verdicts)


@case("messages.head.body", covers=["messages/head/body"])
def a_body_of_no_octets(peer: Peer) -> Verdict:
    """Bodies of zero octets and of one arrive unchanged."""
    name = _read(peer)
    peer.claim("three bodies")
    peer.publish_all(name, [b"", b"\xce", b""], 1)
    return equals(peer, peer.bodies(3, 2), [b"", b"\xce", b""], "bodies")


@on_handle("messages.head.maximum", covers=["messages/head/maximum"])
def the_largest_message(peer: Peer) -> Verdict:
    """A first fragment that announces 2^32-1 octets is accepted, or refused as too large."""
    message = encode_message(b"x", body_size=_LARGEST_BODY)
    peer.send("handle.send", service_type=TOPIC, dest_name=topic(peer), fragment=message, partial=True)
    peer.claim("no refusal, or code 311")
    return outlived(peer, borne(peer, peer.reaction(barrier="ping")))
