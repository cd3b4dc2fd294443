"""How cases begin: most of them with a session attached on channel 0, and its command-point.

Knows: the peer's verbs. Must not know: single cases.
"""

from __future__ import annotations

from functools import partial

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case_after

in_session = partial(case_after, Peer.open_session)
"""Declares the function below as a case in a session; see ``case``."""
