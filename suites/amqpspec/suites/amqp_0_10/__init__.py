"""The cases of AMQP 0-10, one module for each chapter or class.

Knows: the order of its modules. Must not know: targets, reports.
"""

DIALECT = "amqp-0-10"
ORDER = (
    "transport",
    "transport_frames",
    "encoding",
    "encoding_values",
    "types",
    "connection",
    "connection_tune",
    "session",
    "execution",
    "exchange",
    "exchange_declare",
    "exchange_bind",
    "queue",
    "queue_delete",
)
