"""Cases for clients of AMQP/Fast: what they send to a correct server, and how they react to an incorrect one."""

DIALECT = "amqp-fast-0-8-clients"
ORDER = [
    "opening",
    "resources",
    "messages",
    "restarting",
    "asked",
    "hostile_login",
    "hostile_frames",
    "hostile_commands",
    "hostile_messages",
    "hostile_ends",
]
EVERY = (
    "connect", "send", "receive", "transacted", "browse", "flow", "unget", "large", "restart", "idle", "refused",
    "reconnect",
)  # fmt: skip
"""All scenarios."""
