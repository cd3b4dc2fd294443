"""How a finding of AMQP/Fast is written as a case of the suites.

Knows: the verbs of the peer. Must not know: findings, oracles.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.amqp_fast_0_8.states import BODY_SENT, BODY_SIZE_OCTETS
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_CONSUMING = (
    'peer.open_handle()\npeer.consume("amqpspec.fuzz.t", service_type=2)\n'
    'peer.publish("amqpspec.fuzz.t", b"01234567", service=2)\npeer.delivery()'
)
_RESTARTABLE = "peer.open_channel(restartable=True)\npeer.open_handle()"
_BEGUN = encode_message(BODY_SENT, body_size=BODY_SIZE_OCTETS)
_HEAD = encode_message(b"", body_size=1 << 20, identifier="amqpspec-fuzz")


def _octets(octets: bytes) -> str:
    return f'bytes.fromhex("{octets.hex()}")'


def _sent(octets: bytes, how: str) -> str:
    """A SEND of some octets to a topic."""
    where = 'service_type=2, dest_name="amqpspec.fuzz.t"'
    return f'peer.send("handle.send", fragment={_octets(octets)}, {where}, {how})'


_ENTER: Mapping[str, str] = {
    "raw": "peer.connect()",
    "greeted": "peer.send_header()",
    "login": "peer.greet()",
    "tuning": "peer.log_in()",
    "tuned": "peer.log_in()\npeer.tune(FRAME_MAX=1024)",
    "open": "peer.open_connection()",
    "channel": "peer.open_channel()",
    "transacted": "peer.open_channel(transacted=True)",
    "handle": "peer.open_handle()",
    "consuming": _CONSUMING,
    "sending": "peer.open_handle()\n" + _sent(_BEGUN, "partial=True"),
    "fragment": "peer.open_handle()\n" + _sent(_BEGUN, f"fragment_size={len(_BEGUN) + len(BODY_SENT)}"),
    "restartable": _RESTARTABLE,
    "prepared": f'{_RESTARTABLE}\npeer.send("handle.prepare", fragment={_octets(_HEAD)})\npeer.expect("handle.ready")',
    "handle-closed": "peer.open_handle()\npeer.close_handle()",
    "channel-closed": "peer.open_channel()\npeer.close_channel()",
    "closing": 'peer.open_channel()\npeer.send("connection.close")',
}
CASE_WORDS = CaseWords(
    peer="amqpspec.peer.amqp_fast_0_8.peer",
    oracles="amqpspec.run.amqp_fast_0_8.oracles",
    row="security/closing",
    enter=_ENTER,
    barriers=frozenset({"channel", "transacted", "handle", "consuming"}),
    store='keeper = peer.another().open_handle()\nkept = keeper.queue()\nkeeper.store(kept, b"kept for later")',
    fetch='return equals(peer, keeper.left_in(kept), [b"kept for later"], "stored bodies")',
    listen='other = peer.another("second").open_handle()\nother.consume("amqpspec.fuzz.t2", service_type=2)',
    heard=(
        "other.barrier()\n"
        "heard = other.received()\n"
        'return equals(peer, len(heard), 0, "deliveries to another user")'
    ),
    follow_up=(
        'peer.call("channel.open", channel_id={channel})\n'
        'answer = peer.call("handle.open", channel_id={channel}, handle_id={channel})\n'
        'return equals(peer, answer.name, "handle.reply", "answer on a channel of its own")'
    ),
    no_barrier="None",
)
"""The lines of which a case is made."""
