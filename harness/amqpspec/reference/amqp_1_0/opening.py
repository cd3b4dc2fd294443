"""Open: the partner's identity, its limits, and its virtual host.

Knows: the fields of open, which hostnames mean which virtual host. Must not know: sessions.
"""

from __future__ import annotations

import ipaddress
import socket

from amqpspec.reference.amqp_1_0 import limits, uniqueness, wire
from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.amqp_1_0.idle import LEAST_MS
from amqpspec.reference.amqp_1_0.phases import Phase
from amqpspec.reference.amqp_1_0.sound import check
from amqpspec.reference.core import HANDSHAKE_S
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed

_PREFIX = "vhost:"


def on_open(connection: Connection, channel: int, frame: Composed) -> None:
    """The partner's open has arrived: check it, answer it."""
    if connection.phase is not Phase.OPENING:
        connection.refuse("connections/states/legal-frames", "a second open")
        return
    if channel:
        connection.refuse("connections/opening/channel-zero", f"open on channel {channel}")
    check(frame, connection.refuse)
    _take_limits(connection, frame)
    if connection.phase is not Phase.OPENING or not _take_host(connection, frame):
        return
    connection.container = frame.get("container_id", "")
    if not uniqueness.admits(connection, frame):
        return
    connection.open()
    connection.splitter.max_frame_octets = limits.MAX_FRAME_OCTETS
    connection.splitter.opened = True
    connection.phase = Phase.OPEN
    connection.just_opened = True
    if connection.faulty("pipelined-frames-lost"):
        connection.splitter.clear()
    if "max_frame_size" not in frame.given and connection.faulty("unset-max-frame-size-is-the-least"):
        connection.max_frame_octets = connection.splitter.max_frame_octets = wire.MIN_MAX_FRAME_OCTETS
    connection.established()
    if connection.faulty("handshake-timer-goes-on"):
        connection.after(HANDSHAKE_S, connection.end_socket)
    _take_idle(connection, frame)


def _take_limits(connection: Connection, frame: Composed) -> None:
    octets = frame["max_frame_size"]
    if octets < wire.MIN_MAX_FRAME_OCTETS:
        connection.refuse("definitions/min-max-frame-size/lower-bound", f"max-frame-size {octets}")
    connection.max_frame_octets = max(octets, wire.MIN_MAX_FRAME_OCTETS)
    if connection.faulty("max-frame-size-of-partner-ignored"):
        connection.max_frame_octets = limits.MAX_FRAME_OCTETS
    if connection.faulty("frames-one-octet-too-long"):
        connection.max_frame_octets += 1
    connection.channel_max = frame["channel_max"]
    if connection.faulty("locales-must-be-given") and not frame["outgoing_locales"]:
        connection.close("amqp:invalid-field", "no locale")


def _take_idle(connection: Connection, frame: Composed) -> None:
    idle_ms = frame.get("idle_time_out", 0)
    if 0 < idle_ms < LEAST_MS:
        connection.refuse("connections/idle-timeout/unsupported", f"idle-time-out {idle_ms}")
    connection.idle.start(idle_ms)


def _take_host(connection: Connection, frame: Composed) -> bool:
    """Find the virtual host; False if there is none, or none for this user."""
    name = frame.get("hostname")
    if name is None and connection.faulty("hostname-demanded"):
        connection.close("amqp:invalid-field", "no hostname")
        return False
    found = connection.core.vhosts.get(_vhost_name(name, connection.core.host))
    if found is None:
        connection.refuse("definitions/condition/not-found", f"no host {name!r}")
        return True
    connection.vhost = found
    if connection.user is not None and found.name not in connection.user.vhosts:
        connection.close("amqp:unauthorized-access", f"{connection.user.name} may not open {found.name}")
        return False
    return True


def _vhost_name(hostname: str | None, own: str) -> str:
    if hostname is None or hostname in ("", own, "localhost", socket.gethostname()) or _is_number(hostname):
        return "/"
    return hostname.removeprefix(_PREFIX)


def _is_number(hostname: str) -> bool:
    try:
        ipaddress.ip_address(hostname)
    except ValueError:
        return False
    return True


FAULTS = fault_table("""
max-frame-size-of-partner-ignored: frames are as large as the broker itself takes them
    [performatives/open/max-frame-size/respected connections/opening/limits-after
    definitions/min-max-frame-size/agreed]
frames-one-octet-too-long: frames may be one octet larger than the partner takes
    [performatives/open/max-frame-size/respected connections/opening/limits-after]
unset-max-frame-size-is-the-least: without max-frame-size, the broker sends frames of 512 octets and takes messages of
    one frame [performatives/open/max-frame-size/unset]
pipelined-frames-lost: frames that arrive in one read with open are discarded [connections/pipelined/desirable
    connections/pipelined/frames-before-answer connections/pipelined/same-treatment sessions/states/begin-sent]
handshake-timer-goes-on: an open connection ends when the time for opening it is over [connections/opened-stands]
hostname-demanded: an open without hostname is refused [performatives/open/hostname/default]
locales-must-be-given: an open without locales is refused [performatives/open/outgoing-locales/none]
""")
