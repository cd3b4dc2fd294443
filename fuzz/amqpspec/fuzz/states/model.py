"""States of a conversation as data: how to reach one, what may legally follow, what an input leaves.

Knows: the words in which ways are written. Must not know: any dialect, sockets, time, how a target answers.

A way is written as the specification writes it (``C:OPEN S:OPEN-OK``). What depends on the target (login, virtual
host, names, limits that it offered) is a slot, filled in when the way is sent. Each state shares its beginning with
the state that it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter


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
    USER = "user of the login"
    PASSWORD = "password of the login"
    NEXT_INCOMING = "number of the first transfer that the target will send"
    DELIVERY_COUNT = "number of the first delivery of the link that the target will send"


@dataclass(frozen=True, slots=True)
class Values:
    """The values of slots; ``queue`` and ``container`` differ for each connection."""

    user: str = "guest"
    password: str = "guest"
    vhost: str = "/"
    queue: str = "amqpspec.fuzz.q"
    channel_max: int = 2047
    frame_max_octets: int = 131_072
    hostname: str = "localhost"
    container: str = "amqpspec-fuzz"
    mechanism: str = "PLAIN"
    next_incoming: int = 0
    delivery_count: int = 0

    def of(self, slot: Slot) -> str | bytes | int:
        """What is in a slot."""
        value: str | bytes | int = _FILLING[slot](self)
        return value

    @property
    def response(self) -> bytes:
        """The initial response of the mechanism."""
        if self.mechanism == "PLAIN":
            return f"\0{self.user}\0{self.password}".encode()
        if self.mechanism == "AMQPLAIN":
            return _long_string(b"LOGIN", self.user) + _long_string(b"PASSWORD", self.password)
        return self.user.encode() if self.mechanism == "ANONYMOUS" else b""


def _long_string(name: bytes, text: str) -> bytes:
    """An entry of a field table: AMQPLAIN's response is a table of two without its size."""
    octets = text.encode()
    return bytes((len(name),)) + name + b"S" + len(octets).to_bytes(4, "big") + octets


def with_names(values: Values, queue: str, container: str) -> Values:
    """Values with new unique names; each connection calls it, so it has to be cheap."""
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
        v.next_incoming,
        v.delivery_count,
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
    Slot.USER: attrgetter("user"),
    Slot.PASSWORD: attrgetter("password"),
    Slot.NEXT_INCOMING: attrgetter("next_incoming"),
    Slot.DELIVERY_COUNT: attrgetter("delivery_count"),
}

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
    not one directly after the other; with none, the next step follows at once.
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
    negotiated, if it negotiates them itself. Where ``judged``, the ledger may say something of what is sent next.
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


@dataclass(frozen=True, slots=True)
class Traces:
    """What octets leave behind.

    ``whole``: the last octet ends a frame; ``sound``: no frame is wrong by itself, and none carries content;
    ``owes``: something in them asks for an answer; ``moves``: something in them is about the connection as a whole.
    """

    whole: bool = False
    sound: bool = False
    owes: bool = True
    moves: bool = True
    names: tuple[str, ...] = ()
    channels: frozenset[int] = frozenset()


BROKEN = Traces()
"""Octets that end in the middle of a frame, or cannot be cut into frames."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What one frame leaves behind; see ``Traces``."""

    name: str
    channel: int
    sound: bool
    owes: bool
    moves: bool = False


def traces_of(signs: Sequence[Sign]) -> Traces:
    """What frames leave behind together, the last of which is whole."""
    return Traces(
        True,
        all(sign.sound for sign in signs),
        any(sign.owes for sign in signs),
        any(sign.moves for sign in signs),
        tuple(sign.name for sign in signs),
        frozenset(sign.channel for sign in signs),
    )


@dataclass(frozen=True, slots=True)
class Exchange:
    """A legal exchange on a separate channel; ``leaves_open`` says whether the channel is open after it."""

    steps: tuple[Step, ...] = ()
    leaves_open: bool = False


@dataclass(frozen=True, slots=True)
class HandshakeRules:
    """What the follow-up of an input has to know of a handshake and of single states.

    ``opened_by`` is the answer after which a connection is open; without one, no question follows inputs. ``ends``:
    what ends a connection; ``life``: signs of life, which ask for nothing. Of states: in those of ``mute`` nothing
    more may be said, in ``filled`` ones a broker may stop reading, in ``half_said`` ones no way leads back,
    ``answered`` ones have asked for the first answer without waiting for it, and in ``all_but_last`` ones only the
    last thing of the handshake is left to say. ``said_by`` are inputs, by state and name, that leave only the last
    thing to say, each with the answer that has to have arrived before (or none).
    """

    opened_by: str = ""
    ends: frozenset[str] = frozenset()
    life: frozenset[str] = frozenset()
    mute: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    half_said: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    all_but_last: frozenset[str] = frozenset()
    said_by: Mapping[tuple[str, str], str] = field(default_factory=dict)


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
        """The facts after it."""
        return (facts - self.takes) | self.gives


def turn(*, needs: str = "", lacks: str = "", gives: str = "", takes: str = "", to: str = "") -> Turn:
    """A turn whose facts are written as words."""
    return Turn(
        frozenset(needs.split()),
        frozenset(lacks.split()),
        frozenset(gives.split()),
        frozenset(takes.split()),
        to,
    )
