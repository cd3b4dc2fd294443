"""The faults of the 9.1 wire draft's broker: by which rows of its own ledger it refuses, and which faults break what.

Knows: rows of both ledgers. Must not know: when a rule is broken, how a fault acts.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.reference.fault import word_table
from amqpspec.reference.faults import Faults
from amqpspec.reference.methods import amqp_0_9_1
from amqpspec.reference.methods.refusals import MethodRefusals
from amqpspec.spec.model import Refusal, Scope

_ROWS = """
    protocol-header/rejected
    amq_wlp_header_03 amq_wlp_frame_01 amq_wlp_frame_02 amq_wlp_frame_03
    grammar/channel-non-zero
    general-frame-format/channel-numbers
    grammar/method-payload
    method-frames/ids method-frames/standard-classes
    limitations/sixteen-bits
    data-fields/strings/short-zero-octet
    field-tables/format
    amq_wlp_table_01
    content-framing/unconditional content-framing/no-methods-inside
    amq_wlp_content_01 amq_wlp_content_02 amq_wlp_content_03 amq_wlp_content_05
    content-header/values content-header/body-size
    amq_wlp_trace_01 amq_wlp_heartbeat_01
    channel-multiplexing/maximum
    security/negotiation-errors
"""
"""What this broker refuses by a row of its own ledger; all else it refuses as 0-9-1 does."""

_SPOKEN_AS = word_table("""
wire/method/unknown-method: limitations/sixteen-bits
wire/method/truncated-arguments: grammar/method-payload
wire/method/trailing-octets: grammar/method-payload
constant/frame-error: method-frames/ids
wire/content/aborted-by-method: content-framing/no-methods-inside
wire/content/malformed-header: content-header/values
wire/content/body-exceeds-size: content-header/body-size
wire/content/unexpected-header: content-framing/unconditional
wire/content/unexpected-body: content-framing/unconditional
connection/start/server-support: amq_wlp_header_03
connection/grammar: security/negotiation-errors
connection/start-ok/mechanism/validity: security/negotiation-errors
connection/start-ok/locale: security/negotiation-errors
connection/secure: security/negotiation-errors
connection/tune-ok/channel-max/upper-limit: security/negotiation-errors
connection/tune-ok/frame-max/minimum-chosen: security/negotiation-errors
connection/tune-ok/frame-max/upper-limit: security/negotiation-errors
connection/tune/channel-max: channel-multiplexing/maximum
""")
"""Rules as the handlers name them to the row that rules here, where the ledger does not call them the same."""

_ALSO = word_table("""
protocol-header/rejected: grammar/protocol-header protocol-header/eight-octets
    protocol-header/other-class-answered protocol-header/http-answered amq_wlp_header_02 amq_wlp_header_03
amq_wlp_header_03: grammar/protocol-header protocol-header/eight-octets protocol-header/rejected
    amq_wlp_header_04
amq_wlp_frame_01: general-frame-format/types
amq_wlp_frame_02: general-frame-format/size general-frame-format/end-checked-first
amq_wlp_frame_03: content-body/frame-size security/invalid-data
grammar/method-payload: security/invalid-data
method-frames/standard-classes: limitations/sixteen-bits grammar/ids-non-zero
limitations/sixteen-bits: grammar/ids-non-zero
data-fields/strings/short-zero-octet: security/invalid-data
field-tables/format: grammar/table-value-types security/invalid-data
amq_wlp_table_01: field-tables/names field-tables/names-validated
content-framing/no-methods-inside: content-framing/no-overlap amq_wlp_content_01
content-framing/unconditional: grammar/content-order
amq_wlp_content_01: grammar/content-order content-framing/unconditional content-framing/no-methods-inside
    content-framing/no-overlap
amq_wlp_content_02: content-header/class
amq_wlp_content_03: content-header/channel-non-zero
amq_wlp_content_05: structured-content/mismatch structured-content/order content-framing/one-header
content-header/values: content-header/bit-properties content-header/flags-continued
amq_wlp_trace_01: trace-frames/channel-zero
amq_wlp_heartbeat_01: heartbeat-frames/channel-zero
channel-multiplexing/maximum: channel-multiplexing/down-to-one channel-multiplexing/support
security/negotiation-errors: security/negotiation-pause
""")

REFUSALS = MethodRefusals(
    ledger="amqp-wire-9-1",
    rows=tuple(_ROWS.split()),
    also=_ALSO,
    base=amqp_0_9_1.REFUSALS,
    spoken_as=_SPOKEN_AS,
    on_channel_zero=(
        *amqp_0_9_1.REFUSALS.on_channel_zero, "grammar/channel-non-zero", "channel-multiplexing/",
    ),
    earlier_codes={406: Refusal(Scope.CONNECTION, 530), 505: Refusal(Scope.CONNECTION, 501)},
)  # fmt: skip

_BREAKS = word_table("""
own-header-refused: amq_wlp_header_01 protocol-header/accepted standard-port/tcp
start-not-sent: amq_wlp_header_01 protocol-header/accepted standard-port/tcp
version-100-offered: amq_wlp_header_01 protocol-header/accepted
unknown-header-not-answered: amq_wlp_header_02 amq_wlp_header_03 amq_wlp_header_04 grammar/protocol-header
    protocol-header/eight-octets protocol-header/rejected protocol-header/other-class-answered
    protocol-header/http-answered
unspoken-header-answered: amq_wlp_header_03 amq_wlp_header_04 protocol-header/rejected
    protocol-header/other-class-answered protocol-header/http-answered
header-taken-after-seven-octets: grammar/protocol-header protocol-header/eight-octets
socket-kept-after-header: amq_wlp_header_03 amq_wlp_header_04 protocol-header/rejected
    protocol-header/other-class-answered protocol-header/http-answered
http-answered-in-http: amq_wlp_header_02 amq_wlp_header_03 protocol-header/rejected
cycle-must-be-zero: general-frame-format/header grammar/method-frame
cycle-left-out: general-frame-format/header grammar/method-frame
method-frame-of-another-type: grammar/method-frame general-frame-format/types
trace-type-unknown: general-frame-format/types grammar/trace-frame amq_wlp_trace_02
ids-in-reverse-order: grammar/method-payload method-frames/ids
replies-on-channel-zero: general-frame-format/channel-numbers grammar/channel-non-zero
channel-number-cut-to-an-octet: limitations/sixteen-bits general-frame-format/channel-numbers
size-counts-end-octet: general-frame-format/size grammar/method-frame
frame-end-wrong: general-frame-format/size grammar/content-frame-types
frame-decoded-before-its-end: general-frame-format/end-checked-first amq_wlp_frame_02
frame-size-checked-at-its-end: amq_wlp_frame_03 content-body/frame-size
frame-of-just-frame-max-refused: amq_wlp_frame_03 content-body/frame-size
dies-of-oversized-frames: amq_wlp_frame_03 security/negotiation-errors
agreed-frame-max-forgotten: amq_wlp_frame_03 content-body/frame-size
payload-larger-than-agreed: general-frame-format/size-sent content-body/frame-size
integers-have-a-sign: data-fields/integers/unsigned
octets-have-a-sign: data-fields/integers/unsigned
integers-low-octet-first: data-fields/integers/unsigned
odd-places-not-read: data-fields/integers/unaligned
declare-flags-read-backwards: data-fields/bits/packing
bits-from-the-high-end: data-fields/bits/packing
strings-of-ascii-only: data-fields/strings/short
routing-key-cut: limitations/short-string data-fields/strings/short
long-strings-end-at-zero: data-fields/strings/long
timestamps-of-32-bits: data-fields/timestamps/seconds
field-names-begin-with-letters-only: field-tables/names
server-properties-named-badly: field-tables/names
undefined-value-type-sent: grammar/table-value-types field-tables/format
table-integers-unsigned: field-tables/integers-signed field-tables/format
decimals-have-signed-places: field-tables/decimals field-tables/format
last-duplicate-counts: field-tables/duplicates
all-duplicates-count: field-tables/duplicates
one-content-per-connection: content-framing/interleaved-channels
method-elsewhere-ends-content: content-framing/interleaved-channels
empty-content-not-sent: content-framing/unconditional content-framing/bodies content-header/zero-body
empty-body-in-a-frame: content-header/zero-body content-framing/bodies
content-header-of-another-type: grammar/content-frame-types grammar/content-order content-framing/one-header
method-inside-content: content-framing/no-methods-inside grammar/content-order
second-header-taken: content-framing/one-header amq_wlp_content_05 structured-content/mismatch
split-bodies-refused: content-body/frames content-body/split content-framing/bodies
body-size-of-32-bits: content-header/body-size
body-truncated: content-body/split content-header/body-size
body-modified: content-body/split
property-flags-one-place-off: content-header/flags content-header/values
properties-dropped: content-header/values content-header/flags
continued-flags-not-read: content-header/flags-continued
octet-behind-the-properties: content-header/bit-properties content-header/values
content-header-of-another-class: content-header/class grammar/content-order
simple-contents-weigh-one: content-header/weight
contents-on-channel-zero: content-header/channel-non-zero general-frame-format/channel-numbers
weight-ignored: amq_wlp_content_04 amq_wlp_content_05 content-header/weight structured-content/mismatch
    structured-content/order structured-content/support
children-without-children: amq_wlp_content_04 content-header/weight structured-content/order
    structured-content/support
children-not-delivered: amq_wlp_content_04 content-header/weight structured-content/support
bodies-of-children-lost: amq_wlp_content_04 structured-content/support
children-behind-the-body: structured-content/order grammar/content-order
every-trace-refused: amq_wlp_trace_02 grammar/trace-frame
trace-with-payload-ends-socket: amq_wlp_trace_02 grammar/trace-frame
unagreed-heartbeat-refused: amq_wlp_heartbeat_02
unagreed-heartbeat-ends-socket: amq_wlp_heartbeat_02
heartbeats-not-sent: heartbeat-frames/negotiated grammar/heartbeat-frame
heartbeat-zero-ignored: heartbeat-frames/negotiated
heartbeats-with-a-payload: grammar/heartbeat-frame
heartbeats-on-channel-one: grammar/heartbeat-frame heartbeat-frames/channel-zero
lowest-channel-alone-publishes: channel-multiplexing/support
dies-of-channels-above-the-limit: channel-multiplexing/maximum channel-multiplexing/down-to-one
channel-max-is-one-less: channel-multiplexing/maximum channel-multiplexing/down-to-one
channel-max-never-lowered: channel-multiplexing/down-to-one channel-multiplexing/maximum
busy-channel-starves-others: channel-multiplexing/fairness channel-multiplexing/starvation
success-is-signalled: error-handling/only-failure
channel-exception-ends-connection: error-handling/channel-exception
channel-exception-closes-every-channel: error-handling/channel-exception
socket-kept-after-close-ok: error-handling/connection-exception
exclusive-queue-outlives-connection: error-handling/connection-exception
close-codes-of-four-digits: reply-codes/digits
close-codes-tell-of-success: reply-codes/digits
dies-of-invalid-data: security/invalid-data
hostile-client-dropped-at-once: security/negotiation-pause
password-not-checked: security/negotiation-errors
challenge-skipped: security/negotiation-errors
""")
"""The faults of the family that this ledger can tell, and by which rows."""

DIALECT_FAULTS = Faults(
    tuple(replace(amqp_0_9_1.FAMILY[name], breaks=rows) for name, rows in _BREAKS.items()), REFUSALS
)
