"""Servers that send session controls in the wrong place: attachments, command-points, sets of commands."""

from __future__ import annotations

from typing import Any

from amqpspec.run.clients.provoking import followed, instead
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    LAST_FRAME,
    LAST_SEGMENT,
    encode_assembly,
    encode_frame,
)
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_instruction
from amqpspec.wire.hostility import Deed

_ELSEWHERE = 5
_HALF, _LAST = 0x7FFFFFFF, 0xFFFFFFFF
_SYNC = encode_instruction("execution.sync", {})


def _control(control: str, /, **args: Any) -> Deed:
    return of.behind(lambda channel: encode_assembly(control, channel, **args))


def _point_then(offset: int, flags: int) -> Deed:
    """A command-point, and a frame of a command with these flags."""

    def behind(channel: int) -> bytes:
        point = encode_assembly("session.command-point", channel, command_id=0, command_offset=offset)
        return point + encode_frame(_SYNC, type=COMMAND, flags=flags, channel=channel)

    return of.behind(behind)


_WHOLE = 0x0F
_SESSIONS: tuple[tuple[str, str, Deed, str], ...] = (
    ("control-without-a-session", "violated/session/attachment/discarded",
     followed(lambda f: encode_assembly("session.flush", _ELSEWHERE, completed=True)),
     "a control on a channel without a session"),
    ("command-without-a-session", "violated/session/attachment/commands",
     followed(lambda f: encode_assembly("execution.sync", _ELSEWHERE)), "a command on a channel without a session"),
    ("another-session", "violated/session/attach/one-session-per-transport",
     _control("session.attached", name=b"another"), "attached for another session"),
    ("command-without-a-point", "violated/session/command-point/newly-attached-transports/detached",
     of.behind(lambda c: encode_assembly("execution.sync", c)), "a command without a command-point"),
    ("point-without-a-command", "violated/session/command-point/zero-offset/framing-error",
     _point_then(0, FIRST_FRAME | LAST_FRAME | LAST_SEGMENT), "a command-point after which no command begins"),
    ("point-with-an-offset", "violated/session/command-point/nonzero-offset/framing-error",
     _point_then(9, _WHOLE), "a command-point with an offset before the start of a command"),
    ("expected-unasked", "violated/session/expected/never-spontaneous",
     _control("session.expected", commands=()), "expected without a flush"),
    ("timeout-unasked", "violated/session/timeout", _control("session.timeout", timeout=9), "an unrequested timeout"),
    ("completed-never-sent", "survives/sets",
     _control("session.completed", commands=((900, 900),)), "the completion of a command that was never sent"),
    ("completed-half-of-all", "survives/sets",
     _control("session.completed", commands=((0, _HALF),)), "the completion of 0 to 2,147,483,647"),
    ("completed-around-zero", "survives/sets",
     _control("session.completed", commands=((_LAST - 5, 5),)), "the completion of 4,294,967,290 to 5"),
    ("confirmed-never-sent", "survives/sets",
     _control("session.confirmed", commands=((900, 950),)), "the confirmation of commands that were never sent"),
    ("known-never-completed", "survives/sets",
     _control("session.known-completed", commands=((0, _HALF - 1),)), "a known-completed of 2,147,483,647 commands"),
    ("result-of-nobody", "violated/execution/result",
     of.behind(lambda c: of.pointed(c, encode_assembly("execution.result", c, command_id=900))),
     "a result of a command that was never sent"),
)  # fmt: skip
for _point in ("attached", "completed"):
    for _name, _row, _deed, _what in _SESSIONS:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", _row, of.POINTS[_point], _deed,
            f"A client {of.demand(_row)} {_what} after {_point}",
        )  # fmt: skip


_RANGES = 2_000


def _fragmented(frame: bytes) -> bytes:
    """Completed with as many ranges as one can write, none of them touching another."""
    commands = tuple((2 * n, 2 * n) for n in range(_RANGES))
    return encode_assembly("session.completed", of.channel_of(frame), commands=commands)


of.hostile(
    globals(), "client.hostile.set-of-2000-ranges", "survives/sets", of.POINTS["completed"], instead(_fragmented),
    "A client survives a completion of 2,000 ranges",
)  # fmt: skip
