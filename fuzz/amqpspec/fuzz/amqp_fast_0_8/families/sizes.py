"""Sizes of AMQP/Fast bent: the escape of long frames, fragments, limits that were agreed on.

Knows: frames, options of tuning. Must not know: what a target does beyond a limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.amqp_fast_0_8.kit import fragment, may, open_handle, say, send
from amqpspec.fuzz.amqp_fast_0_8.samples import NEW_HANDLE
from amqpspec.fuzz.families.base import Bend, Location
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.types import TUNE_OPTIONS
from amqpspec.wire.amqp_fast_0_8.message import encode_message
from amqpspec.wire.values import Typed

_LAYOUT = DIALECT.layout
_ESCAPE = (_LAYOUT.escape or 0).to_bytes(_LAYOUT.size_octets, "big")
_LONG_SIZES = (0, 1, 2, 3, 255, 1024, 65_534, 65_535, 65_536, 131_072, 131_073, 1 << 24, (1 << 31) - 1, 1 << 31,
               (1 << 32) - 3, (1 << 32) - 2, (1 << 32) - 1)  # fmt: skip
_SIZES = (1023, 1024, 1025, 4093, 4094, 4095, 4096, 4097, 65_532, 65_533, 65_534, 65_535, 65_536, 131_070, 131_071,
          131_072, 131_073, 131_074, 262_144)  # fmt: skip
_NUMBERS = (-(1 << 31), -1, 0, 1, 2, 1023, 1024, 1025, 4096, 65_535, 65_536, 131_071, 131_072, 131_073, 1 << 30,
            (1 << 31) - 1)  # fmt: skip
_IDS = (0, 1, 2, 3, 39, 40, 41, 79, 80, 81, 255, 256, 32_767, 32_768, 65_534, 65_535)
_FRAMES = ("frames/size-forms", "frames/escape")


def escapes(_: str, state: State) -> Iterator[Location]:
    """The long form of a size, right and wrong."""
    if state.next:
        yield Location("frame.escape", lambda: _escaped(state), _FRAMES)


def _escaped(state: State) -> Iterator[Bend]:
    """What may follow with a long size; a long size that is wrong; escapes in escapes."""
    for name in state.next[:4]:
        octets = octets_of(grammar(DIALECT.id)[name].tree)
        size = int.from_bytes(octets[: _LAYOUT.size_octets], "big")
        rest = octets[_LAYOUT.size_octets :]
        # The greeting is no frame, and takes no long size at all.
        for wrong in (0, -1, 1, -size, 6, -6):
            long = max(0, size + wrong).to_bytes(_LAYOUT.long_size_octets, "big")
            yield Bend(f"{name} with a long size of {size + wrong} for {size}", (_ESCAPE + long + rest,))
        for long_size in _LONG_SIZES:
            long = long_size.to_bytes(_LAYOUT.long_size_octets, "big")
            yield Bend(f"{name} with a long size of {long_size}", (_ESCAPE + long + rest,))
        for count in (1, 2, 3):
            cut = _ESCAPE + (_ESCAPE * 2)[:count]
            yield Bend(f"{name} behind an escape and {count} octets of size", (cut, rest))
        yield Bend(f"{name} behind two escapes", (_ESCAPE * 2 + size.to_bytes(4, "big") + rest,))
    for padding in (0, 65_000, 66_000):
        whole = say("connection.ping", respond=True, extra=b"\0" * padding, escaped=True)
        yield Bend(f"a PING of {len(whole)} octets, escaped", (whole,))


def limits(_: str, state: State) -> Iterator[Location]:
    """Options, frames, fragments, channels and handles about what was agreed on."""
    if state.name in ("tuning", "tuned"):
        touches = ("tuning/frame-max/client-maximum", "tuning/frame-max/client-minimum")
        yield Location("tune.option", _options, (*touches, "connection/summary/server/tune-invalid"))
        yield Location("tune.count", _many_options, touches)
    if state.name in ("greeted", "login", "tuning"):
        yield Location("login.size", lambda: _long_logins(state.name), ("connection/response/size",))
    if may(state, "channel.open"):
        yield Location("channel.too-high", _channels, ("tuning/channel-max", "channel/open/channel-id"))
    if may(state, "handle.open"):
        yield Location("handle.too-high", _handles, ("tuning/handle-max", "handle/open/not-zero"))
    if may(state, "handle.send"):
        yield Location("fragment.too-large", _fragments, ("frames/size-forms", "messages/frames/size"))
        yield Location("message.too-large", _messages, ("messages/head/maximum", "messages/head/body-size"))
    if state.name == "transacted":
        yield Location("transaction.too-large", _transactions, ("tuning/txn-limit",))


def _options() -> Iterator[Bend]:
    for option in (*(row.name for row in TUNE_OPTIONS), "frame_max", "SPEED_MAX", ""):
        for number in _NUMBERS:
            yield Bend(f"{option} {number}", (say("connection.tune", options={option: number}),))
        for value in (Typed("S", b"4096"), Typed("T", 4096), Typed("D", (0, 4096)), Typed("S", b"")):
            tune = say("connection.tune", options={option: value})
            yield Bend(f"{option} as {value.tag} {value.value!r}", (tune,))


def _many_options() -> Iterator[Bend]:
    """The same option twice, many of them, and TUNE again and again."""
    for low, high in ((1024, 131_072), (131_072, 1024), (512, 4096), (4096, 512)):
        options = (("FRAME_MAX", low), ("FRAME_MAX", high))
        yield Bend(f"FRAME_MAX {low}, then {high} in one table", (say("connection.tune", options=options),))
        twice = [say("connection.tune", options={"FRAME_MAX": number}) for number in (low, high)]
        yield Bend(f"FRAME_MAX {low}, then {high} in two", tuple(twice))
    for count in (2, 64, 1024):
        yield Bend(f"{count} TUNEs", (say("connection.tune", options={"FRAME_MAX": 4096}) * count,))
        aliases = {f"A{number}": "Expiration-Time" for number in range(min(count, 128))}
        yield Bend(f"{count} dictionaries", (say("connection.tune", dictionary=aliases) * count,))


def _long_logins(state: str) -> Iterator[Bend]:
    for size in _SIZES[:13]:
        login = say("connection.response", mechanism="PLAIN", responses={"LOGIN": b"x" * (size - 64)})
        yield Bend(f"RESPONSE of {len(login)} octets", (login,))
        tune = say("connection.tune", options={"FRAME_MAX": 4096}, dictionary={"K": b"x" * (size - 64)})
        yield Bend(f"TUNE of {len(tune)} octets in {state}", (tune,))


def _channels() -> Iterator[Bend]:
    for channel in _IDS:
        yield Bend(f"channel {channel} opened", (say("channel.open", channel_id=channel),))
    for count in (39, 40, 41, 128):
        yield Bend(
            f"{count} channels", (b"".join(say("channel.open", channel_id=n) for n in range(2, 2 + count)),)
        )


def _handles() -> Iterator[Bend]:
    for handle in _IDS:
        yield Bend(f"handle {handle} opened", (open_handle(handle),))
        yield Bend(f"handle opened on channel {handle}", (open_handle(NEW_HANDLE, handle),))
    for count in (79, 80, 81, 256):
        yield Bend(f"{count} handles", (b"".join(open_handle(n) for n in range(2, 2 + count)),))


def _fragments() -> Iterator[Bend]:
    """Fragments about every usual size; fragments whose size is announced otherwise."""
    for size in _SIZES:
        short = len(encode_message(b""))
        yield Bend(f"a fragment of {size} octets", (fragment(encode_message(b"x" * (size - short))),))
    whole = encode_message(b"amqpspec")
    for size in (0, 1, len(whole) - 1, len(whole) + 1, 2 * len(whole), 131_073, 1 << 24, (1 << 32) - 1):
        yield Bend(f"a fragment of {size} octets for {len(whole)}", (fragment(whole, fragment_size=size),))
    for count in (2, 64, 1024):
        yield Bend(f"{count} empty fragments", (say("handle.send", partial=True) * count,))


def _messages() -> Iterator[Bend]:
    for size in (0, 1, 7, 9, 65_536, 16 << 20, (16 << 20) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1):
        yield Bend(f"body-size {size} for 8", (send(b"amqpspec", body_size=size),))
        begun = encode_message(b"amqpspec", body_size=size)
        yield Bend(f"body-size {size}, 8 octets so far", (fragment(begun, partial=True),))
    for count in (2, 16, 256):
        begun = fragment(encode_message(b"", body_size=8 * count), partial=True)
        rest = fragment(b"amqpspec", partial=True)
        yield Bend(f"{count} fragments of a message that does not end", (begun + rest * count,))


def _transactions() -> Iterator[Bend]:
    for count in (49, 50, 51, 256):
        sent = send(handle=NEW_HANDLE) * count
        for name in ("commit", "rollback"):
            end = say(f"channel.{name}")
            yield Bend(f"{count} messages, then {name}", (open_handle() + sent + end,))
