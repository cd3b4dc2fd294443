"""Long legal histories of sessions: walks that hypothesis chooses, each compared with a model, step by step.

Sessions send, lose their connections, are attached again, send again what was in flight, and report what is
completed. A case walks the same histories each time; see ``amqpspec.suites.walking``. Each covers one row only,
whatever else it checks: every fault of a row meets its cases, and a walk that fails is shrunk at length.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Context
from amqpspec.peer.line import Line
from amqpspec.run.case import case
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._histories_walk import STARTS, Walk

_BUDGET_S = 240.0
# Fixed, as a verdict has to be the same in every run; each case has a seed of its own.
_SEED = 20080227


def _walked(peer: Peer, verbs: str, seed: int, start: int) -> Verdict:
    """Hypothesis is imported here: listing cases has no need of it."""
    from amqpspec.suites.walking import Plan, walked

    def begin(context: Context, lines: list[Line]) -> Walk:
        return Walk(context, lines, start)

    return walked(peer, Plan(verbs, seed, begin))


@case(
    "histories.replay",
    covers=["session-layer/replay/known-commands"],
    needs=["session-resume"],
    slow=True,
    budget_s=_BUDGET_S,
)
def replay(peer: Peer) -> Verdict:
    """Sessions repeatedly lose their connections: every message arrives once, and completed commands are reported."""
    return _walked(peer, "send send look know lose lose lose drain leave", _SEED, STARTS[0])


@case(
    "histories.wrapping",
    covers=["session/completed/commands/exclude-known-complete"],
    needs=["session-resume"],
    slow=True,
    budget_s=_BUDGET_S,
)
def wrapping(peer: Peer) -> Verdict:
    """Sessions repeatedly lose their connections while ids wrap at the end of 32 bits."""
    return _walked(peer, "send know know look lose leave", _SEED + 1, STARTS[1])


@case(
    "histories.commands-of-the-target",
    covers=["session/request-timeout/preserved"],
    needs=["session-resume"],
    slow=True,
    budget_s=_BUDGET_S,
)
def commands_of_the_target(peer: Peer) -> Verdict:
    """Results that were not completed are repeated on another connection, with their ids and in order."""
    return _walked(peer, "ask ask complete lose leave send", _SEED + 2, STARTS[0])


@case(
    "histories.gaps",
    covers=["session/gap/gap-confirmation-and-completion"],
    needs=["session-resume", "gap"],
    slow=True,
    budget_s=_BUDGET_S,
)
def gaps(peer: Peer) -> Verdict:
    """Skipped commands count as completed, and later commands are executed."""
    return _walked(peer, "gap gap send know look lose", _SEED + 3, STARTS[1])
