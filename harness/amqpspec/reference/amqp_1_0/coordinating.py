"""Control links: declare and discharge come in as messages, and their outcomes go out (1.0 §4.2, §4.3).

Knows: what a message to the coordinator may be, how failures are reported. Must not know: what a transaction holds
back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.reference.amqp_1_0 import messages
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.incoming import IncomingDelivery
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.amqp_1_0.transactions import CAPABILITIES, ROLLED_BACK, UNKNOWN
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed, encode_composite
from amqpspec.wire.amqp_1_0.values import Raw, Symbol

_REJECTED = "amqp:rejected:list"


def coordinator_of(faulty: Callable[[str], bool]) -> Raw | dict[str, Any]:
    """The target of a control link, with what it can really do (1.0 §4.5.1)."""
    if faulty("coordinator-told-as-a-node"):
        return {"address": "coordinator"}
    answered = CAPABILITIES[1:] if faulty("local-transactions-not-told") else CAPABILITIES
    return encode_composite("coordinator", capabilities=tuple(Symbol(name) for name in answered))


class ControlEndpoint(ReceivingEndpoint):
    """One link to the coordinator."""

    targeted = True

    def _complete(self, partial: IncomingDelivery) -> None:
        if partial.settled and not self.faulty("settled-control-messages-taken"):
            self.session.refuse("transactions/control/settled", "a settled message to the coordinator")
        message = messages.read(partial.octets)
        body = None if message is None else message.body
        if isinstance(body, Composed) and body.name == "declare":
            made = self.session.connection.transactions.declare(self)
            name = "accepted" if self.faulty("declare-answered-by-accepted") else "declared"
            fields: dict[str, Any] = {} if name == "accepted" else {"txn_id": made.id}
            self._outcome(partial, encode_composite(name, **fields))
        elif isinstance(body, Composed) and body.name == "discharge":
            self._discharge(partial, body)
        else:
            self._reject(partial, "amqp:decode-error", "neither declare nor discharge")

    def _discharge(self, partial: IncomingDelivery, body: Composed) -> None:
        transactions = self.session.connection.transactions
        transaction = transactions.find(body.get("txn_id"))
        fail = bool(body.get("fail"))
        if transaction is None:
            if self.faulty("unknown-transactions-discharged"):
                self._outcome(partial, "accepted")
                return
            answered = "amqp:illegal-state" if self.faulty("unknown-transaction-misnamed") else UNKNOWN
            self._reject(partial, answered, "there is no such transaction")
            return
        if transaction.partial and not self.faulty("partial-deliveries-discharged"):
            transactions.discharge(transaction, fail=True)
            self.fail(ROLLED_BACK, "a delivery of the transaction is not whole", closed=True)
            return
        transactions.discharge(transaction, fail=fail)
        if fail and self.faulty("rollback-rejected"):
            self._reject(partial, ROLLED_BACK, "rolled back")
            return
        self._outcome(partial, "accepted")

    def _reject(self, partial: IncomingDelivery, condition: str, text: str) -> None:
        """Reject where the source knows that outcome; else the link ends with the error (1.0 §4.2, §4.3)."""
        outcomes = self.terminus.source.get("outcomes")
        knows = outcomes is None or _REJECTED in outcomes
        if self.faulty("rejected-where-the-source-lacks-it"):
            knows = True
        if self.faulty("errors-of-transactions-end-the-link"):
            knows = False
        if not knows:
            self.fail(condition, text, closed=True)
            return
        error = error_of(self.faulty, condition, text, "detach")
        self._outcome(partial, encode_composite("rejected", error=error))

    def _outcome(self, partial: IncomingDelivery, state: Any) -> None:
        fields = {"role": "receiver", "first": partial.delivery_id, "settled": True, "state": state}
        self.session.connection.core.later(lambda: self.session.send("disposition", fields))

    def unhook(self) -> None:
        """What was declared here and is not discharged is rolled back."""
        was_attached = self.attached
        super().unhook()
        if was_attached:
            self.session.connection.transactions.control_lost(self)


FAULTS = fault_table("""
coordinator-told-as-a-node: the broker's attach of a control link contains a node instead of the coordinator
    [transactions/coordinator/capabilities]
local-transactions-not-told: the coordinator does not announce local transactions
    [transactions/coordinator/capabilities]
settled-control-messages-taken: a settled declare is accepted [transactions/control/settled]
declare-answered-by-accepted: a declare is accepted without a txn-id [transactions/declare/declared]
unknown-transactions-discharged: the discharge of an unknown transaction is accepted
    [transactions/discharge/unknown-id transactions/discharge/without-rejected]
unknown-transaction-misnamed: the discharge of an unknown transaction is rejected with another condition
    [transactions/discharge/unknown-id transactions/discharge/without-rejected]
partial-deliveries-discharged: a transaction is discharged though a delivery is not whole
    [transactions/posting/partial]
rollback-rejected: a rollback is rejected [transactions/discharge/rollback]
rejected-where-the-source-lacks-it: a discharge is rejected though the source does not know that outcome
    [transactions/discharge/without-rejected]
errors-of-transactions-end-the-link: a discharge that fails ends the control link [transactions/discharge/unknown-id]
""")
