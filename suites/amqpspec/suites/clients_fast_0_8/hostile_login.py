"""Servers that misbehave before CONNECTION OPEN: versions, mechanisms, tables, limits."""

from __future__ import annotations

import struct
from typing import Any

from amqpspec.run.clients.provoking import all_of, instead
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.hostility import Act, Deed
from amqpspec.wire.values import Raw

_LARGE = {f"FIELD{n}": "x" * 100 for n in range(50)}


def _table(octets: bytes) -> Raw:
    return Raw(struct.pack(">H", len(octets)) + octets)


def _options(**options: Any) -> Deed:
    """TUNE with other options besides its own."""
    return instead(lambda f: of.again(f, options={**of.read(f).args["options"].plain(), **options}))


_CHALLENGES: tuple[tuple[str, str, Deed, str], ...] = (
    ("version-0", "initiation/version-refused", of.changed(version=0), "names version 0"),
    ("version-2", "initiation/version-refused", of.changed(version=2), "names version 2"),
    ("version-255", "initiation/version-refused", of.changed(version=255), "names version 255"),
    ("mechanisms-unknown", "violated/connection/challenge/plain",
     of.changed(mechanisms="AMQPSPEC-NONE"), "offers only an unknown mechanism"),
    ("mechanisms-empty", "violated/connection/challenge/plain", of.changed(mechanisms=""), "offers no mechanism"),
    ("challenge-large", "violated/connection/challenge/size",
     of.changed(challenges=_LARGE), "sends a CHALLENGE of more than 4096 octets"),
    ("challenge-zero-octet", "violated/syntax/notes/zero-octet",
     of.changed(mechanisms="PLAIN \0"), "sends mechanisms with a zero octet"),
    ("challenge-type", "violated/tables/types",
     of.changed(challenges=_table(b"\x01aF\0\0")), "sends a value of type F"),
    ("challenge-cut", "violated/tables/layout",
     of.changed(challenges=_table(b"\x01aS\0\x09x")), "sends a table that ends within a string"),
    ("challenge-name-cut", "violated/tables/layout",
     of.changed(challenges=_table(b"\x09a")), "sends a table that ends within a name"),
    ("challenge-name", "violated/tables/names",
     of.changed(challenges=_table(b"\x031st" + b"I\0\0\0\1")), "sends a name that begins with a digit"),
    ("challenge-long-name", "violated/tables/names",
     of.changed(challenges=_table(b"\xc8" + b"a" * 200 + b"I\0\0\0\1")), "sends a name of 200 characters"),
    ("http", "violated/initiation/valid",
     all_of([b"HTTP/1.1 400 Bad Request\r\n\r\n"]), "answers in HTTP"),
    ("amqp", "violated/initiation/valid", all_of([b"AMQP\x01\x01\x09\x01"]),
     "answers with the header of another protocol"),
    ("greeting", "violated/initiation/valid", lambda f: [b"\x80\x01", Act.FIN], "answers with a greeting and ends"),
)  # fmt: skip
_TUNES: tuple[tuple[str, str, Deed, str], ...] = (
    ("frame-max-zero", "violated/tuning/frame-max/not-zero", _options(FRAME_MAX=0), "proposes a FRAME_MAX of 0"),
    ("frame-max-512", "violated/tuning/frame-max/minimum", _options(FRAME_MAX=512), "proposes a FRAME_MAX of 512"),
    ("frame-max-1023", "violated/tuning/frame-max/minimum", _options(FRAME_MAX=1023), "proposes a FRAME_MAX of 1023"),
    ("frame-max-text", "connection/summary/client/tune",
     _options(FRAME_MAX="many"), "proposes a FRAME_MAX of type string"),
    ("channel-max-negative", "connection/summary/client/tune",
     _options(CHANNEL_MAX=-1), "proposes a CHANNEL_MAX below zero"),
    ("option-unknown", "connection/summary/client/tune", _options(SPEED_MAX=1), "proposes an unknown option"),
    ("tune-large", "violated/connection/tune/size", _options(**_LARGE), "sends a TUNE of more than 4096 octets"),
    ("tune-dictionary", "violated/connection/tune/dictionary",
     of.changed(dictionary={"ET": "Expiration-Time"}), "sends a dictionary"),
    ("tune-type", "violated/tables/types", of.changed(options=_table(b"\x01at\1")), "sends an option of type t"),
    ("tune-cut", "violated/tables/layout",
     of.changed(options=_table(b"\x09FRAME_MAXI\0\0")), "sends an option with half an integer"),
)  # fmt: skip
for _name, _row, _deed, _what in _CHALLENGES:
    of.hostile(
        globals(),
        f"login.{_name}",
        _row,
        of.POINTS["challenge"],
        _deed,
        f"A client disconnects from a server that {_what}",
    )
for _name, _row, _deed, _what in _TUNES:
    of.hostile(
        globals(),
        f"login.{_name}",
        _row,
        of.POINTS["tune"],
        _deed,
        f"A client disconnects from a server that {_what}",
    )
