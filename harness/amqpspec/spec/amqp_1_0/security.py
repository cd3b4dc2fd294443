"""How peers tell who they are: AMQP 1.0, Part 5.

Knows: SASL frames and outcomes.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.amqp_1_0.rows import composite, required
from amqpspec.spec.typed import Restricted, TypedField, choices

SASL = (
    composite(
        "sasl-mechanisms",
        0x40,
        TypedField("sasl-server-mechanisms", "symbol", mandatory=True, multiple=True),
        provides=("sasl-frame",),
    ),
    composite(
        "sasl-init",
        0x41,
        required("mechanism", "symbol"),
        TypedField("initial-response", "binary"),
        TypedField("hostname", "string"),
        provides=("sasl-frame",),
    ),
    composite("sasl-challenge", 0x42, required("challenge", "binary"), provides=("sasl-frame",)),
    composite("sasl-response", 0x43, required("response", "binary"), provides=("sasl-frame",)),
    composite(
        "sasl-outcome",
        0x44,
        required("code", "sasl-code"),
        TypedField("additional-data", "binary"),
        provides=("sasl-frame",),
    ),
    Restricted(
        "sasl-code", "ubyte", choices=choices({"ok": 0, "auth": 1, "sys": 2, "sys-perm": 3, "sys-temp": 4})
    ),
)
"""What SASL frames carry, by descriptor, and the code of an outcome."""
