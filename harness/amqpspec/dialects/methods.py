"""What the dialects of the 0-9 family share: they differ in tables, ledger and suite.

Knows: where the family's driver, reference broker and layers stand. Must not know: any of its dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from amqpspec.reference.server import Connect
    from amqpspec.run.driver import Driver
    from amqpspec.wire.layers import Layers


def driver() -> Driver:
    """How dialects of classes and methods are driven, probed and shown."""
    from amqpspec.run.methods import driver

    return driver


def reference() -> Connect:
    """What makes the reference broker's end of a connection."""
    from amqpspec.reference.methods.inbox import connect

    return connect


def layers() -> Callable[[str], Layers]:
    """What makes scapy layers of a dialect."""
    from amqpspec.wire.methods.scapy_layers import layers_for

    return layers_for
