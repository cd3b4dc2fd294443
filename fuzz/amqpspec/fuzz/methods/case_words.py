"""How a finding of the 0-9 family is written as a case of the suites.

Knows: the verbs of the family's peer. Must not know: findings, oracles.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.methods.samples import SMALL_CHANNEL_MAX, SMALL_FRAME_MAX_OCTETS
from amqpspec.fuzz.triage.part import CaseWords

_ENTER: Mapping[str, str] = {
    "raw": "peer.connect()",
    "header": "peer.send_header()",
    "start": "peer.greet()",
    "tune": 'peer.greet()\npeer.start_ok()\npeer.expect("connection.tune", channel=0)',
    "open": "peer.handshake()",
    "ready": "peer.open_connection()",
    "channel": "peer.open_channel()",
    "consuming": 'peer.open_channel()\nqueue = peer.queue()\npeer.consume(queue, consumer_tag="amqpspec.fuzz.c")\n'
    'peer.publish(queue, b"01234567")\npeer.delivery()',
    "content": 'peer.open_channel()\npeer.send("basic.publish", routing_key="amqpspec.fuzz.none")',
    "body": 'peer.open_channel()\npublish = peer.method_frame("basic.publish", routing_key="amqpspec.fuzz.none")\n'
    'peer.send_octets(publish + peer.content_frames(b"01234567", body_size=16))',
    "limits": f"peer.open_channel(channel_max={SMALL_CHANNEL_MAX}, frame_max={SMALL_FRAME_MAX_OCTETS})",
    "channel-closed": 'peer.open_channel()\npeer.call("channel.close", reply_code=200, reply_text="bye")',
    "closing": 'peer.open_channel()\npeer.send("connection.close", channel=0, reply_code=200, reply_text="bye")',
}


def case_words(row: str) -> CaseWords:
    """The lines of which a case is made; ``row`` is the requirement "survives"."""
    return CaseWords(
        peer="amqpspec.peer.methods.peer",
        oracles="amqpspec.run.methods.oracles",
        row=row,
        enter=_ENTER,
        barriers=frozenset({"channel", "consuming"}),
        store=(
            "keeper = peer.another().open_channel()\n"
            "kept = keeper.queue()\n"
            'keeper.publish(kept, b"kept for later")'
        ),
        fetch=(
            "got = keeper.get(kept)\n"
            "body = None if got is None else got.body\n"
            'return equals(peer, body, b"kept for later", "stored body")'
        ),
        listen=('other = peer.another("second").open_channel()\nother.consume(other.queue(), no_ack=True)'),
        heard=(
            "other.barrier()\n"
            'heard = other.pending("basic.deliver")\n'
            'return equals(peer, len(heard), 0, "deliveries to another user")'
        ),
        follow_up=(
            'peer.call("channel.open", channel={channel})\n'
            'answer = peer.call("basic.qos", channel={channel}, prefetch_count=1)\n'
            'return equals(peer, answer.name, "basic.qos-ok", "answer on a channel of its own")'
        ),
    )
