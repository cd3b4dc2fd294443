"""C11: tables of named values: tags, names, shapes, whatever their sizes are written in.

Knows: what is odd about a table. Must not know: how a dialect writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from amqpspec.fuzz.families.base import Bend, Location, bend, next_productions
from amqpspec.fuzz.families.texts import TOUCHES
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, edited, walk
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS

VALUES = (
    b"", b"\0", b"\1", b"\xff", b"\0\0", b"\0\0\0\0", b"\0\0\0\1a", b"\0\0\0\4abcd", b"\x7f\xff\xff\xff",
    b"\xff" * 4, b"\0" * 5, b"\0" * 8, b"\x7f\xf0" + b"\0" * 6, b"\xff" * 8, b"\0" * 16,
)  # fmt: skip
"""What stands behind every tag."""
_MORE_NAMES = (("digit first", b"1a"), ("no letter", b"-"), ("dollar", b"$a"), ("hash", b"#a"))

Tables = list[tuple[Node, Place]]


@dataclass(frozen=True, slots=True)
class TableForm:
    """How a dialect writes tables.

    ``table`` puts a size before fields; ``field`` makes one of a name, a tag and a value's octets; ``text_tag`` and
    ``text`` write a text of at most ``most_octets`` as a value; ``holders`` are tags of values that hold tables.
    """

    kind: str
    table: Callable[[bytes], bytes]
    field: Callable[[bytes, int, bytes], bytes]
    text_tag: int
    text: Callable[[bytes], bytes]
    holders: tuple[int, ...] = ()
    most_octets: int = 1 << 32

    def value(self, name: bytes, text: bytes) -> bytes:
        """A field that holds a text."""
        return self.field(name, self.text_tag, self.text(text))


def table_locations(form: TableForm, dialect_id: str, state: State) -> Iterator[Location]:
    """Tags, names and shapes of the first two tables of what may follow."""
    tables = [
        (production.tree, place)
        for production in next_productions(dialect_id, state)
        for place in walk(production.tree)
        if place.node.kind == form.kind
    ][:2]
    if tables:
        yield Location("table.tag", lambda: _tags(form, tables), TOUCHES)
        yield Location("table.name", lambda: _names(form, tables), TOUCHES)
        yield Location("table.shape", lambda: _shapes(form, tables), TOUCHES)


def _tags(form: TableForm, tables: Tables) -> Iterator[Bend]:
    """Every tag before values of every width."""
    root, place = tables[0]
    for tag in range(256):
        for value in VALUES:
            octets = form.table(form.field(b"k", tag, value))
            yield bend(f"tag 0x{tag:02x} before {value.hex() or 'nothing'}", edited(root, place.way, octets))


def _names(form: TableForm, tables: Tables) -> Iterator[Bend]:
    field = form.value(b"k", b"v")
    for root, place in tables:
        for words, name in (*TEXTS, *_MORE_NAMES):
            octets = form.table(form.value(name, b"v"))
            yield bend(f"{place.path} name: {words}", edited(root, place.way, octets))
        for count in (2, 3, 64):
            octets = form.table(field * count)
            yield bend(f"{place.path}: {count} equal names", edited(root, place.way, octets))


def _shapes(form: TableForm, tables: Tables) -> Iterator[Bend]:
    """Tables that end in the middle of an entry, or hold what is none."""
    field = form.value(b"key", b"value")
    held = [form.field(b"t", tag, form.table(field)) for tag in form.holders]
    for root, place in tables:
        for whole in (field, *held):
            for count in range(len(whole)):
                octets = form.table(whole[:count])
                yield bend(f"{place.path} cut after {count} octets", edited(root, place.way, octets))
        for words, long in LONG_TEXTS:
            if len(long) <= form.most_octets:
                octets = form.table(form.value(b"k", long))
                yield bend(f"{place.path} value of {words}", edited(root, place.way, octets))
        for count in (256, 4096):
            octets = form.table(form.value(b"", b"") * count)
            yield bend(f"{place.path} with {count} empty entries", edited(root, place.way, octets))


def odd_tables(form: TableForm, values: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Tables that are cut, or have odd names, or any tag before values: words, and a table's octets."""
    field = form.value(b"key", b"value")
    for count in range(1, len(field)):
        yield f"cut after {count} octets", form.table(field[:count])
    for words, name in TEXTS:
        yield f"name: {words}", form.table(form.value(name, b"v"))
    for tag, value in product(range(256), values):
        yield f"tag 0x{tag:02x} before {value.hex() or 'nothing'}", form.table(form.field(b"k", tag, value))
