"""The parts of the fuzzer that are specific to the 9.1 wire draft.

Knows: rows of its ledger. Must not know: how octets are judged.
"""

from __future__ import annotations

from collections.abc import Mapping

from amqpspec.fuzz.methods.driver import MethodsDriver


class AmqpWire91Driver(MethodsDriver):
    """The 9.1 wire draft, and AMQP 0-8, in which brokers in use answer it.

    There, a rollback without a transaction ends the connection, after which nothing can be seen.
    """

    lives_on = "security/invalid-data"
    rules: Mapping[str, str] = {
        "header": "amq_wlp_header_03",
        "type": "amq_wlp_frame_01",
        "end": "amq_wlp_frame_02",
        "too-large": "amq_wlp_frame_03",
        "arguments": "grammar/method-payload",
        "table": "field-tables/format",
        "unknown-class": "method-frames/standard-classes",
        "class-on-zero": "grammar/channel-non-zero",
        "connection-class": "general-frame-format/channel-numbers",
        "content-on-zero": "amq_wlp_content_03",
        "content-class": "amq_wlp_content_02",
        "content-header": "content-header/values",
        "body-too-long": "content-header/body-size",
        "unexpected-header": "content-framing/unconditional",
        "unexpected-body": "content-framing/unconditional",
        "heartbeat-channel": "amq_wlp_heartbeat_01",
    }
