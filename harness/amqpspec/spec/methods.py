"""The vocabulary of a protocol made of classes and methods: frame layout, types, methods, fields, constants.

Knows: what a row of such a protocol is, and what an overlay changes. Must not know: how any of it is encoded or judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from amqpspec.spec.canonical import APART
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.framing import Counts, Greeting, Layout
from amqpspec.spec.model import Dialect, Keyed, Scope, Side

_CLASS_OF_AMQP = 1


@dataclass(frozen=True, slots=True)
class Field(Keyed):
    """One argument of a method or one property of a content: its name, wire type and role.

    ``type`` is a primitive of the dialect (``octet``, ``short``, ``bit``, ``shortstr``, ``table`` …);
    ``domain`` is the name under which the specification constrains it (``queue-name``), or the type itself.
    """

    name: str
    type: str
    domain: str = ""
    reserved: bool = False


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
    """One class with its methods and, if it carries content, its properties in flag order."""

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
class FrameLayout(Layout):
    """How frames of this family are laid out: the size counts the payload, an end octet guards it (0-9-1 §4.2.3)."""

    header: tuple[tuple[str, int], ...]
    end: int = field()
    types: Mapping[str, int]
    min_size_octets: int

    counts = Counts.PAYLOAD


@dataclass(frozen=True)
class MethodDialect(Dialect):
    """A version of the 0-9 family as data; an overlay is a dialect made from another one with ``extend``.

    ``structured_contents``: contents may hold contents. ``signs_in_field_names`` are allowed in names of table
    fields in addition to the rule: ``x-match`` has a hyphen, the capabilities that later clients announce have periods.
    ``handshake_pause_s``: how long a handshake that went wrong has to wait for the end of its socket.
    """

    layout: FrameLayout
    classes: tuple[AmqpClass, ...]
    constants: tuple[Constant, ...]
    table_tags: tuple[TypeTag, ...]
    structured_contents: bool = field(default=False, kw_only=True, metadata=APART)
    signs_in_field_names: str = field(default="-.", kw_only=True, metadata=APART)
    handshake_pause_s: float = field(default=0.0, kw_only=True, metadata=APART)

    @property
    def family(self) -> str:
        """Classes of methods in frames."""
        return "methods"

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version, as the protocol header says them: early ones begin with a class and an instance."""
        major, minor = (6, 7) if self.protocol_header[4] == _CLASS_OF_AMQP else (5, 6)
        return self.protocol_header[major], self.protocol_header[minor]

    @property
    def greeting(self) -> Greeting:
        """Eight octets before the first frame."""
        return self.layout.greeting

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


def load_methods(dialect_id: str) -> MethodDialect:
    """The tables of a dialect of the 0-9 family; raises KeyError for an unknown id, TypeError for another family."""
    dialect = load_dialect(dialect_id)
    if not isinstance(dialect, MethodDialect):
        raise TypeError(f"{dialect_id}: expected a dialect of classes and methods, actual: {dialect.family}")
    return dialect
