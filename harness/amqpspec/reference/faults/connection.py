"""Faults of the connection class: handshake, limits, close.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "unspoken-header-answered",
        (
            "amq_wlp_header_04",
            "connection/start/protocol-name",
        ),
        "an unknown header is answered by one that the server does not speak either",
    ),
    Fault(
        "version-100-offered",
        ("amq_wlp_header_01", "connection/start/version", "connection/start/server-support"),
        "start names version 100",
    ),
    Fault(
        "server-properties-incomplete",
        ("connection/start/server-properties/required-fields",),
        "start does not say host and information",
    ),
    Fault(
        "en-us-not-offered",
        ("connection/start/locales/required-support",),
        "start offers another locale only",
    ),
    Fault(
        "lists-separated-by-commas",
        ("connection/start/mechanisms", "connection/start/locales/list"),
        "mechanisms and locales come with commas between them",
    ),
    Fault(
        "amqplain-refused",
        ("connection/start-ok/mechanism/offered",),
        "AMQPLAIN is offered and never lets anyone in",
    ),
    Fault(
        "second-locale-refused",
        ("connection/start-ok/locale",),
        "of the locales on offer, only the first is taken",
    ),
    Fault("password-not-checked", ("connection/secure",), "any password lets a user in"),
    Fault(
        "challenge-skipped",
        ("connection/secure",),
        "a mechanism of two rounds lets a client in after the first",
    ),
    Fault(
        "small-frame-max-offered",
        ("connection/tune/frame-max/minimum-offered",),
        "tune offers a frame-max of 2,048",
    ),
    Fault(
        "agreed-frame-max-forgotten",
        (
            "connection/tune-ok/frame-max/all-frames",
            "amq_wlp_frame_03",
        ),
        "frames up to the server's own limit are taken",
    ),
    Fault(
        "frame-max-counts-payload",
        ("connection/tune/frame-max/whole-frame",),
        "frame-max is taken to limit the payload alone",
    ),
    Fault(
        "frame-of-just-frame-max-refused",
        (
            "amq_wlp_frame_03",
            "connection/tune/frame-max/whole-frame",
        ),
        "a frame has to stay below frame-max",
    ),
    Fault(
        "channel-max-is-one-less",
        ("connection/tune/channel-max",),
        "the highest channel number that was agreed is refused",
    ),
    Fault(
        "heartbeat-zero-ignored",
        ("connection/tune-ok/heartbeat",),
        "heartbeats are sent and demanded although the client wanted none",
    ),
    Fault(
        "heartbeats-not-sent",
        (
            "wire/heartbeat/interval",
            "connection/tune/heartbeat",
            "connection/tune-ok/heartbeat",
        ),
        "heartbeats were agreed on and are not sent",
    ),
    Fault("dead-client-kept", ("wire/heartbeat/missed",), "a client that says nothing is kept"),
    Fault("open-not-confirmed", ("connection/open-ok", "connection/grammar"), "open is not answered"),
    Fault(
        "virtual-hosts-shared",
        (
            "connection/open/virtual-host/separation-entities",
            "connection/open/virtual-host/separation-access",
        ),
        "all virtual hosts are one",
    ),
    Fault(
        "close-names-another-method",
        (
            "connection/close/failing-method",
            "channel/close/failing-method",
        ),
        "a close method names no failing method",
    ),
    Fault(
        "connection-works-on-after-close",
        ("connection/close/stability-discard",),
        "methods are executed after connection.close was sent",
    ),
    Fault(
        "crossing-connection-close-ignored",
        ("connection/close/stability-crossing",),
        "a close that crosses the server's own is not answered",
    ),
    Fault("connection-close-not-confirmed", ("connection/close-ok",), "the socket ends without close-ok"),
    Fault(
        "socket-kept-after-close-ok",
        (
            "wire/errors/connection-scope",
            "connection/close-ok",
        ),
        "the socket stays open after close-ok",
    ),
    Fault("update-secret-not-confirmed", ("connection/update-secret",), "update-secret is not answered"),
)
