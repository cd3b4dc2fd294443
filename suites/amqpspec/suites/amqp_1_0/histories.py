"""Long legal histories (amqp-1.0 §2.5, §2.6): walks that hypothesis chooses, each compared with a model, step by step.

A case walks the same histories each time. What the model checks on the way is the same in all of them; the cases differ
in the steps that they mix.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._histories_steps import Kind, Style

_BUDGET_S = 240.0
# Fixed, as a verdict has to be the same in every run; each kind has a seed of its own,
# so that no two walk alike.
_SEED = 20111007

_SESSIONS = Kind(
    verbs="send send send credit credit look settle-all window window attach attach begin begin end",
    seed=_SEED,
    style=Style(windows=True),
)
_LINKS = Kind(
    verbs="attach attach attach send send credit credit settle close suspend reattach begin end",
    seed=_SEED + 1,
    style=Style(closing=True),
)
_CREDIT = Kind(
    verbs="credit credit credit send send send look settle settle attach close",
    seed=_SEED + 2,
    style=Style(one_node=True),
)
_TRANSFERS = Kind(
    verbs="start start start finish finish abort send credit credit settle settle-all attach attach close",
    seed=_SEED + 3,
    style=Style(large=True, one_node=True),
)
_SETTLEMENT = Kind(
    verbs="settle settle settle send send credit credit settle-all attach close begin",
    seed=_SEED + 5,
    style=Style(mixed=True),
)
_REATTACH = Kind(
    verbs="suspend suspend reattach reattach reattach credit credit send settle attach",
    seed=_SEED + 4,
    style=Style(one_node=True),
)


def walked(peer: Peer, kind: Kind) -> Verdict:
    """See ``_histories_search``; it brings hypothesis along, which listing cases has no need of."""
    from amqpspec.suites.amqp_1_0._histories_search import walked

    return walked(peer, kind)


@case(
    "histories.sessions",
    covers=[
        "performatives/flow/next-incoming-id/set",
        "performatives/begin/remote-channel/answer",
        "sessions/flow/remote-incoming-window",
        "sessions/flow/incoming-window",
        "sessions/flow/outgoing-id-arithmetic",
        "sessions/flow/next-incoming-id",
        "sessions/flow/window-formula",
        "sessions/delivery-sequence",
        "sessions/begin/answer",
        "sessions/end/handshake",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def sessions(peer: Peer) -> Verdict:
    """Ids, windows and messages match the model while sessions begin and end and windows close and open."""
    return walked(peer, _SESSIONS)


@case(
    "histories.links",
    covers=[
        "performatives/attach/handle/free",
        "links/establishing/answer",
        "links/handles/until-detach",
        "links/detaching/announce",
        "links/closing/answer",
        "performatives/detach/handle-freed",
        "performatives/attach/initial-delivery-count/set",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def links(peer: Peer) -> Verdict:
    """Each link keeps the state of its attach while links on several sessions come, go and reuse handles."""
    return walked(peer, _LINKS)


@case(
    "histories.credit",
    covers=[
        "links/flow/credit-formula",
        "links/flow/delivery-limit",
        "links/flow/credit-decreases",
        "links/flow/no-credit",
        "links/flow/delivery-count",
        "links/stopping/credit-zero",
        "performatives/flow/delivery-count/sender",
        "performatives/flow/delivery-count/receiver",
        "performatives/flow/link-credit/sender",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def credit(peer: Peer) -> Verdict:
    """The target delivers as many messages as credit and nodes allow while credit is granted, used and revoked."""
    return walked(peer, _CREDIT)


@case(
    "histories.transfers",
    covers=[
        "transfers/large/not-within-link",
        "transfers/large/abort-discard",
        "transfers/large/interleaved-links",
        "transfers/fragments",
        "performatives/transfer/delivery-id/first",
        "performatives/transfer/delivery-tag/first",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def transfers(peer: Peer) -> Verdict:
    """Completed deliveries arrive whole while deliveries are fragmented, interleaved and aborted."""
    return walked(peer, _TRANSFERS)


@case(
    "histories.settlement",
    covers=[
        "transfers/delivery-tag/unique",
        "transfers/states/terminal",
        "links/settled-for-ever",
        "links/delivery-ids-per-session",
        "performatives/transfer/settled/mode-settled",
        "performatives/transfer/settled/mode-unsettled",
        "performatives/transfer/rcv-settle-mode/first",
        "performatives/disposition/directionality",
        "performatives/disposition/many-links",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def settlement(peer: Peer) -> Verdict:
    """Each message is where its outcome puts it while deliveries are settled, accepted, released or rejected."""
    return walked(peer, _SETTLEMENT)


@case(
    "histories.reattach",
    covers=[
        "links/flow/no-credit",
        "links/flow/initial-state",
        "links/detaching/announce",
        "performatives/detach/closed",
        "performatives/detach/handle-freed",
    ],
    slow=True,
    budget_s=_BUDGET_S,
)
def reattach(peer: Peer) -> Verdict:
    """Settled links that are detached and attached again start without credit or deliveries."""
    return walked(peer, _REATTACH)
