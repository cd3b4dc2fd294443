"""Long legal histories of branches (amqp-0-10 class dtx): walks that hypothesis chooses, each compared with a model.

A case walks the same histories each time; the cases differ in the steps that they mix.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import joins

_BUDGET_S = 240.0
_SEED = 20080226
_SESSIONS = "publish publish take accept start start join end suspend resume look commit"
_OUTCOMES = "publish take take accept accept release start end prepare commit rollback recover leave look"


def walked(peer: Peer, verbs: str, seed: int) -> Verdict:
    """Walk; hypothesis is brought along here, for listing cases has no need of it."""
    from amqpspec.suites import walking
    from amqpspec.suites.amqp_0_10._branches_walk import Walk

    return walking.walked(peer, walking.Plan(verbs, seed, Walk))


@case(
    "dtx.histories.sessions",
    covers=[
        "dtx/transactionality/managed",
        "dtx/transactionality/outside",
        "dtx/end/suspend/resume",
        "dtx/start/result",
        "dtx/end/result",
        "dtx/commit/effect",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def sessions(peer: Peer) -> Verdict:
    """Sessions start, join, suspend, resume and end branches: every message is where the model expects it."""
    if not joins(peer):
        return does_not_apply(
            peer, "the target does not support join, as it may (dtx.start.join#unsupported)"
        )
    return walked(peer, _SESSIONS, _SEED)


@case(
    "dtx.histories.outcomes",
    covers=[
        "dtx/rollback/effect",
        "dtx/commit/effect",
        "dtx/prepare/obligation-2",
        "dtx/prepare/obligation-1",
        "dtx/recover/in-doubt",
        "dtx/rollback/result",
        "dtx/prepare/result",
        "dtx/commit/result",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def outcomes(peer: Peer) -> Verdict:
    """Branches are prepared, committed and rolled back, and sessions end: results and messages match the model."""
    return walked(peer, _OUTCOMES, _SEED + 1)
