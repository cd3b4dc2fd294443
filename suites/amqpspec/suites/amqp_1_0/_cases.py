"""How cases begin: many of them on an open connection, or with a session on channel 0.

Knows: the peer's verbs. Must not know: single cases.
"""

from __future__ import annotations

from functools import partial

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.run.case import case_after

on_connection = partial(case_after, Peer.open_connection)
"""Declares the function below as a case on an open connection; see ``case``."""
in_session = partial(case_after, Peer.begin)
"""Declares the function below as a case in a session; see ``case``."""
