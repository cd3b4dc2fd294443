"""What the fuzzer claims of inputs, held against the clean reference brokers: a claim that they refute is false."""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import load_methods
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_0_10.frames import Frame as Frame010
from amqpspec.wire.amqp_0_10.reader import FrameReader as FrameReader010
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader
from tests.waiting import PATIENCE_S

EACH = 3


def claimed(dialect: str) -> list[FuzzInput]:
    """A few inputs for each row that is claimed in each state, from the middle of their cells."""
    found: dict[tuple[str, str], list[FuzzInput]] = defaultdict(list)
    for cell in cells(dialect):
        if states(dialect)[cell.state].judged and cell.family != "C03":
            step = max(1, cell.inputs // 7)
            for number in range(0, cell.inputs, step):
                item = cell.input(number)
                key = (item.expectation.requirement, cell.state)
                if key[0] and len(found[key]) < EACH:
                    found[key].append(item)
    return [item for items in found.values() for item in items]


Heard = tuple[str, Refusal | None]
"""What was received, by name, and the refusal that it is, if it is one."""


class Client:
    """A connection that reads what the broker says."""

    def __init__(self, broker: ReferenceBroker) -> None:
        self.socket = socket.create_connection((broker.host, broker.port), timeout=PATIENCE_S)
        self._read = _READERS.get(broker.dialect, _methods)(broker.dialect)

    def heard(self) -> Iterator[Heard]:
        """What the broker says, then ``socket``; TimeoutError if nothing arrives."""
        octets = b""
        while True:
            yield from self._read(octets)
            octets = b""
            with suppress(ConnectionError):
                octets = self.socket.recv(65_536)
            if not octets:
                yield "socket", None
                return

    def refusal(self) -> Refusal:
        """How the broker refused."""
        first = ""
        for name, refusal in self.heard():
            if refusal is not None:
                return refusal
            if name == "socket":
                return Refusal(Scope.HEADER if first == "header" else Scope.SOCKET)
            first = first or name
        raise AssertionError("a stream that neither ends nor goes on")


def _methods(dialect: str) -> Callable[[bytes], Iterator[Heard]]:
    codec = codec_for(widest(dialect))
    reader = FrameReader(load_methods(dialect).layout)

    def read(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        for item in iter(reader.next, None):
            if not isinstance(item, Frame):
                yield "header", None
            elif item.type == codec.dialect.layout.types["method"]:
                call = codec.decode_method(item.payload)
                closes = call.name in ("connection.close", "channel.close")
                scope = Scope(call.method.class_name) if closes else None
                yield call.name, Refusal(scope, call["reply-code"]) if scope else None

    return read


def _typed(dialect: str) -> Callable[[bytes], Iterator[Heard]]:
    reader = TypedReader()
    scopes = {"close": Scope.CONNECTION, "end": Scope.SESSION, "detach": Scope.LINK}

    def read(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        for item in iter(reader.next, None):
            if not isinstance(item, TypedFrame):
                yield "header", None
                continue
            error = item.performative["error"] if item.performative and item.name in scopes else None
            yield item.name, Refusal(scopes[item.name], str(error["condition"])) if error else None

    return read


def _commands(dialect: str) -> Callable[[bytes], Iterator[Heard]]:
    reader = CommandReader()

    def read(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        for item in iter(reader.next, None):
            assert isinstance(item, CommandFrame)
            tier, _, name = item.name.partition(".")
            code = item.args.get("reply_code", 0)
            scope = Scope(tier) if name == "close" else Scope.DELIVERY
            yield item.name, Refusal(scope, code) if code >= 300 else None

    return read


def _assemblies(dialect: str) -> Callable[[bytes], Iterator[Heard]]:
    reader = FrameReader010()

    def read(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        for item in iter(reader.next, None):
            if not isinstance(item, Frame010):
                yield "header", None
            elif item.assembly is not None:
                arrived = AssemblyArrived(item.assembly)
                yield arrived.name, arrived.refusal

    return read


_READERS = {"amqp-1-0": _typed, "amqp-fast-0-8": _commands, "amqp-0-10": _assemblies}


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0", "amqp-fast-0-8", "amqp-0-10"])
def test_no_claim_is_refuted(dialect: str) -> None:
    inputs = claimed(dialect)
    assert len({item.expectation.requirement for item in inputs}) >= (7 if dialect == "amqp-1-0" else 8)
    wrong = []
    with ReferenceBroker(dialect) as broker:
        for number, item in enumerate(inputs):
            client = Client(broker)
            with client.socket:
                values = Values(queue=f"q-{number}", container=f"c-{number}", channel_max=64)
                for step in states(dialect)[item.state].steps:
                    client.socket.sendall(octets_of_step(dialect, step, values))
                    for name in step.wait_for:
                        assert any(heard == name for heard, _ in client.heard())
                with suppress(ConnectionError):
                    client.socket.sendall(item.octets)
                actual = client.refusal()
            expected = (*item.expectation.accepts, *item.expectation.tolerates)
            if not any(e == actual or (e.scope is actual.scope and e.code is None) for e in expected):
                wrong.append((str(item.id), item.words, actual))
    assert not wrong
