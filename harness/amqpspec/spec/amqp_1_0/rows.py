"""How the tables of AMQP 1.0 are written.

Knows: how symbols of descriptors follow from names. Must not know: any type.
"""

from __future__ import annotations

from amqpspec.spec.typed import Composite, TypedField


def composite(name: str, code: int, *fields: TypedField, provides: tuple[str, ...] = ()) -> Composite:
    """A composite whose descriptor has the symbol of its name."""
    return Composite(name, f"amqp:{name}:list", code, fields, provides)


def required(name: str, type: str) -> TypedField:
    """A field that must be there."""
    return TypedField(name, type, mandatory=True)


def flag(name: str) -> TypedField:
    """A boolean that is false if it is absent."""
    return TypedField(name, "boolean", default="false")


def several(name: str) -> TypedField:
    """Any number of symbols."""
    return TypedField(name, "symbol", multiple=True)
