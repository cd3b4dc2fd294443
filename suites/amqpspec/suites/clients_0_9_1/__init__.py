"""Cases for clients of AMQP 0-9-1: what they say to a correct server, and what they do about one that is not."""

DIALECT = "amqp-0-9-1-clients"
ORDER = [
    "login",
    "channels",
    "frames",
    "contents",
    "naming",
    "hostile_frames",
    "hostile_methods",
    "hostile_ends",
]
EVERY = (
    "connect", "publish", "publish-transactional", "consume", "get", "idle", "large", "return", "refused", "reconnect",
)  # fmt: skip
"""All scenarios."""
