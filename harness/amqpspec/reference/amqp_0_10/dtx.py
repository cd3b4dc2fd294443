"""Work on branches: sessions that start and end it.

Knows: which commands may follow which on a session. Must not know: outcomes of branches (``coordinating`` does).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10.branches import OK, ROLLED_BACK, Branch, branches_of, xid_of
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import taker_of
from amqpspec.reference.amqp_0_10.transactions import is_local
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.values import Packed


@dataclass(slots=True, eq=False)
class _Mode:
    """A session that has selected dtx: the current branch, and those that are suspended."""

    active: Branch | None = None
    suspended: list[Branch] = field(default_factory=list)


_MODES: WeakKeyDictionary[Session, _Mode] = WeakKeyDictionary()


def result_of(status: int) -> Packed:
    """A result."""
    return Packed("dtx.xa-result", {"status": status})


@executes("dtx.select")
def select(session: Session, order: Order) -> None:
    """Enable branches; a repeated select has no effect."""
    if session in _MODES and session.faulty("branches-selected-once-only"):
        session.core.refuse("dtx/start/already-known", "dtx was selected already")
    if session not in _MODES:
        _MODES[session] = _Mode()
        session.at_end.append(lambda: _closed(session))


@executes("dtx.start")
def start(session: Session, order: Order) -> Packed | None:
    """Start work on a branch: a new one, together with others (join), or a suspended one (resume)."""
    mode = _MODES.get(session)
    if mode is None:
        session.refuse("dtx/select/required", "dtx was not selected")
        return None
    if order["join"] and order["resume"]:
        session.refuse("dtx/start/join-and-resume", "join and resume", "join")
    if mode.active is not None or is_local(taker_of(session)):
        session.refuse("dtx/start/illegal-state", "the session works on something already")
        return None
    branch = _branch(session, order, mode)
    if branch is None:
        return None
    branch.suspended.discard(session.key)
    if branch.doomed != OK and session.faulty("doomed-branches-go-on"):
        branch.doomed = OK
    if branch.doomed != OK:
        return result_of(branch.doomed)
    mode.active = branch
    branch.active.add(session.key)
    if not session.faulty("work-belongs-to-no-branch"):
        taker_of(session).work = branch.work
    return result_of(OK + session.faulty("every-start-is-rolled-back"))


def _branch(session: Session, order: Order, mode: _Mode) -> Branch | None:
    known, xid = branches_of(session.vhost).find(xid_of(order["xid"])), xid_of(order["xid"])
    if known is None:
        if order["join"] or order["resume"]:
            session.refuse("dtx/start/xid/unknown-xid", "no such branch", "xid")
        return branches_of(session.vhost).begin(xid)
    if order["resume"]:
        return _resumed(session, known, mode)
    if not order["join"]:
        session.refuse("dtx/start/already-known", "the branch is known", "xid")
        return None
    if session.faulty("join-not-served"):
        session.core.refuse("dtx/start/already-known", "join is not served")
    if known.prepared:
        session.refuse("dtx/start/illegal-state", "the branch is prepared", "xid")
    return known


def _resumed(session: Session, known: Branch, mode: _Mode) -> Branch | None:
    if session.faulty("resume-not-served"):
        session.core.refuse("dtx/start/already-known", "resume is not served")
    if known not in mode.suspended:
        session.refuse("dtx/start/illegal-state", "the branch was not suspended here", "resume")
        return None
    mode.suspended.remove(known)
    return known


@executes("dtx.end")
def end(session: Session, order: Order) -> Packed | None:
    """End work on a branch, suspend it (suspend), or report its failure (fail)."""
    mode, known = _MODES.get(session), branches_of(session.vhost).find(xid_of(order["xid"]))
    if mode is None:
        session.refuse("dtx/select/required", "dtx was not selected")
        return None
    if order["fail"] and order["suspend"]:
        session.refuse("dtx/end/suspend-and-fail", "suspend and fail", "fail")
    if mode.active is None or known is not mode.active:
        _refuse_end(session, known, mode)
        return None
    taker_of(session).work = None if not session.faulty("work-goes-on-behind-its-end") else known.work
    mode.active = None
    known.active.discard(session.key)
    if order["suspend"]:
        mode.suspended.append(known)
        known.suspended.add(session.key)
    if order["fail"] and session.faulty("failure-told-only"):
        return result_of(ROLLED_BACK)
    if order["fail"] and known.doomed == OK and not session.faulty("failure-forgotten"):
        known.doomed = ROLLED_BACK
    if order["fail"] and session.faulty("failure-not-told"):
        return result_of(OK)
    return result_of(known.doomed if not session.faulty("every-end-is-rolled-back") else ROLLED_BACK)


def _refuse_end(session: Session, known: Branch | None, mode: _Mode) -> None:
    if known is not None and known in mode.suspended:
        session.refuse("dtx/end/suspend/resume", "the branch is suspended", "xid")
    elif mode.active is None:
        session.refuse("dtx/end/illegal-state", "the session works on no branch")
    else:
        session.refuse("dtx/end/xid/not-associated", "the session works on another branch", "xid")


def _closed(session: Session) -> None:
    """The session is over: its branches can only be rolled back."""
    mode = _MODES.pop(session)
    for branch in (*([mode.active] if mode.active is not None else []), *mode.suspended):
        branch.active.discard(session.key)
        branch.suspended.discard(session.key)
        if branch.doomed == OK and not session.faulty("lost-sessions-leave-branches-fit"):
            branch.doomed = ROLLED_BACK


FAULTS = fault_table("""
doomed-branches-go-on: starting a rollback-only branch clears that mark [dtx/start/result]
work-belongs-to-no-branch: work between start and end takes effect at once [dtx/transactionality/managed]
every-start-is-rolled-back: start results in xa-rbrollback [dtx/start/result]
join-not-served: a start with join is refused like one without [dtx/start/join/unsupported]
resume-not-served: a start with resume is refused like one without [dtx/end/suspend/resume]
work-goes-on-behind-its-end: work after end still belongs to the branch [dtx/transactionality/outside]
branches-selected-once-only: a second select of dtx is refused [dtx/select/required]
failure-forgotten: an end with fail is like one without
    [dtx/end/fail/failure/may-roll-back dtx/end/fail/failure/marked dtx/end/fail/failure/result]
failure-told-only: an end with fail results in xa-rbrollback, and its branch can be committed
    [dtx/end/fail/failure/marked]
failure-not-told: an end with fail results in xa-ok, and its branch can only be rolled back
    [dtx/end/fail/failure/result]
every-end-is-rolled-back: end results in xa-rbrollback, and its branch is as before [dtx/end/result dtx/end/success]
lost-sessions-leave-branches-fit: a branch outlives the session that worked on it and can be committed
    [dtx/end/session-closed]
""")
