"""States of a conversation: the legal way into each, as data, and what may legally follow.

Knows: what is sent to reach a state, and what to wait for. Must not know: sockets, time, how a target answers.

A way is written as the specification writes it (``C:OPEN S:OPEN-OK``). What depends on the target (login, virtual
host, names, limits that it offered) is a slot, filled in when the way is sent. Each state shares its beginning with
the state that it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from operator import attrgetter

from amqpspec.fuzz.grammar import Grammar, grammar, tables
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Side


class Slot(StrEnum):
    """What a way leaves open until the target is known."""

    MECHANISM = "mechanism of the login"
    RESPONSE = "first response of that mechanism"
    VHOST = "virtual host"
    QUEUE = "name of a queue of one's own"
    CHANNEL_MAX = "channel-max that the target offered"
    FRAME_MAX = "frame-max that the target offered"
    HOSTNAME = "host name of the target"
    CONTAINER = "container id, another one for each connection"


@dataclass(frozen=True, slots=True)
class Values:
    """What fills the slots; of one's own for each connection are ``queue`` and ``container``."""

    user: str = "guest"
    password: str = "guest"
    vhost: str = "/"
    queue: str = "amqpspec.fuzz.q"
    channel_max: int = 2047
    frame_max_octets: int = 131_072
    hostname: str = "localhost"
    container: str = "amqpspec-fuzz"
    mechanism: str = "PLAIN"

    def of(self, slot: Slot) -> str | bytes | int:
        """What stands in a slot."""
        value: str | bytes | int = _FILLING[slot](self)
        return value

    @property
    def response(self) -> bytes:
        """What the mechanism has to be told at first."""
        if self.mechanism == "PLAIN":
            return f"\0{self.user}\0{self.password}".encode()
        if self.mechanism == "AMQPLAIN":
            from amqpspec.fuzz.methods.states import amqplain

            return amqplain(self.user, self.password)
        return self.user.encode() if self.mechanism == "ANONYMOUS" else b""


def with_names(values: Values, queue: str, container: str) -> Values:
    """Values with other names of one's own; each connection has its own, so it has to be cheap."""
    v = values
    return Values(
        v.user,
        v.password,
        v.vhost,
        queue,
        v.channel_max,
        v.frame_max_octets,
        v.hostname,
        container,
        v.mechanism,
    )


_FILLING: dict[Slot, Callable[[Values], str | bytes | int]] = {
    Slot.MECHANISM: attrgetter("mechanism"),
    Slot.RESPONSE: attrgetter("response"),
    Slot.VHOST: attrgetter("vhost"),
    Slot.QUEUE: attrgetter("queue"),
    Slot.CHANNEL_MAX: attrgetter("channel_max"),
    Slot.FRAME_MAX: attrgetter("frame_max_octets"),
    Slot.HOSTNAME: attrgetter("hostname"),
    Slot.CONTAINER: attrgetter("container"),
}

MECHANISMS = (
    ("PLAIN", "AMQPLAIN", "ANONYMOUS", "EXTERNAL"),
    ("PLAIN", "ANONYMOUS", "EXTERNAL", "NONE"),
)
"""Mechanisms of one response, in the 0-9 family and in AMQP 1.0; NONE is a way without the security layer."""


Argument = object
"""A plain value, a slot, or pairs of names and arguments for what has fields of its own."""


@dataclass(frozen=True, slots=True)
class Say:
    """One thing that the client sends: a method or performative by name with its arguments, or octets."""

    words: str
    name: str = ""
    channel: int = 0
    args: tuple[tuple[str, Argument], ...] = ()
    octets: bytes = b""


@dataclass(frozen=True)
class Step:
    """What is sent at once, and what is waited for then.

    ``wait_for`` names the answers (``connection.tune``, ``attach``, ``header``) that have to arrive, in this order but
    not one right behind the other; with none, the next step follows at once.
    """

    says: tuple[Say, ...]
    wait_for: tuple[str, ...] = ()

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What it leaves open, however deep."""
        return tuple(dict.fromkeys(slot for say in self.says for slot in _slots_in(say.args)))

    @property
    def words(self) -> str:
        """``C:OPEN S:OPEN-OK``."""
        return " ".join(
            [f"C:{say.words}" for say in self.says] + [f"S:{name.upper()}" for name in self.wait_for]
        )


@dataclass(frozen=True, slots=True)
class State:
    """A point of a conversation: how to get there, and which productions may legally come next.

    ``channels`` are open, and ``handles`` attached, on what the client sends. The limits are those that the way has
    settled, where it settles them by itself. Where ``judged``, the ledger may say something of what is sent next.
    """

    name: str
    steps: tuple[Step, ...]
    next: tuple[str, ...]
    channels: frozenset[int] = frozenset()
    handles: frozenset[int] = frozenset()
    frame_max_octets: int | None = None
    channel_max: int | None = None
    judged: bool = field(default=False, kw_only=True)

    @property
    def words(self) -> str:
        """The whole way on one line."""
        return " ".join(step.words for step in self.steps)


Render = Callable[[Say, Values], bytes]
_KEPT_STEPS = 4096
_rendered: dict[tuple[object, ...], tuple[Step, bytes]] = {}
"""By the step's identity, which is its own as long as the step is kept beside the octets: hashing it takes longer."""


def way(dialect_id: str, name: str, mechanism: str = "PLAIN") -> tuple[Step, ...]:
    """The steps into a state for a login by a mechanism: NONE leaves the security layer out behind which states lie."""
    steps = states(dialect_id)[name].steps
    if mechanism != "NONE" or not any("sasl-outcome" in step.wait_for for step in steps):
        return steps
    return tuple(step for step in steps if not all("SASL" in say.words for say in step.says))


def octets_of_step(dialect_id: str, step: Step, values: Values) -> bytes:
    """What a step sends, slots filled in; kept, as long as the same stands in them."""
    key = (dialect_id, id(step), *[values.of(slot) for slot in step.slots])
    kept = _rendered.get(key)
    if kept is None or kept[0] is not step:
        if len(_rendered) >= _KEPT_STEPS:
            _rendered.clear()
        kept = _rendered[key] = (step, b"".join(_renderer(dialect_id)(say, values) for say in step.says))
    return kept[1]


def _slots_in(value: object) -> Iterator[Slot]:
    if isinstance(value, Slot):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _slots_in(part)


def filled(args: tuple[tuple[str, Argument], ...], values: Values) -> dict[str, object]:
    """Arguments with their slots filled in, those of nested parts too."""
    return {name: _filled(value, values) for name, value in args}


def _filled(value: object, values: Values) -> object:
    if isinstance(value, Slot):
        return values.of(value)
    return filled(value, values) if isinstance(value, tuple) else value


@cache
def _renderer(dialect_id: str) -> Render:
    if isinstance(tables(dialect_id), MethodDialect):
        from amqpspec.fuzz.methods.states import renderer

        return renderer(dialect_id)
    from amqpspec.fuzz.amqp_1_0.states import renderer as typed_renderer

    return typed_renderer(dialect_id)


@cache
def states(dialect_id: str) -> Mapping[str, State]:
    """The states of a dialect by name, in the order of a conversation."""
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        from amqpspec.fuzz.methods.states import states_of

        found = states_of(dialect_id, dialect)
    else:
        from amqpspec.fuzz.amqp_1_0.states import states_of as typed_states_of

        found = typed_states_of()
    known = grammar(dialect_id)
    return {state.name: _only_known(state, known) for state in found}


def _only_known(state: State, known: Grammar) -> State:
    """A state whose next productions are those that the dialect has; a way may name more than one dialect has."""
    return replace(state, next=tuple(name for name in state.next if name in known))


def from_client(dialect_id: str, name: str) -> bool:
    """Whether a production may come from a client."""
    return grammar(dialect_id)[name].sent_by is not Side.SERVER
