"""The protocol header, and the values that a client writes into its methods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.amqp_wire_9_1.types import PROTOCOL_HEADER
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Call, ContentHeader
from amqpspec.wire.values import Table

_NAME = re.compile(r"[A-Za-z$#][A-Za-z0-9$#_]*")
_LONGEST_NAME = 128


@conduct("client.header.first", covers=["protocol-header/client-starts"])
def begins_with_a_header(talk: Conversation) -> Iterator[Looked]:
    """A client sends a protocol header before anything else."""
    for first in list(talk.by_client())[:1]:
        yield Looked(first, isinstance(first.what, ProtocolHeader))


@conduct("client.header.layout", covers=["protocol-header/eight-octets"])
def sends_the_header_of_this_version(talk: Conversation) -> Iterator[Looked]:
    """The client's protocol header is AMQP, class 1, instance 1, version 9, revision 1."""
    for said in talk.by_client():
        if isinstance(said.what, ProtocolHeader):
            yield Looked(said, said.what.octets == PROTOCOL_HEADER)


@conduct("client.short-strings.zero", covers=["data-fields/strings/short-zero-octet"])
def sends_no_zero_octet_in_short_strings(talk: Conversation) -> Iterator[Looked]:
    """A client sends no short string that contains a zero octet."""
    for said in talk.by_client():
        if (values := _values_of(said.what)) is not None:
            bad = [key for key, value in values.items() if isinstance(value, str) and "\0" in value]
            yield Looked(said, not bad, ", ".join(bad))


@conduct("client.tables.names", covers=["field-tables/names"])
def names_fields_as_the_rule_has_it(talk: Conversation) -> Iterator[Looked]:
    """Names in a client's tables begin with a letter, $ or #, continue with these, digits or _, at most 128 in all."""
    for said in talk.by_client():
        for name in (name for value in (_values_of(said.what) or {}).values() for name in _names(value)):
            right = _NAME.fullmatch(name) is not None and len(name) <= _LONGEST_NAME
            yield Looked(said, right, f"field name {name[:40]!r}")


def _values_of(what: Any) -> Mapping[str, Any] | None:
    """The arguments of a method, or the properties of a content."""
    if isinstance(what, ContentHeader):
        return what.properties
    return what.args if isinstance(what, Call) else None


def _names(value: Any) -> Iterator[str]:
    """The names of a table's fields, and of the tables within it."""
    for name, typed in value if isinstance(value, Table) else ():
        yield name
        yield from _names(typed.value)
