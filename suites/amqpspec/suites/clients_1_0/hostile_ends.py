"""Servers that end, stop sending, or refuse with unusual errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.run.clients.provoking import acting, instead, nothing_more
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.suites.clients_1_0.hostile_frames import POINTS
from amqpspec.wire.amqp_1_0.frames import HEADER_OCTETS, performative_frame
from amqpspec.wire.amqp_1_0.values import Symbol
from amqpspec.wire.hostility import Act, Deed, Passing

_EARLY = {
    "sasl-header": ("sasl-header", "connect"),
    "mechanisms": ("sasl-mechanisms", "connect"),
    "outcome": ("sasl-outcome", "connect"),
    "amqp-header": ("amqp-header", "connect"),
}
_LATE = {"detach": ("detach", "send"), "end": ("end", "connect")}
for _act, _how in ((Act.FIN, "FIN"), (Act.RESET, "RST")):
    for _point, _at in {**_EARLY, **POINTS, **_LATE}.items():
        of.hostile(
            globals(), f"client.hostile.{_how.lower()}.{_point}", "violated/connections/closing/close-frame", _at,
            acting(_act), f"A client detects {_how} in place of {_at[0]}",
        )  # fmt: skip
    of.hostile(
        globals(), f"client.hostile.{_how.lower()}.again", "violated/connections/closing/close-frame",
        ("open", "reconnect"), acting(_act), f"A client detects {_how} in place of open on its second connection",
        connection=2,
    )  # fmt: skip
for _point in ("open", "begin", "attach", "disposition"):
    of.hostile(
        globals(), f"client.hostile.silence.{_point}", "connections/idle-timeout/close", POINTS[_point],
        acting(Act.SILENCE), f"A client disconnects from a server that stops sending at {_point}", of.silenced,
    )  # fmt: skip

_ERRORS: Mapping[str, Any] = {
    "plain": {"condition": "amqp:internal-error", "description": "on purpose"},
    "unknown": {"condition": "no:such:condition"},
    "long": {"condition": "x" * 255, "description": "y" * 200, "info": {Symbol("z"): "z" * 200}},
    "bare": None,
}
"""Errors as a server may word them: a condition is any symbol, and there need not be an error (§2.8.14)."""


def _ending(name: str, error: Any) -> Deed:
    return instead(lambda frame: _ended(name, error, frame))


def _ended(name: str, error: Any, frame: bytes) -> bytes:
    """An end of something: of the link that a flow or transfer is about, of its session, of the connection."""
    fields = {} if error is None else {"error": error}
    if name == "detach":
        fields |= {"handle": of.read(frame)[0]["handle"], "closed": True}
    return performative_frame(name, 0 if name == "close" else of.channel_of(frame), **fields)


@dataclass(slots=True)
class _Over:
    """What was ended in the broker's name: nothing more about it is sent until it begins again."""

    beginning: str
    ended: bytes
    handle: int | None = None
    is_over: bool = True

    def __call__(self, frame: bytes) -> bool:
        """Whether a frame of the broker is sent."""
        if of.channel_of(frame) != of.channel_of(self.ended) or len(frame) == HEADER_OCTETS:
            return True
        held = of.read(frame)[0]
        is_concerned = self.handle is None or ("handle" in held.values and held["handle"] == self.handle)
        if is_concerned and held.name == self.beginning:
            self.is_over = False
        return not (self.is_over and is_concerned)


_BEHIND: Mapping[str, Passing] = {
    "close": nothing_more,
    "end": lambda ended: _Over("begin", ended),
    "detach": lambda ended: _Over("attach", ended, of.read(ended)[0]["handle"]),
}
_ENDS = (
    ("close", "performatives/close/written", ("begin", "disposition", "transfer")),
    ("end", "sessions/end/handshake", ("attach", "disposition", "transfer")),
    ("detach", "links/closing/answer", ("flow", "transfer")),
)
for _name, _row, _points in _ENDS:
    for _point in _points:
        for _words, _error in _ERRORS.items():
            of.hostile(
                globals(), f"client.hostile.{_name}.{_words}.{_point}", _row, POINTS[_point],
                _ending(_name, _error),
                f"A client answers {_name} in place of {_point}; form of the error: {_words}", of.answering(_name),
                passing=_BEHIND[_name],
            )  # fmt: skip
