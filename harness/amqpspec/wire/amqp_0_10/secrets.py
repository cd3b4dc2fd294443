"""Where AMQP 0-10 carries secrets: in the responses by which a client proves who it is.

Knows: which arguments these are, the alphabets of the arguments next to them. Must not know: frames, states, files.

With wrong sizes or flags, an argument next to the secret may contain a part of it: unless all of them are correct,
nothing after the packing flags is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.instructions import CONTROL, Instruction, decode_instruction
from amqpspec.wire.amqp_0_10.reading import CODE_OCTETS
from amqpspec.wire.amqp_0_10.writing import encode

SECRETS = {"connection.start-ok": "response", "connection.secure-ok": "response"}
"""The argument that is never to be shown, by control."""

_CODES = tuple(bytes((DIALECT.controls[name].class_code, DIALECT.controls[name].code)) for name in SECRETS)
_HARMLESS_OCTETS = CODE_OCTETS + DIALECT.layout.arguments_pack_octets
_NAMES = {"mechanism": re.compile("[A-Z0-9_-]*"), "locale": re.compile("[A-Za-z0-9_.@-]*")}

Span = tuple[int, int]


def begins_secret(octets: bytes | bytearray) -> bool:
    """Whether the first octets of a segment are those of a control that carries a secret."""
    return bytes(octets[:CODE_OCTETS]) in _CODES


def is_sound(instruction: Instruction) -> bool:
    """Whether a control that carries a secret is as it should be, so that the secret is where it should be."""
    args = instruction.args
    return (
        instruction.error is None
        and SECRETS.get(instruction.name) in args
        and all(name.fullmatch(args.get(key, "")) for key, name in _NAMES.items())
    )


def shown_fields(instruction: Instruction, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What may be shown of the arguments of a control that carries a secret; ``fields`` are all of them."""
    secret = SECRETS[instruction.name]
    if not is_sound(instruction):
        return dict.fromkeys(fields, "<redacted>")
    return {**fields, secret: f"<redacted, {len(instruction.args[secret])} octets>"}


def secret_span(octets: bytes | bytearray, whole: bool) -> Span | None:
    """Where the secret is in a segment, or in the first octets of one: start and stop, its size left out."""
    if not begins_secret(octets):
        return None
    if whole:
        instruction = decode_instruction(CONTROL, bytes(octets))
        if is_sound(instruction):
            return _in_arguments(instruction, len(octets))
    return (_HARMLESS_OCTETS, len(octets)) if len(octets) > _HARMLESS_OCTETS else None


def _in_arguments(instruction: Instruction, end: int) -> Span:
    """The secret, found from the end: only a locale, if there is one, follows it."""
    locale = instruction.args.get("locale")
    stop = end if locale is None else end - len(encode("str8", locale))
    return stop - len(instruction.args[SECRETS[instruction.name]]), stop
