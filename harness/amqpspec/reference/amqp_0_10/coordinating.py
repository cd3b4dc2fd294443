"""Outcomes of branches: prepare, commit, rollback, recover; timeouts.

Knows: the order of steps in XA. Must not know: which sessions work on a branch, only whether one does.

This broker makes no heuristic decisions, so forget never applies.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.reference.amqp_0_10.branches import (
    OK,
    READ_ONLY,
    ROLLED_BACK,
    TIMED_OUT,
    Branch,
    branches_of,
    xid_of,
)
from amqpspec.reference.amqp_0_10.dtx import result_of
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.values import Packed


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rows that a command violates if the branch does not exist, and if a session works on it."""

    unknown: str
    associated: str = ""
    suspended: str = ""


_RULES = {
    "dtx.prepare": _Rules(
        "dtx/prepare/xid/unknown-xid", "dtx/prepare/xid/not-disassociated", "dtx/prepare/illegal-state"
    ),
    "dtx.commit": _Rules(
        "dtx/commit/xid/unknown-xid", "dtx/commit/xid/not-disassociated", "dtx/commit/illegal-state"
    ),
    "dtx.rollback": _Rules(
        "dtx/rollback/xid/unknown-xid", "dtx/rollback/xid/not-disassociated", "dtx/rollback/illegal-state"
    ),
    "dtx.forget": _Rules(
        "dtx/forget/xid/unknown-xid", "dtx/forget/xid/not-disassociated", "dtx/forget/xid/not-disassociated"
    ),
    "dtx.set-timeout": _Rules("dtx/set-timeout/xid/unknown-xid"),
    "dtx.get-timeout": _Rules("dtx/get-timeout/xid/unknown-xid"),
}


def _known(session: Session, order: Order) -> Branch | None:
    """The branch that a command names; a missing branch violates a rule of that command."""
    branch = branches_of(session.vhost).find(xid_of(order["xid"]))
    if branch is None:
        session.refuse(_RULES[order.name].unknown, "no such branch", "xid")
    return branch


def _free(session: Session, order: Order) -> Branch | None:
    """The branch that a command names, if no session works on it."""
    branch = _known(session, order)
    if branch is None:
        return None
    if branch.active:
        session.refuse(_RULES[order.name].associated, "a session works on the branch", "xid")
    elif branch.suspended:
        session.refuse(_RULES[order.name].suspended, "the branch is suspended", "xid")
    return branch


def _roll_back(session: Session, branch: Branch) -> None:
    if session.faulty("branches-commit-always"):
        branch.work.commit()
    elif session.faulty("branch-rollback-drops-all"):
        for held in branch.work.accepted:
            held.settle()
    else:
        branch.work.give_back()
    branches_of(session.vhost).forget(branch)


@executes("dtx.prepare")
def prepare(session: Session, order: Order) -> Packed | None:
    """Promise that the branch can be committed; a branch without work is then complete."""
    branch = _free(session, order)
    if branch is None:
        return None
    if branch.prepared:
        session.refuse("dtx/prepare/illegal-state", "the branch is prepared already")
    if branch.doomed != OK and not session.faulty("doomed-branches-are-prepared"):
        _roll_back(session, branch)
        return result_of(branch.doomed)
    if session.faulty("prepare-tells-heuristics"):
        return result_of(ROLLED_BACK + 2)
    if branch.work.is_empty:
        branches_of(session.vhost).forget(branch)
        return result_of(READ_ONLY)
    branch.prepared = not session.faulty("prepare-promises-nothing")
    branch.patient = not session.faulty("prepared-branches-take-too-long")
    if session.faulty("prepare-forgets-the-branch"):
        branches_of(session.vhost).forget(branch)
    elif session.faulty("prepare-commits"):
        branch.work.commit()
    return result_of(OK)


@executes("dtx.commit")
def commit(session: Session, order: Order) -> Packed | None:
    """Everything takes effect, and the branch is complete."""
    branch = _free(session, order)
    if branch is None:
        return None
    if branch.prepared and order["one_phase"]:
        session.refuse("dtx/commit/one-phase/two-phase", "the branch is prepared", "one_phase")
    elif not branch.prepared and not order["one_phase"]:
        session.refuse("dtx/commit/one-phase/one-phase", "the branch is not prepared", "one_phase")
    if branch.doomed != OK and not session.faulty("doomed-branches-commit"):
        _roll_back(session, branch)
        return result_of(branch.doomed)
    if session.faulty("branch-commit-publishes-only"):
        for held in branch.work.accepted:
            held.give_back(redelivered=True)
        branch.work.accepted.clear()
    elif session.faulty("branch-commit-drops-only"):
        branch.work.publishes.clear()
    branch.work.commit()
    if not session.faulty("committed-branches-stay-known"):
        branches_of(session.vhost).forget(branch)
    branch.prepared = False
    return result_of(READ_ONLY if session.faulty("commit-tells-read-only") else OK)


@executes("dtx.rollback")
def rollback(session: Session, order: Order) -> Packed | None:
    """Discard everything and return what was consumed; the branch is complete."""
    branch = _free(session, order)
    if branch is None:
        return None
    _roll_back(session, branch)
    if session.faulty("rollback-tells-read-only"):
        return result_of(READ_ONLY)
    return result_of(TIMED_OUT if branch.doomed == TIMED_OUT else OK)


@executes("dtx.forget")
def forget(session: Session, order: Order) -> None:
    """There are no heuristic decisions."""
    branch = _free(session, order)
    if branch is not None and not (branch.active or branch.suspended):
        session.refuse("dtx/forget/illegal-state", "nothing was decided by heuristics")


@executes("dtx.recover")
def recover(session: Session, order: Order) -> Packed:
    """The branches that are prepared."""
    known = branches_of(session.vhost)
    found = known.every() if session.faulty("recover-tells-all-branches") else known.prepared()
    if session.faulty("recover-tells-nothing"):
        found = []
    fields = [
        {"format": format, "global_id": global_id, "branch_id": branch_id}
        for format, global_id, branch_id in (branch.xid for branch in found)
    ]
    if session.faulty("recover-mixes-up-the-parts-of-xids"):
        fields = [{**one, "branch_id": one["global_id"]} for one in fields]
    return Packed("dtx.recover-result", {"in_doubt": fields})


# --- timeouts


@executes("dtx.set-timeout")
def set_timeout(session: Session, order: Order) -> None:
    """Set the timeout of a branch."""
    branch = _known(session, order)
    if branch is not None and not session.faulty("timeouts-not-set"):
        reset = order["timeout"] or not session.faulty("zero-is-a-timeout")
        branch.set_timeout(order["timeout"] if reset else 1)
        if session.faulty("branches-never-take-too-long"):
            branch.stop_timer()


@executes("dtx.get-timeout")
def get_timeout(session: Session, order: Order) -> Packed | None:
    """Return the timeout of a branch."""
    branch = _known(session, order)
    if branch is None:
        return None
    timeout_s = branch.timeout_s * (1000 if session.faulty("timeouts-in-milliseconds") else 1)
    return Packed("dtx.get-timeout-result", {"timeout": timeout_s})


FAULTS = fault_table("""
branches-commit-always: a rollback of a branch commits it [dtx/rollback/effect]
branch-rollback-drops-all: a rollback of a branch drops what was consumed [dtx/rollback/effect]
doomed-branches-are-prepared: a branch that can only be rolled back can be prepared [dtx/prepare/result]
prepare-tells-heuristics: prepare results in xa-heurhaz [dtx/prepare/result]
prepare-promises-nothing: prepare leaves its branch as it is [dtx/prepare/obligation-1]
prepare-forgets-the-branch: a branch is unknown after prepare [dtx/prepare/obligation-2]
prepare-commits: prepare puts everything into effect [dtx/commit/effect]
doomed-branches-commit: a branch that can only be rolled back can be committed
    [dtx/end/session-closed dtx/commit/result dtx/end/fail/failure/marked]
branch-commit-publishes-only: a commit of a branch puts back what was consumed [dtx/commit/effect]
branch-commit-drops-only: a commit of a branch publishes nothing [dtx/commit/effect]
committed-branches-stay-known: a branch is still known after its commit [dtx/commit/xid/unknown-xid]
commit-tells-read-only: commit results in xa-rdonly [dtx/commit/result]
rollback-tells-read-only: rollback results in xa-rdonly [dtx/rollback/result]
recover-tells-all-branches: recover lists branches that are not prepared [dtx/recover/in-doubt]
recover-tells-nothing: recover lists no branch [dtx/recover/in-doubt]
recover-mixes-up-the-parts-of-xids: recover gives the global id in place of the branch id [dtx/recover/in-doubt]
timeouts-not-set: set-timeout changes nothing [dtx/set-timeout/effective dtx/get-timeout/value]
zero-is-a-timeout: a timeout of zero is one of a second [dtx/set-timeout/reset]
timeouts-in-milliseconds: get-timeout gives milliseconds [dtx/get-timeout/value]
prepared-branches-take-too-long: a timeout after prepare makes the branch rollback-only
    [dtx/prepare/obligation-1]
branches-never-take-too-long: a timeout never takes effect [dtx/set-timeout/effective]
""")
