"""What productions of AMQP 1.0 need and give in a sequence.

Knows: a little of what performatives do to sessions, links and deliveries. Must not know: who draws sequences.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.states.model import Turn, turn

_TURNS: Mapping[str, Turn] = {
    "protocol-header/sasl": turn(to="sasl"),
    "sasl/sasl-init": turn(to="authenticated"),
    "sasl/sasl-init/bare": turn(to="authenticated"),
    "protocol-header/amqp": turn(needs="known", to="header"),
    "performative/open/bare": turn(to="open"),
    "frame/empty": turn(),
    "performative/begin": turn(to="session"),
    "performative/begin/bare": turn(to="session"),
    "performative/end": turn(takes="link", to="session-ended"),
    "performative/flow/bare": turn(),
    "performative/disposition": turn(needs="delivery"),
    "performative/disposition/bare": turn(needs="delivery"),
    "performative/detach": turn(needs="attached", takes="attached", to="session"),
    "performative/detach/bare": turn(needs="attached", takes="attached", to="session"),
}
_ATTACHES, _SENDS, _SETTLES = (
    ("performative/attach", "source/", "target/"),
    ("section/", "type/", "composite/"),
    "state/",
)
_APART = ("target/coordinator",)
FACTS: Mapping[str, str] = {
    "authenticated": "known",
    "attached": "attached",
    "consuming": "attached delivery sent",
}
"""What holds at the end of a state's own way."""


def turn_of(production: str) -> Turn | None:
    """The turn of a production; None for one that takes part in no sequence."""
    if production in _APART:
        return None
    if production.startswith(_ATTACHES):
        return turn(lacks="link", gives="link")
    if production.startswith((*_SENDS, "performative/transfer")):
        return turn(needs="attached", lacks="sent", gives="sent")
    if production.startswith(_SETTLES):
        return turn(needs="delivery")
    return _TURNS.get(production)
