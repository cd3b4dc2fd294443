"""What the walks of AMQP 1.0 need to know of a target before they begin.

Knows: handle-max, second mode. Must not know: what the steps are.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.run.verdict import Verdict
from amqpspec.suites import walking
from amqpspec.suites.amqp_1_0._histories_model import SECOND_MODE
from amqpspec.suites.amqp_1_0._histories_steps import OPENING, Kind, Powers
from amqpspec.suites.amqp_1_0._histories_walk import Walk, Watched
from amqpspec.wire.transport import StreamEnded

_LEAST_HANDLE_MAX = 3


def powers_of(peer: Peer) -> Powers:
    """What a target offers, found out on a separate connection."""
    other = peer.another()
    session = other.begin()
    if session.remote_handle_max < _LEAST_HANDLE_MAX:
        raise OutOfReach(f"handle-max is {session.remote_handle_max}, the case needs {_LEAST_HANDLE_MAX}")
    channels, handles = other.channel_max, session.remote_handle_max
    second = False
    try:
        link = other.try_attach("receiver", other.node("powers"), rcv_settle_mode="second")
        second = (
            link.is_attached and link.attached is not None and link.attached["rcv_settle_mode"] == SECOND_MODE
        )
        other.close()
    except (Unmet, StreamEnded, OutOfReach):
        second = False
    other.hang_up()
    return Powers(channels, handles, second)


def walked(peer: Peer, kind: Kind) -> Verdict:
    """Walk long legal histories of a kind, and compare each with the model."""
    powers = powers_of(peer)
    plan = walking.Plan(
        kind.verbs,
        kind.seed,
        lambda context, lines: Walk(Watched(context, lines), powers, kind.style),
        OPENING,
    )
    return walking.walked(peer, plan)
