"""The anonymous terminus: a link without address, whose messages contain their destination (anonymous terminus 1.0).

Knows: how a message is routed by ``to``, how an unroutable one is reported. Must not know: links with an address.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference.amqp_1_0 import messages
from amqpspec.reference.amqp_1_0.addresses import named_node
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.incoming import IncomingDelivery
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Queue
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Map, Symbol

_REJECTED = "amqp:rejected:list"


class RelayEndpoint(ReceivingEndpoint):
    """One link to the anonymous terminus."""

    targeted = True
    _first_node: Queue | None = None

    def _complete(self, partial: IncomingDelivery) -> None:
        if self._node_for(partial) is None:
            self._unroutable(partial)
        else:
            super()._complete(partial)

    def _node_for(self, partial: IncomingDelivery) -> Queue | None:
        found = named_node(self.session.connection.vhost, _to(partial))
        if self.faulty("relay-keeps-to-its-first-node"):
            self._first_node = self._first_node or found
            return self._first_node
        return found

    def _unroutable(self, partial: IncomingDelivery) -> None:
        """Tell the error that an attach there would have met: rejected if that can be said, else detach."""
        if self.faulty("unroutable-messages-accepted"):
            self._tell(partial)
            return
        condition, text = "amqp:not-found", f"there is no node {_to(partial)!r}"
        if _to(partial) is None:
            condition, text = (
                "amqp:precondition-failed",
                "a message on a link without address has to say where it goes",
            )
            if self.faulty("messages-to-nobody-accepted"):
                self._tell(partial)
                return
        if self.faulty("unroutable-misnamed"):
            condition = "amqp:illegal-state"
        outcomes = self.terminus.source.get("outcomes")
        silent = partial.settled and self.faulty("settled-unroutable-passed-over")
        if silent:
            return
        knows = outcomes is None or _REJECTED in outcomes
        if self.faulty("unroutable-rejected-where-the-source-lacks-it"):
            knows = True
        detaches = partial.settled or not knows
        if detaches or self.faulty("unroutable-ends-the-link"):
            self.fail(condition, text, info=Map({Symbol("delivery-tag"): partial.tag}))
            return
        state = encode_composite("rejected", error=error_of(self.faulty, condition, text, "detach"))
        fields = {"role": "receiver", "first": partial.delivery_id, "settled": True, "state": state}
        self.session.connection.core.later(lambda: self.session.send("disposition", fields))


def _to(partial: IncomingDelivery) -> Any:
    message = messages.read(partial.octets)
    properties = None if message is None else message.properties
    return None if properties is None else properties.get("to")


FAULTS = fault_table("""
messages-to-nobody-accepted: a message without an address is accepted on an anonymous link
    [definitions/condition/precondition-failed]
relay-keeps-to-its-first-node: all messages of an anonymous link go to the node of the first one [anonymous/to]
unroutable-messages-accepted: an unroutable message on an anonymous link is accepted [anonymous/unroutable]
unroutable-misnamed: an unroutable message is refused with another condition than an attach to its address
    [anonymous/unroutable anonymous/unroutable/settled]
unroutable-ends-the-link: an unroutable message ends the anonymous link [anonymous/unroutable]
unroutable-rejected-where-the-source-lacks-it: an unroutable message is rejected though the source of its link does not
    know that outcome [anonymous/unroutable/without-rejected]
settled-unroutable-passed-over: a settled unroutable message is silently ignored [anonymous/unroutable/settled]
""")
