"""Which fragments begin with a message head, and how a message is cut into fragments."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame
from amqpspec.wire.amqp_fast_0_8.message import Openings, cut, decode_opening, encode_message


def opened(*commands: tuple[str, dict[str, Any]]) -> list[bool]:
    """Which of these commands have fragments that begin with a head."""
    openings, found = Openings(), []
    for name, fields in commands:
        reader = CommandReader()
        reader.feed(command_frame(name, **fields))
        frame = reader.next()
        assert isinstance(frame, CommandFrame)
        found.append(openings.opens(frame))
        openings.follow(frame)
    return found


def fragment(name: str = "handle.send", handle: int = 1, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {"handle_id": handle, **fields}


def test_the_first_fragment_of_each_message_opens_it() -> None:
    more = fragment(partial=True)
    assert opened(fragment(), fragment(), more, more, fragment(), fragment()) == [
        True, True, True, False, False, True,
    ]  # fmt: skip


def test_messages_of_other_handles_go_on_meanwhile() -> None:
    assert opened(
        fragment(handle=1, partial=True),
        fragment("handle.notify", handle=2, partial=True),
        fragment(handle=1),
        fragment("handle.notify", handle=2),
        ("connection.ping", {}),
        fragment(handle=1),
    ) == [True, True, False, False, False, True]


def test_the_head_of_a_restarted_message_came_with_prepare() -> None:
    assert opened(
        fragment("handle.prepare"), fragment("handle.ready"), fragment(recovery=True, partial=True),
        fragment(recovery=True), fragment(),
    ) == [True, False, False, False, True]  # fmt: skip


@pytest.mark.parametrize("name", ["handle.close", "handle.open"])
def test_a_message_is_over_with_its_handle(name: str) -> None:
    assert opened(fragment(partial=True), fragment(name), fragment())[-1]
    assert not opened(fragment(partial=True), fragment("handle.flow"), fragment())[-1]


def test_a_code_that_there_is_not_opens_nothing() -> None:
    openings = Openings()
    unknown = CommandFrame(33, {}, b"")
    assert not openings.opens(unknown)
    openings.follow(unknown)


def test_a_message_in_fragments_can_be_read_again() -> None:
    message = encode_message(b"0123456789", identifier="m")
    pieces = list(cut(message, 8))
    assert [len(piece) for piece, _ in pieces] == [8, 8, 8, 2]
    assert [partial for _, partial in pieces] == [True, True, True, False]
    head, body = decode_opening(b"".join(piece for piece, _ in pieces))
    assert (head["body_size"], head["identifier"], body) == (10, "m", b"0123456789")
    assert list(cut(b"", 8)) == [(b"", False)]
    assert list(cut(b"12345678", 8)) == [(b"12345678", False)]
