"""The common parts of the 0-9 family, whose dialects differ in tables, ledger and suite.

Knows: where the family's driver, reference broker and layers are. Must not know: any of its dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from amqpspec.reference.server import Connect
    from amqpspec.run.driver import Driver
    from amqpspec.wire.layers import Layers


def driver() -> Driver:
    """Returns the driver of the family, which runs, probes and shows its dialects."""
    from amqpspec.run.methods import driver

    return driver


def reference() -> Connect:
    """Returns the function that makes the reference broker's end of a connection."""
    from amqpspec.reference.methods.inbox import Inbox

    return Inbox


def layers() -> Callable[[str], Layers]:
    """Returns the function that makes scapy layers of a dialect."""
    from amqpspec.wire.methods.scapy_layers import layers_for

    return layers_for
