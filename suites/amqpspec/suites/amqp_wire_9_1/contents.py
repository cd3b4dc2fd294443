"""Contents: which frames make one, in which order, and what they may be mixed with (content framing)."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_content
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    half_sent,
    header_payload,
    refuses_content,
    send_content,
)
from amqpspec.suites.amqp_wire_9_1._wire import fetch_all, sent_frames

# order


@on_channel("content.order", covers=["grammar/content-order"], destructive=True)
def body_before_its_header(peer: Peer) -> Verdict:
    """A body before the header of its content is refused."""
    begin_publish(peer, peer.name("nowhere"))
    peer.send_frame("body", b"body")
    peer.send_frame("header", header_payload(peer, 4))
    return rejects_violation(peer)


@on_channel("content.order.header-last", covers=["grammar/content-order"])
def header_after_half_a_body(peer: Peer) -> Verdict:
    """A header between two bodies of a content is refused."""
    send_content(peer, header_payload(peer, 8), b"half")
    peer.send_frame("header", header_payload(peer, 8))
    return refuses_content(peer)


@on_queue("content.unconditional", covers=["content-framing/unconditional"])
def empty_content_is_there(peer: Peer, queue: str) -> Verdict:
    """A method that carries a content has a content header even if the content is empty."""
    peer.claim("a content header after get-ok, for an empty message")
    peer.publish(queue, b"")
    message = fetch(peer, queue)
    peer.barrier()
    # get-ok announces a content, so an empty one needs its header, or the next frame is out of place.
    headers = sent_frames(peer, "header", channel=1)
    return equals(peer, (message.body, len(headers)), (b"", 1), "body and content headers")


@on_channel("content.unconditional.unasked", covers=["content-framing/unconditional"])
def content_of_a_method_without_one(peer: Peer) -> Verdict:
    """A content after a method that carries none is refused."""
    peer.call("basic.qos", prefetch_count=1)
    peer.send_frame("header", header_payload(peer, 0))
    return rejects_violation(peer)


@on_channel("content.unconditional.body-unasked", covers=["content-framing/unconditional"])
def body_of_a_method_without_content(peer: Peer) -> Verdict:
    """A body without a preceding method that carries content is refused."""
    peer.send_frame("body", b"nobody asked")
    return rejects_violation(peer)


@on_channel("content.one-header", covers=["content-framing/one-header"])
def two_headers(peer: Peer) -> Verdict:
    """A second header in place of the body is refused."""
    send_content(peer, header_payload(peer, 4))
    peer.send_frame("header", header_payload(peer, 4))
    peer.send_frame("body", b"body")
    return rejects_violation(peer)


@on_queue("content.one-header.sent", covers=["content-framing/one-header"])
def server_sends_one_header(peer: Peer, queue: str) -> Verdict:
    """Each of three messages from the server has one content header, before its bodies."""
    peer.claim("method, header, body, three times")
    for body in (b"one", b"two", b"three"):
        peer.publish(queue, body)
    for _ in range(3):
        fetch(peer, queue)
    layout = peer.dialect.layout
    # The last nine frames on the channel: three messages, each got by a separate method.
    kinds = [layout.type_name(frame.type) for frame in peer.assembler.frames if frame.channel == 1][-9:]
    return equals(peer, kinds, ["method", "header", "body"] * 3, "frames")


@on_queue("content.bodies", covers=["content-framing/bodies"])
def no_body_one_body_many_bodies(peer: Peer, queue: str) -> Verdict:
    """Contents with no body frame, one, many, or an empty one among them arrive complete."""
    peer.claim("four bodies, unchanged")
    for parts in ([], [b"one"], [b"m", b"a", b"n", b"y"], [b"with ", b"", b"none"]):
        begin_publish(peer, queue)
        peer.send_frame("header", header_payload(peer, sum(map(len, parts))))
        for part in parts:
            peer.send_frame("body", part)
    return equals(peer, fetch_all(peer, queue), [b"", b"one", b"many", b"with none"], "bodies")


# mixing


@on_channel(
    "content.interleaved", covers=["content-framing/interleaved-channels"], needs=["multiple-channels"]
)
def contents_of_two_channels_interleaved(peer: Peer) -> Verdict:
    """Interleaved contents of two channels, with a heartbeat between them, both arrive complete."""
    peer.call("channel.open", channel=2)
    queues = {channel: peer.queue(channel=channel) for channel in (1, 2)}
    peer.claim("both contents, each whole")
    for channel, queue in queues.items():
        begin_publish(peer, queue, channel=channel)
    for channel in queues:
        peer.send_frame("header", header_payload(peer, 6), channel)
    for part in (b"one", b"two"):
        peer.send_frame("heartbeat", b"", 0)
        for channel in queues:
            peer.send_frame("body", part if channel == 1 else part.upper(), channel)
    got = [fetch_all(peer, queue, channel) for channel, queue in queues.items()]
    return equals(peer, got, [[b"onetwo"], [b"ONETWO"]], "bodies")


@on_channel(
    "content.interleaved.method-elsewhere",
    covers=["content-framing/interleaved-channels"],
    needs=["multiple-channels"],
)
def method_of_another_channel_amid_a_content(peer: Peer) -> Verdict:
    """If a method with content on another channel interrupts a content, both contents arrive complete."""
    peer.call("channel.open", channel=2)
    queue, other = peer.queue(), peer.queue(channel=2)
    peer.claim("both contents, each whole")
    send_content(peer, header_payload(peer, 8), b"half", queue=queue)
    peer.publish(other, b"between", channel=2)
    # Fetched while the content on channel 1 is still half sent: channel 2 is not to wait for it.
    between = fetch(peer, other, channel=2).body
    peer.send_frame("body", b"half")
    return equals(peer, (between, fetch(peer, queue).body), (b"between", b"halfhalf"), "bodies")


@case("content.overlap", covers=["content-framing/no-overlap"])
def contents_of_one_channel_overlap(peer: Peer) -> Verdict:
    """A content that begins within another one on its channel is refused, and neither is delivered."""
    queue = half_sent(peer)
    peer.publish(queue, b"the second")
    return _refused_and_gone(peer, queue)


@case("content.method-inside", covers=["content-framing/no-methods-inside"])
def method_amid_a_content(peer: Peer) -> Verdict:
    """A method within a content on its channel is refused, and the incomplete content is not delivered."""
    queue = half_sent(peer)
    peer.send("basic.qos", prefetch_count=1)
    return _refused_and_gone(peer, queue)


@case("content.method-inside.close", covers=["content-framing/no-methods-inside"])
def close_amid_a_content(peer: Peer) -> Verdict:
    """channel.close within a content on its channel is refused, or discards the content."""
    queue = half_sent(peer)
    peer.send("channel.close", reply_code=200, reply_text="done")
    # No barrier: the channel is closed, or a content is open on it.
    reaction = peer.reaction(barrier=False)
    peer.claim("the incomplete content is not delivered")
    bodies = [message.body for message in peer.another().open_channel().drain(queue)]
    if bodies:
        return holds(peer, False, f"{reaction.describe(peer.dialect)}; in the queue {bodies}", seen=reaction)
    last = reaction.arrivals[-1]
    if isinstance(last, MethodArrived) and last.name == "channel.close-ok":
        return holds(peer, True, "close-ok, and nothing in the queue")
    return judge_reaction(peer, reaction)


# incomplete contents


declare(
    globals(),
    framing_content.content_without_header,
    "amq_wlp_content_01",
    ["amq_wlp_content_01"],
    destructive=True,
)


@on_channel("wlp.content_01.no-content", covers=["amq_wlp_content_01", "content-framing/unconditional"])
def method_where_a_content_is_owed(peer: Peer) -> Verdict:
    """A method where the content header is expected is refused."""
    begin_publish(peer, peer.name("nowhere"))
    peer.send("basic.qos", prefetch_count=1)
    return rejects_violation(peer)


@on_channel("wlp.content_01.body-missing", covers=["amq_wlp_content_01"])
def method_where_the_body_is_owed(peer: Peer) -> Verdict:
    """A method where the second half of the body is expected is refused."""
    send_content(peer, header_payload(peer, 8), b"half")
    peer.send("basic.qos", prefetch_count=1)
    return rejects_violation(peer)


# --- steps of this module


def _refused_and_gone(peer: Peer, queue: str) -> Verdict:
    """What was sent last is refused as the row says, and nothing has reached the queue."""
    reaction = peer.reaction()
    bodies = [message.body for message in peer.another().open_channel().drain(queue)]
    if bodies:
        return holds(peer, False, f"{reaction.describe(peer.dialect)}; in the queue {bodies}", seen=reaction)
    return judge_reaction(peer, reaction)
