"""Commands: their fields to octets and back, without the frame around them.

Knows: codes, fields, what a command says of the fragment after it. Must not know: frames, states, sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command, Payload
from amqpspec.wire.amqp_fast_0_8.fields import FieldRun, beyond
from amqpspec.wire.errors import EncodeError, WireError, unreadable

_RUNS = {command.name: FieldRun(command.fields) for command in DIALECT.commands}
_SIZE, _ELSEWHERE = "fragment_size", "out_of_band"
_TELLING = {
    command.name: {field.key for field in command.fields} & {_SIZE, _ELSEWHERE}
    for command in DIALECT.commands
    if command.payload is not Payload.NONE
}
"""The fields that say what follows the frame, by the commands that something can follow."""


def decode_arguments(command: Command, octets: bytes) -> dict[str, Any]:
    """The fields of a command by their keys; raises WireError."""
    args: dict[str, Any] = {}
    read_arguments(command, octets, args)
    return args


def read_arguments(command: Command, octets: bytes, args: dict[str, Any]) -> None:
    """Read the fields of a command into ``args``, which keeps what was read before a WireError."""
    end = _RUNS[command.name].read(octets, 0, args)
    if end != len(octets):
        raise beyond("fields", octets, end)


def encode_arguments(name: str, args: Mapping[str, Any]) -> bytes:
    """The fields of a command as octets: see ``FieldRun.write``. Raises KeyError for an unknown command."""
    run = _RUNS[name]
    try:
        return run.write(args, name)
    except EncodeError as error:
        raise EncodeError(f"{name} {error.where}", error.expected, error.actual) from error


def unknown_command(octets: bytes, at: int) -> WireError:
    """The error for a code, at an offset, that the dialect does not have."""
    return unreadable("command", octets, at, f"a command of {DIALECT.id}", f"code {octets[at]}")


def announced_octets(command: Command, args: Mapping[str, Any]) -> int | None:
    """How many octets of a fragment follow the frame; None where too few fields were read to know.

    A fragment that is out of band is not in the stream, whatever its size says.
    """
    needed = _TELLING.get(command.name)
    if needed is None or args.get(_ELSEWHERE):
        return 0
    return int(args[_SIZE]) if needed <= args.keys() else None
