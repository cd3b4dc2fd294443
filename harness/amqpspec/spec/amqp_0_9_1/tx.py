"""The tx class (90): select, commit, rollback.

Knows: its methods, none of which has arguments.
Must not know: what a transaction holds.
"""

from __future__ import annotations

from amqpspec.spec.methods import AmqpClass, Method
from amqpspec.spec.model import Side

CLASS = AmqpClass(
    name="tx",
    index=90,
    methods=(
        Method("tx.select", 90, 10, Side.CLIENT, replies=("tx.select-ok",), synchronous=True),
        Method("tx.select-ok", 90, 11, Side.SERVER, synchronous=True),
        Method("tx.commit", 90, 20, Side.CLIENT, replies=("tx.commit-ok",), synchronous=True),
        Method("tx.commit-ok", 90, 21, Side.SERVER, synchronous=True),
        Method("tx.rollback", 90, 30, Side.CLIENT, replies=("tx.rollback-ok",), synchronous=True),
        Method("tx.rollback-ok", 90, 31, Side.SERVER, synchronous=True),
    ),
)
