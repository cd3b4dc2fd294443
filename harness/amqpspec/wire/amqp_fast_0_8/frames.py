"""Frames of AMQP/Fast: octets in, commands out, each with the fragment after it; commands to octets, legal or not.

Knows: the frame layout, and that fragments stand between frames. Must not know: states, sockets, time.
Bounded: a frame or a fragment that announces more than ``max_size`` is an error before the rest of it is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command
from amqpspec.wire.amqp_fast_0_8.commands import (
    announced_octets,
    encode_arguments,
    read_arguments,
    unknown_command,
)
from amqpspec.wire.errors import Kind, WireError
from amqpspec.wire.framing import Reader, encode
from amqpspec.wire.greeting import ProtocolHeader

LAYOUT = DIALECT.layout
_CODE = [name for name, _ in LAYOUT.header].index("code")
_BEGINS_OCTETS = sum(width for _, width in LAYOUT.long_header) + 1


class CommandFrame(NamedTuple):
    """One frame with its command, and the fragment after it; ``offset`` is where the frame began in the stream.

    ``args`` are fields by their keys (``handle_id``). Where ``error`` says why the frame cannot be read, they are as
    many as could be. ``fields`` are the octets between code and end octet.
    """

    code: int
    args: Mapping[str, Any]
    fields: bytes = b""
    fragment: bytes = b""
    offset: int = 0
    error: WireError | None = None

    @property
    def command(self) -> Command | None:
        """The row of the command; None for an unknown code."""
        return DIALECT.commands_by_code.get(self.code)

    @property
    def name(self) -> str:
        """The command's name, or ``command-N``."""
        return self.command.name if self.command else f"command-{self.code}"

    @property
    def announced(self) -> int:
        """How many octets of a fragment follow the frame."""
        command = self.command
        return (announced_octets(command, self.args) or 0) if command else 0


# --- writing


def encode_frame(
    code: int, fields: bytes = b"", *, size: int | None = None, end: int | None = None, escaped: bool = False
) -> bytes:
    """A frame of any code and any octets; ``size`` and ``end`` may be wrong if they are given.

    ``escaped``: the size takes its long form though the short one would do. EncodeError for what does not fit.
    """
    return encode(LAYOUT, {"code": code}, fields, size=size, end=end, escaped=escaped)


def command_frame(
    command: str,
    /,
    *,
    fragment: bytes = b"",
    extra: bytes = b"",
    code: int | None = None,
    size: int | None = None,
    end: int | None = None,
    escaped: bool = False,
    **fields: Any,
) -> bytes:
    """A command as a frame, with the fragment after it; ``fragment_size`` is the fragment's unless it is given.

    ``extra`` octets stand between the last field and the end octet; ``code`` takes the place of the command's own;
    ``size``, ``end`` and ``escaped`` are as in ``encode_frame``. Raises KeyError, TypeError, EncodeError.
    """
    row = DIALECT.commands_by_name[command]
    sized = {"fragment_size": len(fragment), **fields} if fragment else fields
    octets = encode_arguments(command, sized) + extra
    number = row.code if code is None else code
    return encode_frame(number, octets, size=size, end=end, escaped=escaped) + fragment


# --- reading


class CommandReader(Reader[CommandFrame]):
    """An incremental reader of one direction of a connection: see ``Reader``.

    A client's direction (``greets``) begins with two octets, whichever they are; a server never greets. A command
    whose fragment has not come in full waits as ``pending``. A command that cannot be read is reported by its
    ``error``, and reading continues after it, unless no one can say how many octets of a fragment follow.
    """

    def __init__(self, *, greets: bool = False, max_size: int = 1 << 20, name: str = "server→client") -> None:
        super().__init__(LAYOUT, max_size=max_size, header_allowed=False, name=name)
        self._greeting_due = greets
        self.pending: CommandFrame | None = None
        self.lost = b""
        """The first octets of the frame with which framing was lost."""

    def next(self) -> CommandFrame | ProtocolHeader | None:
        """The next command that is complete, or the greeting; see ``Reader``."""
        if self._greeting_due:
            header = self._greeting()
            self._greeting_due = header is None
            return header
        if self.pending is None:
            frame = super().next()
            if not isinstance(frame, CommandFrame) or not frame.announced:
                return frame
            self.pending = frame
        return self._with_fragment(self.pending)

    def _with_fragment(self, frame: CommandFrame) -> CommandFrame | None:
        size = frame.announced
        # FRAME_MAX limits frames and fragments alike.
        if size > self.max_size:
            self.pending = None
            expected = f"a fragment of at most {self.max_size} octets behind {frame.name}"
            raise self._broken(0, expected, f"{size} octets announced")
        fragment = self.take(size)
        if fragment is None:
            return None
        self.pending = None
        return frame._replace(fragment=fragment)

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> CommandFrame:
        code, fields = values[_CODE], bytes(self._buffer[begin : end - LAYOUT.end_octets])
        command = DIALECT.commands_by_code.get(code)
        args: dict[str, Any] = {}
        if command is not None:
            error = self._read(command, fields, args, begin - start)
        else:
            # The code is the last octet of the header.
            unknown = unknown_command(bytes(self._buffer[start:end]), begin - start - 1)
            error = unknown.moved(unknown.where, self.offset)
        return CommandFrame(code, args, fields, b"", self.offset, error)

    def _read(self, command: Command, fields: bytes, args: dict[str, Any], begin: int) -> WireError | None:
        """Read a command's fields into ``args``; returns why they cannot be read."""
        try:
            read_arguments(command, fields, args)
        except WireError as error:
            if announced_octets(command, args) is None:
                actual = f"{command.name} whose fragment cannot be located: {error.actual}"
                raise self._broken(begin + error.offset, error.expected, actual) from error
            return error.moved(f"{command.name} {error.where}", self.offset + begin)
        return None

    def _broken(self, at: int, expected: str, actual: str, kind: Kind = Kind.OTHER) -> WireError:
        self.lost = bytes(self._buffer[self._start : self._start + _BEGINS_OCTETS])
        return super()._broken(at, expected, actual, kind)
