"""Cases for clients of AMQP 0-10: what they send to a correct server, and how they react to an incorrect one."""

DIALECT = "amqp-0-10-clients"
ORDER = [
    "opening",
    "frames",
    "instructions",
    "sessions",
    "messages",
    "asked",
    "hostile_login",
    "hostile_frames",
    "hostile_instructions",
    "hostile_sessions",
    "hostile_messages",
    "hostile_ends",
    "servers",
]
EVERY = (
    "connect", "publish", "publish-transactional", "consume", "get", "idle", "large", "return", "refused", "reconnect",
)  # fmt: skip
"""All scenarios."""
