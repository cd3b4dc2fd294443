"""Cases for clients of AMQP 1.0: what they send to a correct server, and how they react to an incorrect one."""

DIALECT = "amqp-1-0-clients"
ORDER = [
    "opening",
    "frames",
    "sessions",
    "links",
    "deliveries",
    "hostile_login",
    "hostile_frames",
    "hostile_sessions",
    "hostile_deliveries",
    "hostile_ends",
    "servers",
]
EVERY = ("connect", "send", "send-settled", "receive", "reject", "idle", "large", "refused", "reconnect")
"""All scenarios."""
