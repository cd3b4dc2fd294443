"""Cases for clients of the 9.1 wire draft: those of its family by rows of its own, and what only the draft has.

The draft is only about the wire; rows about methods follow the functional chapters of AMQP 0-8, whose classes it
has.
"""

from amqpspec.suites.clients_0_9_1 import EVERY as EVERY

DIALECT = "amqp-wire-9-1-clients"
ORDER = [
    "protocol_header",
    "login",
    "channels",
    "frames",
    "contents",
    "naming",
    "hostile_frames",
    "hostile_methods",
    "hostile_draft",
    "hostile_ends",
]
