"""Which productions may follow which: legal sequences behind a state, by what each needs, gives and takes away.

Knows: productions, states, a little of what methods do to queues, links and deliveries. Must not know: who draws them.

The states say what may come next in each of them; a turn says where a production leads, and what has to be there. A
production without a turn ends nothing and begins nothing here: it is left out, as are those whose sample names what no
broker needs to have (a host, a coordinator, classes that hardly any broker has).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.states.ways import State, states
from amqpspec.spec.methods import MethodDialect

Facts = frozenset[str]


@dataclass(frozen=True, slots=True)
class Turn:
    """What one production needs, must not find, gives and takes; ``to`` is the state that it leads to."""

    needs: Facts = frozenset()
    lacks: Facts = frozenset()
    gives: Facts = frozenset()
    takes: Facts = frozenset()
    to: str = ""

    def fits(self, facts: Facts) -> bool:
        """Whether it may come where these facts hold."""
        return self.needs <= facts and not self.lacks & facts

    def after(self, facts: Facts) -> Facts:
        """The facts behind it."""
        return (facts - self.takes) | self.gives


def _turn(*, needs: str = "", lacks: str = "", gives: str = "", takes: str = "", to: str = "") -> Turn:
    return Turn(
        frozenset(needs.split()),
        frozenset(lacks.split()),
        frozenset(gives.split()),
        frozenset(takes.split()),
        to,
    )


_METHODS: Mapping[str, Turn] = {
    "protocol-header": _turn(to="start"),
    "method/connection.start-ok": _turn(to="tune"),
    "method/connection.tune-ok": _turn(to="open"),
    "method/connection.open": _turn(to="ready"),
    "frame/heartbeat": _turn(),
    "method/channel.open": _turn(lacks="channel", gives="channel", to="channel"),
    "method/channel.flow": _turn(),
    "method/access.request": _turn(),
    "method/exchange.declare": _turn(gives="exchange"),
    "method/exchange.delete": _turn(needs="exchange", takes="exchange"),
    "method/exchange.bind": _turn(),
    "method/exchange.unbind": _turn(),
    "method/queue.declare": _turn(gives="queue"),
    "method/queue.bind": _turn(needs="queue"),
    "method/queue.unbind": _turn(needs="queue"),
    "method/queue.purge": _turn(needs="queue"),
    "method/queue.delete": _turn(needs="queue", takes="queue consumer"),
    "method/basic.qos": _turn(),
    "method/basic.consume": _turn(needs="queue", lacks="consumer", gives="consumer"),
    "method/basic.cancel": _turn(needs="consumer", takes="consumer"),
    "method/basic.get": _turn(needs="queue"),
    "content/basic.publish": _turn(),
    "method/basic.ack": _turn(needs="delivery", takes="delivery"),
    "method/basic.nack": _turn(needs="delivery", takes="delivery"),
    "method/basic.reject": _turn(needs="delivery", takes="delivery"),
    "method/basic.recover": _turn(takes="delivery"),
    "method/basic.recover-async": _turn(takes="delivery"),
    "method/tx.select": _turn(lacks="confirms", gives="tx"),
    "method/tx.commit": _turn(needs="tx"),
    "method/tx.rollback": _turn(needs="tx", takes="delivery"),
    "method/confirm.select": _turn(lacks="tx", gives="confirms"),
    "header/basic": _turn(to="body"),
    "header/basic/bare": _turn(to="body"),
    "body": _turn(to="channel"),
}
_TYPES: Mapping[str, Turn] = {
    "protocol-header/sasl": _turn(to="sasl"),
    "sasl/sasl-init": _turn(to="authenticated"),
    "sasl/sasl-init/bare": _turn(to="authenticated"),
    "protocol-header/amqp": _turn(needs="known", to="header"),
    "performative/open/bare": _turn(to="open"),
    "frame/empty": _turn(),
    "performative/begin": _turn(to="session"),
    "performative/begin/bare": _turn(to="session"),
    "performative/end": _turn(takes="link", to="session-ended"),
    "performative/flow/bare": _turn(),
    "performative/disposition": _turn(needs="delivery"),
    "performative/disposition/bare": _turn(needs="delivery"),
    "performative/detach": _turn(needs="attached", takes="attached", to="session"),
    "performative/detach/bare": _turn(needs="attached", takes="attached", to="session"),
}
_ATTACHES, _SENDS, _SETTLES = (
    ("performative/attach", "source/", "target/"),
    ("section/", "type/", "composite/"),
    "state/",
)
_APART = ("target/coordinator",)
_HELD: Mapping[str, Mapping[str, str]] = {
    "methods": {
        "channel": "channel", "consuming": "channel consumer delivery", "content": "channel", "body": "channel",
        "limits": "channel",
    },
    "types": {"authenticated": "known", "attached": "attached", "consuming": "attached delivery sent"},
}  # fmt: skip
"""What holds at the end of a state's own way."""

_LAST = frozenset({"closing"})
"""States in which there is nothing to go on with."""


def turn_of(dialect_id: str, production: str) -> Turn | None:
    """The turn of a production; None for one that is left out."""
    if isinstance(tables(dialect_id), MethodDialect):
        return _METHODS.get(production)
    if production in _APART:
        return None
    if production.startswith(_ATTACHES):
        return _turn(lacks="link", gives="link")
    if production.startswith((*_SENDS, "performative/transfer")):
        return _turn(needs="attached", lacks="sent", gives="sent")
    if production.startswith(_SETTLES):
        return _turn(needs="delivery")
    return _TYPES.get(production)


def beginnings(dialect_id: str) -> tuple[State, ...]:
    """The states behind which a sequence may begin."""
    return tuple(
        s
        for s in states(dialect_id).values()
        if s.name not in _LAST and choices(dialect_id, s.name, facts_in(dialect_id, s))
    )


def facts_in(dialect_id: str, state: State) -> Facts:
    """What holds when a state has been reached by its own way."""
    family = "methods" if isinstance(tables(dialect_id), MethodDialect) else "types"
    return frozenset(_HELD[family].get(state.name, "").split())


def choices(dialect_id: str, state: str, facts: Facts) -> list[str]:
    """The productions that may come next in a state where facts hold."""
    found = []
    for name in states(dialect_id)[state].next:
        turn = turn_of(dialect_id, name)
        if turn is not None and turn.fits(facts):
            found.append(name)
    return found
