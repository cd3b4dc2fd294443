"""How a finding of AMQP 0-10 is written as a case of the suites.

Knows: the verbs of the peer. Must not know: findings, oracles.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.amqp_0_10.states import states_of
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.triage.part import CaseWords


def _begun(state: str) -> str:
    """A session, and the frames of a message that a state leaves in progress."""
    from amqpspec.fuzz.amqp_0_10.states import octets_of

    steps = next(s.steps for s in states_of() if s.name == state)
    octets = b"".join(octets_of(say, Values()) for say in steps[-1].says)
    return f'{_SESSION}\npeer.send_octets(bytes.fromhex("{octets.hex()}"))'


_SESSION = "peer.open_session(1)"
_LIMITS = "peer.open_connection(max_frame_size=4096, channel_max=8)\npeer.open_session(1)"


def _enter() -> Mapping[str, str]:
    return {
        "raw": "peer.connect()",
        "header": "peer.send_header()",
        "start": "peer.greet()",
        "tune": 'peer.greet()\npeer.start_ok()\npeer.expect("connection.tune")',
        "open": "peer.handshake()",
        "ready": "peer.open_connection()",
        "attached": "peer.open_connection()\npeer.attach(1)",
        "session": _SESSION,
        "consuming": f'{_SESSION}\nqueue = peer.queue(1)\npeer.subscribe(queue, 1, destination="amqpspec.fuzz.d")\n'
        'peer.publish(queue, b"01234567", 1)\npeer.transfer(1)',
        "content": _begun("content"),
        "body": _begun("body"),
        "limits": _LIMITS,
        "detached": f"{_SESSION}\npeer.detach(1)",
        "closing": f'{_SESSION}\npeer.send("connection.close", reply_code=200)',
    }


def case_words() -> CaseWords:
    """The lines of which a case is made."""
    return CaseWords(
        peer="amqpspec.peer.amqp_0_10.peer",
        oracles="amqpspec.run.amqp_0_10.oracles",
        row="execution/error-code/command-invalid",
        enter=_enter(),
        barriers=frozenset(),
        store=(
            "keeper = peer.another()\nkeeper.open_session()\nkept = keeper.queue()\n"
            'keeper.publish(kept, b"kept for later")'
        ),
        fetch=(
            "bodies = [transfer.body for transfer in keeper.drain(kept)]\n"
            'return equals(peer, bodies, [b"kept for later"], "stored bodies")'
        ),
        listen='other = peer.another("second")\nother.open_session()\nother.subscribe(other.queue(), accept_mode=1)',
        heard=(
            "other.barrier()\n"
            'heard = other.pending("message.transfer")\n'
            'return equals(peer, len(heard), 0, "deliveries to another user")'
        ),
        follow_up=(
            "peer.open_session({channel})\n"
            'found = peer.call("exchange.query", {channel}, name="amq.direct")\n'
            'return equals(peer, found.name, "exchange.exchange-query-result", "answer in a session of its own")'
        ),
        channel="1",
    )
