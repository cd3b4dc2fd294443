"""A declaration as text, and as a hash: the same in every process, another one after any change of a row.

Knows: rows, mappings, sequences, constants. Must not know: what they declare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import sha256
from types import MappingProxyType
from typing import Any

_HASHED = "hashed"
APART = MappingProxyType({_HASHED: False})
"""Metadata of a field that reveals nothing about octets: it is left out, so that ids of inputs outlive its changes."""


def canonical(value: Any) -> str:
    """A declaration as text in which nothing depends on the process: no addresses, no order of sets."""
    if is_dataclass(value) and not isinstance(value, type):
        hashed = (f for f in fields(value) if f.metadata.get(_HASHED, True))
        body = ",".join(f"{f.name}={canonical(getattr(value, f.name))}" for f in hashed)
        return f"{type(value).__name__}({body})"
    if isinstance(value, Enum):
        return repr(value.value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{canonical(k)}:{canonical(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple | list):
        return "(" + ",".join(map(canonical, value)) + ")"
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    raise TypeError(
        f"declaration: expected rows, mappings, sequences and constants, actual {type(value).__name__}"
    )


def declared_hash(value: Any) -> str:
    """SHA-256 over a declaration, in hex."""
    return sha256(canonical(value).encode()).hexdigest()
