"""The vocabulary in which a dialect is declared: frozen rows, nothing else.

Knows: what a frame layout, a type, a method, a field, a constant and a requirement are.
Must not know: how any of them is encoded, sent, judged or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from amqpspec.spec.framing import Greeting


class Side(StrEnum):
    """Who sends a method."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"


class Scope(StrEnum):
    """How far a refusal reaches: one delivery, link, handle, session or channel, the connection, or the bare socket.

    ``DELIVERY`` is a delivery that is settled as rejected. ``HANDLE`` is one handle of a channel that carries others:
    AMQP/Fast closes it alone, where AMQP 1.0 detaches a link. ``SOCKET`` means that the connection ends without a close
    method (and without any other data).
    ``HEADER`` means that the target answers with a protocol header of its own and then ends the connection.
    """

    DELIVERY = "delivery"
    LINK = "link"
    HANDLE = "handle"
    SESSION = "session"
    CHANNEL = "channel"
    CONNECTION = "connection"
    SOCKET = "socket"
    HEADER = "header"


class Keyed:
    """A field or an argument that has a name in the words of the specification."""

    __slots__ = ()
    name: str

    @property
    def key(self) -> str:
        """The name as a Python keyword: ``routing-key`` is ``routing_key``."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Dialect:
    """What every protocol version has, whatever its frames look like; ``family`` says which codec reads them.

    ``refusal_codes`` are the names under which a ledger may cite what a refusal carries.
    """

    id: str
    title: str
    protocol_header: bytes
    accepted_headers: tuple[bytes, ...] = field(default=(), kw_only=True)

    @property
    def family(self) -> str:
        """The way of speaking that this dialect shares with others: ``methods`` or ``types``."""
        raise NotImplementedError

    @property
    def greeting(self) -> Greeting:
        """How its protocol headers begin, and how long they are."""
        raise NotImplementedError

    @property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """Codes by the name that requirement rows use."""
        raise NotImplementedError

    def code_name(self, code: int | str) -> str:
        """A code as people say it."""
        raise NotImplementedError


class Level(StrEnum):
    """How strongly a requirement binds; ``STATEMENT`` is a sentence of the specification with no keyword."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a target does with a violation: a reply code or an error condition at a scope.

    ``code`` None: no code can be seen there, or any will do.
    """

    scope: Scope
    code: int | str | None = None

    def describe(self, dialect: Dialect) -> str:
        """One phrase: ``channel exception 404 not-found``."""
        if self.scope is Scope.SOCKET:
            return "connection closed without further data"
        if self.scope is Scope.HEADER:
            return "protocol header of the target, then close"
        what = "rejected delivery" if self.scope is Scope.DELIVERY else f"{self.scope} exception"
        return what if self.code is None else f"{what} {dialect.code_name(self.code)}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the ledger: permanent id, what is required, of which peer, by which text, and how a failure looks.

    ``accepts`` are the refusals that keep the requirement; ``tolerates`` those that keep its purpose but not
    its letter (verdict ``nonstrict``). ``reading`` says which of two contradicting texts was taken, and why.
    ``testable`` is False for what a black box cannot see; then, and where a row is left out, ``excluded``
    says why.
    """

    id: str
    level: Level
    binds: str
    section: str
    paraphrase: str
    source: str = ""
    accepts: tuple[Refusal, ...] = ()
    tolerates: tuple[Refusal, ...] = ()
    reading: str = ""
    feature: str = ""
    testable: bool = True
    excluded: str = ""
    same_as: str = ""
