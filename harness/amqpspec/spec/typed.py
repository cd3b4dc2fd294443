"""The vocabulary of a protocol made of types: encodings, primitives, composites, restricted types, and their dialect.

Knows: what a row of such a protocol is, and how names of types lead to each other.
Must not know: how a value is encoded, sent, judged or shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from amqpspec.spec.framing import Greeting, Layout
from amqpspec.spec.model import Dialect, Keyed

ANY = "*"
"""The type of a field that takes any type; ``requires`` may narrow it to those that provide an archetype."""


class Category(StrEnum):
    """What follows a constructor octet."""

    FIXED = "fixed"
    VARIABLE = "variable"
    COMPOUND = "compound"
    ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Encoding:
    """One form of a primitive: its constructor octet, and how many octets its value, or its size and count, have.

    A name belongs to one encoding only. Where the specification leaves it unnamed and the type has several, it is
    the type's name with the width in octets (``uint4``); where the type has no other, it is the type's name.
    """

    name: str
    code: int
    category: Category
    width_octets: int


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive type with its encodings, the general one first."""

    name: str
    encodings: tuple[Encoding, ...]


@dataclass(frozen=True, slots=True)
class TypedField(Keyed):
    """One field of a composite; ``default`` is in the words of the specification (``4294967295``, ``mixed``)."""

    name: str
    type: str
    mandatory: bool = False
    default: str | None = None
    multiple: bool = False
    requires: str = ""


@dataclass(frozen=True, slots=True)
class Composite:
    """A described list: the symbol and the code of its descriptor, its fields in order, its archetypes."""

    name: str
    symbol: str
    code: int
    fields: tuple[TypedField, ...] = ()
    provides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One permitted value of a restricted type."""

    name: str
    value: bool | int | str


def choices(values: Mapping[str, bool | int | str]) -> tuple[Choice, ...]:
    """The permitted values of a type by their names."""
    return tuple(Choice(name, value) for name, value in values.items())


@dataclass(frozen=True, slots=True)
class Restricted:
    """A narrowed type: its source, its permitted values if they are listed, and a descriptor if it has one.

    ``keys`` are the types that keys of a map may have, where the text narrows them.
    """

    name: str
    source: str
    choices: tuple[Choice, ...] = ()
    provides: tuple[str, ...] = ()
    symbol: str = ""
    code: int | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypedLayout(Layout):
    """How frames are laid out here: the size counts the whole frame, ``doff`` leaves room for more header (§2.3.1).

    ``headers`` are the protocol headers by the name of what they begin. One may follow another, when a security
    layer has been negotiated (§2.2), so that they may stand wherever a frame could.
    """

    header: tuple[tuple[str, int], ...]
    header_octets: int = field()
    doff_word_octets: int = field()
    min_doff: int = field()
    types: Mapping[str, int]
    min_max_frame_size: int
    headers: Mapping[str, bytes]

    greeting = Greeting(anywhere=True, decisive=False)


@dataclass(frozen=True)
class TypedDialect(Dialect):
    """A protocol of described types as data."""

    layout: TypedLayout
    primitives: tuple[Primitive, ...]
    types: tuple[Composite | Restricted, ...]

    @property
    def family(self) -> str:
        """Composites of typed fields in frames."""
        return "types"

    @property
    def greeting(self) -> Greeting:
        """Eight octets before each layer."""
        return self.layout.greeting

    @cached_property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """Error conditions, which are symbols, by themselves."""
        return {str(c.value): str(c.value) for r in self.providers("error-condition") for c in r.choices}

    def code_name(self, code: int | str) -> str:
        """An error condition needs no other name."""
        return str(code)

    @cached_property
    def encodings(self) -> Mapping[str, Encoding]:
        """Every encoding by name."""
        return {e.name: e for p in self.primitives for e in p.encodings}

    @cached_property
    def encodings_by_code(self) -> Mapping[int, Encoding]:
        """Every encoding by constructor octet."""
        return {e.code: e for e in self.encodings.values()}

    @cached_property
    def primitives_by_name(self) -> Mapping[str, Primitive]:
        """Every primitive by name."""
        return {p.name: p for p in self.primitives}

    @cached_property
    def primitive_of(self) -> Mapping[int, str]:
        """The primitive's name by constructor octet."""
        return {e.code: p.name for p in self.primitives for e in p.encodings}

    @cached_property
    def composites(self) -> Mapping[str, Composite]:
        """Every composite by name."""
        return {t.name: t for t in self.types if isinstance(t, Composite)}

    @cached_property
    def restricted(self) -> Mapping[str, Restricted]:
        """Every restricted type by name."""
        return {t.name: t for t in self.types if isinstance(t, Restricted)}

    @cached_property
    def described(self) -> Mapping[int | str, Composite | Restricted]:
        """Every type that has a descriptor, by its code and by its symbol."""
        rows = [t for t in self.types if t.code is not None]
        return {key: t for t in rows for key in (t.code, t.symbol) if key is not None}

    @property
    def performatives(self) -> tuple[Composite, ...]:
        """What the frames of a connection carry."""
        return tuple(t for t in self.composites.values() if "frame" in t.provides)

    @property
    def sasl_frames(self) -> tuple[Composite, ...]:
        """What the frames of a SASL exchange carry."""
        return tuple(t for t in self.composites.values() if "sasl-frame" in t.provides)

    @property
    def sections(self) -> tuple[Composite | Restricted, ...]:
        """What messages are made of, in their order."""
        return tuple(t for t in self.types if "section" in t.provides)

    def providing(self, archetype: str) -> tuple[Composite | Restricted, ...]:
        """The types that are allowed for an archetype such as ``outcome`` or ``message-id``."""
        return tuple(t for t in self.types if archetype in t.provides)

    def providers(self, archetype: str) -> Iterator[Restricted]:
        """The restricted types that are allowed for an archetype."""
        return (t for t in self.providing(archetype) if isinstance(t, Restricted))

    def base(self, name: str) -> str:
        """The primitive at the end of a type's sources; a composite is a ``list``, ``*`` stays what it is."""
        while name in self.restricted:
            name = self.restricted[name].source
        return "list" if name in self.composites else name

    def choices(self, name: str) -> tuple[Choice, ...]:
        """The permitted values of a type or of what it narrows; none if it takes all."""
        while name in self.restricted:
            if self.restricted[name].choices:
                return self.restricted[name].choices
            name = self.restricted[name].source
        return ()

    def keys(self, name: str) -> tuple[str, ...]:
        """The types that keys of a map type may have; none if it takes all."""
        while name in self.restricted:
            if self.restricted[name].keys:
                return self.restricted[name].keys
            name = self.restricted[name].source
        return ()

    def default(self, field: TypedField) -> bool | int | str | None:
        """A field's default as a value, None if it has none."""
        if field.default is None:
            return None
        named = {c.name: c.value for c in self.choices(field.type)}
        if field.default in named:
            return named[field.default]
        return field.default == "true" if self.base(field.type) == "boolean" else int(field.default)
