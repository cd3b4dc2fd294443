"""The arrivals on a connection of AMQP 0-10, and the refusal in them.

Knows: controls, commands, which of them refuse something, and at which scope. Must not know: how they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.events import Arrival, wordless_end
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
"""The refusing controls and commands: scope, field of the code, and the domain whose names the ledger uses."""
_WIDTH = (Scope.CONNECTION, Scope.SESSION, Scope.DELIVERY)


@dataclass(frozen=True, slots=True)
class AssemblyArrived(Arrival):
    """A complete control or command; ``id`` is that of a command, as its session counts."""

    assembly: Assembly
    id: int | None = None

    @property
    def name(self) -> str:
        """``class.control`` or ``class.command``."""
        return self.assembly.name

    @property
    def channel(self) -> int:
        """The channel on which it arrived."""
        return self.assembly.channel

    @property
    def args(self) -> Mapping[str, Any]:
        """The present arguments, by their keys."""
        return self.assembly.instruction.args if self.assembly.instruction else {}

    def __getitem__(self, key: str) -> Any:
        """An argument; None if it is absent."""
        return self.args.get(key)

    @property
    def body(self) -> bytes:
        """The body segment; empty if there is none."""
        return self.assembly.body or b""

    def struct(self, name: str) -> Mapping[str, Any]:
        """The fields of a struct in the header segment, by its name; empty if it is absent."""
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
        """The code of a refusal: a number, or the name if the ledger uses names."""
        _, key, domain = _CODES.get(self.name, (None, "", ""))
        value = self[key]
        return next((c.name for c in DIALECT.choices(domain) if c.value == value), value)

    @property
    def kind(self) -> str:
        """The name, with the code if it is a refusal."""
        return f"{self.name} {self.code}" if self.name in _CODES else self.name

    @property
    def refusal(self) -> Refusal | None:
        """Its refusal; a clean detach is none."""
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
    """The refusal in the arrivals, and the arrival with it.

    The widest scope counts, and within a scope the first; a header precedes an end without a message.
    """
    arrivals = tuple(arrivals)
    said = [a for a in arrivals if isinstance(a, AssemblyArrived) and a.refusal is not None]
    for scope in _WIDTH:
        for arrival in said:
            if arrival.refusal is not None and arrival.refusal.scope is scope:
                return arrival.refusal, arrival
    return wordless_end(arrivals), None
