"""Credit of one subscription, in messages and octets, as a balance or as a window.

Knows: how it is spent and returns. Must not know: messages, queues, commands.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.wire import Faulty
from amqpspec.reference.fault import fault_table

UNLIMITED = 0xFFFFFFFF
CREDIT, WINDOW = 0, 1
MESSAGES, OCTETS = 0, 1


class Credit:
    """The credit of a subscription; a balance of all ones is unlimited. It begins at zero, in window mode."""

    def __init__(self, faulty: Faulty) -> None:
        self.faulty = faulty
        self.mode = CREDIT if faulty("credit-mode-by-default") else WINDOW
        self.messages = self.octets = UNLIMITED if faulty("credit-from-the-start") else 0

    def admits(self, size_octets: int) -> bool:
        """Whether there is credit for one more message."""
        if self.faulty("credit-ignored"):
            return True
        messages = self.messages > 0 or self.faulty("messages-cost-no-credit")
        octets = self.octets >= size_octets or self.faulty("octets-cost-no-credit")
        return messages and (octets or (self.octets > 0 and self.faulty("last-message-may-exceed-credit")))

    def spend(self, size_octets: int) -> None:
        """One message was sent."""
        if self.messages not in (0, UNLIMITED):
            self.messages -= 1
        if self.octets != UNLIMITED:
            self.octets = max(0, self.octets - size_octets)

    def add(self, unit: int, value: int | None) -> None:
        """Add credit; no value means unlimited credit."""
        if value is None:
            value = 0 if self.faulty("flow-without-a-value-gives-none") else UNLIMITED
        before = 0 if self.faulty("flow-replaces-credit") else getattr(self, _NAMES[unit == MESSAGES])
        endless = UNLIMITED in (value, before) and not self.faulty("all-ones-are-a-number")
        after = UNLIMITED if endless else min(before + value, UNLIMITED - 1)
        if value == UNLIMITED and not endless:
            after = 1
        setattr(self, _NAMES[unit == MESSAGES], after)

    def completed(self, size_octets: int) -> bool:
        """A transfer was completed, which opens a window; returns whether anything changed."""
        window = (self.mode == WINDOW or self.faulty("credit-comes-back")) and not self.faulty(
            "windows-stay-shut"
        )
        if window and not self.faulty("windows-count-octets-only"):
            self.messages += self.messages != UNLIMITED
        if window and self.octets != UNLIMITED and not self.faulty("windows-count-messages-only"):
            self.octets += size_octets
        return window

    def take_all(self) -> None:
        """Set the credit to zero."""
        self.messages = self.octets = 0

    @property
    def is_zero(self) -> bool:
        """Whether both balances are zero."""
        return not (self.messages or self.octets)


_NAMES = ("octets", "messages")

FAULTS = fault_table("""
credit-ignored: a subscription is sent messages without credit [message/subscribe/initial-credit]
credit-from-the-start: a subscription begins with infinite credit [message/subscribe/initial-credit]
credit-mode-by-default: a subscription begins in credit mode
    [message/subscribe/default-flow-mode message/set-flow-mode/default-flow-mode]
messages-cost-no-credit: message credit is not checked [message/set-flow-mode/credit]
octets-cost-no-credit: octet credit is not checked [message/set-flow-mode/credit]
last-message-may-exceed-credit: a message larger than the octet credit is sent
    [message/set-flow-mode/whole-assemblies message/set-flow-mode/byte-accounting]
flow-without-a-value-gives-none: a flow without a value gives nothing [message/flow/value/unset]
flow-replaces-credit: flow sets the credit to its value [message/flow/adds]
all-ones-are-a-number: a flow of 0xFFFFFFFF gives credit for one message [message/flow/infinite]
credit-comes-back: completion restores credit in credit mode too [message/set-flow-mode/credit]
windows-stay-shut: completion gives nothing back [message/set-flow-mode/window]
windows-count-octets-only: completion gives octets back and no message [message/set-flow-mode/window]
windows-count-messages-only: completion gives a message back and no octets [message/set-flow-mode/window]
""")
