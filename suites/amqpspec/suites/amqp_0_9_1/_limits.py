"""Steps that cases about tune share: a server's own limit of channels, and whether it takes part in heartbeats.

Knows: what a server offers in tune. Must not know: single cases.
"""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import observed_either_way
from amqpspec.run.verdict import Verdict

NO_HEARTBEATS = "heartbeats are neither requested in tune nor sent"
_OWN_LIMIT = ("channel-error", "resource-error", "not-allowed")
"""What a server says that has no room for a channel."""


def limit_of_its_own(peer: Peer, highest: int, *, offered: int) -> Verdict | None:
    """Open the highest channel; the verdict on a server that offers no limit and refuses the channel, else None.

    Raises Unmet for any other answer than open-ok.
    """
    peer.send("channel.open", channel=highest)
    answer = peer.arrival("channel.open-ok", channel=highest)
    # Zero in tune sets no limit that was agreed on; the text does not promise room for 65535 channels.
    codes = {peer.dialect.constants_by_name[name].value for name in _OWN_LIMIT}
    if not offered and answer.refusal is not None and answer.refusal.code in codes:
        return observed_either_way(peer, "no limit is offered, and the highest channel is refused", answer)
    peer.expected(answer, "channel.open-ok")
    return None


def opened_with_heartbeats(peer: Peer, interval_s: int) -> bool:
    """Open the connection with heartbeats at an interval; returns whether the server requests some as well."""
    peer.greet()
    peer.start_ok()
    requested_s: int = peer.tune(heartbeat=interval_s)["heartbeat"]
    peer.call("connection.open", channel=0, virtual_host=peer.login.vhost)
    # PDF §4.2.7 has a rule for peers that do not support heartbeats: that is allowed. A server that requests some
    # in tune supports them.
    return requested_s > 0
