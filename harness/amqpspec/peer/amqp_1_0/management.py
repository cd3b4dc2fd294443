"""Creates and deletes queues through a broker's management over AMQP 1.0, as RabbitMQ 4 supports it.

Knows: a pair of links to ``/management`` and its requests, which are HTTP requests in messages. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.wire.amqp_1_0.message import encode_message

NODE = "/management"
UNUSED_MS = 3_600_000
"""The time without use after which the broker deletes a queue, in case amqpspec does not."""
_QUEUE = {"durable": True, "arguments": {"x-expires": UNUSED_MS}}
_PAIR = "amqpspec-management"


class Management:
    """A pair of links with one name on a peer's connection: one sends requests, the other receives responses."""

    def __init__(self, peer: Peer) -> None:
        ends: dict[str, Any] = {"source": {"address": NODE}, "target": {"address": NODE}}
        common = {"name": _PAIR, "snd_settle_mode": "settled", "properties": {"paired": True}, **ends}
        self._peer = peer
        self._requests: Link = peer.sender(NODE, **common)
        self._responses: Link = peer.receiver(NODE, **common)

    def make(self, addresses: Sequence[str]) -> None:
        """Create durable queues; raises Unmet."""
        self._ask("PUT", addresses, _QUEUE)

    def delete(self, addresses: Sequence[str]) -> None:
        """Delete queues with their messages; a missing queue is not an error. Raises Unmet."""
        self._ask("DELETE", addresses, None)

    def _ask(self, method: str, addresses: Sequence[str], body: Any) -> None:
        for number, address in enumerate(addresses):
            request = {"message_id": number, "to": address, "subject": method, "reply_to": "$me"}
            self._peer.credit(self._responses, 1)
            self._peer.transfer(
                self._requests, message=encode_message(properties=request, value=body), settled=True
            )
            answer = self._peer.delivery(self._responses).message
            status = str((answer.properties or {"subject": ""})["subject"])
            if not status.startswith("2"):
                raise Unmet(f"a 2xx to {method} {address}", f"{status}: {answer.body}")
