"""The test class: sums, extremes and checksums of what a client sent, which show how it was understood.

Knows: the three operations, numbered in the order of the definition (1 add, 2 min, 3 max), which gives no numbers.
Must not know: octets; the codec has read them. Of a table, its integers count for one result and its long strings for
the other; tables within it do not. A sum below zero returns as two's complement of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.contents import Received
from amqpspec.reference.methods.handlers import handles, handles_content
from amqpspec.wire.methods.codec import Call
from amqpspec.wire.values import Table

_T = TypeVar("_T", int, bytes)
_SYNTAX_ERROR = 502
_ADD, _MIN, _MAX = 1, 2, 3
_64_BITS, _32_BITS = (1 << 64) - 1, (1 << 32) - 1
_WIDTHS = (8, 16, 32, 64)


@handles("test.integer")
def integer(channel: Channel, call: Call) -> None:
    """Four integers, one of each width."""
    numbers = [call[f"integer_{place}"] for place in range(1, 5)]
    if channel.faulty("integers-have-a-sign"):
        numbers = [_signed(n, width) for n, width in zip(numbers, _WIDTHS, strict=True)]
    if channel.faulty("integers-low-octet-first"):
        numbers = [_turned(n, width) for n, width in zip(numbers, _WIDTHS, strict=True)]
    result = _operate(channel, call["operation"], numbers, sum, 0)
    if result is not None:
        channel.send("test.integer-ok", result=result & _64_BITS)


@handles("test.string")
def string(channel: Channel, call: Call) -> None:
    """A short string and a long one."""
    short, long = call["string_1"].encode("utf-8", "surrogateescape"), call["string_2"]
    if channel.faulty("strings-of-ascii-only"):
        short = bytes(octet for octet in short if octet < 128)
    if channel.faulty("long-strings-end-at-zero"):
        long = long.partition(b"\0")[0]
    result = _operate(channel, call["operation"], [short, long], b"".join, b"")
    if result is not None:
        channel.send("test.string-ok", result=result)


@handles("test.table")
def table(channel: Channel, call: Call) -> None:
    """The integers of a table, and its strings."""
    fields: Table = call["table"]
    numbers = _operate(channel, call["integer_op"], _integers(channel, fields), sum, 0)
    strings = None
    if numbers is not None:
        strings = _operate(channel, call["string_op"], _strings(channel, fields), b"".join, b"")
    if numbers is not None and strings is not None:
        channel.send("test.table-ok", integer_result=numbers & _64_BITS, string_result=strings)


def _integers(channel: Channel, fields: Table) -> list[int]:
    chosen = wire.counting(fields, channel.faulty)
    numbers = [typed.value for _, typed in chosen if typed.tag == "I"]
    if channel.faulty("table-integers-unsigned"):
        numbers = [number & _32_BITS for number in numbers]
    return numbers


def _strings(channel: Channel, fields: Table) -> list[bytes]:
    return [typed.value for _, typed in wire.counting(fields, channel.faulty) if typed.tag == "S"]


def _operate(
    channel: Channel, operation: int, values: Sequence[_T], add: Callable[[Sequence[_T]], _T], none: _T
) -> _T | None:
    """The result; None if there is no such operation, which the client has been notified of."""
    if operation == _ADD:
        return add(values)
    if operation in (_MIN, _MAX):
        size = len if isinstance(none, bytes) else None
        pick = min if operation == _MIN else max
        return pick(values, key=size, default=none)
    channel.connection.close(_SYNTAX_ERROR, f"there is no operation {operation}")
    return None


def _signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> (width - 1) else number


def _turned(number: int, width: int) -> int:
    return int.from_bytes(number.to_bytes(width // 8, "little"), "big")


@handles("test.content")
def content(channel: Channel, call: Call) -> None:
    """A content follows."""
    channel.expect_content(call)


@handles_content("test.content")
def echo(channel: Channel, received: Received) -> None:
    """The content returns, with the sum of its octets."""
    channel.connection.send_content(
        channel.number,
        "test.content-ok",
        received.octets,
        received.body,
        received.children,
        content_checksum=sum(received.body) & _32_BITS,
    )


@handles("test.integer-ok")
@handles("test.string-ok")
@handles("test.table-ok")
def reply(channel: Channel, call: Call) -> None:
    """Nothing was asked."""
    channel.refuse("constant/command-invalid", f"{call.name} without a question")


FAULTS = fault_table("""
integers-have-a-sign: the integers of the test class are read with a sign
integers-low-octet-first: numbers that the server reads in tests and writes in replies begin with their low octet
""")
