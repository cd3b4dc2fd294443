"""The result of one input: how far it got, the answers, the final state of the stream, the duration.

Knows: refusals. Must not know: sockets, what was expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.spec.model import Refusal, Scope

_BUCKETS_S = (0.01, 0.1, 1.0)


class End(StrEnum):
    """The state of the target's side of the stream when the conversation ended."""

    OPEN = "open"
    FIN = "fin"
    RST = "rst"
    REFUSED = "connect refused"


class Obedience(StrEnum):
    """What a target did when the conversation continued legally after an input that it had not refused."""

    NOT_ASKED = ""
    GOES_ON = "goes on"
    SILENT = "no longer answers"
    WRONG = "answers wrongly"
    ENDS = "refuses or ends"


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds: from the last octet of the input to the first answer (None: none came), and of the way.

    ``answered_s`` and ``slowest_step_until_s`` are when these waits ended, on the monotonic clock.
    """

    latency_s: float | None
    way_s: float
    slowest_step_s: float = 0.0
    answered_s: float = 0.0
    slowest_step_until_s: float = 0.0


@dataclass(frozen=True, slots=True)
class InputResult:
    """The result of one input. ``reached`` says whether it reached its state and was sent completely.

    ``disobeys`` says what was expected and what arrived in the follow-up, if the target had no excuse; ``astray`` is
    an answer on a channel that no one had used; ``late`` says that the way into the state got no answer in time, which
    is silence, not a refusal. ``port`` is our end of the connection, 0 if it is not known.
    """

    item: FuzzInput
    reached: bool
    arrivals: tuple[str, ...]
    refused: Refusal | None
    end: End
    timing: Timing
    sent_octets: int
    received_octets: int
    why: str = ""
    obedience: Obedience = Obedience.NOT_ASKED
    disobeys: str = ""
    astray: str = ""
    late: bool = False
    port: int = 0

    @property
    def refusal(self) -> Refusal | None:
        """How the target refused: by a close, by a header, by the end of the stream; None if it did not."""
        if self.refused is not None:
            return self.refused
        if self.end not in (End.FIN, End.RST):
            return None
        headers = ("header", "protocol-header")
        return Refusal(Scope.HEADER if self.arrivals[:1] and self.arrivals[0] in headers else Scope.SOCKET)

    @property
    def reaction(self) -> str:
        """A phrase for what the target did."""
        if not self.reached:
            return f"state not reached: {self.why}"
        refusal = self.refusal
        if refusal is not None:
            return f"{refusal.scope} {refusal.code}" if refusal.code is not None else str(refusal.scope)
        return f"answer {self.arrivals[0]}" if self.arrivals else "silence"

    @property
    def response_state(self) -> str:
        """What makes a response new: the state in which it came, the phrase, and roughly how long it took."""
        latency_s = self.timing.latency_s
        bucket = "-" if latency_s is None else sum(latency_s > edge_s for edge_s in _BUCKETS_S)
        return f"{self.item.state}|{self.reaction}|{bucket}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """One piece of a conversation, for a transcript."""

    direction: str
    octets: bytes
    t_ns: int
