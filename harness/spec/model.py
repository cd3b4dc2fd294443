"""The vocabulary in which a dialect is declared: frozen rows, nothing else.

Knows: what a frame layout, a type, a method, a field, a constant and a requirement are.
Must not know: how any of them is encoded, sent, judged or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property


class Side(StrEnum):
    """Who sends a method."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"


class Scope(StrEnum):
    """How far a refusal reaches: one delivery, link, session or channel, the connection, or the bare socket.

    ``DELIVERY`` is a delivery that is settled as rejected. ``SOCKET`` means that the connection ends without a close
    method (and without any other data).
    ``HEADER`` means that the target answers with a protocol header of its own and then ends the connection.
    """

    DELIVERY = "delivery"
    LINK = "link"
    SESSION = "session"
    CHANNEL = "channel"
    CONNECTION = "connection"
    SOCKET = "socket"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a method or one property of a content: its name, wire type and role.

    ``type`` is a primitive of the dialect (``octet``, ``short``, ``bit``, ``shortstr``, ``table`` …);
    ``domain`` is the name under which the specification constrains it (``queue-name``), or the type itself.
    """

    name: str
    type: str
    domain: str = ""
    reserved: bool = False

    @property
    def key(self) -> str:
        """The name as a Python keyword: ``routing-key`` is ``routing_key``."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Method:
    """One method: ``name`` is ``class.method`` in the words of the specification."""

    name: str
    class_id: int
    method_id: int
    sent_by: Side
    fields: tuple[Field, ...] = ()
    replies: tuple[str, ...] = ()
    content: bool = False
    synchronous: bool = False
    extension: bool = False

    @property
    def class_name(self) -> str:
        """The class part of the name."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class AmqpClass:
    """One class with its methods and, where it carries content, its properties in flag order."""

    name: str
    index: int
    methods: tuple[Method, ...]
    properties: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A reply code or another constant; ``scope`` is what the code closes (None: it is not an error)."""

    name: str
    value: int
    scope: Scope | None = None
    extension: bool = False


@dataclass(frozen=True, slots=True)
class TypeTag:
    """One value type of field tables: the tag octet, its name, and the primitive that carries it."""

    tag: str
    name: str
    primitive: str


@dataclass(frozen=True)
class FrameLayout:
    """The octets around a payload: header fields in order, the end octet, and the frame types by name.

    ``header`` holds ``(name, width in octets)``; ``size`` counts the payload only.
    """

    header: tuple[tuple[str, int], ...]
    end: int
    types: Mapping[str, int]
    min_size_octets: int

    @cached_property
    def header_octets(self) -> int:
        """The length of the frame header."""
        return sum(width for _, width in self.header)

    @cached_property
    def overhead_octets(self) -> int:
        """Header and end octet together: what a frame costs beyond its payload."""
        return self.header_octets + 1

    def type_name(self, code: int) -> str:
        """The name of a frame type, or ``type-N`` for one that is not defined."""
        return next((name for name, value in self.types.items() if value == code), f"type-{code}")


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
    def refusal_codes(self) -> Mapping[str, int | str]:
        """Codes by the name that requirement rows use."""
        raise NotImplementedError

    def code_name(self, code: int | str) -> str:
        """A code as people say it."""
        raise NotImplementedError


@dataclass(frozen=True)
class MethodDialect(Dialect):
    """A version of the 0-9 family as data; an overlay is a dialect made from another one with ``extend``."""

    layout: FrameLayout
    classes: tuple[AmqpClass, ...]
    constants: tuple[Constant, ...]
    table_tags: tuple[TypeTag, ...]

    @property
    def family(self) -> str:
        """Classes of methods in frames."""
        return "methods"

    @cached_property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """Reply codes by the name of their constant."""
        return {c.name: c.value for c in self.constants}

    @cached_property
    def methods(self) -> Mapping[str, Method]:
        """Every method by name."""
        return {m.name: m for c in self.classes for m in c.methods}

    @cached_property
    def methods_by_id(self) -> Mapping[tuple[int, int], Method]:
        """Every method by class and method id."""
        return {(m.class_id, m.method_id): m for m in self.methods.values()}

    @cached_property
    def classes_by_id(self) -> Mapping[int, AmqpClass]:
        """Every class by index."""
        return {c.index: c for c in self.classes}

    @cached_property
    def classes_by_name(self) -> Mapping[str, AmqpClass]:
        """Every class by name."""
        return {c.name: c for c in self.classes}

    @cached_property
    def codes(self) -> Mapping[int, Constant]:
        """Every reply code by number."""
        return {c.value: c for c in self.constants if c.value >= 200 and c.name != "frame-end"}

    @cached_property
    def constants_by_name(self) -> Mapping[str, Constant]:
        """Every constant by name."""
        return {c.name: c for c in self.constants}

    def code_name(self, code: int | str) -> str:
        """``404 not-found``: a reply code as people say it; an unknown one stays a number."""
        known = self.codes.get(code) if isinstance(code, int) else None
        return f"{code} {known.name}" if known else str(code)

    def extend(
        self,
        *,
        id: str,
        title: str,
        methods: tuple[Method, ...] = (),
        classes: tuple[AmqpClass, ...] = (),
        constants: tuple[Constant, ...] = (),
        table_tags: tuple[TypeTag, ...] | None = None,
        accepted_headers: tuple[bytes, ...] | None = None,
    ) -> MethodDialect:
        """An overlay: this dialect, grown; a method of a name already there takes the old one's place."""
        given = {m.name: m for m in methods}
        grown = tuple(
            replace(
                c,
                methods=tuple(given.get(m.name, m) for m in c.methods)
                + tuple(m for m in methods if m.class_id == c.index and m.name not in self.methods),
            )
            for c in self.classes
        )
        return replace(
            self,
            id=id,
            title=title,
            classes=grown + classes,
            constants=self.constants + constants,
            table_tags=self.table_tags if table_tags is None else table_tags,
            accepted_headers=self.accepted_headers if accepted_headers is None else accepted_headers,
        )


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
    """One row of the ledger: permanent id, what is demanded, of whom, by which text, and how failing looks.

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
