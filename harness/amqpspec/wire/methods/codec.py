"""Methods and content headers: payloads to calls and back, compiled once from a dialect's tables.

Knows: class and method ids, property flags. Must not know: frames, channels' states, sockets.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from amqpspec.spec.methods import Method, MethodDialect
from amqpspec.wire.errors import EncodeError, Kind, WireError, unreadable
from amqpspec.wire.methods.fields import FieldCodec
from amqpspec.wire.methods.properties import PropertyCodec
from amqpspec.wire.methods.secrets import is_secret
from amqpspec.wire.methods.tables import TableCodec
from amqpspec.wire.values import Table

_IDS = struct.Struct(">HH")
_CONTENT = struct.Struct(">HHQ")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Call:
    """A method with its arguments by name (``routing_key`` or ``routing-key``)."""

    method: Method
    args: Mapping[str, Any]

    @property
    def name(self) -> str:
        """``class.method``."""
        return self.method.name

    def __getitem__(self, key: str) -> Any:
        return self.args[key.replace("-", "_")]

    def describe(self) -> str:
        """The method and its arguments on one line; secrets are left out, and what is reserved and empty."""
        fields = [f for f in self.method.fields if self.args[f.key] or not f.reserved]
        return " ".join((self.name, *(f"{f.name}={self._shown(f.name, self.args[f.key])}" for f in fields)))

    def _shown(self, name: str, value: Any) -> str:
        if is_secret(self.name, name):
            return f"<redacted, {len(value)} octets>"
        text = repr(value.plain() if isinstance(value, Table) else value)
        return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class ContentHeader(NamedTuple):
    """A content header: its class, announced body size in octets, and the properties that are present."""

    class_id: int
    body_size_octets: int
    properties: Mapping[str, Any] = MappingProxyType({})
    weight: int = 0


class Codec:
    """Everything above the frame for one dialect of the 0-9 family."""

    def __init__(self, dialect: MethodDialect) -> None:
        self.dialect = dialect
        self.tables = TableCodec(dialect.table_tags)
        self._fields = fields = FieldCodec(self.tables)
        methods = dialect.methods.values()
        self._readers = {_ids(m): (m, fields.readers(m.fields)) for m in methods}
        self._writers = {m.name: (_ids(m), fields.writers(m.fields)) for m in methods}
        self._keys = {m.name: frozenset(f.key for f in m.fields) for m in methods}
        self._properties = {c.index: PropertyCodec(c.properties, fields) for c in dialect.classes}

    # --- methods

    def decode_method(self, payload: bytes) -> Call:
        """A method frame's payload as a call; raises WireError for an unknown method or wrong arguments."""
        known = self._readers.get(payload[:4])
        if known is None:
            raise self._unknown(payload)
        method, readers = known
        args: dict[str, Any] = {}
        at = 4
        for read in readers:
            at = read(payload, at, args)
        if at != len(payload):
            raise _too_long(method.name, payload, at, "arguments")
        return Call(method, args)

    def offset_of(self, payload: bytes, key: str) -> int:
        """Where in a method's payload an argument begins (not a bit); raises WireError, KeyError."""
        known = self._readers.get(payload[: _IDS.size])
        if known is None:
            raise self._unknown(payload)
        fields = known[0].fields
        places = {f.key: place for place, f in enumerate(fields)}
        at = _IDS.size
        for read in self._fields.readers(fields[: places[key.replace("-", "_")]]):
            at = read(payload, at, {})
        return at

    def encode_method(self, name: str, args: Mapping[str, Any]) -> bytes:
        """A call as a method frame's payload; raises KeyError, EncodeError, TypeError for unknown arguments.

        Arguments left out are zero or empty. An argument may be named ``global`` or ``global_``, ``routing-key``
        or ``routing_key``. ``Raw`` octets are sent in place of any argument; in place of a bit, they replace all
        bits that share octets with it.
        """
        ids, writers = self._writers[name]
        if not args.keys() <= self._keys[name]:
            args = _by_key(args, self._keys[name], f"{name}: no argument")
        try:
            return ids + b"".join([write(args) for write in writers])
        except EncodeError as error:
            raise EncodeError(f"{name} {error.where}", error.expected, error.actual) from error

    def encode_value(self, primitive: str, value: Any) -> bytes:
        """One value of a primitive; None is zero or empty, ``Raw`` is sent as it is. Raises EncodeError."""
        return self._fields.encode_value(primitive, value)

    def _unknown(self, payload: bytes) -> WireError:
        if len(payload) < _IDS.size:
            found = f"{len(payload)} octets"
            return unreadable("method", payload, 0, "class-id and method-id", found, Kind.UNKNOWN)
        class_id, method_id = _IDS.unpack_from(payload)
        expected, actual = f"a method of {self.dialect.id}", f"class {class_id} method {method_id}"
        return unreadable("method", payload, 0, expected, actual, Kind.UNKNOWN)

    # --- contents

    def decode_header(self, payload: bytes) -> ContentHeader:
        """A content header frame's payload; raises WireError.

        A class without contents is no error as long as no property flag is set: whether a content of that
        class may come is not for the codec to say.
        """
        if len(payload) < _CONTENT.size:
            raise unreadable("content header", payload, 0, "at least 14 octets", f"{len(payload)} octets")
        class_id, weight, body_size_octets = _CONTENT.unpack_from(payload)
        properties = self._properties.get(class_id)
        if properties is None:
            raise unreadable(
                "content header", payload, 0, f"a class of {self.dialect.id}", f"class {class_id}"
            )
        args, at = properties.decode(payload, _CONTENT.size)
        if at != len(payload):
            raise _too_long("content header", payload, at, "properties")
        return ContentHeader(class_id, body_size_octets, args, weight)

    def encode_header(self, header: ContentHeader) -> bytes:
        """A content header as a payload; raises EncodeError, and TypeError for unknown properties."""
        class_id, body_size_octets, args, weight = header
        properties = self._properties.get(class_id) or PropertyCodec((), self._fields)
        if not args.keys() <= properties.keys:
            args = _by_key(args, properties.keys, "content header: no property")
        try:
            return _CONTENT.pack(class_id, weight, body_size_octets) + properties.encode(args)
        except struct.error as error:
            actual = f"class {class_id} weight {weight} size {body_size_octets}"
            raise EncodeError("content header", "two numbers of 16 bits and one of 64", actual) from error
        except EncodeError as error:
            raise EncodeError(f"content header {error.where}", error.expected, error.actual) from error


@cache
def codec_for(dialect_id: str) -> Codec:
    """The codec of a dialect by id, compiled once."""
    from amqpspec.spec.methods import load_methods

    return Codec(load_methods(dialect_id))


def _ids(method: Method) -> bytes:
    return _IDS.pack(method.class_id, method.method_id)


def _by_key(args: Mapping[str, Any], keys: frozenset[str], complaint: str) -> dict[str, Any]:
    """The arguments under their fields' keys; TypeError for one that there is not."""
    by_key = {key.rstrip("_").replace("-", "_"): value for key, value in args.items()}
    for key in by_key:
        if key not in keys:
            raise TypeError(f"{complaint} {key!r}")
    return by_key


def _too_long(where: str, payload: bytes, at: int, of: str) -> WireError:
    return unreadable(
        where, payload, at, f"the end of the {of}", f"{len(payload) - at} octets more", Kind.TRAILING
    )
