"""Faults of the broker of the 9.1 wire draft, and of other dialects' faults those that its requirements can tell.

Knows: names, what they break, one sentence each. Must not know: where they are acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults import connection, framing, queue
from amqpspec.reference.faults.fault import Fault

_KNOWN = {fault.name: fault for module in (framing, connection, queue) for fault in module.FAULTS}


def _here(name: str, *breaks: str) -> Fault:
    """A fault of 0-9-1 with what it breaks here."""
    return Fault(name, breaks, _KNOWN[name].says)


_HEADER = (
    Fault(
        "own-header-refused",
        ("amq_wlp_header_01", "protocol-header/accepted", "standard-port/tcp"),
        "the server's own header is answered like an unknown one",
    ),
    Fault(
        "start-not-sent",
        ("amq_wlp_header_01", "protocol-header/accepted", "standard-port/tcp"),
        "a header is accepted in silence",
    ),
    _here("version-100-offered", "amq_wlp_header_01", "protocol-header/accepted"),
    _here(
        "unknown-header-not-answered",
        "amq_wlp_header_02",
        "amq_wlp_header_03",
        "amq_wlp_header_04",
        "grammar/protocol-header",
        "protocol-header/eight-octets",
        "protocol-header/rejected",
        "protocol-header/other-class-answered",
        "protocol-header/http-answered",
    ),
    _here(
        "unspoken-header-answered",
        "amq_wlp_header_03",
        "amq_wlp_header_04",
        "protocol-header/rejected",
        "protocol-header/other-class-answered",
        "protocol-header/http-answered",
    ),
    Fault(
        "header-taken-after-seven-octets",
        ("grammar/protocol-header", "protocol-header/eight-octets"),
        "the last octet of a protocol header is not waited for",
    ),
    Fault(
        "socket-kept-after-header",
        (
            "amq_wlp_header_03",
            "amq_wlp_header_04",
            "protocol-header/rejected",
            "protocol-header/other-class-answered",
            "protocol-header/http-answered",
        ),
        "the socket stays open after a header was rejected",
    ),
    Fault(
        "http-answered-in-http",
        ("amq_wlp_header_02", "amq_wlp_header_03", "protocol-header/rejected"),
        "whatever is not understood gets an answer of HTTP",
    ),
)

_FRAMES = (
    Fault(
        "cycle-must-be-zero",
        ("general-frame-format/header", "grammar/method-frame"),
        "a frame with another cycle than 0 ends the socket",
    ),
    Fault(
        "cycle-left-out",
        ("general-frame-format/header", "grammar/method-frame"),
        "replies of class queue come in frames without a cycle",
    ),
    Fault(
        "method-frame-of-another-type",
        ("grammar/method-frame", "general-frame-format/types"),
        "replies of class queue come in body frames",
    ),
    Fault(
        "trace-type-unknown",
        ("general-frame-format/types", "grammar/trace-frame", "amq_wlp_trace_02"),
        "a trace frame ends the socket as one of an undefined type",
    ),
    Fault(
        "ids-in-reverse-order",
        ("grammar/method-payload", "method-frames/ids"),
        "replies of class queue begin with the method-id",
    ),
    Fault(
        "replies-on-channel-zero",
        ("general-frame-format/channel-numbers", "grammar/channel-non-zero"),
        "replies of class queue come on channel 0",
    ),
    Fault(
        "channel-number-cut-to-an-octet",
        ("limitations/sixteen-bits", "general-frame-format/channel-numbers"),
        "what goes to a channel above 255 goes to that of its low octet",
    ),
    Fault(
        "size-counts-end-octet",
        ("general-frame-format/size", "grammar/method-frame"),
        "the size of replies of class queue counts their end octet",
    ),
    _here("frame-end-wrong", "general-frame-format/size", "grammar/content-frame-types"),
    _here("frame-decoded-before-its-end", "general-frame-format/end-checked-first", "amq_wlp_frame_02"),
    _here("frame-size-checked-at-its-end", "amq_wlp_frame_03", "content-body/frame-size"),
    _here("frame-of-just-frame-max-refused", "amq_wlp_frame_03", "content-body/frame-size"),
    _here("agreed-frame-max-forgotten", "amq_wlp_frame_03", "content-body/frame-size"),
    Fault(
        "payload-larger-than-agreed",
        ("general-frame-format/size-sent", "content-body/frame-size"),
        "a body frame has a payload larger than the size agreed on",
    ),
)

_FIELDS = (
    Fault(
        "integers-have-a-sign",
        ("data-fields/integers/unsigned",),
        "the integers of the test class are read with a sign",
    ),
    Fault(
        "octets-have-a-sign",
        ("data-fields/integers/unsigned",),
        "the priority of a message loses its highest bit",
    ),
    Fault(
        "integers-low-octet-first",
        ("data-fields/integers/unsigned",),
        "numbers that the server reads in tests and writes in replies begin with their low octet",
    ),
    Fault(
        "odd-places-not-read",
        ("data-fields/integers/unaligned",),
        "integers that begin at an odd place of a queue or test method are refused",
    ),
    _here("declare-flags-read-backwards", "data-fields/bits/packing"),
    _here("bits-from-the-high-end", "data-fields/bits/packing"),
    Fault(
        "strings-of-ascii-only",
        ("data-fields/strings/short",),
        "what is not ASCII is lost from short strings",
    ),
    _here("routing-key-cut", "limitations/short-string", "data-fields/strings/short"),
    Fault("long-strings-end-at-zero", ("data-fields/strings/long",), "a long string ends at its first zero"),
    Fault("timestamps-of-32-bits", ("data-fields/timestamps/seconds",), "a timestamp keeps its low 32 bits"),
    _here("field-names-begin-with-letters-only", "field-tables/names"),
    Fault(
        "server-properties-named-badly",
        ("field-tables/names",),
        "a server property has a name that begins with a digit",
    ),
    Fault(
        "undefined-value-type-sent",
        ("grammar/table-value-types", "field-tables/format"),
        "a server property is of type t, which is not defined",
    ),
    Fault(
        "table-integers-unsigned",
        ("field-tables/integers-signed", "field-tables/format"),
        "integers of tables lose their sign",
    ),
    Fault(
        "decimals-have-signed-places",
        ("field-tables/decimals", "field-tables/format"),
        "the places of a decimal lose their highest bit",
    ),
    Fault("last-duplicate-counts", ("field-tables/duplicates",), "of fields with one name the last counts"),
    Fault("all-duplicates-count", ("field-tables/duplicates",), "of fields with one name all count"),
)

_CONTENTS = (
    _here("one-content-per-connection", "content-framing/interleaved-channels"),
    Fault(
        "method-elsewhere-ends-content",
        ("content-framing/interleaved-channels",),
        "a method on one channel ends the contents on their way in on the others",
    ),
    Fault(
        "empty-content-not-sent",
        ("content-framing/unconditional", "content-framing/bodies", "content-header/zero-body"),
        "a message without a body is delivered without its header",
    ),
    _here("empty-body-in-a-frame", "content-header/zero-body", "content-framing/bodies"),
    Fault(
        "content-header-of-another-type",
        ("grammar/content-frame-types", "grammar/content-order", "content-framing/one-header"),
        "the header of a delivered content comes in a body frame",
    ),
    _here("method-inside-content", "content-framing/no-methods-inside", "grammar/content-order"),
    Fault(
        "second-header-taken",
        ("content-framing/one-header", "amq_wlp_content_05", "structured-content/mismatch"),
        "a second header is thrown away",
    ),
    Fault(
        "split-bodies-refused",
        ("content-body/frames", "content-body/split", "content-framing/bodies"),
        "a body has to come in one frame",
    ),
    Fault(
        "body-size-of-32-bits",
        ("content-header/body-size",),
        "the low 32 bits of a body size count",
    ),
    _here("body-truncated", "content-body/split", "content-header/body-size"),
    _here("body-modified", "content-body/split"),
    _here("property-flags-one-place-off", "content-header/flags", "content-header/values"),
    _here("properties-dropped", "content-header/values", "content-header/flags"),
    _here("continued-flags-not-read", "content-header/flags-continued"),
    Fault(
        "octet-behind-the-properties",
        ("content-header/bit-properties", "content-header/values"),
        "the header of a delivered content goes on behind its properties",
    ),
    Fault(
        "content-header-of-another-class",
        ("content-header/class", "grammar/content-order"),
        "the header of a delivered content names the class queue",
    ),
    Fault("simple-contents-weigh-one", ("content-header/weight",), "a delivered content has a weight of one"),
    Fault(
        "contents-on-channel-zero",
        ("content-header/channel-non-zero", "general-frame-format/channel-numbers"),
        "the frames of a delivered content come on channel 0",
    ),
)

_STRUCTURED = (
    Fault(
        "weight-ignored",
        (
            "amq_wlp_content_04",
            "amq_wlp_content_05",
            "content-header/weight",
            "structured-content/mismatch",
            "structured-content/order",
            "structured-content/support",
        ),
        "every content is taken for a simple one",
    ),
    Fault(
        "children-without-children",
        (
            "amq_wlp_content_04",
            "content-header/weight",
            "structured-content/order",
            "structured-content/support",
        ),
        "a content within a content is taken for a simple one",
    ),
    Fault(
        "children-not-delivered",
        ("amq_wlp_content_04", "content-header/weight", "structured-content/support"),
        "contents within a content are lost",
    ),
    Fault(
        "bodies-of-children-lost",
        ("amq_wlp_content_04", "structured-content/support"),
        "contents within a content are delivered without their bodies",
    ),
    Fault(
        "children-behind-the-body",
        ("structured-content/order", "grammar/content-order"),
        "contents within a content are delivered behind its body",
    ),
)

_TRACE_AND_HEARTBEATS = (
    Fault(
        "every-trace-refused",
        ("amq_wlp_trace_02", "grammar/trace-frame"),
        "trace frames on channel 0 are refused",
    ),
    Fault(
        "trace-with-payload-ends-socket",
        ("amq_wlp_trace_02", "grammar/trace-frame"),
        "a trace frame with something in it ends the socket",
    ),
    _here("unagreed-heartbeat-refused", "amq_wlp_heartbeat_02"),
    Fault(
        "unagreed-heartbeat-ends-socket",
        ("amq_wlp_heartbeat_02",),
        "a heartbeat where none were agreed on ends the socket",
    ),
    _here("heartbeats-not-sent", "heartbeat-frames/negotiated", "grammar/heartbeat-frame"),
    _here("heartbeat-zero-ignored", "heartbeat-frames/negotiated"),
    Fault("heartbeats-with-a-payload", ("grammar/heartbeat-frame",), "heartbeats have something in them"),
    Fault(
        "heartbeats-on-channel-one",
        ("grammar/heartbeat-frame", "heartbeat-frames/channel-zero"),
        "heartbeats are sent on channel 1",
    ),
)

_CHANNELS_AND_ERRORS = (
    Fault(
        "lowest-channel-alone-publishes",
        ("channel-multiplexing/support",),
        "contents are thrown away unless they come on the lowest channel that is open",
    ),
    _here("channel-max-is-one-less", "channel-multiplexing/maximum", "channel-multiplexing/down-to-one"),
    Fault(
        "channel-max-never-lowered",
        ("channel-multiplexing/down-to-one", "channel-multiplexing/maximum"),
        "more channels than agreed on can be opened",
    ),
    Fault(
        "busy-channel-starves-others",
        ("channel-multiplexing/fairness", "channel-multiplexing/starvation"),
        "methods wait until another channel has delivered all that it has",
    ),
    Fault(
        "success-is-signalled",
        ("error-handling/only-failure",),
        "every publish is answered by an alert with 200",
    ),
    _here("channel-exception-ends-connection", "error-handling/channel-exception"),
    Fault(
        "channel-exception-closes-every-channel",
        ("error-handling/channel-exception",),
        "what should close a channel closes all of them",
    ),
    _here("socket-kept-after-close-ok", "error-handling/connection-exception"),
    _here("exclusive-queue-outlives-connection", "error-handling/connection-exception"),
    Fault("close-codes-of-four-digits", ("reply-codes/digits",), "closes carry a code of four digits"),
    Fault("close-codes-tell-of-success", ("reply-codes/digits",), "closes carry the code 200"),
    Fault(
        "hostile-client-dropped-at-once",
        ("security/negotiation-pause",),
        "a handshake that went wrong ends without a pause",
    ),
    _here("password-not-checked", "security/negotiation-errors"),
)

FAULTS = (
    *_HEADER,
    *_FRAMES,
    *_FIELDS,
    *_CONTENTS,
    *_STRUCTURED,
    *_TRACE_AND_HEARTBEATS,
    *_CHANNELS_AND_ERRORS,
)
