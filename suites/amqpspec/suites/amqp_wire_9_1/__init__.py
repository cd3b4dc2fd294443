"""The suite of the AMQP 9.1 wire draft: one module per chapter, cases in the order of the draft.

The cases under a conformance test's own name (``amq_wlp_…``) are those that the draft names; the other cases of its
rows are next to them. Where the draft is answered in frames of seven octets of header, as brokers in use do, cases
that need the cycle octet do not apply. ``borrow`` declares a case of the 0-9-1 suite, whose steps are the same here, by
rows of the draft. Modules with an underscore hold steps that cases share.
"""

DIALECT = "amqp-wire-9-1"
ORDER = (
    "protocol_header",
    "frames",
    "methods",
    "fields",
    "tables",
    "contents",
    "content_headers",
    "content_bodies",
    "structured_contents",
    "trace",
    "heartbeats",
    "channels",
    "errors",
    "security",
)
