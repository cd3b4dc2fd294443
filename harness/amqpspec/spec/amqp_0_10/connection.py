"""The connection class (1): opening, tuning and closing a connection, all of it controls.

Knows: its rows, in the order of the specification. Codes of close are few: whatever is wrong before open ends the
socket, or is a framing error.
Must not know: how any of it is encoded, and the ledger of requirements next to these tables.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10.roles import CLIENT, PEERS, SERVER
from amqpspec.spec.amqp_0_10.rows import Rows, optional, required
from amqpspec.spec.assemblies import AssemblyClass

_ROWS = Rows("connection", 1)
_KNOWN_HOSTS = optional("known-hosts", "connection.amqp-host-array")

CLASS = AssemblyClass(
    name="connection",
    code=1,
    roles=PEERS,
    domains=(
        _ROWS.domain(
            "close-code",
            "uint16",
            {"normal": 200, "connection-forced": 320, "invalid-path": 402, "framing-error": 501},
        ),
        _ROWS.domain("amqp-host-url", "str16"),
        _ROWS.domain("amqp-host-array", "array", element="connection.amqp-host-url"),
    ),
    controls=(
        _ROWS.control(
            "start",
            1,
            CLIENT,
            optional("server-properties", "map"),
            required("mechanisms", "str16-array"),
            required("locales", "str16-array"),
            responses=("start-ok",),
        ),
        _ROWS.control(
            "start-ok",
            2,
            SERVER,
            optional("client-properties", "map"),
            required("mechanism", "str8"),
            required("response", "vbin32"),
            required("locale", "str8"),
        ),
        _ROWS.control("secure", 3, CLIENT, required("challenge", "vbin32"), responses=("secure-ok",)),
        _ROWS.control("secure-ok", 4, SERVER, required("response", "vbin32")),
        _ROWS.control(
            "tune",
            5,
            CLIENT,
            optional("channel-max", "uint16"),
            optional("max-frame-size", "uint16"),
            optional("heartbeat-min", "uint16"),
            optional("heartbeat-max", "uint16"),
            responses=("tune-ok",),
        ),
        _ROWS.control(
            "tune-ok",
            6,
            SERVER,
            required("channel-max", "uint16"),
            optional("max-frame-size", "uint16"),
            optional("heartbeat", "uint16"),
        ),
        _ROWS.control(
            "open",
            7,
            SERVER,
            required("virtual-host", "str8"),
            optional("capabilities", "str16-array"),
            optional("insist", "bit"),
            responses=("open-ok", "redirect"),
        ),
        _ROWS.control("open-ok", 8, CLIENT, _KNOWN_HOSTS),
        _ROWS.control("redirect", 9, CLIENT, required("host", "connection.amqp-host-url"), _KNOWN_HOSTS),
        _ROWS.control("heartbeat", 10, ()),
        _ROWS.control(
            "close",
            11,
            PEERS,
            required("reply-code", "connection.close-code"),
            "reply-text",
            responses=("close-ok",),
        ),
        _ROWS.control("close-ok", 12, PEERS),
    ),
)
