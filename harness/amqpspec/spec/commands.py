"""The vocabulary of a protocol made of commands on three levels: layout, types, commands, options, codes, states.

Knows: what a row of such a protocol is, and what follows from it. Must not know: how any of it is encoded or judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from amqpspec.spec.framing import Counts, Greeting, Layout
from amqpspec.spec.methods import TypeTag
from amqpspec.spec.model import Dialect, Keyed, Side

CONFIRM_TAG = "confirm-tag"
"""The field by which a client asks for a confirmation; zero asks for none."""


class Tier(StrEnum):
    """What a command works on; each has its own open, reply and close."""

    CONNECTION = "connection"
    CHANNEL = "channel"
    HANDLE = "handle"


class Payload(StrEnum):
    """What follows a command, outside its frame, in as many octets as ``fragment-size`` says."""

    NONE = "none"
    FRAGMENT = "fragment"
    HEAD = "head"


class Severity(StrEnum):
    """What the first digit of a reply code says."""

    PENDING = "pending"
    DONE = "done"
    MORE_NEEDED = "more needed"
    TEMPORARY = "temporary failure"
    PERMANENT = "permanent failure"


class Area(StrEnum):
    """What the second digit of a reply code says."""

    SYNTAX = "syntax"
    GENERAL = "general"
    SESSION = "session"
    SECURITY = "security"
    IMPLEMENTATION = "implementation"


@dataclass(frozen=True, slots=True)
class WireType:
    """A type of fields: ``octets`` wide, or as long as a length of ``length_octets`` says.

    Where both are zero the type is a bit: adjacent bits share an octet, the first of them in the lowest place.
    """

    name: str
    octets: int = 0
    length_octets: int = 0

    @property
    def is_bit(self) -> bool:
        """Whether fields of this type share octets."""
        return not (self.octets or self.length_octets)


@dataclass(frozen=True, slots=True)
class CommandField(Keyed):
    """One field of a command or of the message head; the bounds are those of the text, if it has any."""

    name: str
    type: str
    at_least: int = 0
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One command; ``name`` is ``handle.send`` for what the text calls HANDLE SEND.

    ``answers`` are the commands that a partner may send because of it, apart from confirmations and closes;
    ``answered_by`` narrows this where only one side answers a command that both send.
    """

    name: str
    code: int
    sent_by: Side
    fields: tuple[CommandField, ...] = ()
    answers: tuple[str, ...] = ()
    answered_by: Side = Side.BOTH
    payload: Payload = Payload.NONE

    @property
    def tier(self) -> Tier:
        """What the command works on."""
        return Tier(self.name.partition(".")[0])

    @property
    def title(self) -> str:
        """The name as the text writes it: ``HANDLE SEND``."""
        return self.name.replace(".", " ").upper()

    @property
    def confirmed_by(self) -> str:
        """The command that confirms this one where its confirm-tag asks for it; empty if it has none."""
        asks = any(field.name == CONFIRM_TAG for field in self.fields)
        reply = f"{self.tier}.reply"
        return reply if asks and self.name != reply else ""


@dataclass(frozen=True)
class CommandLayout(Layout):
    """The octets around the fields of a command, and the limits of frames.

    The size counts what follows it: code, fields and end octet. What a frame is, its code says. No first frame begins
    as the greeting does, since frames are limited to ``max_login_frame_octets`` before login.
    """

    header: tuple[tuple[str, int], ...]
    long_size_octets: int = field()
    end: int = field()
    min_frame_max_octets: int
    max_login_frame_octets: int
    greeting: Greeting = field()

    counts = Counts.REST
    types = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TuneOption:
    """One option of tuning: who may send it, what it counts, what zero means (empty: zero is not allowed)."""

    name: str
    sent_by: Side
    counts: str
    zero: str = ""
    at_least: int = 0


@dataclass(frozen=True, slots=True)
class ServiceType:
    """One kind of destination as SEND and CONSUME name it."""

    name: str
    value: int
    consumable: bool = True


@dataclass(frozen=True, slots=True)
class ReplyCode:
    """One reply code; its digits say how bad it is and what it is about, so that an unknown one can be handled."""

    name: str
    value: int

    @property
    def severity(self) -> Severity:
        """What the first digit says."""
        return tuple(Severity)[self.value // 100 - 1]

    @property
    def area(self) -> Area:
        """What the second digit says."""
        return tuple(Area)[self.value // 10 % 10]


@dataclass(frozen=True, slots=True)
class Step:
    """One arrow of a state machine: in ``state``, ``command`` from ``sent_by`` leads to ``then``.

    ``when`` names the field that has to be set for it, here or in the command that opened the resource; with ``not``
    before it, the field has to be zero.
    """

    machine: str
    state: str
    sent_by: Side
    command: str
    then: str
    when: str = ""


@dataclass(frozen=True)
class CommandDialect(Dialect):
    """A protocol of commands on connection, channels and handles, as data."""

    layout: CommandLayout
    types: tuple[WireType, ...]
    commands: tuple[Command, ...]
    message_head: tuple[CommandField, ...]
    table_tags: tuple[TypeTag, ...]
    tune_options: tuple[TuneOption, ...]
    service_types: tuple[ServiceType, ...]
    reply_codes: tuple[ReplyCode, ...]
    steps: tuple[Step, ...]

    @property
    def family(self) -> str:
        """Commands in frames, with messages between the frames."""
        return "commands"

    @property
    def greeting(self) -> Greeting:
        """Two octets, the client's only."""
        return self.layout.greeting

    @cached_property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """Reply codes by name, but for success."""
        return {c.name: c.value for c in self.reply_codes if c.severity is not Severity.DONE}

    def code_name(self, code: int | str) -> str:
        """``505 handle-error``: a reply code as people say it; an unknown one stays a number."""
        name = next((c.name for c in self.reply_codes if c.value == code), "")
        return f"{code} {name}".rstrip()

    @cached_property
    def types_by_name(self) -> Mapping[str, WireType]:
        """Every type by name."""
        return {t.name: t for t in self.types}

    @cached_property
    def commands_by_name(self) -> Mapping[str, Command]:
        """Every command by name."""
        return {c.name: c for c in self.commands}

    @cached_property
    def commands_by_code(self) -> Mapping[int, Command]:
        """Every command by code."""
        return {c.code: c for c in self.commands}

    def sendable(self, side: Side) -> Iterator[Command]:
        """The commands that one side may send."""
        return (c for c in self.commands if c.sent_by in (side, Side.BOTH))

    def answers(self, command: str, side: Side) -> tuple[str, ...]:
        """The commands by which ``side`` may answer what it received: answers proper, then the confirmation."""
        received = self.commands_by_name[command]
        if received.answered_by not in (side, Side.BOTH):
            return ()
        own = {c.name for c in self.sendable(side)}
        named = dict.fromkeys((*received.answers, received.confirmed_by))
        return tuple(name for name in named if name in own)
