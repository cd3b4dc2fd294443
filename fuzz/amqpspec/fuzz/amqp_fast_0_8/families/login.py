"""C10: the phase of authentication and permission in AMQP/Fast.

Knows: the commands before a connection is open. Must not know: any login but guest's, which is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.kit import say
from amqpspec.fuzz.families.base import Bend, Location, pipelined
from amqpspec.fuzz.families.material import MECHANISMS, RESPONSES
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.values import Typed

_GUEST = {"LOGIN": "guest", "PASSWORD": "guest"}
_EARLY = ("raw", "greeted", "login", "tuning", "tuned")
_ROWS = ("connection/response/mechanism", "connection/response/rejected", "plain/case")
_HOSTS = (
    ("no such host", b"/amqpspec-fuzz-none"),
    ("a host in the host", b"//"),
    ("up", b"/.."),
    ("no slash", b"a"),
)


def login(_: str, state: State) -> Iterator[Location]:
    """Everything before OPEN, and OPEN."""
    if state.name in ("greeted", "login"):
        yield Location("login.mechanism", _mechanisms, _ROWS)
        yield Location("login.response", _responses, _ROWS)
        yield Location("login.rounds", _rounds, _ROWS)
    if state.name in _EARLY:
        yield Location("login.pipelined", _pipelined, ("connection/errors/kinds",))
    if state.name in ("tuning", "tuned"):
        yield Location("open.virtual-path", _paths, ("errors/connection",))
        yield Location("open.client-name", _clients, ("connection/open/client-name",))


def _response(mechanism: Any = "PLAIN", responses: Any = None) -> bytes:
    return say(
        "connection.response", mechanism=mechanism, responses=_GUEST if responses is None else responses
    )


def _mechanisms() -> Iterator[Bend]:
    for mechanism in (*MECHANISMS, b"NONE", b"TLS", *(octets for _, octets in TEXTS)):
        for responses in (_GUEST, {}):
            yield Bend(
                f"mechanism {mechanism[:40]!r}, {len(responses)} responses",
                (_response(mechanism, responses),),
            )


def _responses() -> Iterator[Bend]:
    """Names and values that PLAIN does not have."""
    for words, octets in (*RESPONSES, *TEXTS):
        if len(octets) < 60_000:
            yield Bend(f"LOGIN: {words}", (_response(responses={**_GUEST, "LOGIN": octets}),))
            yield Bend(f"PASSWORD: {words}", (_response(responses={**_GUEST, "PASSWORD": octets}),))
    for words, name in TEXTS:
        yield Bend(f"LOGIN called {words}", (_response(responses={name: "guest", "PASSWORD": "guest"}),))
    for own in _GUEST:
        for tag, value in (("I", 1), ("D", (0, 1)), ("T", 1)):
            yield Bend(f"{own} as {tag}", (_response(responses={**_GUEST, own: Typed(tag, value)}),))
        yield Bend(f"{own} missing", (_response(responses={k: v for k, v in _GUEST.items() if k != own}),))
        pairs = [*_GUEST.items(), (own, "wrong")]
        yield Bend(f"{own} twice", (_response(responses=pairs),))
        yield Bend(f"{own} twice, wrong first", (_response(responses=pairs[::-1]),))


def _rounds() -> Iterator[Bend]:
    """Responses again, and what only servers send."""
    for count in (1, 2, 64, 512):
        yield Bend(f"{count} responses", (_response() * count,))
        yield Bend(f"{count} wrong responses", (_response(responses={}) * count,))
    challenge = say("connection.challenge", version=1, mechanisms="PLAIN")
    yield Bend("a challenge from the client", (challenge,))
    yield Bend("a response with a challenge behind it", (_response() + challenge,))


def _open(path: Any = "/", client: Any = "") -> bytes:
    return say("connection.open", virtual_path=path, client_name=client)


def _pipelined() -> Iterator[Bend]:
    yield from pipelined(
        {
            "greeting": DIALECT.protocol_header,
            "response": _response(),
            "tune": say("connection.tune", options={"FRAME_MAX": 4096}),
            "open": _open(),
            "channel.open": say("channel.open"),
            "close": say("connection.close"),
        }
    )


def _paths() -> Iterator[Bend]:
    for words, path in (*TEXTS, *_HOSTS):
        yield Bend(f"virtual path: {words}", (_open(path),))


def _clients() -> Iterator[Bend]:
    for words, name in TEXTS:
        yield Bend(f"client name: {words}", (_open(client=name),))
    yield Bend("OPEN under two names", (_open(client="amqpspec-fuzz-a") + _open(client="amqpspec-fuzz-b"),))
