"""Wireshark's own dissector reads the octets that were written by hand, and those of our codec, as we do."""

from __future__ import annotations

from pathlib import Path

from amqpspec.wire.amqp_0_10.frames import encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import kind_of
from tests.tools import needs_tshark
from tests.wire.amqp_0_10 import golden
from tests.wire.amqp_0_10.golden import COMMANDS, CONTROLS, GREETING
from tests.wire.helpers import Said, captured, shown_by_wireshark

TRANSFER = encode_assembly(
    "message.transfer", 1, destination="q", accept_mode=0, acquire_mode=0, header=golden.HEADER, body=b"hello"
)
SAID: list[Said] = [
    ("out", GREETING),
    ("in", GREETING),
    *(("out", encode_frame(row.octets, type=kind_of(row.name), channel=1)) for row in CONTROLS + COMMANDS),
    ("out", TRANSFER),
]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    captured(tmp_path / "a.pcapng", SAID)


@needs_tshark
def test_wireshark_reads_the_same(tmp_path: Path) -> None:
    shown = shown_by_wireshark(captured(tmp_path / "a.pcapng", SAID))
    lines = [line.strip() for line in shown.splitlines()]
    methods = [line.split()[1] for line in lines if line.startswith("Method: ")]
    assert methods == [row.name for row in (*CONTROLS, *COMMANDS)] + ["message.transfer"]
    values = (
        "Version Minor: 10",
        "Heartbeat-Max: 120",
        "Reply-Code: normal (200)",
        "Code: session-busy (1)",
        "Command-offset: 256",
        "Commands [(4294967294, 1)]",
        "Session header: 0x0101",
        "struct: dtx.xa-status (0x0601)",
        "Error-code: not-found (404)",
        "Reject-code: unroutable (1)",
        "Global-id: 67",
        "x (int32): 1",
        "Delivery-priority: medium (4)",
        "Delivery-mode: persistent (2)",
        "struct: Unknown (0x0463)",
        "Content-length: 5",
        "Content-type: t",
    )
    assert [value for value in values if value not in lines] == []
