"""C10: the phase of authentication and permission.

Knows: what is said before a connection is open. Must not know: any login but guest's, which is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Family, Spot, is_methods
from amqpspec.fuzz.methods.kit import Kit, kit
from amqpspec.fuzz.states.ways import State
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS

MECHANISMS = (
    b"", b"plain", b"Plain", b"PLAIN ", b" PLAIN", b"PLAIN\0", b"PLAIN AMQPLAIN", b"AMQPLAIN", b"ANONYMOUS",
    b"EXTERNAL", b"CRAM-MD5", b"DIGEST-MD5", b"SCRAM-SHA-1", b"SCRAM-SHA-256", b"SCRAM-SHA-512", b"GSSAPI", b"NTLM",
    b"XOAUTH2", b"OAUTHBEARER", b"RABBIT-CR-DEMO", b"LOGIN", b"X" * 255,
)  # fmt: skip
RESPONSES: tuple[tuple[str, bytes], ...] = (
    ("empty", b""),
    ("no zero octet", b"guest"),
    ("one zero octet", b"guest\0guest"),
    ("two zero octets alone", b"\0\0"),
    ("three zero octets", b"\0guest\0guest\0"),
    ("another identity", b"admin\0guest\0guest"),
    ("no user", b"\0\0guest"),
    ("no password", b"\0guest\0"),
    ("wrong password", b"\0guest\0wrong"),
    ("user in capitals", b"\0GUEST\0guest"),
    ("user with a blank", b"\0guest \0guest"),
    ("unknown user", b"\0nobody-fuzz\0x"),
    ("user that is not UTF-8", b"\0\xff\xfe\0guest"),
    ("password that is not UTF-8", b"\0guest\0\xff\xfe"),
    ("user of 4096 octets", b"\0" + b"u" * 4096 + b"\0guest"),
    ("password of 64 KiB", b"\0guest\0" + b"p" * 65_536),
    ("zero octets", b"\0" * 1024),
    ("format signs", b"\0%s%n\0%x"),
    ("wildcards of a directory", b"\0*)(uid=*\0*"),
    ("scram", b"n,,n=guest,r=fuzz"),
    ("scram with a binding", b"p=tls-unique,,n=guest,r=fuzz"),
    ("scram, name of commas", b"n,,n=,,=2C=3D,r="),
    ("cram", b"guest 00000000000000000000000000000000"),
    ("an initial space", b" \0guest\0guest"),
)
_EARLY = ("header", "start", "tune", "open")


def _spots(dialect_id: str, state: State) -> Iterator[Spot]:
    if not is_methods(dialect_id):
        from amqpspec.fuzz.amqp_1_0.login import login

        yield from login(dialect_id, state)
        return
    tools = kit(dialect_id)
    offered = ("connection/start-ok/mechanism/validity", "security/negotiation-errors")
    if state.name in ("header", "start"):
        yield Spot("sasl.mechanism", lambda: _mechanisms(tools), offered)
        yield Spot("sasl.response", lambda: _responses(tools), ("security/negotiation-errors",))
        yield Spot("sasl.locale", lambda: _locales(tools), ("connection/start-ok/locale",))
    if state.name in _EARLY:
        yield Spot("sasl.pipelined", lambda: _pipelined(tools), ("connection/grammar",))
        yield Spot("sasl.secure-ok", lambda: _secure(tools), ("connection/secure", "connection/grammar"))
    if state.name == "open":
        touches = ("connection/open/virtual-host/security", "constant/invalid-path")
        yield Spot("open.virtual-host", lambda: _hosts(tools), touches)


def _start_ok(
    tools: Kit, mechanism: object = "PLAIN", response: bytes = b"\0guest\0guest", locale: object = "en_US"
) -> bytes:
    return tools.method("connection.start-ok", 0, mechanism=mechanism, response=response, locale=locale)


def _mechanisms(tools: Kit) -> Iterator[Bend]:
    for mechanism in (*MECHANISMS, *(octets for _, octets in TEXTS)):
        for response in (b"\0guest\0guest", b""):
            yield Bend(f"mechanism {mechanism[:40]!r}", (_start_ok(tools, mechanism, response),))


def _responses(tools: Kit) -> Iterator[Bend]:
    for words, response in RESPONSES:
        for mechanism in ("PLAIN", "AMQPLAIN", "EXTERNAL"):
            yield Bend(f"{mechanism} response: {words}", (_start_ok(tools, mechanism, response),))


def _locales(tools: Kit) -> Iterator[Bend]:
    for words, locale in (*TEXTS, ("another language", b"xx_XX"), ("two", b"en_US de_DE")):
        yield Bend(f"locale: {words}", (_start_ok(tools, locale=locale),))


def _pipelined(tools: Kit) -> Iterator[Bend]:
    """The rest of the handshake at once, in parts, twice, and without its beginning."""
    parts = {
        "start-ok": _start_ok(tools),
        "tune-ok": tools.method("connection.tune-ok", 0, channel_max=64, frame_max=4096),
        "open": tools.method("connection.open", 0, virtual_host="/"),
        "channel.open": tools.method("channel.open"),
        "queue.declare": tools.method("queue.declare", queue="amqpspec.fuzz.q"),
    }
    texts = list(parts)
    for first in range(len(texts)):
        for last in range(first + 1, len(texts) + 1):
            told = texts[first:last]
            yield Bend(", ".join(told), (b"".join(parts[text] for text in told),))
    for text in texts:
        yield Bend(f"{text} 16 times", (parts[text] * 16,))


def _secure(tools: Kit) -> Iterator[Bend]:
    for words, response in (*RESPONSES, *LONG_TEXTS):
        yield Bend(f"secure-ok: {words}", (tools.method("connection.secure-ok", 0, response=response),))


def _hosts(tools: Kit) -> Iterator[Bend]:
    for words, host in (
        *TEXTS,
        ("no such host", b"/amqpspec-fuzz-none"),
        ("a host in the host", b"//"),
        ("up", b"/.."),
    ):
        yield Bend(f"virtual host: {words}", (tools.method("connection.open", 0, virtual_host=host),))


FAMILY = Family("C10", "authentication and permission phase", _spots)
