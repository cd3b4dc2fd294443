"""The liveness probe: can the target be reached and logged into, who does it say it is, how fast does it answer.

Knows: the handshake. Must not know: cases. Its findings become the run's identity and the patience of every case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.net.clock import monotonic_s
from harness.peer.context import Context, Unmet
from harness.peer.peer import Peer
from harness.wire.transport import StreamEnded

_ROUND_TRIPS = 5
_CAPABILITIES = {
    "publisher_confirms": "confirm",
    "exchange_exchange_bindings": "exchange-bind",
    "basic.nack": "nack",
    "consumer_cancel_notify": "consumer-cancel-notify",
    "connection.blocked": "blocked",
}


class ProbeFailed(Exception):
    """The target was not reached, speaks another protocol, or refused the login: one line."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a target announced, and its round trip in seconds."""

    product: str
    version: str
    announced: Mapping[str, Any] = field(default_factory=dict)
    round_trip_s: float = 0.0

    def lacks(self) -> dict[str, str]:
        """Optional parts of the protocol that the target does not announce, with the reason."""
        capabilities = self.announced.get("capabilities") or {}
        return {
            feature: f"the target does not announce the capability {capability}"
            for capability, feature in _CAPABILITIES.items()
            if capabilities.get(capability) is not True
        }


def probe(context: Context) -> Identity:
    """Log in, open a channel, measure round trips, pass a message, close; raises ProbeFailed."""
    peer = Peer(context)
    step = "reach the target"
    try:
        peer.connect()
        step = "start the 0-9-1 handshake"
        peer.greet()
        step = f"log in as {context.login.user!r} and open virtual host {context.login.vhost!r}"
        peer.start_ok()
        peer.tune()
        peer.call("connection.open", channel=0, virtual_host=context.login.vhost)
        step = "open a channel"
        peer.call("channel.open")
        round_trip_s = _round_trip(peer)
        step = "pass a message through a queue"
        _pass_a_message(peer)
        peer.close()
    except StreamEnded as ended:
        raise ProbeFailed(f"could not {step}: {_why(ended)}") from ended
    except Unmet as unmet:
        raise ProbeFailed(f"could not {step}: {unmet}") from unmet
    finally:
        peer.hang_up()
    properties = peer.server_properties
    return Identity(
        _text(properties.get("product")),
        _text(properties.get("version")),
        _readable(properties),
        round_trip_s,
    )


def _why(ended: StreamEnded) -> str:
    """In the words of the socket where it has some: a name that is not known, a certificate that is not trusted."""
    return str(ended.__cause__ or f"connection {ended.how}")


def _round_trip(peer: Peer) -> float:
    started_s = monotonic_s()
    for _ in range(_ROUND_TRIPS):
        peer.barrier()
    return (monotonic_s() - started_s) / (2 * _ROUND_TRIPS)


def _pass_a_message(peer: Peer) -> None:
    queue = peer.name("probe")
    peer.call("queue.declare", queue=queue, exclusive=True)
    peer.publish(queue, b"alive")
    got = peer.get(queue)
    if got is None or got.body != b"alive":
        raise Unmet("the message that was published", "none" if got is None else "another one")
    peer.call("queue.delete", queue=queue)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _readable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return value if isinstance(value, bool | int | float) or value is None else _text(value)
