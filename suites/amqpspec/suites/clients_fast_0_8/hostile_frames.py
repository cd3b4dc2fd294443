"""Servers that break the rules of frames: each deed at several points of a conversation."""

from __future__ import annotations

from amqpspec.run.clients.provoking import behind, instead
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.amqp_fast_0_8.frames import encode_frame
from amqpspec.wire.hostility import Deed


def _short(frame: bytes) -> bytes:
    """The frame with a size that does not count its end octet."""
    held = of.read(frame)
    return of.again(frame, size=len(held.fields) + 1)


_FRAMES: tuple[tuple[str, str, Deed, str], ...] = (
    ("end-octet", "violated/syntax/command-end", of.changed(end=0), "a frame that ends in 0x00"),
    ("size-4gib", "violated/frames/size-forms", of.lying_size(0xFFFFFFFE), "a frame that announces 4 GiB"),
    ("size-16mib", "violated/frames/size-forms", of.lying_size(16 << 20), "a frame that announces 16 MiB"),
    ("size-without-end", "violated/syntax/notes/end-counted", instead(_short),
     "a size that does not count the end octet"),
    ("size-zero", "violated/frames/size-first", behind(b"\0\0\x0e\0\xce"), "a frame of size 0"),
    ("size-one", "violated/frames/size-first", behind(b"\0\1\xce\0\0\0"), "a frame of size 1"),
    ("code-15", "violated/syntax/connection-commands", behind(encode_frame(15)), "command 15"),
    ("code-24", "violated/syntax/channel-commands", behind(encode_frame(24, b"\0\1")), "command 24"),
    ("code-33", "violated/syntax/handle-commands", behind(encode_frame(33, b"\0\1")), "command 33"),
    ("truncated", "violated/frames/fixed-fields", of.fields_changed(lambda f: f[:-1]), "a truncated command"),
    ("trailing", "violated/frames/fixed-fields",
     of.fields_changed(lambda f: f + b"xyz"), "a command with octets after its last field"),
)  # fmt: skip
for _point, _at in of.POINTS.items():
    for _name, _row, _deed, _what in _FRAMES:
        of.hostile(
            globals(), f"{_name}.{_point}", _row, _at, _deed, f"A client rejects {_what} at {_at[0]}",
        )  # fmt: skip
