"""C10: the phase of authentication and permission.

Knows: the frames before a connection is open. Must not know: any login but guest's, which is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, pipelined
from amqpspec.fuzz.families.material import MECHANISMS, RESPONSES
from amqpspec.fuzz.methods.kit import Kit, kit
from amqpspec.fuzz.methods.samples import SMALL_FRAME_MAX_OCTETS
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS

_EARLY = ("header", "start", "tune", "open")


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    tools = kit(dialect_id)
    offered = ("connection/start-ok/mechanism/validity", "security/negotiation-errors")
    if state.name in ("header", "start"):
        yield Location("sasl.mechanism", lambda: _mechanisms(tools), offered)
        yield Location("sasl.response", lambda: _responses(tools), ("security/negotiation-errors",))
        yield Location("sasl.locale", lambda: _locales(tools), ("connection/start-ok/locale",))
    if state.name in _EARLY:
        yield Location("sasl.pipelined", lambda: _pipelined(tools), ("connection/grammar",))
        yield Location("sasl.secure-ok", lambda: _secure(tools), ("connection/secure", "connection/grammar"))
    if state.name == "open":
        touches = ("connection/open/virtual-host/security", "constant/invalid-path")
        yield Location("open.virtual-host", lambda: _hosts(tools), touches)


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
        "tune-ok": tools.method("connection.tune-ok", 0, channel_max=64, frame_max=SMALL_FRAME_MAX_OCTETS),
        "open": tools.method("connection.open", 0, virtual_host="/"),
        "channel.open": tools.method("channel.open"),
        "queue.declare": tools.method("queue.declare", queue="amqpspec.fuzz.q"),
    }
    yield from pipelined(parts)


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
