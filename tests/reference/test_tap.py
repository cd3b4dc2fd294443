"""What a hostile server sends: its deed whole, and only then what the broker wrote meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from amqpspec.reference.tap import Tap, WayOut
from amqpspec.wire.conversation import Talk
from amqpspec.wire.hostility import Act, Hostility

_MUCH = bytes(1 << 20)


class _Tap:
    """The tap and its transport in one: keeps what is written."""

    def __init__(self) -> None:
        self.talk, self.is_mute, self.written = Talk(1), False, list[bytes]()
        self.transport = self

    def keep(self, *_: object) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def can_write_eof(self) -> bool:
        return False

    def write(self, octets: bytes) -> None:
        self.written.append(octets)


class _Cutter:
    def cut(self, octets: bytes) -> list[tuple[str, bytes]]:
        return [(octets.decode(), octets)]


def _written(last: list[bytes | Act]) -> list[bytes]:
    tap = _Tap()

    def deed(frame: bytes) -> Iterator[bytes | Act]:
        yield from (frame, _MUCH, _MUCH, *last)

    async def write() -> None:
        way = WayOut(cast(Tap, tap), cast(Any, _Cutter()), Hostility("a", deed))
        way.write(b"a")
        way.write(b"b")
        await asyncio.sleep(0)
        way.pause()
        way.write(b"c")
        way.resume()
        while way.is_acting:
            await asyncio.sleep(0)
        way.write(b"d")

    asyncio.run(write())
    return tap.written


@pytest.mark.parametrize(
    ("last", "expected"),
    [([b"z"], [b"a", _MUCH, _MUCH, b"z", b"b", b"c", b"d"]), ([Act.FIN], [b"a", _MUCH, _MUCH])],
)
def test_a_deed_is_not_interrupted(last: list[bytes | Act], expected: list[bytes]) -> None:
    assert _written(last) == expected


def test_a_deed_that_fails_is_said_and_keeps_nothing_back() -> None:
    tap = _Tap()

    def deed(frame: bytes) -> Iterator[bytes | Act]:
        yield b"x"
        raise ValueError("cannot be encoded")

    async def write() -> None:
        way = WayOut(cast(Tap, tap), cast(Any, _Cutter()), Hostility("a", deed))
        way.write(b"a")
        way.write(b"b")

    asyncio.run(write())
    assert tap.written == [b"x", b"b"] and tap.talk.amiss == "ValueError: cannot be encoded"


def test_what_contradicts_a_deed_is_not_sent_during_it_or_behind_it() -> None:
    tap = _Tap()

    def deed(frame: bytes) -> Iterator[bytes | Act]:
        yield from (_MUCH, _MUCH)

    async def write() -> None:
        hostility = Hostility("a", deed, passing=lambda ended: lambda frame: frame != ended)
        way = WayOut(cast(Tap, tap), cast(Any, _Cutter()), hostility)
        for frame in (b"b", b"a", b"a", b"c"):
            way.write(frame)
        while way.is_acting:
            await asyncio.sleep(0)
        for frame in (b"a", b"d"):
            way.write(frame)

    asyncio.run(write())
    assert tap.written == [b"b", _MUCH, _MUCH, b"c", b"d"]
