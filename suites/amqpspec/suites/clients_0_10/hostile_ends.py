"""Servers that end, stop sending, or refuse in unusual ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.run.clients.provoking import acting, all_of, followed, instead, nothing_more
from amqpspec.spec.model import Scope
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.hostility import Act, Deed

_STEPS = {
    "header": ("greeting", "connect"),
    **of.POINTS,
    "detached": ("session.detached", "connect"),
}
_END = "violated/connection/close-ok/reporting"
for _act, _how in ((Act.FIN, "FIN"), (Act.RESET, "RST")):
    for _point, _at in _STEPS.items():
        of.hostile(
            globals(), f"client.hostile.{_how.lower()}.{_point}", _END, _at, acting(_act),
            f"A client detects {_how} in place of {_at[0]}",
        )  # fmt: skip
    of.hostile(
        globals(), f"client.hostile.{_how.lower()}.again", _END, ("connection.tune", "reconnect"), acting(_act),
        f"A client detects {_how} in place of connection.tune on its second connection", connection=2,
    )  # fmt: skip
for _point, _at in (
    ("idle", ("session.attached", "idle")),
    ("attached", of.POINTS["attached"]),
    ("completed", of.POINTS["completed"]),
    ("transfer", of.POINTS["transfer"]),
):
    of.hostile(
        globals(), f"client.hostile.silence.{_point}", "violated/connection/heartbeat/missed", _at,
        acting(Act.SILENCE), f"A client may disconnect from a server that stops sending at {_at[0]}", of.silenced,
    )  # fmt: skip
_PAUSE_S = 2.0
for _point in ("open-ok", "attached", "completed"):
    of.hostile(
        globals(), f"client.hostile.unanswered.{_point}", _END, of.POINTS[_point], all_of([]),
        f"A client detects the end of a server that sends heartbeats but never {_point}", ends_after_s=_PAUSE_S,
    )  # fmt: skip

_CLOSES: Mapping[str, Mapping[str, Any]] = {
    "normal": {"reply_code": 200},
    "forced": {"reply_code": 320, "reply_text": "going down"},
    "framing-error": {"reply_code": 501, "reply_text": "on purpose"},
    "unknown": {"reply_code": 65_535, "reply_text": "y" * 255},
}
"""Closes in different forms."""
for _point in ("open-ok", "attached", "completed", "transfer"):
    for _words, _args in _CLOSES.items():
        of.hostile(
            globals(), f"client.hostile.close.{_words}.{_point}", "connection/close-ok", of.POINTS[_point],
            all_of([encode_assembly("connection.close", 0, **_args)]),
            f"A client answers close in place of {_point}; form of the close: {_words}",
            of.answering(Scope.CONNECTION, "connection.close", "connection.close-ok"), passing=nothing_more,
        )  # fmt: skip


def _named(frame: bytes) -> bytes:
    return bytes(of.args_of(frame)["name"])


def _detached(code: int) -> Any:
    return instead(
        lambda frame: encode_assembly("session.detached", of.channel_of(frame), name=_named(frame), code=code)
    )


_DETACH_CODES = {"busy": 1, "transport-busy": 2, "not-attached": 3, "unknown-ids": 4, "unknown": 200}
for _words, _code in _DETACH_CODES.items():
    of.duty(
        globals(), f"client.hostile.detached.{_words}", "violated/session/attach/answered", "attached",
        _detached(_code), of.learned, f"A client reports that its session was not attached; code: {_words}",
    )  # fmt: skip


def _excepted(**args: Any) -> Deed:
    """An exception, and the end of the session by its name, which only attached contains."""

    def octets(frame: bytes) -> bytes:
        channel = of.channel_of(frame)
        exception = of.pointed(channel, encode_assembly("execution.exception", channel, **args))
        return exception + encode_assembly("session.detached", channel, name=_named(frame), code=0)

    return followed(octets)


_EXCEPTIONS: Mapping[str, Mapping[str, Any]] = {
    "not-found": {"error_code": 404, "description": "nothing there"},
    "of-nobody": {
        "error_code": 542,
        "command_id": 900,
        "class_code": 99,
        "command_code": 99,
        "field_index": 77,
    },
    "bare": {"error_code": 541},
    "unknown": {"error_code": 7, "description": "y" * 3_000},
}
for _words, _args in _EXCEPTIONS.items():
    of.duty(
        globals(), f"client.hostile.exception.{_words}", "session-layer/exception/session-only", "attached",
        _excepted(**_args), of.learned,
        f"A client reports that an exception ended its session; form of the exception: {_words}",
    )  # fmt: skip


def _detaching(frame: bytes) -> bytes:
    return encode_assembly("session.detach", of.channel_of(frame), name=_named(frame))


for _scenario in ("publish", "consume"):
    of.hostile(
        globals(), f"client.hostile.detach.{_scenario}", "session/detach/confirmed", ("session.attached", _scenario),
        followed(_detaching), f"A client answers detach after attached in scenario {_scenario}",
        of.answering(Scope.SESSION, "session.detach", "session.detached"),
    )  # fmt: skip
of.duty(
    globals(), "client.hostile.redirect", "connection/redirect/usage", "open-ok",
    all_of([encode_assembly("connection.redirect", 0, host="127.0.0.1:1")]), of.learned,
    "A client reports that the server to which it was redirected does not answer",
)  # fmt: skip
