"""Echo as the fuzzer knows it.

Knows: what can be sent, the states, how answers are read. Must not know: families, campaigns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.fuzz.families.base import Location, bend
from amqpspec.fuzz.grammar import Production
from amqpspec.fuzz.states.model import Say, State, Step, Values
from amqpspec.fuzz.trees.tree import Role, group, leaf, number, size_of
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import CutFrame, PlainReader
from tests.toy.tables import GREETING
from tests.toy.wire import LAYOUT, frame, name_of

_ASKED = b"who is there"


class EchoDriver(FuzzDriver):
    """The only version."""

    sentinel_state = "open"
    echo = ("asked", _ASKED)

    def productions(self) -> Iterable[Production]:
        """The greeting, and a question."""
        yield Production("protocol-header", leaf("version", Role.VERSION, GREETING))
        size = size_of(1, "type", "payload", kind="frame")
        kind = number("type", Role.FRAME_TYPE, 1, LAYOUT.types["ask"])
        yield Production("ask", group("ask", size, kind, leaf("payload", Role.OPAQUE, b"what"), kind="frame"))

    def locations(self, family: str, state: State) -> Iterator[Location]:
        """Other versions, and questions that ask nothing."""
        if family == "C09" and state.name == "raw":
            yield Location(
                "version", lambda: (bend(f"version {n}", GREETING[:1] + bytes((n,))) for n in range(256))
            )
        if family == "C05" and "ask" in state.next:
            yield Location("ask.empty", lambda: [bend("nothing asked", frame("ask"))])

    def states(self) -> Iterator[State]:
        """Before the greeting, after it, after a question."""
        greeted = Step((Say("GREETING", octets=GREETING),), ("protocol-header",))
        asked = Step((Say("ASK", octets=frame("ask", _ASKED)),), ("answer",))
        yield State("raw", (), ("protocol-header",), judged=True)
        yield State("open", (greeted,), ("ask",), judged=True)
        yield State("asked", (greeted, asked), ("ask",), judged=True)

    def octets_of(self, say: Say, values: Values) -> bytes:
        """Nothing depends on the target."""
        return say.octets

    def decoder(self) -> Decode:
        """Greetings, answers, errors."""
        reader = PlainReader(LAYOUT)

        def decode(octets: bytes) -> Iterator[Heard]:
            reader.feed(octets)
            while (item := reader.next()) is not None:
                yield _heard(item) if isinstance(item, CutFrame) else Heard("protocol-header")

        return decode

    def judge(self, state: State, steps: tuple[bytes, ...]) -> str:
        """The rule that octets break first: whatever comes after it, the connection ends there."""
        octets = b"".join(steps)
        if state.name == "raw":
            other = octets[:1] == GREETING[:1] and len(octets) == len(GREETING) and octets != GREETING
            return "greeting/other-version" if other else ""
        return next(_broken_by(octets), "")


def _heard(item: CutFrame) -> Heard:
    refusal = Refusal(Scope.CONNECTION, item.payload[0]) if name_of(item) == "error" else None
    return Heard(name_of(item), refusal, None, item.payload)


def _broken_by(octets: bytes) -> Iterator[str]:
    """The rules that whole frames break, one after the other; what ends in the middle of one breaks none for sure."""
    reader = PlainReader(LAYOUT, header_allowed=False)
    reader.feed(octets)
    try:
        while isinstance(item := reader.next(), CutFrame):
            if rule := _rule_of(item):
                yield rule
                return
    except WireError:
        yield "frame/size"


def _rule_of(item: CutFrame) -> str:
    if name_of(item) != "ask":
        return "frame/type"
    return "" if item.payload else "ask/empty"
