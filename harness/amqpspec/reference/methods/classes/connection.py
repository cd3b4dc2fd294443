"""The connection class: handshake, close, update-secret.

Knows: what the server proposes, what a client may answer, who may log in and open what.
Must not know: channels and what happens on them.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference import leniency
from amqpspec.reference.core import own_version
from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.classes import sasl
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.handlers import handles_on_connection
from amqpspec.reference.model import User
from amqpspec.reference.phases import Phase
from amqpspec.wire.methods.codec import Call
from amqpspec.wire.values import Raw, Typed

CHANNEL_MAX, FRAME_MAX_OCTETS, HEARTBEAT_S = 2047, 131072, 60
LOCALES = ("en_US", "en_GB")
_CAPABILITIES = {
    "publisher_confirms": True,
    "exchange_exchange_bindings": True,
    "basic.nack": True,
    "consumer_cancel_notify": True,
    "connection.blocked": True,
    "authentication_failure_close": True,
    "alternate_exchange": True,
    "sender_selected_distribution": True,
}


@handles_on_connection("connection.start")
def start(connection: Connection, call: Call) -> None:
    """The header was accepted: send start."""
    listed = (", " if connection.faulty("lists-separated-by-commas") else " ").join
    locales = LOCALES[1:] if connection.faulty("en-us-not-offered") else LOCALES
    major, minor = connection.codec.dialect.version
    connection.send(
        0,
        "connection.start",
        version_major=100 if connection.faulty("version-100-offered") else major,
        version_minor=minor,
        server_properties=_server_properties(connection),
        mechanisms=listed(sasl.offered(connection)),
        locales=listed(locales),
    )


def _server_properties(connection: Connection) -> dict[str, Any]:
    complete = not connection.faulty("server-properties-incomplete")
    properties = connection.core.server_properties(complete=complete)
    if "confirm.select" in connection.codec.dialect.methods:
        per_consumer = connection.faulty("per-consumer-qos-announced")
        properties["capabilities"] = {**_CAPABILITIES, "per_consumer_qos": per_consumer}
    if connection.faulty("server-properties-named-badly"):
        properties["2nd-version"] = own_version()
    if connection.faulty("undefined-value-type-sent"):
        properties["free"] = Typed("t", Raw(b"\x01"))
    return properties


@handles_on_connection("connection.start-ok")
def start_ok(connection: Connection, call: Call) -> None:
    """Start-ok: the client has chosen a mechanism, with an initial response."""
    capabilities = call["client_properties"].get("capabilities")
    connection.capabilities = capabilities if isinstance(capabilities, dict) else {}
    if call["mechanism"] not in sasl.offered(connection):
        connection.refuse("connection/start-ok/mechanism/validity", f"mechanism {call['mechanism']!r}")
    locales = LOCALES[:1] if connection.faulty("second-locale-refused") else LOCALES
    if call["locale"] not in locales and not _forgives(connection, call["locale"]):
        connection.refuse("connection/start-ok/locale", f"locale {call['locale']!r}")
    connection.mechanism = call["mechanism"]
    _step(connection, sasl.first(connection, call["response"]))


def _forgives(connection: Connection, locale: str) -> bool:
    """Whether a locale that was not offered is tolerated: none at all, or all of them."""
    if not locale:
        return connection.forgives(leniency.LOCALE_EMPTY)
    return set(locale.replace(",", " ").split()) <= set(LOCALES) and connection.forgives(leniency.LOCALE_LIST)


@handles_on_connection("connection.secure-ok")
def secure_ok(connection: Connection, call: Call) -> None:
    """Secure-ok: the client has answered a challenge."""
    _step(connection, sasl.second(connection, call["response"]))


def _step(connection: Connection, result: sasl.Result) -> None:
    if isinstance(result, bytes):
        connection.phase = Phase.SECURE
        connection.send(0, "connection.secure", challenge=result)
    elif result is not None:
        _logged_in(connection, result)
    elif connection.capabilities.get("authentication_failure_close") is True:
        connection.close(403, "login refused")
    else:
        connection.refuse("connection/secure", "login refused")
        _logged_in(connection, connection.core.users["guest"])


def _logged_in(connection: Connection, user: User) -> None:
    connection.user = user
    connection.phase = Phase.TUNE
    frame_max = 2048 if connection.faulty("small-frame-max-offered") else FRAME_MAX_OCTETS
    connection.send(0, "connection.tune", channel_max=CHANNEL_MAX, frame_max=frame_max, heartbeat=HEARTBEAT_S)


@handles_on_connection("connection.tune-ok")
def tune_ok(connection: Connection, call: Call) -> None:
    """Tune-ok: the client has chosen the limits."""
    channel_max, frame_max = call["channel_max"], call["frame_max"]
    if channel_max > CHANNEL_MAX:
        connection.refuse("connection/tune-ok/channel-max/upper-limit", f"channel-max {channel_max}")
    if frame_max > FRAME_MAX_OCTETS:
        connection.refuse("connection/tune-ok/frame-max/upper-limit", f"frame-max {frame_max}")
    smallest = 8192 if connection.faulty("frame-max-8192-at-least") else connection.framing.min_octets
    if 0 < frame_max < smallest:
        connection.refuse("connection/tune-ok/frame-max/minimum-chosen", f"frame-max {frame_max}")
    connection.channel_max = channel_max or (1 if connection.faulty("zero-is-little") else CHANNEL_MAX)
    if connection.faulty("channel-max-never-lowered"):
        connection.channel_max = CHANNEL_MAX
    if not frame_max and not connection.faulty("zero-is-little"):
        frame_max = FRAME_MAX_OCTETS
    _agree_on_frames(connection, max(frame_max, connection.framing.min_octets))
    connection.heartbeats.start(_interval_s(connection, call["heartbeat"]))
    connection.phase = Phase.OPENING


def _agree_on_frames(connection: Connection, frame_max: int) -> None:
    connection.frame_max_octets = connection.splitter.max_frame_octets = frame_max
    if connection.faulty("agreed-frame-max-forgotten"):
        connection.splitter.max_frame_octets = FRAME_MAX_OCTETS
    if connection.faulty("frame-max-counts-payload"):
        connection.splitter.max_frame_octets += connection.framing.overhead_octets
    if connection.faulty("frame-of-just-frame-max-refused"):
        connection.splitter.max_frame_octets -= 1


def _interval_s(connection: Connection, wanted_s: int) -> int:
    if wanted_s == 0 and not connection.faulty("heartbeat-zero-ignored"):
        return 0
    return min(wanted_s or 1, HEARTBEAT_S)


@handles_on_connection("connection.open")
def open_(connection: Connection, call: Call) -> None:
    """Open: the client has chosen a virtual host."""
    connection.choose_vhost(
        call["virtual_host"], "constant/invalid-path", "connection/open/virtual-host/security"
    )
    connection.phase = Phase.OPEN
    connection.established()
    if not connection.faulty("open-not-confirmed"):
        connection.send(0, "connection.open-ok")


@handles_on_connection("connection.close")
def close(connection: Connection, call: Call) -> None:
    """Close from the client."""
    crossing = connection.phase is Phase.CLOSING and connection.faulty("crossing-connection-close-ignored")
    if crossing:
        return
    connection.release()
    if not connection.faulty("connection-close-not-confirmed"):
        connection.send(0, "connection.close-ok")
    _end(connection)


def _end(connection: Connection) -> None:
    if connection.faulty("socket-kept-after-close-ok"):
        connection.after(None)
    else:
        connection.end_socket()


@handles_on_connection("connection.close-ok")
def close_ok(connection: Connection, call: Call) -> None:
    """Close-ok: the client has read the broker's close."""
    if connection.phase is not Phase.CLOSING:
        connection.refuse("constant/command-invalid", "close-ok without close")
    else:
        _end(connection)


@handles_on_connection("connection.update-secret")
def update_secret(connection: Connection, call: Call) -> None:
    """Update-secret: the login is over, so any new secret is accepted."""
    if not connection.faulty("update-secret-not-confirmed"):
        connection.send(0, "connection.update-secret-ok")


FAULTS = fault_table("""
version-100-offered: start names version 100
    [amq_wlp_header_01 connection/start/version connection/start/server-support]
per-consumer-qos-announced: windows per consumer are announced, but windows per channel are applied
    [extension/per-consumer-qos]
server-properties-incomplete: start does not contain host and information
    [connection/start/server-properties/required-fields]
en-us-not-offered: start offers another locale only [connection/start/locales/required-support]
lists-separated-by-commas: mechanisms and locales are separated by commas
    [connection/start/mechanisms connection/start/locales/list]
second-locale-refused: of the offered locales, only the first is accepted [connection/start-ok/locale]
small-frame-max-offered: tune offers a frame-max of 2,048 [connection/tune/frame-max/minimum-offered]
frame-max-8192-at-least: a client that selects less than 8,192 octets is rejected
    [connection/tune-ok/frame-max/minimum]
zero-is-little: zero in tune-ok means one channel and the smallest frames
    [connection/tune-ok/channel-max/upper-limit connection/tune-ok/frame-max/upper-limit]
agreed-frame-max-forgotten: frames up to the server's own limit are accepted
    [connection/tune-ok/frame-max/all-frames amq_wlp_frame_03]
frame-max-counts-payload: frame-max limits only the payload [connection/tune/frame-max/whole-frame]
frame-of-just-frame-max-refused: a frame has to stay below frame-max
    [amq_wlp_frame_03 connection/tune/frame-max/whole-frame]
heartbeat-zero-ignored: heartbeats are sent and demanded although the client wanted none
    [connection/tune-ok/heartbeat]
open-not-confirmed: open is not answered [connection/open-ok connection/grammar]
crossing-connection-close-ignored: a close that crosses the server's own is not answered
    [connection/close/stability-crossing]
connection-close-not-confirmed: the socket ends without close-ok [connection/close-ok]
socket-kept-after-close-ok: the socket stays open after close-ok [wire/errors/connection-scope connection/close-ok]
update-secret-not-confirmed: update-secret is not answered [connection/update-secret]
server-properties-named-badly: a server property has a name that begins with a digit
undefined-value-type-sent: a server property is of type t, which is not defined
channel-max-never-lowered: more channels than agreed on can be opened
""")
