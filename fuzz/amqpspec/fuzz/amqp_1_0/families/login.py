"""Mutations of the SASL layer of AMQP 1.0.

Knows: the frames before open. Must not know: any login but guest's, which is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from amqpspec.fuzz.amqp_1_0.kit import begin, say
from amqpspec.fuzz.families.base import Bend, Location, pipelined
from amqpspec.fuzz.families.material import MECHANISMS, RESPONSES
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import encode_frame
from amqpspec.wire.amqp_1_0.values import Symbol

_EARLY = ("raw", "sasl-header", "sasl", "authenticated", "header")
_TOUCHES = (
    "connections/opening/open-first",
    "connections/states/legal-frames",
    "version/data-matches-header",
)


def login(_: str, state: State) -> Iterator[Location]:
    """Everything about the layer."""
    if state.name in ("sasl-header", "sasl"):
        yield Location("sasl.mechanism", _mechanisms)
        yield Location("sasl.response", _responses)
        yield Location("sasl.hostname", _hosts)
        yield Location("sasl.rounds", _rounds)
        yield Location("sasl.frame", _frames)
    if state.name in _EARLY:
        yield Location("sasl.layers", _layers, _TOUCHES)
        yield Location("sasl.pipelined", _pipelined, _TOUCHES)
    if state.name == "header":
        yield Location("open.hostname", _open_hosts)


def _init(mechanism: object = "PLAIN", response: object = b"\0guest\0guest", **more: Any) -> bytes:
    return say("sasl-init", mechanism=mechanism, initial_response=response, **more)


def _mechanisms() -> Iterator[Bend]:
    for mechanism in (*MECHANISMS, *(text for _, text in TEXTS)):
        for response in (b"\0guest\0guest", b"", None):
            symbol = Symbol(mechanism.decode("ascii", "surrogateescape"))
            yield Bend(f"mechanism {mechanism[:40]!r}, response {response!r}", (_init(symbol, response),))


def _responses() -> Iterator[Bend]:
    for (words, response), mechanism in product(
        RESPONSES, ("PLAIN", "ANONYMOUS", "EXTERNAL", "SCRAM-SHA-256")
    ):
        yield Bend(f"{mechanism} response: {words}", (_init(mechanism, response),))


def _hosts() -> Iterator[Bend]:
    for words, host in TEXTS:
        yield Bend(f"hostname: {words}", (_init(hostname=host.decode("utf-8", "surrogateescape")),))


def _open_hosts() -> Iterator[Bend]:
    for words, host in TEXTS:
        text = host.decode("utf-8", "surrogateescape")
        yield Bend(f"hostname: {words}", (say("open", container_id="amqpspec-fuzz", hostname=text),))
        yield Bend(f"container-id: {words}", (say("open", container_id=text),))


def _rounds() -> Iterator[Bend]:
    """Responses that no one asked for, inits again, and what only servers send."""
    response = say("sasl-response", response=b"\0guest\0guest")
    for count in (1, 2, 64, 512):
        yield Bend(f"{count} responses", (response * count,))
        yield Bend(f"{count} inits", (_init() * count,))
        yield Bend(
            f"an init of another mechanism, then {count} responses",
            (_init("CRAM-MD5", None), response * count),
        )
    for code in (0, 1, 2, 3, 4, 5, 255):
        yield Bend(f"outcome {code} from the client", (say("sasl-outcome", code=code),))
    yield Bend("mechanisms from the client", (say("sasl-mechanisms", sasl_server_mechanisms=["PLAIN"]),))
    yield Bend("challenge from the client", (say("sasl-challenge", challenge=b"x"),))


def _frames() -> Iterator[Bend]:
    """SASL frames as frames: on channels, with payload, longer than 512 octets, of type 0."""
    for channel in (1, 255, 65_535):
        yield Bend(
            f"init on channel {channel}",
            (say("sasl-init", channel, mechanism="PLAIN", initial_response=b"\0g\0g"),),
        )
    for size in (0, 1, 64):
        yield Bend(f"init with payload of {size}", (_init(payload=b"x" * size),))
    for size in (400, 512, 513, 4096, 65_536):
        yield Bend(f"init with a response of {size}", (_init(response=b"\0guest\0" + b"x" * size),))
    for kind in (0, 2, 255):
        yield Bend(f"init in a frame of type {kind}", (_init(frame_type=kind),))
    yield Bend("empty SASL frames", (encode_frame(b"", frame_type=1) * 64,))
    yield Bend("an open in a SASL frame", (say("open", container_id="x", frame_type=1),))


def _layers() -> Iterator[Bend]:
    """Headers again, in every order of three."""
    for count in (1, 2, 3):
        for names in product(HEADERS, repeat=count):
            yield Bend(f"headers {', '.join(names)}", (b"".join(HEADERS[name] for name in names),))
    yield Bend("64 headers", (HEADERS["sasl"] * 64,))


def _pipelined() -> Iterator[Bend]:
    parts = {
        "sasl header": HEADERS["sasl"],
        "init": _init(),
        "header": HEADERS["amqp"],
        "open": say("open", container_id="amqpspec-fuzz"),
        "begin": begin(),
    }
    yield from pipelined(parts)
