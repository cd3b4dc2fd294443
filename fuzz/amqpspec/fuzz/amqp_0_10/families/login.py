"""C10: the phase of authentication and permission in AMQP 0-10.

Knows: the frames before a connection is open. Must not know: any login but guest's, which is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.amqp_0_10.kit import attach, say
from amqpspec.fuzz.families.base import Bend, Location, pipelined
from amqpspec.fuzz.families.material import MECHANISMS, RESPONSES
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS
from amqpspec.wire.amqp_0_10.malformed import sized
from amqpspec.wire.values import Raw

_EARLY = ("header", "start", "tune", "open")
_OFFERED = ("connection/start-ok/mechanism/offered", "connection/start-ok/mechanism/validity")


def login(_: str, state: State) -> Iterator[Location]:
    """Everything before a connection is open."""
    if state.name in ("header", "start"):
        yield Location("sasl.mechanism", _mechanisms, _OFFERED)
        yield Location("sasl.response", _responses, ("connection/secure",))
        yield Location("sasl.locale", _locales, ("connection/start-ok/locale",))
    if state.name in _EARLY:
        yield Location("sasl.pipelined", _pipelined, ("connection/grammar",))
        yield Location("sasl.secure-ok", _secure, ("connection/secure", "connection/grammar"))
    if state.name == "open":
        yield Location("open.virtual-host", _hosts, ("connection/open/virtual-host/security",))


def _text(octets: bytes) -> Raw:
    return sized("str8", octets)


def _start_ok(**given: Any) -> bytes:
    return say("connection.start-ok", **given)


def _mechanisms() -> Iterator[Bend]:
    for mechanism in (*MECHANISMS, *(octets for _, octets in TEXTS)):
        for response in (b"\0guest\0guest", b""):
            yield Bend(
                f"mechanism {mechanism[:40]!r}", (_start_ok(mechanism=_text(mechanism), response=response),)
            )


def _responses() -> Iterator[Bend]:
    for words, response in RESPONSES:
        for mechanism in ("PLAIN", "ANONYMOUS", "EXTERNAL", "CRAM-MD5"):
            yield Bend(f"{mechanism} response: {words}", (_start_ok(mechanism=mechanism, response=response),))


def _locales() -> Iterator[Bend]:
    for words, locale in (*TEXTS, ("another language", b"xx_XX"), ("two", b"en_US de_DE")):
        yield Bend(f"locale: {words}", (_start_ok(locale=_text(locale)),))


def _pipelined() -> Iterator[Bend]:
    yield from pipelined(
        {
            "start-ok": _start_ok(),
            "tune-ok": say("connection.tune-ok"),
            "open": say("connection.open", virtual_host=""),
            "session": attach(1, b"amqpspec-fuzz-early"),
            "queue.query": say("queue.query"),
        }
    )


def _secure() -> Iterator[Bend]:
    for words, response in (*RESPONSES, *LONG_TEXTS):
        yield Bend(f"secure-ok: {words}", (say("connection.secure-ok", response=response),))


def _hosts() -> Iterator[Bend]:
    for words, host in (*TEXTS, ("no such host", b"amqpspec-fuzz-none"), ("a slash", b"/"), ("up", b"/..")):
        for insist in (False, True):
            octets = say("connection.open", virtual_host=_text(host), insist=insist)
            yield Bend(f"virtual host: {words}, insist {insist}", (octets,))
