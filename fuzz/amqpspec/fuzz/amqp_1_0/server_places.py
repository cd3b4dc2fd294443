"""Where a server's frames are bent for clients of AMQP 1.0.

Knows: scenarios of agents, which frame leads where. Must not know: what is bent.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.clients.part import ServerPlace, instead
from amqpspec.fuzz.grammar import grammar

FAMILIES = ("C01", "C02", "C03", "C04", "C05", "C06", "C07", "C08", "C09", "C11", "C12")
"""All but those about logins, nodes and selectors, which only clients send."""
_ENDS = ("performative/end", "performative/close", "performative/close/bare", "frame/empty")
_ON_LINKS = ("performative/flow", "performative/flow/bare", "performative/detach", *_ENDS)


def server_places() -> Iterator[ServerPlace]:
    """From the protocol header to a delivery."""
    yield instead("server-header", "sasl-header", "connect", "protocol-header/amqp", "protocol-header/sasl")
    yield instead("server-mechanisms", "sasl-mechanisms", "connect", *_named("sasl/sasl-mechanisms"))
    yield instead(
        "server-outcome", "sasl-outcome", "connect", *_named("sasl/sasl-outcome", "sasl/sasl-challenge")
    )
    yield instead("server-open", "open", "connect", *_named("performative/open"), "performative/close")
    yield instead("server-begin", "begin", "send", *_named("server/begin"), *_ENDS)
    yield instead("server-attach", "attach", "send", *_named("server/attach", "source/", "target/"), *_ENDS)
    yield ServerPlace("server-credit", "flow", "send", _ON_LINKS)
    yield instead(
        "server-settled", "disposition", "send", *_named("server/disposition", "server/state/"), *_ENDS
    )
    messages = _named("performative/transfer", "section/", "type/", "composite/")
    yield instead("server-transfer", "transfer", "receive", *messages, *_ON_LINKS)


def _named(*starts: str) -> tuple[str, ...]:
    return tuple(name for name in grammar("amqp-1-0") if name.startswith(starts))
