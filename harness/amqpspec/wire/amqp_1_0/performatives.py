"""Encoding composites: fields by name to octets, each by its type, or as anything else on request.

Knows: rows of composites. Must not know: frames, states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import ANY, Composite, TypedField
from amqpspec.wire.amqp_1_0.composites import Composed, Performative, Problem, decode_composite
from amqpspec.wire.amqp_1_0.secrets import SECRETS
from amqpspec.wire.amqp_1_0.values import Array, Described, Raw, Symbol, Value
from amqpspec.wire.amqp_1_0.writing import (
    FAST,
    NULL,
    compact,
    compound,
    encode,
    pack,
    shortest_array,
    shortest_list,
    shortest_map,
)
from amqpspec.wire.errors import EncodeError, shown

__all__ = ["Composed", "Performative", "Problem", "decode_composite", "encode_as", "encode_composite"]

Writer = Callable[[Any], bytes]
_AS_THEY_ARE = (Value, Described, Array, Composed)
_LIST_CODES = {"list8": (b"\xc0", 1), "list32": (b"\xd0", 4)}


def encode_composite(
    composite: str,
    /,
    *,
    encoding: str | None = None,
    descriptor: Any = None,
    extra: Iterable[Any] = (),
    size: int | None = None,
    count: int | None = None,
    **fields: Any,
) -> Raw:
    """A composite's octets; raises KeyError, TypeError for unknown fields, EncodeError.

    Fields left out are null, at the end left out; ``None`` is a null that is sent. A value is taken as its field's
    type: choices by name, nested composites as mappings or, empty, by name, several values as a sequence. ``Value``,
    ``Described``, ``Array`` and ``Raw`` are sent as they are. ``extra`` follows the last field; ``encoding`` is
    ``list0``, ``list8`` or ``list32``; ``size`` and ``count`` may be wrong if they are given.
    """
    start, writers = _PLANS[composite]
    parts = _parts(composite, writers, fields)
    for item in extra:
        parts += [NULL] * (len(writers) - len(parts))
        parts.append(encode(item))
    head = start if descriptor is None else b"\x00" + encode(descriptor)
    return Raw(head + _list(parts, encoding, size, count))


def encode_as(kind: str, value: Any) -> bytes:
    """A value as a type of the tables, by name: a primitive, a restricted or a composite one; raises EncodeError."""
    return _writer(TypedField("value", kind))(value)


def encode_fields(composite: str, fields: Mapping[str, Any]) -> bytes:
    """``encode_composite`` for fields alone."""
    start, writers = _PLANS[composite]
    return start + shortest_list(_parts(composite, writers, fields))


def _parts(composite: str, writers: dict[str, Writer], fields: Mapping[str, Any]) -> list[bytes]:
    if not fields.keys() <= writers.keys():
        fields = _by_key(composite, writers, fields)
    if not fields:
        return []
    parts: list[bytes] = []
    left = len(fields)
    try:
        for key, write in writers.items():
            if key in fields:
                parts.append(write(fields[key]))
                left -= 1
                if not left:
                    break
            else:
                parts.append(NULL)
    except EncodeError as error:
        actual = "a value that is not shown" if composite in SECRETS else error.actual
        raise EncodeError(f"{composite} {error.where}", error.expected, actual) from error
    return parts


def _by_key(composite: str, keys: Mapping[str, Writer], fields: Mapping[str, Any]) -> dict[str, Any]:
    by_key = {key.rstrip("_").replace("-", "_"): value for key, value in fields.items()}
    for key in by_key:
        if key not in keys:
            raise TypeError(f"{composite}: no field {key!r}, expected one of {', '.join(keys)}")
    return by_key


def _list(parts: list[bytes], encoding: str | None, size: int | None, count: int | None) -> bytes:
    if encoding == "list0":
        return b"\x45" + b"".join(parts)
    if encoding is None and size is None and count is None:
        return shortest_list(parts)
    if encoding is None:
        encoding = "list8" if sum(map(len, parts)) < 255 and max(size or 0, count or 0) < 256 else "list32"
    if encoding not in _LIST_CODES:
        raise EncodeError("list", "list0, list8 or list32", shown(encoding))
    code, width = _LIST_CODES[encoding]
    return code + compound(width, parts, size=size, count=count)


# --- fields


def _writer(field: TypedField) -> Writer:
    """What makes octets of a field's value."""
    convert, fast = _converter(field), _fast(field)

    def write(value: Any) -> bytes:
        if value is None:
            return NULL
        if isinstance(value, Raw):
            return value
        try:
            return encode(value) if isinstance(value, _AS_THEY_ARE) else convert(value)
        except EncodeError as error:
            raise EncodeError(f"{field.name} {error.where}", error.expected, error.actual) from error

    return write if fast is None else lambda value: fast(value) or write(value)


def _fast(field: TypedField) -> Callable[[Any], bytes | None] | None:
    """What is tried first: octets of the plain values that a field mostly has, None for others."""
    choices, base = DIALECT.choices(field.type), DIALECT.base(field.type)
    if choices:
        names = {c.name: compact(base, c.value) for c in choices}
        return lambda value: names.get(value) if type(value) is str else None
    return None if field.multiple or base in (ANY, "map", "list", "array") else FAST.get(base)


def _converter(field: TypedField) -> Writer:
    one = _single(field)
    if not field.multiple:
        return one

    def several(value: Any) -> bytes:
        if not isinstance(value, list | tuple | set | frozenset):
            return one(value)
        items = sorted(value) if isinstance(value, set | frozenset) else list(value)
        return shortest_array(Array(DIALECT.base(field.type), items))

    return several


def _single(field: TypedField) -> Writer:
    base = DIALECT.base(field.type)
    if field.type in DIALECT.composites:
        return lambda value: _nested(field.type, value)
    if base == ANY:
        composites = tuple(
            row.name for row in DIALECT.providing(field.requires) if isinstance(row, Composite)
        )
        return lambda value: _any(field.requires, composites, value)
    if base == "map":
        return lambda value: _map(field.type, value)
    return lambda value: compact(base, value)


def _nested(composite: str, value: Any) -> bytes:
    if isinstance(value, Mapping):
        return encode_fields(composite, value)
    if value == composite:
        return _empty(composite)
    raise EncodeError(composite, "its fields by name", shown(value))


def _any(requires: str, composites: tuple[str, ...], value: Any) -> bytes:
    """A value where the tables take any: a composite that provides what is required may be given by its name."""
    if isinstance(value, str) and composites:
        if value not in composites:
            raise EncodeError("value", f"one of {', '.join(composites)}", shown(value))
        return _empty(value)
    return (
        encode_fields(requires, value)
        if isinstance(value, Mapping) and requires in composites
        else encode(value)
    )


@cache
def _empty(composite: str) -> bytes:
    return encode_fields(composite, {})


def _map(kind: str, value: Any) -> bytes:
    keys = DIALECT.keys(kind)
    pairs = value.items() if isinstance(value, Mapping) else value
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise EncodeError(kind, "a mapping or pairs", shown(value))
    return shortest_map([part for key, item in pairs for part in (_key(keys, key), encode(item))])


def _key(kinds: tuple[str, ...], key: Any) -> bytes:
    if isinstance(key, str) and not isinstance(key, Symbol) and kinds and "string" not in kinds:
        return compact("symbol", key)
    if isinstance(key, int) and not isinstance(key, bool) and "ulong" in kinds:
        return compact("ulong", key)
    return encode(key)


_PLANS: dict[str, tuple[bytes, dict[str, Writer]]] = {
    row.name: (b"\x00" + pack("ulong", row.code), {f.key: _writer(f) for f in row.fields})
    for row in DIALECT.composites.values()
}
