"""The parts of the fuzzer that are specific to AMQP 0-9-1.

Knows: rows of its ledger. Must not know: how octets are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amqpspec.fuzz.methods.driver import MethodsDriver
from amqpspec.fuzz.selftest.frames import FrameCondition


class Amqp091Driver(MethodsDriver):
    """AMQP 0-9-1."""

    absent = MappingProxyType(
        {"C01": "an array announces its number of octets, not of elements, and each element has a tag octet"}
    )
    rare = FrameCondition(frozenset({"tx.rollback"}))
    rules: Mapping[str, str] = {
        "header": "amq_wlp_header_03",
        "type": "amq_wlp_frame_01",
        "end": "amq_wlp_frame_02",
        "too-large": "amq_wlp_frame_03",
        "arguments": "constant/frame-error",
        "table": "wire/table/malformed",
        "unknown-method": "wire/method/unknown-method",
        "unknown-class": "wire/method/unknown-class",
        "server-only": "wire/method/server-only",
        "connection-class": "wire/frame/channel-zero-for-connection",
        "class-on-zero": "wire/frame/channel-class-on-zero",
        "channel-not-open": "channel/grammar",
        "content-on-zero": "amq_wlp_content_03",
        "content-class": "amq_wlp_content_02",
        "content-header": "wire/content/malformed-header",
        "body-too-long": "wire/content/body-exceeds-size",
        "unexpected-header": "wire/content/unexpected-header",
        "unexpected-body": "wire/content/unexpected-body",
        "heartbeat-channel": "amq_wlp_heartbeat_01",
    }

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """A rollback without a transaction is refused, after which no one could tell that channels were mixed up."""
        found = dict(super().conditions(kind))
        if kind == "mixed-up":
            found["rare"] = FrameCondition(frozenset({"tx.select"}))
        return found
