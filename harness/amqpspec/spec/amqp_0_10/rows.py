"""How the tables of AMQP 0-10 are written, and what its classes have in common.

Knows: arguments, choices and exceptions that several classes share. Must not know: any control or command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amqpspec.spec.assemblies import Command, Control, Domain, Handler, PackedField, Raised, Segments, Struct
from amqpspec.spec.typed import choices

_TYPE_OF: Mapping[str, str] = MappingProxyType(
    {
        "alternate-exchange": "exchange.name",
        "arguments": "map",
        "auto-delete": "bit",
        "command-id": "sequence-no",
        "consumer-tag": "str8",
        "content-encoding": "str8",
        "content-type": "str8",
        "delivery-tag": "uint64",
        "durable": "bit",
        "exchange": "exchange.name",
        "exclusive": "bit",
        "global": "bit",
        "headers": "map",
        "if-unused": "bit",
        "immediate": "bit",
        "mandatory": "bit",
        "no-local": "bit",
        "nowait": "bit",
        "passive": "bit",
        "prefetch-count": "uint16",
        "prefetch-size": "uint32",
        "queue": "queue.name",
        "redelivered": "bit",
        "reply-text": "str8",
        "routing-key": "str8",
        "timestamp": "datetime",
    }
)
"""The type of each argument that nearly always has the same one."""

Argument = PackedField | str
"""A field; one that may be absent and has its usual type is given by its name."""


def optional(name: str, type: str) -> PackedField:
    """A field that may be absent."""
    return PackedField(name, type)


def required(name: str, type: str = "") -> PackedField:
    """A field that must be there, of its usual type if none is given."""
    return PackedField(name, type or _TYPE_OF[name], required=True)


def _fields(arguments: tuple[Argument, ...]) -> tuple[PackedField, ...]:
    return tuple(PackedField(a, _TYPE_OF[a]) if isinstance(a, str) else a for a in arguments)


@dataclass(frozen=True)
class Rows:
    """Makes the rows of one class: its name stands before each name, its code before each code."""

    name: str
    code: int

    def domain(
        self, name: str, type: str, values: Mapping[str, int] | None = None, element: str = ""
    ) -> Domain:
        """A domain; ``values`` are its choices by name."""
        return Domain(f"{self.name}.{name}", type, choices(values or {}), element)

    def struct(self, name: str, code: int, *fields: Argument) -> Struct:
        """A struct that can stand wherever its code announces it."""
        return Struct(f"{self.name}.{name}", _fields(fields), 4, 2, (self.code, code))

    def nested(self, name: str, *fields: Argument) -> Struct:
        """A struct without a code, for fields of its type."""
        return Struct(f"{self.name}.{name}", _fields(fields), 2, 2)

    def control(
        self,
        name: str,
        code: int,
        handlers: tuple[Handler, ...],
        *fields: Argument,
        responses: tuple[str, ...] = (),
    ) -> Control:
        """A control; ``responses`` are controls of the same class."""
        return Control(
            f"{self.name}.{name}", self.code, code, handlers, _fields(fields), self._named(responses)
        )

    def command(
        self,
        name: str,
        code: int,
        handlers: tuple[Handler, ...],
        *fields: Argument,
        responses: tuple[str, ...] = (),
        result: str = "",
        segments: Segments | None = None,
        raises: tuple[Raised, ...] = (),
    ) -> Command:
        """A command; ``responses`` are commands of the same class, ``result`` is a struct of it."""
        return Command(
            f"{self.name}.{name}",
            self.code,
            code,
            handlers,
            _fields(fields),
            self._named(responses),
            f"{self.name}.{result}" if result else "",
            segments,
            raises,
        )

    def _named(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{self.name}.{name}" for name in names)


RETURN_CODES = MappingProxyType({"content-too-large": 311, "no-route": 312, "no-consumers": 313})
"""Why the contents of the classes file and stream return."""

IN_USE = Raised("in-use", "resource-locked", "exclusive")
UNKNOWN_ARGUMENT = Raised("unknown-argument", "not-implemented", "arguments")

RAISED_BY_CONSUME = (
    Raised("queue-exists-if-empty", "not-allowed", "queue"),
    Raised("not-existing-consumer", "not-allowed", "consumer-tag"),
    Raised("not-empty-consumer-tag", "not-allowed", "consumer-tag"),
    IN_USE,
)
"""What is wrong with a new consumer in the classes file and stream."""
