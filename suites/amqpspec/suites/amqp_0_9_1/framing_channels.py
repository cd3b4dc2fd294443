"""The wire level: several channels on one socket (PDF §4.3)."""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._fairness import answered_in_between, delivered_in_between


@case("framing.channels.fairness", covers=["wire/channels/fairness"], heavy=True)
def deliveries_are_balanced(peer: Peer) -> Verdict:
    """The server delivers the few messages for one channel before the last of very many for another."""
    return delivered_in_between(peer)


@case("framing.channels.starvation", covers=["wire/channels/starvation"], heavy=True)
def busy_channel_starves_nobody(peer: Peer) -> Verdict:
    """The server answers on one channel before it has delivered the last of very many messages for another."""
    return answered_in_between(peer)
