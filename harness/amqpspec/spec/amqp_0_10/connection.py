"""The connection class (1): opening, tuning and closing a connection, all of it controls.

Knows: its rows, in the order of the specification. Codes of close are few: whatever is wrong before open ends the
socket, or is a framing error.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, PEERS, SERVER
from amqpspec.spec.assemblies import AssemblyClass, Control, Domain, Handler, PackedField, Role
from amqpspec.spec.typed import Choice

CLASS = AssemblyClass(
    name="connection",
    code=1,
    roles=(
        Handler(Role.SERVER),
        Handler(Role.CLIENT),
    ),
    domains=(
        Domain(
            "connection.close-code",
            "uint16",
            (
                Choice("normal", 200),
                Choice("connection-forced", 320),
                Choice("invalid-path", 402),
                Choice("framing-error", 501),
            ),
        ),
        Domain("connection.amqp-host-url", "str16"),
        Domain("connection.amqp-host-array", "array", element="connection.amqp-host-url"),
    ),
    controls=(
        Control(
            "connection.start",
            1,
            1,
            CLIENT,
            fields=(
                PackedField("server-properties", "map"),
                PackedField("mechanisms", "str16-array", required=True),
                PackedField("locales", "str16-array", required=True),
            ),
            responses=("connection.start-ok",),
        ),
        Control(
            "connection.start-ok",
            1,
            2,
            SERVER,
            fields=(
                PackedField("client-properties", "map"),
                PackedField("mechanism", "str8", required=True),
                PackedField("response", "vbin32", required=True),
                PackedField("locale", "str8", required=True),
            ),
        ),
        Control(
            "connection.secure",
            1,
            3,
            CLIENT,
            fields=(PackedField("challenge", "vbin32", required=True),),
            responses=("connection.secure-ok",),
        ),
        Control(
            "connection.secure-ok", 1, 4, SERVER, fields=(PackedField("response", "vbin32", required=True),)
        ),
        Control(
            "connection.tune",
            1,
            5,
            CLIENT,
            fields=(
                PackedField("channel-max", "uint16"),
                PackedField("max-frame-size", "uint16"),
                PackedField("heartbeat-min", "uint16"),
                PackedField("heartbeat-max", "uint16"),
            ),
            responses=("connection.tune-ok",),
        ),
        Control(
            "connection.tune-ok",
            1,
            6,
            SERVER,
            fields=(
                PackedField("channel-max", "uint16", required=True),
                PackedField("max-frame-size", "uint16"),
                PackedField("heartbeat", "uint16"),
            ),
        ),
        Control(
            "connection.open",
            1,
            7,
            SERVER,
            fields=(
                PackedField("virtual-host", "str8", required=True),
                PackedField("capabilities", "str16-array"),
                PackedField("insist", "bit"),
            ),
            responses=(
                "connection.open-ok",
                "connection.redirect",
            ),
        ),
        Control(
            "connection.open-ok",
            1,
            8,
            CLIENT,
            fields=(PackedField("known-hosts", "connection.amqp-host-array"),),
        ),
        Control(
            "connection.redirect",
            1,
            9,
            CLIENT,
            fields=(
                PackedField("host", "connection.amqp-host-url", required=True),
                PackedField("known-hosts", "connection.amqp-host-array"),
            ),
        ),
        Control("connection.heartbeat", 1, 10),
        Control(
            "connection.close",
            1,
            11,
            PEERS,
            fields=(
                PackedField("reply-code", "connection.close-code", required=True),
                PackedField("reply-text", "str8"),
            ),
            responses=("connection.close-ok",),
        ),
        Control("connection.close-ok", 1, 12, PEERS),
    ),
)
