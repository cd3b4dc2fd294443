"""The connection class: handshake, close, update-secret.

Knows: what the server proposes, what a client may answer, who may log in and open what.
Must not know: channels and what happens on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.core import own_platform, own_version
from amqpspec.reference.methods import sasl
from amqpspec.reference.methods.handlers import handles_on_link
from amqpspec.reference.methods.phases import Phase
from amqpspec.reference.methods.ways import version_of
from amqpspec.reference.model import User
from amqpspec.wire.methods.codec import Call
from amqpspec.wire.values import Raw, Typed

if TYPE_CHECKING:
    from amqpspec.reference.methods.link import Link

CHANNEL_MAX, FRAME_MAX_OCTETS, HEARTBEAT_S = 2047, 131072, 60
LOCALES = ("en_US", "en_GB")
_CAPABILITIES = {
    "publisher_confirms": True,
    "exchange_exchange_bindings": True,
    "basic.nack": True,
    "consumer_cancel_notify": True,
    "connection.blocked": True,
    "authentication_failure_close": True,
    "per_consumer_qos": False,
}


@handles_on_link("connection.start")
def start(link: Link, call: Call) -> None:
    """The header was accepted: say who we are."""
    listed = (", " if link.faulty("lists-separated-by-commas") else " ").join
    locales = LOCALES[1:] if link.faulty("en-us-not-offered") else LOCALES
    major, minor = version_of(link.codec.dialect)
    link.send(
        0,
        "connection.start",
        version_major=100 if link.faulty("version-100-offered") else major,
        version_minor=minor,
        server_properties=_server_properties(link),
        mechanisms=listed(sasl.offered(link)),
        locales=listed(locales),
    )


def _server_properties(link: Link) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "product": "amqpspec reference broker",
        "version": own_version(),
        "platform": own_platform(),
        "copyright": "Copyright (c) 2026 The amqpspec authors",
        "information": "Licensed under the MIT licence",
        "host": link.core.host,
    }
    if "confirm.select" in link.codec.dialect.methods:
        properties["capabilities"] = _CAPABILITIES
    if link.faulty("server-properties-named-badly"):
        properties["2nd-version"] = own_version()
    if link.faulty("undefined-value-type-sent"):
        properties["free"] = Typed("t", Raw(b"\x01"))
    if link.faulty("server-properties-incomplete"):
        del properties["information"], properties["host"]
    return properties


@handles_on_link("connection.start-ok")
def start_ok(link: Link, call: Call) -> None:
    """A mechanism was chosen and the first answer given."""
    link.capabilities = _table(call["client_properties"].get("capabilities"))
    if call["mechanism"] not in sasl.offered(link):
        link.refuse("connection/start-ok/mechanism/validity", f"mechanism {call['mechanism']!r}")
    locales = LOCALES[:1] if link.faulty("second-locale-refused") else LOCALES
    if call["locale"] not in locales:
        link.refuse("connection/start-ok/locale", f"locale {call['locale']!r}")
    link.mechanism = call["mechanism"]
    _step(link, sasl.first(link, call["response"]))


@handles_on_link("connection.secure-ok")
def secure_ok(link: Link, call: Call) -> None:
    """A challenge was answered."""
    _step(link, sasl.second(link, call["response"]))


def _step(link: Link, result: sasl.Result) -> None:
    if isinstance(result, bytes):
        link.phase = Phase.SECURE
        link.send(0, "connection.secure", challenge=result)
    elif result is not None:
        _logged_in(link, result)
    elif link.capabilities.get("authentication_failure_close") is True:
        link.close(403, "login refused")
    else:
        link.refuse("connection/secure", "login refused")
        _logged_in(link, link.core.users["guest"])


def _logged_in(link: Link, user: User) -> None:
    link.user = user
    link.phase = Phase.TUNE
    frame_max = 2048 if link.faulty("small-frame-max-offered") else FRAME_MAX_OCTETS
    link.send(0, "connection.tune", channel_max=CHANNEL_MAX, frame_max=frame_max, heartbeat=HEARTBEAT_S)


@handles_on_link("connection.tune-ok")
def tune_ok(link: Link, call: Call) -> None:
    """The limits are agreed."""
    channel_max, frame_max = call["channel_max"], call["frame_max"]
    if channel_max > CHANNEL_MAX:
        link.refuse("connection/tune-ok/channel-max/upper-limit", f"channel-max {channel_max}")
    if frame_max > FRAME_MAX_OCTETS:
        link.refuse("connection/tune-ok/frame-max/upper-limit", f"frame-max {frame_max}")
    if 0 < frame_max < link.framing.min_octets:
        link.refuse("connection/tune-ok/frame-max/minimum-chosen", f"frame-max {frame_max}")
    link.channel_max = channel_max or CHANNEL_MAX
    if link.faulty("channel-max-never-lowered"):
        link.channel_max = CHANNEL_MAX
    _agree_on_frames(link, max(frame_max or FRAME_MAX_OCTETS, link.framing.min_octets))
    link.heartbeats.start(_interval_s(link, call["heartbeat"]))
    link.phase = Phase.OPENING


def _agree_on_frames(link: Link, frame_max: int) -> None:
    link.frame_max_octets = link.splitter.max_frame_octets = frame_max
    if link.faulty("agreed-frame-max-forgotten"):
        link.splitter.max_frame_octets = FRAME_MAX_OCTETS
    if link.faulty("frame-max-counts-payload"):
        link.splitter.max_frame_octets += link.framing.overhead_octets
    if link.faulty("frame-of-just-frame-max-refused"):
        link.splitter.max_frame_octets -= 1


def _interval_s(link: Link, wanted_s: int) -> int:
    if wanted_s == 0 and not link.faulty("heartbeat-zero-ignored"):
        return 0
    return min(wanted_s or 1, HEARTBEAT_S)


@handles_on_link("connection.open")
def open_(link: Link, call: Call) -> None:
    """A virtual host was chosen."""
    name = call["virtual_host"]
    vhost = link.core.vhosts.get(name)
    if vhost is None:
        link.refuse("constant/invalid-path", f"no virtual host {name!r}")
        vhost = link.core.vhosts["/"]
    elif link.user is not None and name not in link.user.vhosts:
        link.refuse("connection/open/virtual-host/security", f"{link.user.name} may not open {name!r}")
    link.vhost = vhost
    link.phase = Phase.OPEN
    link.opened()
    if not link.faulty("open-not-confirmed"):
        link.send(0, "connection.open-ok")


@handles_on_link("connection.close")
def close(link: Link, call: Call) -> None:
    """The client wants to end."""
    crossing = link.phase is Phase.CLOSING and link.faulty("crossing-connection-close-ignored")
    if crossing:
        return
    link.release()
    if not link.faulty("connection-close-not-confirmed"):
        link.send(0, "connection.close-ok")
    if not link.faulty("socket-kept-after-close-ok"):
        link.end()


@handles_on_link("connection.close-ok")
def close_ok(link: Link, call: Call) -> None:
    """The client has read why we end."""
    if link.phase is not Phase.CLOSING:
        link.refuse("constant/command-invalid", "close-ok without close")
    elif not link.faulty("socket-kept-after-close-ok"):
        link.end()


@handles_on_link("connection.update-secret")
def update_secret(link: Link, call: Call) -> None:
    """The client has a new secret; the one it logged in with did its work, so any will do."""
    if not link.faulty("update-secret-not-confirmed"):
        link.send(0, "connection.update-secret-ok")


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
