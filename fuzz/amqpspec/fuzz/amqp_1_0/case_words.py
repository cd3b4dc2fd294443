"""How a finding of AMQP 1.0 is written as a case of the suites.

Knows: the verbs of the peer. Must not know: findings, oracles.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.triage.part import CaseWords

_ATTACHED = "peer.begin()\nlink = peer.sender()\npeer.credit_for(link)"
_SASL = 'peer.send_header("sasl")'
_ENTER: Mapping[str, str] = {
    "raw": "peer.connect()",
    "sasl-header": _SASL,
    "sasl": f'{_SASL}\npeer.expect_header("sasl")\npeer.expect("sasl-mechanisms", channel=None)',
    "authenticated": "peer.secure()",
    "header": "peer.greet()",
    "open": "peer.open_connection()",
    "session": "peer.begin()",
    "attached": _ATTACHED,
    "consuming": "node = peer.node()\nlink = peer.sender(node)\nreceiver = peer.receiver(node)\n"
    'peer.transfer(link, b"amqpspec", settled=True)\npeer.credit(receiver, 10)\npeer.delivery(receiver)',
    "transfer": f'{_ATTACHED}\npeer.transfer(link, message=bytes.fromhex("005375a00861"), more=True)',
    "session-ended": "peer.begin()\npeer.end()",
    "closing": 'peer.begin()\npeer.send("close")',
}
CASE_WORDS = CaseWords(
    peer="amqpspec.peer.amqp_1_0.peer",
    oracles="amqpspec.run.amqp_1_0.oracles",
    row="definitions/condition/internal-error",
    enter=_ENTER,
    octets="peer.counted(bytes.fromhex(octets))",
    barriers=frozenset({"consuming", "session", "attached"}),
    store=('keeper = peer.another()\nkept = keeper.node()\nkeeper.send_message(kept, b"kept for later")'),
    fetch=(
        "bodies = [delivery.body for delivery in keeper.fetch(kept, 1)]\n"
        'return equals(peer, bodies, [b"kept for later"], "stored bodies")'
    ),
    listen=('other = peer.another("second")\nears = other.receiver(other.node(), credit=10)'),
    heard=(
        "other.barrier()\n"
        "heard = other.received(ears)\n"
        'return equals(peer, len(heard), 0, "deliveries to another user")'
    ),
    follow_up=(
        "peer.begin({channel})\n"
        'return equals(peer, peer.end({channel}).name, "end", "answer in a session of its own")'
    ),
)
"""The lines of which a case is made."""
