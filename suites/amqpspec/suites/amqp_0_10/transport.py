"""The published document, chapter 4: protocol header, frames, segments, channels, tracks.

Knows: octets on the wire. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import HeaderArrived
from amqpspec.run.amqp_0_10.oracles import judge_arrival
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._wire import in_pieces
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_instruction


@case(
    "transport.protocol-header",
    covers=[
        "transport/protocol-header/first",
        "transport/protocol-header/layout",
        "transport/negotiation/supported",
        "transport/negotiation/tcp",
    ],
)
def own_header(peer: Peer) -> Verdict:
    """The server answers its version's header with the same header, then sends start."""
    peer.claim("the header AMQP 1 1 0 10, then connection.start")
    start = peer.greet()
    return holds(peer, start.channel == 0, start)


@case("transport.protocol-header.unsupported", covers=["transport/negotiation/unsupported"])
def unsupported_version(peer: Peer) -> Verdict:
    """A version that does not exist is answered by the header of one that is served."""
    peer.claim("a protocol header of the target, then the end")
    peer.send_header(b"AMQP\x01\x01\x63\x63")
    header = peer.wait(lambda a: False, peer.patience_s)
    if not isinstance(header, HeaderArrived):
        return judge_arrival(peer, header)
    peer.expect_end()
    return holds(peer, header.header.octets != b"AMQP\x01\x01\x63\x63", header)


@case(
    "transport.assemblies.any-cut",
    covers=["transport/assemblies/any-cut", "transport/frame/size", "transport/assemblies/one-instruction"],
)
def command_in_pieces(peer: Peer) -> Verdict:
    """A command is understood in frames of one octet each, empty ones among them, and so is the next one."""
    peer.open_session()
    names = [peer.will_clean("queue", peer.name(hint)) for hint in ("first", "second")]
    peer.claim("both queues are there")
    for name in names:
        octets = encode_instruction("queue.declare", {"queue": name, "exclusive": True}, sync=True)
        number = peer.number()
        peer.send_octets(in_pieces(COMMAND, octets))
        peer.completion(number)
    found = [peer.call("queue.query", queue=name).fields.get("queue") for name in names]
    return equals(peer, found, names, "queues")
