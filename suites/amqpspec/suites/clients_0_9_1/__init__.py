"""Cases for clients of AMQP 0-9-1: what they send to a correct server, and how they react to an incorrect one.

Where a client and a server are watched that no one drives, the server's conduct is judged, too (``servers_…``).
Modules with an underscore hold what suites for clients of the family's other dialects share: hostile servers by the
tables of any dialect, and how answers to them are read.
"""

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
    "servers_frames",
    "servers_work",
]
EVERY = (
    "connect", "publish", "publish-transactional", "consume", "get", "idle", "large", "return", "refused", "reconnect",
)  # fmt: skip
"""All scenarios."""
