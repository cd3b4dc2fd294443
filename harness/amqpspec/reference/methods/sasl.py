"""Login: the security mechanisms, each as one or two steps.

Knows: PLAIN, AMQPLAIN, ANONYMOUS, EXTERNAL (the name in a TLS client's certificate), and RABBIT-CR-DEMO, which takes a
second round: the client says its name, is asked for the password, and answers "My password is …".
Must not know: phases or methods. A step gives octets (the next challenge), a user (logged in) or None (refused).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from amqpspec.reference.methods import wire
from amqpspec.reference.model import User
from amqpspec.wire.errors import WireError
from amqpspec.wire.values import Typed

if TYPE_CHECKING:
    from amqpspec.reference.methods.link import Link

Result: TypeAlias = bytes | User | None

CHALLENGE = b"Please tell me your password"
_ANSWER = b"My password is "
_ALWAYS = ("PLAIN", "AMQPLAIN", "ANONYMOUS", "RABBIT-CR-DEMO")


def offered(link: Link) -> tuple[str, ...]:
    """The mechanisms that this connection may use."""
    over_tls = link.transport.get_extra_info("ssl_object") is not None
    return (*_ALWAYS, "EXTERNAL") if over_tls else _ALWAYS


def first(link: Link, response: bytes) -> Result:
    """The first answer of the client."""
    if link.mechanism == "PLAIN":
        return _plain(link, response)
    if link.mechanism == "AMQPLAIN":
        return _amqplain(link, response)
    if link.mechanism == "EXTERNAL":
        return link.core.users.get(_certificate_name(link))
    if link.mechanism == "RABBIT-CR-DEMO":
        return _ask(link, response)
    return link.core.users["guest"]


def second(link: Link, response: bytes) -> Result:
    """The answer to the challenge."""
    if not response.startswith(_ANSWER):
        return None
    return _user(link, link.claimed_name, response.removeprefix(_ANSWER))


def _ask(link: Link, response: bytes) -> Result:
    link.claimed_name = response
    if link.faulty("challenge-skipped"):
        return link.core.users.get(response.decode("utf-8", "replace"))
    return CHALLENGE


def _plain(link: Link, response: bytes) -> Result:
    parts = response.split(b"\0")
    return _user(link, parts[1], parts[2]) if len(parts) == 3 else None


def _amqplain(link: Link, response: bytes) -> Result:
    octets = struct.pack(">I", len(response)) + response
    try:
        table, _ = link.codec.tables.decode(octets, 0, len(octets))
    except WireError:
        return None
    fields = dict(wire.counting(table, link.faulty))
    name, password = _value(fields, "LOGIN"), _value(fields, "PASSWORD")
    if link.faulty("amqplain-refused"):
        return None
    return _user(link, name, password) if isinstance(name, bytes) and isinstance(password, bytes) else None


def _value(fields: Mapping[str, Typed], name: str) -> object:
    return fields[name].value if name in fields else None


def _user(link: Link, name: bytes, password: bytes) -> User | None:
    user = link.core.users.get(name.decode("utf-8", "replace"))
    if user is None:
        return None
    right = user.password.encode() == password or link.faulty("password-not-checked")
    return user if right else None


def _certificate_name(link: Link) -> str:
    certificate = link.transport.get_extra_info("peercert") or {}
    names = (pair for group in certificate.get("subject", ()) for pair in group)
    return next((value for key, value in names if key == "commonName"), "")
