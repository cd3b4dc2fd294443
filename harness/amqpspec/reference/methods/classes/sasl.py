"""Login: the security mechanisms, each as one or two steps.

Knows: PLAIN, AMQPLAIN, ANONYMOUS, EXTERNAL (the name in a TLS client's certificate), and RABBIT-CR-DEMO, which takes a
second round: the client says its name, is asked for the password, and answers "My password is …".
Must not know: phases or methods. A step gives octets (the next challenge), a user (logged in) or None (refused).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeAlias

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.model import User
from amqpspec.wire.errors import WireError
from amqpspec.wire.values import Typed

Result: TypeAlias = bytes | User | None

CHALLENGE = b"Please tell me your password"
_ANSWER = b"My password is "
_ALWAYS = ("PLAIN", "AMQPLAIN", "ANONYMOUS", "RABBIT-CR-DEMO")


def offered(connection: Connection) -> tuple[str, ...]:
    """The mechanisms that this connection may use."""
    return (*_ALWAYS, "EXTERNAL") if connection.over_tls else _ALWAYS


def first(connection: Connection, response: bytes) -> Result:
    """The first answer of the client."""
    if connection.mechanism == "PLAIN":
        return _plain(connection, response)
    if connection.mechanism == "AMQPLAIN":
        return _amqplain(connection, response)
    if connection.mechanism == "EXTERNAL":
        return connection.core.users.get(connection.certificate_name)
    if connection.mechanism == "RABBIT-CR-DEMO":
        return _ask(connection, response)
    return connection.core.users["guest"]


def second(connection: Connection, response: bytes) -> Result:
    """The answer to the challenge."""
    if not response.startswith(_ANSWER):
        return None
    return _user(connection, connection.claimed_name, response.removeprefix(_ANSWER))


def _ask(connection: Connection, response: bytes) -> Result:
    connection.claimed_name = response
    if connection.faulty("challenge-skipped"):
        return connection.core.users.get(response.decode("utf-8", "replace"))
    return CHALLENGE


def _plain(connection: Connection, response: bytes) -> Result:
    parts = response.split(b"\0")
    return _user(connection, parts[1], parts[2]) if len(parts) == 3 else None


def _amqplain(connection: Connection, response: bytes) -> Result:
    octets = struct.pack(">I", len(response)) + response
    try:
        table, _ = connection.codec.tables.decode(octets, 0, len(octets))
    except WireError:
        return None
    fields = dict(wire.counting(table, connection.faulty))
    name, password = _value(fields, "LOGIN"), _value(fields, "PASSWORD")
    if connection.faulty("amqplain-refused"):
        return None
    return (
        _user(connection, name, password) if isinstance(name, bytes) and isinstance(password, bytes) else None
    )


def _value(fields: Mapping[str, Typed], name: str) -> object:
    return fields[name].value if name in fields else None


def _user(connection: Connection, name: bytes, password: bytes) -> User | None:
    user = connection.core.users.get(name.decode("utf-8", "replace"))
    if user is None:
        return None
    right = user.password.encode() == password or connection.faulty("password-not-checked")
    right = right or (not password and connection.faulty("empty-password-lets-in"))
    return user if right else None


FAULTS = fault_table("""
amqplain-refused: AMQPLAIN is offered, but every login with it is refused [connection/start-ok/mechanism/offered]
password-not-checked: any password is accepted [connection/secure]
empty-password-lets-in: an empty password is accepted for any user [connection/secure]
challenge-skipped: a mechanism of two rounds accepts a client after the first [connection/secure]
""")
