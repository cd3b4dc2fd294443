"""The connection class: login, limits, opening a virtual host, the end.

Knows: the server's proposals, the legal answers. Must not know: sessions, how a refusal is sent.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.amqp_0_10.connection import FRAMING_ERROR, Connection
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.wire import MAX_FRAME_OCTETS, MIN_MAX_FRAME_OCTETS
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers
from amqpspec.reference.leniency import LOCALE_MISSING
from amqpspec.reference.model import User
from amqpspec.reference.phases import Phase
from amqpspec.reference.sasl import Login, Result
from amqpspec.wire.amqp_0_10.values import Array

CHANNEL_MAX = 256
HEARTBEAT_MAX_S = 120
FRAMES_OCTETS = 60_000
LOCALES = ("en_US", "en_GB")
CONTROLS = Handlers[Callable[[Connection, Order], None]]()


def start(connection: Connection) -> None:
    """The header was accepted: send start."""
    login = connection.login = Login(connection.core.users, connection.over_tls, connection.certificate_name)
    locales = LOCALES[1:] if connection.faulty("en-us-not-offered") else LOCALES
    connection.send(
        0,
        "connection.start",
        server_properties=connection.core.server_properties(
            complete=not connection.faulty("server-properties-incomplete")
        ),
        mechanisms=Array("str16", login.offered),
        locales=Array("str16", locales),
    )


@CONTROLS.register("connection.start-ok")
def start_ok(connection: Connection, order: Order) -> None:
    """Start-ok: the client has chosen a mechanism, with an initial response."""
    login = connection.login
    if order["mechanism"] not in login.offered:
        connection.refuse("connection/start-ok/mechanism/validity", f"mechanism {order['mechanism']!r}")
        _logged_in(connection, connection.core.users["guest"])
        return
    locales = LOCALES[:1] if connection.faulty("second-locale-refused") else LOCALES
    forgiven = order["locale"] is None and connection.forgives(LOCALE_MISSING)
    if order["locale"] not in locales and not forgiven:
        connection.refuse("connection/start-ok/locale", f"locale {order['locale']!r}")
    _step(connection, login.first(order["mechanism"], order["response"]))


@CONTROLS.register("connection.secure-ok")
def secure_ok(connection: Connection, order: Order) -> None:
    """Secure-ok: the client has answered a challenge."""
    login = connection.login
    if connection.proven is not None:
        _logged_in(connection, connection.proven)
        return
    result = login.second(order["response"])
    result = None if connection.faulty("scram-never-believed") else result
    if isinstance(result, User):
        # Tune has no field for the server's proof: it is sent as another challenge, which has an empty answer.
        connection.proven, result = result, login.last_words
    _step(connection, result)


def _step(connection: Connection, result: Result) -> None:
    if isinstance(result, bytes):
        connection.phase = Phase.SECURE
        connection.send(0, "connection.secure", challenge=result)
        return
    if result is None:
        connection.refuse("connection/secure", "login refused")
    _logged_in(connection, result or connection.core.users["guest"])


def _logged_in(connection: Connection, user: User) -> None:
    connection.user = user
    connection.phase = Phase.TUNE
    small, unsupported = connection.faulty("small-frames-offered"), connection.faulty("heartbeats-unasked")
    connection.send(
        0,
        "connection.tune",
        channel_max=CHANNEL_MAX,
        max_frame_size=2048 if small else FRAMES_OCTETS,
        heartbeat_min=None if unsupported or connection.faulty("heartbeat-max-without-min") else 0,
        heartbeat_max=None if unsupported else HEARTBEAT_MAX_S,
    )


@CONTROLS.register("connection.tune-ok")
def tune_ok(connection: Connection, order: Order) -> None:
    """Tune-ok: the client has chosen the limits."""
    if order["channel_max"] > CHANNEL_MAX:
        connection.refuse("connection/tune-ok/channel-max/upper-limit", f"channel-max {order['channel_max']}")
    frames = order["max_frame_size"] or FRAMES_OCTETS
    if frames > FRAMES_OCTETS:
        connection.refuse("connection/tune-ok/max-frame-size/upper-limit", f"max-frame-size {frames}")
    if frames < MIN_MAX_FRAME_OCTETS:
        connection.refuse("connection/tune-ok/max-frame-size/minimum/chosen", f"max-frame-size {frames}")
    if (order["heartbeat"] or 0) > HEARTBEAT_MAX_S:
        connection.refuse("connection/tune-ok/heartbeat/permitted-range", f"heartbeat {order['heartbeat']}")
    if order["channel_max"] == 1 and connection.faulty("one-channel-is-not-enough"):
        connection.end_socket()
        return
    connection.channel_max = order["channel_max"]
    connection.max_frame_octets = max(frames, MIN_MAX_FRAME_OCTETS)
    connection.splitter.max_frame_octets = connection.max_frame_octets
    if connection.faulty("agreed-frame-size-forgotten"):
        connection.splitter.max_frame_octets = MAX_FRAME_OCTETS
    connection.heartbeats.start(order["heartbeat"] or 0)
    connection.phase = Phase.OPENING


@CONTROLS.register("connection.open")
def open_(connection: Connection, order: Order) -> None:
    """Open: the client has chosen a virtual host."""
    connection.choose_vhost(
        order["virtual_host"], "connection/close-code/invalid-path", "connection/open/virtual-host/security"
    )
    connection.phase = Phase.OPEN
    if not connection.faulty("quiet-connections-dropped"):
        connection.established()
    if order["insist"] and connection.faulty("insisting-is-answered-by-redirect"):
        connection.send(0, "connection.redirect", host="elsewhere")
        return
    hosts = (connection.core.host,) if connection.faulty("hosts-listed") else ()
    connection.send(0, "connection.open-ok", known_hosts=Array("str16", hosts))


@CONTROLS.register("connection.heartbeat")
def heartbeat(connection: Connection, order: Order) -> None:
    """A heartbeat from the client."""
    if connection.faulty("heartbeats-of-clients-refused"):
        connection.close(FRAMING_ERROR, "a heartbeat")


@CONTROLS.register("connection.close")
def close(connection: Connection, order: Order) -> None:
    """Close from the client."""
    connection.release()
    if not connection.faulty("close-not-confirmed"):
        connection.send(0, "connection.close-ok")
    if connection.faulty("close-confirmed-twice"):
        connection.send(0, "connection.close-ok")
    connection.end_socket()


@CONTROLS.register("connection.close-ok")
def close_ok(connection: Connection, order: Order) -> None:
    """Close-ok: the client has read the broker's close."""
    if connection.phase is not Phase.CLOSING:
        connection.refuse("connection/grammar", "close-ok without close")
        return
    if connection.faulty("close-ok-answered"):
        connection.send(0, "connection.close-ok")
    connection.end_socket()


FAULTS = fault_table("""
server-properties-incomplete: start does not contain host and information
    [connection/start/server-properties/required-fields]
en-us-not-offered: start does not offer en_US [connection/start/locales/required-support]
second-locale-refused: only the first locale offered is accepted [connection/start-ok/locale]
small-frames-offered: tune offers a max-frame-size of 2,048
    [connection/tune/max-frame-size/minimum/offered]
agreed-frame-size-forgotten: frames up to the server's own limit are accepted
    [connection/tune-ok/max-frame-size/max-frame-size/refused]
one-channel-is-not-enough: a client that agrees on one channel is dropped [transport/channels/down-to-one]
heartbeat-max-without-min: tune has a heartbeat-max and no heartbeat-min
    [connection/tune/heartbeat-max/no-heartbeat-min connection/tune/heartbeat-max/permitted-range]
quiet-connections-dropped: the time limit of the handshake also ends open connections
    [connection/tune-ok/heartbeat]
heartbeats-of-clients-refused: a heartbeat of a client closes the connection [connection/heartbeat/traffic]
insisting-is-answered-by-redirect: open with insist is answered by redirect
    [connection/open/insist/behavior/no-redirect]
hosts-listed: open-ok lists a host [connection/open-ok/known-hosts]
scram-never-believed: a correct SCRAM proof is rejected [connection/start-ok/mechanism/offered connection/secure]
close-not-confirmed: the socket ends without close-ok [connection/close-ok]
close-confirmed-twice: close is answered with two close-ok [connection/close-ok connection/grammar]
close-ok-answered: close-ok is answered with close-ok [connection/close-ok connection/grammar]
""")
