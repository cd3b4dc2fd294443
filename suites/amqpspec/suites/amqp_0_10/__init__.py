"""The cases of AMQP 0-10, one module for each chapter or class.

Knows: the order of its modules. Must not know: targets, reports.
"""

DIALECT = "amqp-0-10"
ORDER = (
    "transport",
    "transport_frames",
    "encoding",
    "encoding_values",
    "encoding_sets",
    "types",
    "connection",
    "connection_tune",
    "session",
    "session_points",
    "session_sets",
    "session_states",
    "session_resume",
    "session_gap",
    "execution",
    "message",
    "message_properties",
    "message_outcomes",
    "message_subscribe",
    "message_flow",
    "message_fragments",
    "tx",
    "dtx",
    "dtx_outcomes",
    "dtx_states",
    "dtx_histories",
    "exchange",
    "exchange_declare",
    "exchange_bind",
    "queue",
    "queue_delete",
    "file",
    "file_publish",
    "file_acks",
    "stream",
    "histories",
)
