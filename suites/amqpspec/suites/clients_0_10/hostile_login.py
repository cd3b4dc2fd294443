"""Servers that misbehave before open: protocol headers of other versions, a handshake out of order."""

from __future__ import annotations

from typing import Any

from amqpspec.run.clients.provoking import all_of, followed, instead
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.malformed import counted, nested
from amqpspec.wire.amqp_0_10.values import NO_ARRAY, Array
from amqpspec.wire.hostility import Act, Deed

_HEADERS: tuple[tuple[str, Deed, str], ...] = (
    ("newer", all_of([b"AMQP\x01\x01\x00\x0b"]), "AMQP 0-11"),
    ("older", all_of([b"AMQP\x00\x00\x09\x01"]), "AMQP 0-9-1"),
    (
        "other-protocol",
        lambda _: [b"HTTP/1.1 400 Bad Request\r\n\r\n", Act.FIN],
        "an HTTP response",
    ),
    ("half", lambda _: [b"AMQP", Act.FIN], "half a header and FIN"),
)
for _name, _deed, _what in _HEADERS:
    of.hostile(
        globals(), f"client.hostile.header.{_name}", "connection/start/client-support", ("greeting", "connect"),
        _deed, f"A client disconnects from a server that sends {_what} as protocol header",
        of.leaving("connection.start-ok"),
    )  # fmt: skip


def _changed(**args: Any) -> Deed:
    return instead(lambda frame: of.again(frame, **args))


_OPEN_OK = encode_assembly("connection.open-ok", 0)
_TUNE = encode_assembly("connection.tune", 0, channel_max=9, max_frame_size=8192)
_STEPS: tuple[tuple[str, str, Deed, str], ...] = (
    ("start-twice", "start", followed(lambda f: f), "sends start twice"),
    ("tune-first", "start", all_of([_TUNE]), "sends tune in place of start"),
    ("open-ok-first", "tune", all_of([_OPEN_OK]), "sends open-ok in place of tune"),
    ("tune-twice", "tune", followed(lambda f: f), "sends tune twice"),
    ("open-ok-twice", "open-ok", followed(lambda f: f), "sends open-ok twice"),
    ("tune-after-open-ok", "open-ok", followed(lambda f: _TUNE), "sends tune on an open connection"),
    ("command-early", "start",
     lambda f: [encode_assembly("execution.sync", 0) + f], "sends a command before start"),
    ("control-early", "tune",
     lambda f: [encode_assembly("session.attached", 0, name=b"early") + f], "sends attached before tune"),
)  # fmt: skip
for _name, _point, _deed, _what in _STEPS:
    of.hostile(
        globals(), f"client.hostile.{_name}", "violated/connection/grammar", of.POINTS[_point], _deed,
        f"A client disconnects from a server that {_what}",
    )  # fmt: skip

_going_on = of.leaving("connection.start-ok", "connection.tune-ok")
_OFFERS: tuple[tuple[str, Deed, str], ...] = (
    ("empty", _changed(mechanisms=Array("str16", ())), "offers no mechanism"),
    ("void", _changed(mechanisms=NO_ARRAY), "offers mechanisms as an array without type and count"),
    ("unknown", _changed(mechanisms=Array("str16", ("AMQPSPEC-NONE",))), "offers an unknown mechanism"),
)
for _name, _deed, _what in _OFFERS:
    of.hostile(
        globals(), f"client.hostile.mechanisms.{_name}", "violated/connection/start-ok/mechanism/offered",
        of.POINTS["start"], _deed, f"A client disconnects from a server that {_what}", _going_on,
    )  # fmt: skip

_LIMITS: tuple[tuple[str, str, Deed, str], ...] = (
    ("frames-of-100-octets", "connection/tune/max-frame-size/minimum/offered", _changed(max_frame_size=100),
     "offers frames of 100 octets"),
    ("heartbeats-backwards", "connection/tune/heartbeat-max/permitted-range",
     _changed(heartbeat_min=60, heartbeat_max=5), "offers heartbeats of at least 60 s and at most 5 s"),
    ("heartbeat-max-alone", "connection/tune/heartbeat-max/no-heartbeat-min",
     _changed(heartbeat_min=None, heartbeat_max=5), "offers a heartbeat-max without a heartbeat-min"),
)  # fmt: skip
for _name, _row, _deed, _what in _LIMITS:
    of.hostile(
        globals(), f"client.hostile.tune.{_name}", f"violated/{_row}", of.POINTS["tune"], _deed,
        f"A client may disconnect from a server that {_what}", of.leaving("connection.open"),
    )  # fmt: skip

_DEPTH, _MAP_DEPTH = 20_000, 5_000
_PROPERTIES: tuple[tuple[str, str, Any, str], ...] = (
    ("nested-maps", "survives/values", nested(_MAP_DEPTH, "map"), "maps nested 5,000 levels deep"),
    ("nested-lists", "survives/values", counted("map", b"\x01n\xa9" + nested(_DEPTH), 1),
     "lists nested 20,000 levels deep"),
    ("map-of-4-giga", "violated/encoding/map/malformed", counted("map", b"\x01x\x00\x01", 0xFFFFFFFF),
     "a map that announces 2^32 - 1 entries"),
)  # fmt: skip
for _name, _row, _value, _what in _PROPERTIES:
    of.hostile(
        globals(), f"client.hostile.properties.{_name}", _row, of.POINTS["start"], _changed(server_properties=_value),
        f"A client {of.demand(_row)} {_what} in the properties of a server",
    )  # fmt: skip
