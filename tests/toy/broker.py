"""A reference broker that speaks Echo, and its faults.

Knows: the rules of Echo. Must not know: cases; it cuts frames by itself, as reference brokers do.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from amqpspec.reference.connection import BrokerConnection
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.reference.faults import Faults
from amqpspec.reference.refusals import MUTE, RefusalRules
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Refusal, Requirement, Scope

_GREETING, _ASK, _ANSWER, _ERROR = b"E\x01", 1, 2, 3


class _Phase(Enum):
    GREETING, OPEN, MUTE, ENDED = auto(), auto(), auto(), auto()


class Connection(BrokerConnection):
    """One connection."""

    OPEN, MUTE, ENDED = _Phase.OPEN, _Phase.MUTE, _Phase.ENDED
    GOING_DOWN = INTERNAL_ERROR = 9

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.phase: Enum = _Phase.GREETING
        self._read = b""

    def take(self, data: bytes) -> None:
        """Take octets apart and answer."""
        self._read += data
        while not self.silent and self.guarded(self._step):
            pass

    def _step(self) -> bool:
        if self.phase is _Phase.GREETING:
            return self._greeted()
        if not self._read or len(self._read) <= self._read[0]:
            return False
        end = 1 + self._read[0]
        content, self._read = self._read[1:end], self._read[end:]
        if content:
            self._answer(content[0], content[1:])
        else:
            self.refuse("frame/size", "size 0")
        return True

    def _greeted(self) -> bool:
        if len(self._read) < len(_GREETING):
            return False
        greeting, self._read = self._read[:2], self._read[2:]
        if greeting != _GREETING:
            self.refuse("greeting/other-version", "another version")
        self.phase = _Phase.OPEN
        self.established()
        if not self.faulty("greeting-unanswered"):
            self.write(_GREETING)
        return True

    def _answer(self, kind: int, payload: bytes) -> None:
        if kind != _ASK:
            return self.refuse("frame/type", f"type {kind}")
        if not payload:
            self.refuse("ask/empty", "nothing asked")
        told = payload[::-1] if self.faulty("answer-backwards") else payload
        self.write(bytes((1 + len(told), _ANSWER)) + told)
        return None

    def send_refusal(self, refused: RefusedError) -> None:
        """Tell the client what was refused."""
        if refused.refusal is MUTE:
            self.phase = _Phase.MUTE
        elif refused.refusal.scope is Scope.CONNECTION:
            self.close(refused.refusal.code, refused.text)
        else:
            self.write(_GREETING if refused.refusal.scope is Scope.HEADER else b"")
            self.end_socket()

    def close(self, code: Any, text: str) -> None:
        """Say why, and end."""
        self.write(bytes((2, _ERROR, code)))
        self.end_socket()


class _Rules(RefusalRules):
    """The refusals of Echo."""

    def confused(self, right: Refusal) -> tuple[int, ...]:
        """The next code."""
        return (int(right.code or 0) % 3 + 1,)

    def wrong_scope(self, row: Requirement) -> Refusal | None:
        """A bare end."""
        return Refusal(Scope.SOCKET)


FAULTS = Faults(
    fault_table("""
greeting-unanswered: a greeting is not answered [greeting/answered]
answer-backwards: an answer holds the octets of the ask in reverse [ask/answered]
"""),
    _Rules(ledger="echo-1", rows=("greeting/other-version", "ask/empty", "frame/type", "frame/size")),
)
