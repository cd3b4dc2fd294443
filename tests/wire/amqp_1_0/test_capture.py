"""Captures of AMQP 1.0 return as they were written, and Wireshark's own dissector reads them."""

from __future__ import annotations

from pathlib import Path

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, performative_frame
from amqpspec.wire.amqp_1_0.message import encode_message
from tests.tools import needs_tshark
from tests.wire.helpers import Said, captured, shown_by_wireshark

MESSAGE = encode_message(data=b"hi")
SAID: list[Said] = [
    ("out", HEADERS["sasl"]),
    ("in", HEADERS["sasl"] + performative_frame("sasl-mechanisms", sasl_server_mechanisms=("PLAIN", "ANONYMOUS"))),
    ("out", performative_frame("sasl-init", mechanism="ANONYMOUS")),
    ("in", performative_frame("sasl-outcome", code="ok")),
    ("out", HEADERS["amqp"] + performative_frame("open", container_id="c", hostname="h")),
    ("in", HEADERS["amqp"] + performative_frame("open", container_id="s", properties={"product": "x"})),
    ("out", performative_frame("begin", 1, next_outgoing_id=0, incoming_window=9, outgoing_window=9)),
    ("out", performative_frame("attach", 1, name="l", handle=0, role="sender", source={}, target={"address": "q"})),
    ("out", performative_frame("transfer", 1, handle=0, delivery_id=0, delivery_tag=b"t", payload=MESSAGE)),
    ("in", EMPTY_FRAME + performative_frame("disposition", 1, role=True, first=0, settled=True, state="accepted")),
    ("in", performative_frame("close", error={"condition": "amqp:not-found"})),
]  # fmt: skip


def test_what_was_written_is_read(tmp_path: Path) -> None:
    captured(tmp_path / "a.pcapng", SAID)


@needs_tshark
def test_wireshark_names_every_performative(tmp_path: Path) -> None:
    shown = shown_by_wireshark(captured(tmp_path / "a.pcapng", SAID))
    for name in ("sasl.mechanisms (64)", "sasl.init (65)", "sasl.outcome (68)"):
        assert f"SASL Method: {name}" in shown
    for name in ("open (16)", "begin (17)", "attach (18)", "transfer (20)", "disposition (21)", "close (24)"):
        assert f"Performative: {name}" in shown
