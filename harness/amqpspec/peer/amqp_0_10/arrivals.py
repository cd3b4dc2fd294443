"""What arrives on a connection of AMQP 0-10, and the refusal that arrivals amount to.

Knows: controls, commands, which of them say that something was refused, and how far. Must not know: how they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.events import Arrival, Ended, HeaderArrived
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.amqp_0_10.values import Packed

_CODES = {
    "connection.close": (Scope.CONNECTION, "reply_code", ""),
    "execution.exception": (Scope.SESSION, "error_code", ""),
    "session.detached": (Scope.SESSION, "code", "session.detach-code"),
    "message.reject": (Scope.DELIVERY, "code", "message.reject-code"),
}
"""What refuses: its scope, where its code stands, and the domain whose names the ledger cites for it."""
_WIDTH = (Scope.CONNECTION, Scope.SESSION, Scope.DELIVERY)


@dataclass(frozen=True, slots=True)
class AssemblyArrived(Arrival):
    """A control or a command that is complete; ``id`` is a command's, as its session counts."""

    assembly: Assembly
    id: int | None = None

    @property
    def name(self) -> str:
        """``class.control`` or ``class.command``."""
        return self.assembly.name

    @property
    def channel(self) -> int:
        """The channel on which it came."""
        return self.assembly.channel

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments that are there, by their keys."""
        return self.assembly.instruction.args if self.assembly.instruction else {}

    def __getitem__(self, key: str) -> Any:
        """An argument; None if it is absent."""
        return self.args.get(key)

    @property
    def body(self) -> bytes:
        """The body segment; empty if there is none."""
        return self.assembly.body or b""

    def struct(self, name: str) -> Mapping[str, Any]:
        """The fields of a struct in the header segment by its name; none if it is not there."""
        found = (entry for entry in self.assembly.header or () if isinstance(entry, Packed))
        return next((entry.fields for entry in found if entry.name == name), {})

    @property
    def delivery(self) -> Mapping[str, Any]:
        """The delivery properties of a transfer."""
        return self.struct("message.delivery-properties")

    @property
    def message(self) -> Mapping[str, Any]:
        """The message properties of a transfer."""
        return self.struct("message.message-properties")

    @property
    def code(self) -> int | str | None:
        """What a refusal carries: a number, or the name where the ledger cites names."""
        _, key, domain = _CODES.get(self.name, (None, "", ""))
        value = self[key]
        return next((c.name for c in DIALECT.choices(domain) if c.value == value), value)

    @property
    def kind(self) -> str:
        """The name; what refuses with its code."""
        return f"{self.name} {self.code}" if self.name in _CODES else self.name

    @property
    def refusal(self) -> Refusal | None:
        """What it refuses; a session that was detached cleanly refuses nothing."""
        if self.name not in _CODES or (self.name, self.code) == ("session.detached", "normal"):
            return None
        return Refusal(_CODES[self.name][0], self.code)

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports."""
        if self.name not in _CODES:
            return f"{self.name} on channel {self.channel}"
        text = self["description"] or self["reply_text"] or self["text"]
        code = "no code" if self.code is None else dialect.code_name(self.code)
        return f"{self.name} {code}" + (f" ({' '.join(text.split())!r})" if text else "")


def refusal_of(arrivals: Iterable[Arrival]) -> tuple[Refusal | None, AssemblyArrived | None]:
    """The refusal that arrivals amount to, and what said it.

    Of several the widest counts, of one scope the first; a header comes before a bare end.
    """
    arrivals = tuple(arrivals)
    said = [a for a in arrivals if isinstance(a, AssemblyArrived) and a.refusal is not None]
    for scope in _WIDTH:
        for arrival in said:
            if arrival.refusal is not None and arrival.refusal.scope is scope:
                return arrival.refusal, arrival
    if any(isinstance(a, Ended) for a in arrivals):
        header = any(isinstance(a, HeaderArrived) for a in arrivals)
        return Refusal(Scope.HEADER if header else Scope.SOCKET), None
    return None, None
