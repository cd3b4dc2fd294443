"""What arrives on a connection of AMQP 1.0, once octets have become sense, and what it amounts to as a refusal.

Knows: frames, performatives, errors within them. Must not know: how they are read or waited for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amqpspec.peer.events import Arrival, Ended, HeaderArrived
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.frames import TypedFrame

if TYPE_CHECKING:
    from amqpspec.peer.amqp_1_0.books import Link

SENDER, RECEIVER = False, True
"""The roles as they stand in attach and disposition."""

_SCOPES = {
    "close": Scope.CONNECTION,
    "end": Scope.SESSION,
    "detach": Scope.LINK,
    "disposition": Scope.DELIVERY,
}
_WIDTH = {Scope.CONNECTION: 0, Scope.SESSION: 1, Scope.LINK: 2, Scope.DELIVERY: 3}
_NO_CONDITION = "an error without a condition"


@dataclass(frozen=True, slots=True, eq=False)
class FrameArrived:
    """A frame of the target. ``channel`` is the number under which the case began the session, where it is one's;
    ``link`` is the link that the target's handle, or the name in attach, stands for.
    """

    frame: TypedFrame
    channel: int | None = None
    link: Link | None = None

    @property
    def name(self) -> str:
        """The performative's name, ``empty`` for a frame without one, ``type-N`` for a type that is not defined."""
        return self.frame.name

    @property
    def performative(self) -> Composed:
        """What the frame carries; raises LookupError for a frame that carries nothing."""
        if self.frame.performative is None:
            raise LookupError(f"{self.name} frame: expected a performative, actual: none")
        return self.frame.performative

    def __getitem__(self, key: str) -> Any:
        return self.performative[key]

    @property
    def given(self) -> frozenset[str]:
        """The keys of the fields that were sent and are not null."""
        return frozenset() if self.frame.performative is None else self.frame.performative.given

    @property
    def payload(self) -> bytes:
        """What follows the performative."""
        return self.frame.payload

    @property
    def wire_channel(self) -> int:
        """The channel number in the frame, which is the target's own."""
        return self.frame.channel

    @property
    def error(self) -> Composed | None:
        """The error that a close, end, detach or rejected state carries."""
        held: Composed | None = self.frame.performative
        if held is not None and self.name in ("disposition", "transfer"):
            held = _composed(held["state"])
        return None if held is None else _composed(held.get("error"))

    @property
    def condition(self) -> str | None:
        """The condition of that error, None where there is no error."""
        error = self.error
        if error is None:
            return None
        condition = error["condition"]
        return str(condition) if isinstance(condition, str) else _NO_CONDITION

    @property
    def state(self) -> str:
        """The name of the delivery state in a transfer or disposition; empty where there is none."""
        if self.name not in ("disposition", "transfer"):
            return ""
        state = _composed(self["state"])
        return "" if state is None else state.name

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports: what ends something with its error, anything else with its channel."""
        if self.name in ("close", "end", "detach"):
            return f"{self.name} {self._why()}"
        if self.name == "disposition":
            role = "receiver" if self["role"] else "sender"
            settled = "settled" if self["settled"] else "unsettled"
            why = f" {self._why()}" if self.condition else ""
            return f"disposition of the {role}, {self.state or 'no state'}, {settled}{why}"
        if self.name.startswith("sasl-outcome"):
            return f"sasl-outcome code {self['code']}"
        return f"{self.name} on channel {self.wire_channel}"

    def _why(self) -> str:
        error = self.error
        if error is None:
            return "without error"
        text = " ".join(str(error.get("description", "")).encode("utf-8", "replace").decode().split())
        return f"{self.condition} ({text[:200]!r})" if text else f"{self.condition}"


@dataclass(frozen=True, slots=True)
class Passed:
    """No refusal up to the answer to a barrier that was sent behind."""

    how: str

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        return f"no refusal: {self.how} behind it was answered"


def refusal_of(arrivals: Iterable[Arrival]) -> tuple[Refusal | None, FrameArrived | None]:
    """The refusal that arrivals amount to, and the frame that said it.

    Of several the widest counts; a frame comes before a header, a header before a bare end. What is closed without an
    error is no refusal: then the frame is given alone.
    """
    arrivals = tuple(arrivals)
    frames = [a for a in arrivals if isinstance(a, FrameArrived) and _says_no(a)]
    frames.sort(key=lambda a: (a.condition is None and a.name != "disposition", _WIDTH[_SCOPES[a.name]]))
    if frames:
        first = frames[0]
        silent = first.condition is None and first.name != "disposition"
        return (None if silent else Refusal(_SCOPES[first.name], first.condition)), first
    if any(isinstance(a, Ended) for a in arrivals):
        header = any(isinstance(a, HeaderArrived) for a in arrivals)
        return Refusal(Scope.HEADER if header else Scope.SOCKET), None
    return None, None


def _says_no(arrival: FrameArrived) -> bool:
    return arrival.name in ("close", "end", "detach") or arrival.state == "rejected"


def _composed(value: Any) -> Composed | None:
    return value if isinstance(value, Composed) else None
