"""How peers tell who they are: AMQP 1.0, Part 5.

Knows: SASL frames and outcomes.
Must not know: how any of it is encoded, and what is demanded of it.
"""

from __future__ import annotations

from amqpspec.spec.typed import Choice, Composite, Restricted, TypedField

SASL = (
    Composite(
        "sasl-mechanisms",
        "amqp:sasl-mechanisms:list",
        0x40,
        (TypedField("sasl-server-mechanisms", "symbol", mandatory=True, multiple=True),),
        provides=("sasl-frame",),
    ),
    Composite(
        "sasl-init",
        "amqp:sasl-init:list",
        0x41,
        (
            TypedField("mechanism", "symbol", mandatory=True),
            TypedField("initial-response", "binary"),
            TypedField("hostname", "string"),
        ),
        provides=("sasl-frame",),
    ),
    Composite(
        "sasl-challenge",
        "amqp:sasl-challenge:list",
        0x42,
        (TypedField("challenge", "binary", mandatory=True),),
        provides=("sasl-frame",),
    ),
    Composite(
        "sasl-response",
        "amqp:sasl-response:list",
        0x43,
        (TypedField("response", "binary", mandatory=True),),
        provides=("sasl-frame",),
    ),
    Composite(
        "sasl-outcome",
        "amqp:sasl-outcome:list",
        0x44,
        (
            TypedField("code", "sasl-code", mandatory=True),
            TypedField("additional-data", "binary"),
        ),
        provides=("sasl-frame",),
    ),
    Restricted(
        "sasl-code",
        "ubyte",
        choices=(
            Choice("ok", 0),
            Choice("auth", 1),
            Choice("sys", 2),
            Choice("sys-perm", 3),
            Choice("sys-temp", 4),
        ),
    ),
)
"""What SASL frames carry, by descriptor, and the code of an outcome."""
