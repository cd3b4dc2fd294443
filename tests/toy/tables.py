"""Echo as data.

Knows: its greeting, frames and codes. Must not know: how anything is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amqpspec.spec.framing import Counts, Greeting, Layout
from amqpspec.spec.model import Dialect

GREETING = b"E\x01"


@dataclass(frozen=True)
class EchoLayout(Layout):
    """A size of one octet that counts what follows it, a type, the payload; no end octet."""

    header = (("size", 1), ("type", 1))
    types = MappingProxyType({"ask": 1, "answer": 2, "error": 3})
    counts = Counts.REST
    greeting = Greeting(GREETING[:1], len(GREETING))


@dataclass(frozen=True)
class EchoDialect(Dialect):
    """A version of Echo."""

    layout: EchoLayout
    codes: Mapping[str, int]

    @property
    def family(self) -> str:
        """Questions and answers."""
        return "echo"

    @property
    def greeting(self) -> Greeting:
        """Two octets, of both sides."""
        return self.layout.greeting

    @property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """What errors carry."""
        return dict(self.codes)

    def code_name(self, code: int | str) -> str:
        """``1 empty``."""
        return " ".join([str(code), *(name for name, value in self.codes.items() if value == code)])


DIALECT = EchoDialect(
    id="echo-1",
    title="Echo 1",
    protocol_header=GREETING,
    accepted_headers=(GREETING,),
    layout=EchoLayout(),
    codes=MappingProxyType({"empty": 1, "unknown-type": 2, "malformed": 3}),
)
