"""Under which names of its own ledger the 9.1 wire draft's broker refuses, and what else such a refusal keeps.

Knows: rows of both ledgers. Must not know: when a rule is broken; the handlers do, and they name it as 0-9-1 does.
"""

from collections.abc import Mapping

from amqpspec.spec.model import Refusal, Scope

SPOKEN_AS: Mapping[str, str] = {
    "wire/frame/channel-zero-for-connection": "general-frame-format/channel-numbers",
    "wire/frame/channel-class-on-zero": "grammar/channel-non-zero",
    "wire/method/unknown-class": "method-frames/standard-classes",
    "wire/method/unknown-method": "limitations/sixteen-bits",
    "wire/method/truncated-arguments": "grammar/method-payload",
    "wire/method/trailing-octets": "grammar/method-payload",
    "constant/frame-error": "method-frames/ids",
    "wire/strings/shortstr-zero-octet": "data-fields/strings/short-zero-octet",
    "wire/table/malformed": "field-tables/format",
    "wire/content/aborted-by-method": "content-framing/no-methods-inside",
    "wire/content/malformed-header": "content-header/values",
    "wire/content/body-exceeds-size": "content-header/body-size",
    "wire/content/unexpected-header": "content-framing/unconditional",
    "wire/content/unexpected-body": "content-framing/unconditional",
    "connection/start/protocol-name": "protocol-header/rejected",
    "connection/start/server-support": "amq_wlp_header_03",
    "connection/grammar": "security/negotiation-errors",
    "connection/start-ok/mechanism/validity": "security/negotiation-errors",
    "connection/start-ok/locale": "security/negotiation-errors",
    "connection/secure": "security/negotiation-errors",
    "connection/tune-ok/channel-max/upper-limit": "security/negotiation-errors",
    "connection/tune-ok/frame-max/minimum-chosen": "security/negotiation-errors",
    "connection/tune-ok/frame-max/upper-limit": "security/negotiation-errors",
    "connection/tune/channel-max": "channel-multiplexing/maximum",
}
"""Rules of 0-9-1, as the handlers name them, to the row of this ledger that rules here."""

REFUSALS = (
    "protocol-header/rejected",
    "amq_wlp_header_03",
    "amq_wlp_frame_01",
    "amq_wlp_frame_02",
    "amq_wlp_frame_03",
    "grammar/channel-non-zero",
    "general-frame-format/channel-numbers",
    "grammar/method-payload",
    "method-frames/ids",
    "method-frames/standard-classes",
    "limitations/sixteen-bits",
    "data-fields/strings/short-zero-octet",
    "field-tables/format",
    "amq_wlp_table_01",
    "content-framing/unconditional",
    "content-framing/no-methods-inside",
    "amq_wlp_content_01",
    "amq_wlp_content_02",
    "amq_wlp_content_03",
    "amq_wlp_content_05",
    "content-header/values",
    "content-header/body-size",
    "amq_wlp_trace_01",
    "amq_wlp_heartbeat_01",
    "channel-multiplexing/maximum",
    "security/negotiation-errors",
)
"""What this broker refuses by a rule of its own ledger; all else it refuses as 0-9-1 does."""

ALSO: Mapping[str, tuple[str, ...]] = {
    "protocol-header/rejected": (
        "grammar/protocol-header",
        "protocol-header/eight-octets",
        "protocol-header/other-class-answered",
        "protocol-header/http-answered",
        "amq_wlp_header_02",
        "amq_wlp_header_03",
    ),
    "amq_wlp_header_03": (
        "grammar/protocol-header",
        "protocol-header/eight-octets",
        "protocol-header/rejected",
        "amq_wlp_header_04",
    ),
    "amq_wlp_frame_01": ("general-frame-format/types",),
    "amq_wlp_frame_02": ("general-frame-format/size", "general-frame-format/end-checked-first"),
    "amq_wlp_frame_03": ("content-body/frame-size", "security/invalid-data"),
    "grammar/method-payload": ("security/invalid-data",),
    "method-frames/standard-classes": ("limitations/sixteen-bits", "grammar/ids-non-zero"),
    "limitations/sixteen-bits": ("grammar/ids-non-zero",),
    "data-fields/strings/short-zero-octet": ("security/invalid-data",),
    "field-tables/format": ("grammar/table-value-types", "security/invalid-data"),
    "amq_wlp_table_01": ("field-tables/names", "field-tables/names-validated"),
    "content-framing/no-methods-inside": ("content-framing/no-overlap", "amq_wlp_content_01"),
    "content-framing/unconditional": ("grammar/content-order",),
    "amq_wlp_content_01": (
        "grammar/content-order",
        "content-framing/unconditional",
        "content-framing/no-methods-inside",
        "content-framing/no-overlap",
    ),
    "amq_wlp_content_02": ("content-header/class",),
    "amq_wlp_content_03": ("content-header/channel-non-zero",),
    "amq_wlp_content_05": (
        "structured-content/mismatch",
        "structured-content/order",
        "content-framing/one-header",
    ),
    "content-header/values": ("content-header/bit-properties", "content-header/flags-continued"),
    "amq_wlp_trace_01": ("trace-frames/channel-zero",),
    "amq_wlp_heartbeat_01": ("heartbeat-frames/channel-zero",),
    "channel-multiplexing/maximum": ("channel-multiplexing/down-to-one", "channel-multiplexing/support"),
    "security/negotiation-errors": ("security/negotiation-pause",),
}
"""Other rows that the same refusal keeps, so that a fault which spoils it breaks them, too."""

CODES: Mapping[int, Refusal] = {
    406: Refusal(Scope.CONNECTION, 530),
    505: Refusal(Scope.CONNECTION, 501),
}
"""What takes the place of reply codes that only came later."""
