"""Who a target says that it is: before anybody has logged in, or, in AMQP 1.0, in its open.

Knows: where a server's properties stand. Must not know: what is made of a name.
"""

from __future__ import annotations

from contextlib import suppress

from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.run.driver import text
from amqpspec.spec.dialects import widest
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import codec_for

_TIMEOUT_S = 10.0


def announced(subject: Subject) -> tuple[str, str]:
    """Product and version; empty where the target does not say."""
    with (
        suppress(Unanswered, WireError, KeyError),
        Client(subject.address, subject.dialect, subject.values, _TIMEOUT_S) as client,
    ):
        said = client.enter("start" if subject.is_methods else "open")
        if said is not None and not subject.is_methods:
            return said.product, said.version
        if said is not None:
            properties = codec_for(widest(subject.dialect)).decode_method(said.payload)["server-properties"]
            return text(properties.get("product")), text(properties.get("version"))
    return "", ""
