"""Performatives, sections and frames as octets, written by hand from the text; no codec had a part in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Golden(NamedTuple):
    """A composite with its fields, and its octets."""

    name: str
    fields: Mapping[str, Any]
    octets: bytes


def _row(name: str, octets: str, /, **fields: Any) -> Golden:
    return Golden(name, fields, bytes.fromhex(octets))


COMPOSITES = (
    _row("open", "005310 c0 04 01 a1 01 63", container_id="c"),
    _row(
        "open",
        "005310 c0 27 0a a10163 a10168 7000010000 607fff 5264 40 40 e00602a3016101 62 a30178 c10702a30170a10176",
        container_id="c",
        hostname="h",
        max_frame_size=65_536,
        channel_max=32_767,
        idle_time_out=100,
        offered_capabilities=("a", "b"),
        desired_capabilities="x",
        properties={"p": "v"},
    ),
    _row(
        "begin",
        "005311 c0 0a 04 40 43 5205 7000000800",
        next_outgoing_id=0,
        incoming_window=5,
        outgoing_window=2048,
    ),
    _row(
        "attach",
        "005312 c0 1c 07 a1016c 43 42 5000 5001 005328c00401a10171 005329c00401a10174",
        name="l",
        handle=0,
        role="sender",
        snd_settle_mode="unsettled",
        rcv_settle_mode="second",
        source={"address": "q"},
        target={"address": "t"},
    ),
    _row(
        "flow",
        "005313 c0 0e 09 43 52 05 52 01 52 06 43 43 52 0a 40 41",
        next_incoming_id=0,
        incoming_window=5,
        next_outgoing_id=1,
        outgoing_window=6,
        handle=0,
        delivery_count=0,
        link_credit=10,
        drain=True,
    ),
    _row(
        "transfer",
        "005314 c0 09 06 43 43 a00174 43 42 41",
        handle=0,
        delivery_id=0,
        delivery_tag=b"t",
        message_format=0,
        settled=False,
        more=True,
    ),
    _row(
        "disposition",
        "005315 c0 0a 05 41 43 5203 41 00532445",
        role=True,
        first=0,
        last=3,
        settled=True,
        state="accepted",
    ),
    _row("detach", "005316 c0 03 02 43 41", handle=0, closed=True),
    _row("end", "005317 45"),
    _row(
        "close",
        "005318 c0 17 01 00531d c0 11 02 a30c616d71703a612d6572726f72 a100",
        error={"condition": "amqp:a-error", "description": ""},
    ),
    _row("sasl-mechanisms", "005340 c0 0b 01 e00801a305504c41494e", sasl_server_mechanisms=("PLAIN",)),
    _row(
        "sasl-init",
        "005341 c0 0e 02 a305504c41494e a004 00610062",
        mechanism="PLAIN",
        initial_response=b"\0a\0b",
    ),
    _row("sasl-outcome", "005344 c0 03 01 5001", code="auth"),
    _row("received", "005323 c0 03 02 43 44", section_number=0, section_offset=0),
    _row("rejected", "005325 45"),
    _row("modified", "005327 c0 03 02 41 42", delivery_failed=True, undeliverable_here=False),
    _row("coordinator", "005330 45"),
    _row("discharge", "005332 c0 05 02 a00101 42", txn_id=b"\x01", fail=False),
    _row("transactional-state", "005334 c0 08 02 a00101 00532445", txn_id=b"\x01", outcome="accepted"),
    _row("header", "005370 c0 04 02 41 5009", durable=True, priority=9),
)
