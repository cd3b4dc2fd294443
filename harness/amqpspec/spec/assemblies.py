"""The vocabulary of a protocol made of assemblies: types, structs, controls, commands, segments, and their dialect.

Knows: what a row of such a protocol is, and how names of types lead to each other.
Must not know: how a value is encoded, sent, judged or shown.

Names of domains, structs, controls and commands are written with their class (``session.name``, ``message.transfer``),
so that a name says the same wherever it stands. Types, and the few domains outside of any class, have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from amqpspec.spec.framing import Greeting, Layout
from amqpspec.spec.model import Dialect, Keyed, Level, Scope, Side
from amqpspec.spec.typed import Choice


class Category(StrEnum):
    """Whether a value has as many octets as its type says, or begins with its own size."""

    FIXED = "fixed"
    VARIABLE = "variable"


class Content(StrEnum):
    """The meaning of the octets of a value; its width is the type's."""

    OPAQUE = "opaque"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    SERIAL = "serial"
    BOOLEAN = "boolean"
    FLOAT = "float"
    DECIMAL = "decimal"
    TIME = "time"
    UUID = "uuid"
    LATIN = "iso-8859-15"
    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"
    BYTE_RANGES = "byte-ranges"
    SEQUENCE_SET = "sequence-set"
    MAP = "map"
    LIST = "list"
    ARRAY = "array"
    STRUCT = "struct"
    VOID = "void"
    BIT = "bit"


class Role(StrEnum):
    """Who handles what arrives: one side of the connection, or one end of a flow of commands, which both sides are."""

    CLIENT = "client"
    SERVER = "server"
    SENDER = "sender"
    RECEIVER = "receiver"


@dataclass(frozen=True, slots=True)
class WireType:
    """One type: its code in maps, lists and arrays (None: it cannot stand there), and the form of its values.

    ``width_octets`` is the length of a fixed value, or of the size that a variable one begins with.
    """

    name: str
    code: int | None
    category: Category
    width_octets: int
    content: Content


@dataclass(frozen=True, slots=True)
class CodeRange:
    """Type codes that tell the form of a value by themselves, so that unknown types can be skipped."""

    first: int
    last: int
    category: Category
    width_octets: int


@dataclass(frozen=True, slots=True)
class Domain:
    """A narrowed type: its source, its permitted values if they are listed, and what its elements are in an array."""

    name: str
    type: str
    choices: tuple[Choice, ...] = ()
    element: str = ""


@dataclass(frozen=True, slots=True)
class PackedField(Keyed):
    """One field of a struct, or one argument; its packing flag says whether it is there.

    ``default`` is what its absence means, if the specification defines it. ``element`` is what an array holds.
    """

    name: str
    type: str
    required: bool = False
    default: bool | None = None
    element: str = ""


@dataclass(frozen=True, slots=True)
class Struct:
    """A compound type: [size] [class code, struct code] [packing flags] fields.

    ``size_octets`` and ``pack_octets`` are the lengths of size and flags, zero if absent. ``code`` is the class code
    and the struct code. The first field has the lowest bit of the first octet of flags.
    """

    name: str
    fields: tuple[PackedField, ...]
    size_octets: int = 0
    pack_octets: int = 0
    code: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Handler:
    """Who has to understand a control or a command that arrives, and how strictly."""

    role: Role
    level: Level = Level.MUST


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception that a command defines: its name, its error code, and the field that it is about, if any."""

    name: str
    code: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Segments:
    """What follows the command segment: structs of the header segment, in any order, and a body."""

    header: tuple[str, ...] = ()
    header_required: bool = False
    body: bool = True


@dataclass(frozen=True, slots=True)
class Control:
    """One control: it travels outside of the numbered commands and is never replayed.

    ``responses`` are the controls that can answer it. No handlers: either side understands it.
    """

    name: str
    class_code: int
    code: int
    handlers: tuple[Handler, ...] = ()
    fields: tuple[PackedField, ...] = ()
    responses: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        """The class part of the name."""
        return self.name.partition(".")[0]

    @property
    def sent_by(self) -> Side:
        """Who sends it: the side that does not handle it."""
        handled_by = {handler.role for handler in self.handlers}
        if handled_by == {Role.SERVER}:
            return Side.CLIENT
        return Side.SERVER if handled_by == {Role.CLIENT} else Side.BOTH


@dataclass(frozen=True, slots=True)
class Command(Control):
    """One command: numbered, executed in order and once; ``result`` is the struct that returns for it."""

    result: str = ""
    segments: Segments | None = None
    raises: tuple[Raised, ...] = ()


@dataclass(frozen=True, slots=True)
class AssemblyClass:
    """One class: who implements it, and its rows in the order of the specification."""

    name: str
    code: int
    roles: tuple[Handler, ...]
    domains: tuple[Domain, ...] = ()
    structs: tuple[Struct, ...] = ()
    controls: tuple[Control, ...] = ()
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with a name."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class CodeDomain:
    """A domain whose choices say why something ended, what ends with them, and whether a ledger cites them by name.

    Numbers of two domains with ``by_name`` can be the same, so that a number alone would not tell them apart.
    """

    domain: str
    scope: Scope
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class RefusalCode:
    """One code that a refusal can carry; ``value`` is its number or, where numbers are ambiguous, its name."""

    name: str
    value: int | str
    scope: Scope


@dataclass(frozen=True)
class AssemblyLayout(Layout):
    """How frames are laid out here: the size counts the whole frame, and flags tell its place in the assembly.

    ``flags`` are bits of the header's first octet; what ``version_mask`` selects of it is zero, and so is what
    ``reserved_flags`` selects. ``types`` are those of segments. Arguments of controls and commands are a struct
    without size and code, with ``arguments_pack_octets`` of flags.
    """

    header: tuple[tuple[str, int], ...]
    flags: Mapping[str, int]
    version_mask: int
    reserved_flags: int
    track_mask: int
    types: Mapping[str, int]
    tracks: Mapping[str, int]
    min_max_frame_size: int
    arguments_pack_octets: int


@dataclass(frozen=True)
class AssemblyDialect(Dialect):
    """A protocol of controls and commands in assemblies as data."""

    layout: AssemblyLayout
    types: tuple[WireType, ...]
    code_ranges: tuple[CodeRange, ...]
    constants: tuple[Constant, ...]
    common_domains: tuple[Domain, ...]
    classes: tuple[AssemblyClass, ...]
    code_domains: tuple[CodeDomain, ...]

    @property
    def family(self) -> str:
        """Controls and commands in assemblies of segments."""
        return "assemblies"

    @property
    def greeting(self) -> Greeting:
        """Eight octets before the first frame, of both sides."""
        return self.layout.greeting

    @cached_property
    def codes(self) -> tuple[RefusalCode, ...]:
        """Every code that a refusal can carry; a clean end is none."""
        return tuple(
            RefusalCode(c.name, c.name if row.by_name else int(c.value), row.scope)
            for row in self.code_domains
            for c in self.choices(row.domain)
            if c.name != "normal"
        )

    @cached_property
    def refusal_codes(self) -> Mapping[str, int | str]:
        """The values of codes by name."""
        return {code.name: code.value for code in self.codes}

    def code_name(self, code: int | str) -> str:
        """``404 not-found``: a numbered code as people say it; an unknown one stays a number, a name stays a name."""
        known = next((c for c in self.codes if c.value == code), None)
        return f"{code} {known.name}" if known and isinstance(code, int) else str(code)

    @cached_property
    def types_by_name(self) -> Mapping[str, WireType]:
        """Every type by name."""
        return {t.name: t for t in self.types}

    @cached_property
    def types_by_code(self) -> Mapping[int, WireType]:
        """Every type that has a code, by it."""
        return {t.code: t for t in self.types if t.code is not None}

    def form(self, code: int) -> tuple[Category, int] | None:
        """Category and width of a type code, known or not; None if the code is reserved."""
        found = next((r for r in self.code_ranges if r.first <= code <= r.last), None)
        return (found.category, found.width_octets) if found else None

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """Every domain by name."""
        return {d.name: d for d in self.common_domains + tuple(d for c in self.classes for d in c.domains)}

    @cached_property
    def structs(self) -> Mapping[str, Struct]:
        """Every struct by name."""
        return {s.name: s for c in self.classes for s in c.structs}

    @cached_property
    def structs_by_code(self) -> Mapping[tuple[int, int], Struct]:
        """Every struct that has a code, by class code and struct code."""
        return {s.code: s for s in self.structs.values() if s.code is not None}

    @cached_property
    def classes_by_name(self) -> Mapping[str, AssemblyClass]:
        """Every class by name."""
        return {c.name: c for c in self.classes}

    @cached_property
    def controls(self) -> Mapping[str, Control]:
        """Every control by name."""
        return {i.name: i for c in self.classes for i in c.controls}

    @cached_property
    def commands(self) -> Mapping[str, Command]:
        """Every command by name."""
        return {i.name: i for c in self.classes for i in c.commands}

    @cached_property
    def controls_by_code(self) -> Mapping[tuple[int, int], Control]:
        """Every control by class code and its own."""
        return {(i.class_code, i.code): i for i in self.controls.values()}

    @cached_property
    def commands_by_code(self) -> Mapping[tuple[int, int], Command]:
        """Every command by class code and its own."""
        return {(i.class_code, i.code): i for i in self.commands.values()}

    def base(self, name: str) -> str:
        """The type or the struct at the end of a domain's sources."""
        while name in self.domains:
            name = self.domains[name].type
        return name

    def choices(self, name: str) -> tuple[Choice, ...]:
        """The permitted values of a domain; none if it takes all that its type takes."""
        return self.domains[name].choices if name in self.domains else ()

    def element(self, field: PackedField) -> str:
        """What the array in a field holds, or nothing if it is not an array."""
        return field.element or (self.domains[field.type].element if field.type in self.domains else "")
