"""States of a conversation: the legal way into each, as data, and what may legally follow.

Knows: what is sent to reach a state, and what to wait for. Must not know: sockets, time, how a target answers.

A way is written as the specification writes it (``C:OPEN S:OPEN-OK``). What depends on the target (login, virtual
host, names, limits that it offered) is a slot, filled in when the way is sent. Each state shares its beginning with
the state that it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache

from fuzz.grammar import Grammar, grammar, tables
from harness.spec.model import MethodDialect, Side


class Slot(StrEnum):
    """What a way leaves open until the target is known."""

    PLAIN = "response of mechanism PLAIN"
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

    def of(self, slot: Slot) -> str | bytes | int:
        """What stands in a slot."""
        filling: dict[Slot, str | bytes | int] = {
            Slot.PLAIN: f"\0{self.user}\0{self.password}".encode(),
            Slot.VHOST: self.vhost,
            Slot.QUEUE: self.queue,
            Slot.CHANNEL_MAX: self.channel_max,
            Slot.FRAME_MAX: self.frame_max_octets,
            Slot.HOSTNAME: self.hostname,
            Slot.CONTAINER: self.container,
        }
        return filling[slot]


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


@dataclass(frozen=True, slots=True)
class Step:
    """What is sent at once, and what is waited for then.

    ``wait_for`` names the answers (``connection.tune``, ``attach``, ``header``) that have to arrive, in this order but
    not one right behind the other; with none, the next step follows at once.
    """

    says: tuple[Say, ...]
    wait_for: tuple[str, ...] = ()

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


def octets_of_step(dialect_id: str, step: Step, values: Values) -> bytes:
    """What a step sends, slots filled in."""
    return b"".join(_renderer(dialect_id)(say, values) for say in step.says)


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
        from fuzz.states_methods import renderer

        return renderer(dialect_id)
    from fuzz.states_types import renderer as typed_renderer

    return typed_renderer(dialect_id)


@cache
def states(dialect_id: str) -> Mapping[str, State]:
    """The states of a dialect by name, in the order of a conversation."""
    dialect = tables(dialect_id)
    if isinstance(dialect, MethodDialect):
        from fuzz.states_methods import states_of

        found = states_of(dialect_id, dialect)
    else:
        from fuzz.states_types import states_of as typed_states_of

        found = typed_states_of()
    known = grammar(dialect_id)
    return {state.name: _only_known(state, known) for state in found}


def _only_known(state: State, known: Grammar) -> State:
    """A state whose next productions are those that the dialect has; a way may name more than one dialect has."""
    return replace(state, next=tuple(name for name in state.next if name in known))


def from_client(dialect_id: str, name: str) -> bool:
    """Whether a production may come from a client."""
    return grammar(dialect_id)[name].sent_by is not Side.SERVER
