"""Class dtx: which commands are refused in which state (amqp-0-10 class dtx).

Knows: the states of XA, as a table, and what each command meets there. Must not know: targets.

A state is what a branch, and the session that asks, have after them. The table names the rule for each command that
does not fit, or the rules, where more than one applies: the code of either of them is right then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import best, borne_aloud, judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import (
    NOT_IMPLEMENTED,
    Xid,
    joins,
    on_wire,
    prepared,
    selected,
    started,
    told,
    worked,
    xid,
)

# --- states


def _unselected(peer: Peer) -> Xid:
    """A session that has not selected dtx."""
    selected(peer, 1)
    peer.open_session()
    return xid(peer)


def _unknown(peer: Peer) -> Xid:
    """A branch that was not started, with the global id of another branch."""
    selected(peer, 0, 1)
    of, _ = worked(peer, channel=1)
    return {**of, "branch_id": b"another"}


def _active(peer: Peer) -> Xid:
    """A branch on which the session works."""
    selected(peer, 0, 1)
    return started(peer)


def _elsewhere(peer: Peer) -> Xid:
    """A branch on which another session works."""
    selected(peer, 0, 1)
    return started(peer, channel=1)


def _busy(peer: Peer) -> Xid:
    """A branch that is ended, while the session works on another one."""
    selected(peer, 0, 1)
    of, _ = worked(peer, b"ended")
    started(peer, b"active")
    return of


def _suspended(peer: Peer) -> Xid:
    """A branch that the session has suspended."""
    of = _active(peer)
    told(peer, "end", of, suspend=True)
    return of


def _ended(peer: Peer) -> Xid:
    """A branch that is ended."""
    selected(peer, 0, 1)
    return worked(peer)[0]


def _prepared(peer: Peer) -> Xid:
    """A branch that is prepared."""
    selected(peer, 0, 1)
    return prepared(peer)[0]


def _committed(peer: Peer) -> Xid:
    """A branch that is committed."""
    of = _ended(peer)
    told(peer, "commit", of, one_phase=True)
    return of


def _rolled_back(peer: Peer) -> Xid:
    """A branch that is rolled back."""
    of = _prepared(peer)
    told(peer, "rollback", of)
    return of


_NO_JOIN = "dtx/start/join/unsupported"
_STATES: Mapping[str, Callable[[Peer], Xid]] = {
    "unselected": _unselected,
    "unknown": _unknown,
    "active": _active,
    "elsewhere": _elsewhere,
    "busy": _busy,
    "suspended": _suspended,
    "ended": _ended,
    "prepared": _prepared,
    "committed": _committed,
    "rolled-back": _rolled_back,
}

# --- what does not fit

# A question mark: the class grammar keeps start and end apart from outcomes, and the text says of a suspended branch
# only that it is to be resumed; the XA specification, which the class refers to, lets a suspended association end.
# Whether these are improper contexts is for the server to say.
#
# By its words, start.xid#unknown-xid refuses a known xid with 530, so that any join out of order may carry that code. A
# server without join refuses every join with 540 (start.join#unsupported). A commit in two phases of an unknown branch
# is one without a preceding prepare, too (409). A branch that "has already been ended" is unknown to forget (404).
_TABLE = """
unselected start: select/required
unselected end: select/required
unknown start join: start/xid/unknown-xid start/join/unsupported
unknown start resume: start/xid/unknown-xid
unknown start join resume: start/join-and-resume start/xid/unknown-xid start/join/unsupported
unknown end: end/illegal-state end/xid/not-associated
unknown prepare: prepare/xid/unknown-xid
unknown commit: commit/xid/unknown-xid commit/one-phase/one-phase
unknown commit one-phase: commit/xid/unknown-xid
unknown rollback: rollback/xid/unknown-xid
unknown forget: forget/xid/unknown-xid
unknown get-timeout: get-timeout/xid/unknown-xid
unknown set-timeout: set-timeout/xid/unknown-xid
active start: start/illegal-state start/already-known
active start join: start/illegal-state start/xid/unknown-xid start/join/unsupported
active end suspend fail: end/suspend-and-fail
active prepare: prepare/xid/not-disassociated
active commit: commit/xid/not-disassociated
active commit one-phase: commit/xid/not-disassociated
active rollback: rollback/xid/not-disassociated
active forget: forget/xid/not-disassociated
elsewhere start: start/already-known
elsewhere end: end/xid/not-associated end/illegal-state
elsewhere prepare: prepare/xid/not-disassociated
elsewhere commit one-phase: commit/xid/not-disassociated
elsewhere rollback: rollback/xid/not-disassociated
elsewhere forget: forget/xid/not-disassociated
busy start: start/illegal-state start/already-known
busy start join: start/illegal-state start/xid/unknown-xid start/join/unsupported
busy end: end/xid/not-associated
suspended start: end/suspend/resume start/already-known
suspended end: end/suspend/resume ?
suspended prepare: prepare/illegal-state ?
suspended commit one-phase: commit/illegal-state ?
suspended rollback: rollback/illegal-state ?
suspended forget: forget/xid/not-disassociated
ended start: start/already-known
ended start join resume: start/join-and-resume start/join/unsupported
ended end: end/illegal-state end/xid/not-associated
ended commit: commit/one-phase/one-phase
ended forget: forget/illegal-state forget/xid/unknown-xid
prepared start: start/already-known
prepared start join: start/illegal-state start/xid/unknown-xid start/join/unsupported ?
prepared end: end/illegal-state end/xid/not-associated
prepared prepare: prepare/illegal-state
prepared commit one-phase: commit/one-phase/two-phase
prepared forget: forget/illegal-state forget/xid/unknown-xid
committed start join: start/xid/unknown-xid start/join/unsupported
committed prepare: prepare/xid/unknown-xid
committed commit one-phase: commit/xid/unknown-xid
committed rollback: rollback/xid/unknown-xid
committed forget: forget/xid/unknown-xid
committed get-timeout: get-timeout/xid/unknown-xid
rolled-back start resume: start/xid/unknown-xid
rolled-back prepare: prepare/xid/unknown-xid
rolled-back commit: commit/xid/unknown-xid
rolled-back rollback: rollback/xid/unknown-xid
rolled-back set-timeout: set-timeout/xid/unknown-xid
"""


def _row(line: str) -> tuple[str, str, tuple[str, ...], list[str], Callable[..., Verdict]]:
    what, _, rules = line.partition(": ")
    state, command, *flags = what.split()
    rules, is_open, _ = rules.partition(" ?")
    judged = borne_aloud if is_open else judge_reaction
    return state, command, tuple(flags), [f"dtx/{rule}" for rule in rules.split()], judged


def _open_to(peer: Peer, rules: list[str], code: object) -> list[str]:
    """The rules that a target may go by: 540 is for one that refuses every join."""
    if code == NOT_IMPLEMENTED and _NO_JOIN in rules and joins(peer):
        return [rule for rule in rules if rule != _NO_JOIN]
    return rules


def _register(
    state: str, command: str, flags: tuple[str, ...], rules: list[str], judged: Callable[..., Verdict]
) -> None:
    asked = " ".join([command, *(["with", *flags] if flags else [])])

    def refused(peer: Peer) -> Verdict:
        of = _STATES[state](peer)
        args: dict[str, Any] = {flag.replace("-", "_"): True for flag in flags}
        if command == "set-timeout":
            args["timeout"] = 3600
        peer.send(f"dtx.{command}", xid=on_wire(peer, of), **args)
        reaction = peer.reaction()
        return best(judged(peer, reaction, row=rule) for rule in _open_to(peer, rules, reaction.code))

    what = (_STATES[state].__doc__ or "").rstrip(".")
    ways = "is refused" if judged is judge_reaction else "may be refused"
    refused.__doc__ = f"{what}: {asked} {ways}."
    words = ["dtx", "states", state, command, *flags]
    globals()["_".join(words)] = case(".".join(words), covers=rules)(refused)


for _line in _TABLE.strip().splitlines():
    _register(*_row(_line))
