"""What AMQP/Fast 0.8d6 is made of below its commands: greeting, frames, types, tables, options, codes.

Knows: the octets around the fields, the types of fields, the values that fields and options may have.
Must not know: how a value is encoded, and any command.

Readings. In the grammar a long size may begin at zero, in the prose at 0xFFFF: a reader takes both, a writer escapes
only what is too large for two octets. The size does not count itself. A decimal has a signed mantissa, as integers
do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amqpspec.spec.commands import CommandLayout, ReplyCode, ServiceType, TuneOption, WireType
from amqpspec.spec.framing import Greeting
from amqpspec.spec.methods import TypeTag
from amqpspec.spec.model import Side

PROTOCOL_ID = 128
PROTOCOL_VERSION = 1
GREETING = bytes((PROTOCOL_ID, PROTOCOL_VERSION))

PROTOCOL_IDS: Mapping[str, tuple[range, ...]] = MappingProxyType(
    {
        "http": (range(ord("A"), ord("Z") + 1), range(ord("a"), ord("z") + 1)),
        "fast": (range(128, 129),),
        "reserved": (range(129, 161),),
        "test": (range(161, 256),),
    }
)
"""What the first octet of a connection announces."""

LAYOUT = CommandLayout(
    header=(("size", 2), ("code", 1)),
    long_size_octets=4,
    end=0xCE,
    min_frame_max_octets=1024,
    max_login_frame_octets=4096,
    greeting=Greeting(GREETING, len(GREETING)),
)

TYPES = (
    WireType("bit"),
    WireType("octet", octets=1),
    WireType("short", octets=2),
    WireType("long", octets=4),
    WireType("shortstr", length_octets=1),
    WireType("longstr", length_octets=2),
    WireType("table", length_octets=2),
)

TABLE_TAGS = (
    TypeTag("S", "long-string", "longstr"),
    TypeTag("I", "signed-integer", "int32"),
    TypeTag("D", "decimal-value", "decimal"),
    TypeTag("T", "timestamp", "time32"),
)
"""Values of field tables; ``time32`` is POSIX time in seconds, ``decimal`` an octet of decimals and an ``int32``."""

FIELD_NAME = r"[A-Za-z$#][A-Za-z0-9_$#]{0,127}"
"""The names that field tables may hold. Examples in the text have hyphens, which its own rule does not allow."""

MECHANISMS: Mapping[str, tuple[str, ...]] = MappingProxyType({"PLAIN": ("LOGIN", "PASSWORD")})
"""Security mechanisms with the fields of their responses; all of these are strings."""

TUNE_OPTIONS = (
    TuneOption(
        "FRAME_MAX", Side.BOTH, "octets of a frame or fragment that its sender accepts", at_least=1024
    ),
    TuneOption("CHANNEL_MAX", Side.SERVER, "channels of a connection", zero="no limit"),
    TuneOption("HANDLE_MAX", Side.SERVER, "handles of a connection", zero="no limit"),
    TuneOption(
        "HEARTBEAT", Side.BOTH, "seconds between the pings that its sender asks for", zero="none wanted"
    ),
    TuneOption("TXN_LIMIT", Side.SERVER, "messages of a transaction", zero="no limit"),
)
"""Options of CONNECTION TUNE; the client may lower FRAME_MAX, not raise it. All of them are integers."""

SERVICE_TYPES = (
    ServiceType("queue", 1),
    ServiceType("topic", 2),
    ServiceType("any", 3, consumable=False),
)
"""``any`` is a queue if one of that name exists, else a topic. The list of values calls it unknown."""

REPLY_CODES = (
    ReplyCode("reply-success", 200),
    ReplyCode("message-not-found", 310),
    ReplyCode("message-too-large", 311),
    ReplyCode("client-active", 320),
    ReplyCode("service-unsupported", 401),
    ReplyCode("invalid-path", 402),
    ReplyCode("access-refused", 403),
    ReplyCode("not-found", 404),
    ReplyCode("frame-error", 501),
    ReplyCode("invalid-field", 502),
    ReplyCode("command-invalid", 503),
    ReplyCode("channel-error", 504),
    ReplyCode("handle-error", 505),
    ReplyCode("resource-error", 506),
    ReplyCode("temporarily-forbidden", 507),
    ReplyCode("not-implemented", 540),
    ReplyCode("internal-error", 541),
    ReplyCode("invalid-content", 542),
)
"""Reply codes of AMQ RFC 011. Which level a code closes is not a property of the code."""
