"""Field tables and arrays, driven by a dialect's tag list.

Knows: the primitives a tag can name. Must not know: methods, frames, dialect ids.
Bounded: a table cannot announce more octets than are there, and nesting ends at MAX_DEPTH.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from amqpspec.spec.methods import TypeTag
from amqpspec.wire.errors import EncodeError, Kind, WireError, shown, too_short, unreadable
from amqpspec.wire.methods.primitives import ENCODING_FAILURES, U32, not_encodable, pack_shortstr, to_octets
from amqpspec.wire.methods.table_values import ValueReader, ValueWriter, simple_reader, simple_writer
from amqpspec.wire.values import Raw, Table, TableLike, Typed

__all__ = ["MAX_DEPTH", "TableCodec", "to_octets"]

MAX_DEPTH = 64

_USUAL: tuple[tuple[Any, str], ...] = (
    (bool, "boolean"),
    (int, "int32"),
    (float, "double"),
    (str, "longstr"),
    (bytes, "longstr"),
    (Table, "table"),
    (Mapping, "table"),
    (list, "array"),
    (tuple, "array"),
    (type(None), "void"),
)


class TableCodec:
    """Encodes and decodes field tables with one dialect's tags."""

    def __init__(self, tags: Iterable[TypeTag]) -> None:
        rows = tuple(tags)
        self._primitives = {t.tag: t.primitive for t in rows}
        self._tag_of = {t.primitive: t.tag for t in reversed(rows)}
        self._readers: list[ValueReader] = [self._illegal_tag] * 256
        for t in rows:
            self._readers[ord(t.tag)] = self._reader(t)
        self._writers = {t.tag: self._writer(t) for t in rows}
        self._usual = self._usual_writers()

    # --- reading

    def decode(self, octets: bytes, at: int, end: int, depth: int = 0) -> tuple[Table, int]:
        """Read a table (u32 length first) at ``at``; returns it and where it ends. Raises WireError."""
        at, stop = _extent(octets, at, end, depth, "table")
        readers = self._readers
        fields: list[tuple[str, Typed]] = []
        while at < stop:
            tag_at = at + 1 + octets[at]
            if tag_at >= stop:
                raise _name_too_long(octets, at, stop)
            name = octets[at + 1 : tag_at].decode("utf-8", "surrogateescape")
            typed, at = readers[octets[tag_at]](octets, tag_at + 1, stop, depth)
            fields.append((name, typed))
        return Table(fields), stop

    def _array(self, octets: bytes, at: int, end: int, depth: int) -> tuple[list[Typed], int]:
        at, stop = _extent(octets, at, end, depth, "array")
        readers = self._readers
        items: list[Typed] = []
        while at < stop:
            typed, at = readers[octets[at]](octets, at + 1, stop, depth)
            items.append(typed)
        return items, stop

    def _illegal_tag(self, octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        known = "".join(sorted(self._writers))
        raise unreadable(
            "field value", octets, at - 1, f"a type tag of {known}", f"tag 0x{octets[at - 1]:02x}", Kind.TAG
        )

    def _reader(self, tag: TypeTag) -> ValueReader:
        if tag.primitive == "table":
            return _nested_reader(tag.tag, self.decode)
        if tag.primitive == "array":
            return _nested_reader(tag.tag, self._array)
        return simple_reader(tag)

    # --- writing

    def encode(self, table: TableLike) -> bytes:
        """Write a table with its length; a mapping's plain values get the dialect's usual tags.

        Raises EncodeError for a name or value that cannot be written.
        """
        if isinstance(table, Raw):
            return bytes(table)
        body = b"".join(self._fields(table.items() if isinstance(table, Mapping) else table))
        return U32.pack(len(body)) + body

    def encode_field(self, name: str | bytes, value: Any) -> bytes:
        """One name-value pair; a name that is ``Raw`` brings its own length octet."""
        return b"".join(self._fields(((name, value),)))

    def _fields(self, pairs: Iterable[tuple[str | bytes, Any]]) -> list[bytes]:
        octets: list[bytes] = []
        for name, value in pairs:
            try:
                octets.append(name if type(name) is Raw else pack_shortstr(name))
                octets.append(self.encode_value(value))
            except EncodeError as error:
                raise EncodeError(f"{shown(name)} › {error.where}", error.expected, error.actual) from None
            except ENCODING_FAILURES as error:
                raise not_encodable("field name", "shortstr", name) from error
        return octets

    def encode_value(self, value: Any) -> bytes:
        """Tag and value: ``Raw`` replaces both, ``Typed`` has its own tag, all else gets the usual one."""
        if type(value) is Typed:
            tag, value = value
            writer = self._writers.get(tag)
            if writer is None or type(value) is Raw:
                return self._free(tag, value)
        else:
            tag, writer = "", self._usual.get(type(value))
            if writer is None:
                return bytes(value) if isinstance(value, Raw) else self.encode_value(self.infer(value))
        try:
            return writer(value)
        except EncodeError:
            raise
        except ENCODING_FAILURES as error:
            primitive = self._primitives[tag or self.infer(value).tag]
            raise not_encodable(f"field value {tag}".rstrip(), primitive, value) from error

    def infer(self, value: Any) -> Typed:
        """The usual tag for a plain Python value; raises EncodeError for one that no tag carries."""
        for kind, primitive in _USUAL:
            if isinstance(value, kind):
                wanted = "int64" if primitive == "int32" and not _fits_int32(value) else primitive
                if wanted in self._tag_of:
                    return Typed(self._tag_of[wanted], value)
        raise EncodeError("field value", "a value that a field table can carry", shown(value))

    def _free(self, tag: str, value: Any) -> bytes:
        """A value after a tag that the dialect need not know."""
        if type(value) is not Raw or not tag.isascii():
            tags = "".join(self._writers)
            raise EncodeError("field value", f"a type tag of {tags}, or ASCII and Raw octets", f"tag {tag!r}")
        return tag.encode() + value

    def _writer(self, tag: TypeTag) -> ValueWriter:
        octet = tag.tag.encode()
        if tag.primitive == "table":
            return lambda value: octet + self.encode(value)
        if tag.primitive == "array":
            return lambda value: octet + self._encode_array(value)
        return simple_writer(tag)

    def _encode_array(self, items: Iterable[Any]) -> bytes:
        body = b"".join([self.encode_value(item) for item in items])
        return U32.pack(len(body)) + body

    def _usual_writers(self) -> dict[type, ValueWriter]:
        of = {kind: self._tag_of[primitive] for kind, primitive in _USUAL if primitive in self._tag_of}
        writers = {kind: self._writers[tag] for kind, tag in of.items()}
        if "int64" in self._tag_of:
            writers[int] = _int_writer(self._writers[of[int]], self._writers[self._tag_of["int64"]])
        return writers | ({dict: writers[Mapping]} if Mapping in writers else {})


def _fits_int32(value: int) -> bool:
    return -(2**31) <= value < 2**31


def _int_writer(small: ValueWriter, large: ValueWriter) -> ValueWriter:
    def integer(value: int) -> bytes:
        return small(value) if _fits_int32(value) else large(value)

    return integer


def _nested_reader(tag: str, read: Callable[[bytes, int, int, int], tuple[Any, int]]) -> ValueReader:
    def value(octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        nested, at = read(octets, at, end, depth + 1)
        return Typed(tag, nested), at

    return value


def _extent(octets: bytes, at: int, end: int, depth: int, what: str) -> tuple[int, int]:
    if depth > MAX_DEPTH:
        raise unreadable(what, octets, at, f"nesting of at most {MAX_DEPTH}", "deeper nesting", Kind.BOUND)
    end = min(end, len(octets))
    if at + 4 > end:
        raise too_short(what, octets, at, 4, end)
    (size,) = U32.unpack_from(octets, at)
    stop = at + 4 + size
    if stop > end:
        raise unreadable(what, octets, at, f"a length of at most {end - at - 4}", f"length {size}")
    return at + 4, stop


def _name_too_long(octets: bytes, at: int, stop: int) -> WireError:
    expected = f"a name and a value within the {stop - at} octets left of the table"
    return unreadable("field name", octets, at, expected, f"name of {octets[at]} octets")
