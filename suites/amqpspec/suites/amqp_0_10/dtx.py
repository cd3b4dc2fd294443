"""Class dtx: what belongs to a branch, its start, join and end (amqp-0-10 class dtx).

Knows: start, join, end. Must not know: the outcome of a branch (``dtx_outcomes``), targets.

``_branches.worked`` makes a branch that has both taken a message and published one.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.run.amqp_0_10.oracles import allows
from amqpspec.run.case import case
from amqpspec.run.oracles import best, equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import (
    NOT_IMPLEMENTED,
    Xid,
    ask,
    joins,
    on_wire,
    prepared,
    selected,
    started,
    told,
    worked,
    xid,
)
from amqpspec.suites.amqp_0_10._cases import in_dtx, in_two_dtx
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._messages import SHARED, answer, bodies_soon, fill, has_on_offer_soon

_ROLLED_BACK = ("xa-rbrollback", "xa-rbtimeout")
_DONE = "xa-ok"
_NOT_FOUND = 404

# --- what belongs to a branch


@in_two_dtx("dtx.managed", covers=["dtx/transactionality/managed"])
def managed(peer: Peer) -> Verdict:
    """Messages that a session publishes and accepts between start and end take effect when the branch commits."""
    of, queue = worked(peer)
    peer.claim("no effect before commit, both effects after it")
    before = bodies(peer, queue, 1)
    told(peer, "commit", of, one_phase=True)
    behind = bodies_soon(peer, queue, 1, 1)
    peer.detach()
    return equals(peer, (before, behind, bodies(peer, queue, 1)), ([], [b"made"], []), "before, after, then")


@in_two_dtx("dtx.outside", covers=["dtx/transactionality/outside"])
def outside(peer: Peer) -> Verdict:
    """Commands before start and after end take effect at once, whatever happens to the branch."""
    queue = peer.queue(**SHARED)
    peer.claim("the messages published outside the branch at once; no message of the branch")
    fill(peer, queue, b"before")
    of = started(peer)
    fill(peer, queue, b"between")
    ask(peer, "end", of)
    fill(peer, queue, b"behind")
    found = bodies(peer, queue, 1)
    told(peer, "rollback", of)
    return equals(peer, (found, bodies(peer, queue, 1)), ([b"before", b"behind"], []), "at once, then")


@in_two_dtx("dtx.outside.accepts", covers=["dtx/transactionality/outside"])
def accepts_outside(peer: Peer) -> Verdict:
    """An accept after end takes effect at once; an accept within the branch is rolled back with it."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    peer.subscribe(queue)
    found = peer.transfers(2)
    of = started(peer)
    answer(peer, "accept", found[:1])
    ask(peer, "end", of)
    answer(peer, "accept", found[1:])
    peer.claim("only the message that the branch had accepted")
    peer.detach()
    told(peer, "rollback", of, 1)
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"1"], "bodies")


@in_two_dtx("dtx.two-branches", covers=["dtx/transactionality/managed"])
def two_branches(peer: Peer) -> Verdict:
    """Two branches of one global transaction, used one after the other in a session, end independently."""
    queue, of = peer.queue(**SHARED), xid(peer)
    branches = [{**of, "branch_id": name} for name in (b"1", b"2")]
    for branch in branches:
        ask(peer, "start", branch)
        fill(peer, queue, branch["branch_id"])
        ask(peer, "end", branch)
    peer.claim("the message of the branch that was committed")
    told(peer, "rollback", branches[0])
    told(peer, "commit", branches[1], one_phase=True)
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"2"], "bodies")


# --- start, join


@in_dtx("dtx.start.result", covers=["dtx/start/result"])
def result_of_start(peer: Peer) -> Verdict:
    """Start of a new branch results in xa-ok, with an xid encoded as the tables define it."""
    peer.claim("xa-ok twice")
    found = []
    for branch in (b"1", b"2"):
        of = xid(peer, branch)
        found.append(peer.call("dtx.start", xid=of).fields.get("status"))
        peer.call("dtx.end", xid=of)
    return equals(peer, found, [0, 0], "results")


@in_two_dtx("dtx.start.result.doomed", covers=["dtx/start/result"])
def start_of_a_doomed_branch(peer: Peer) -> Verdict:
    """A start with join of a branch that can only be rolled back reports that at once or at commit."""
    of = started(peer)
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout, from commit at the latest")
    found = _joined_late(peer, of)
    if found == [_DONE]:
        found += [told(peer, "end", of, 1), told(peer, "commit", of, 1, one_phase=True)]
    return holds(peer, found[-1] in _ROLLED_BACK, f"results {found}")


def _joined_late(peer: Peer, of: Xid) -> list[str]:
    """The result of a start with join; OutOfReach if the target does not support join (start.join#unsupported)."""
    try:
        return [told(peer, "start", of, 1, join=True)]
    except Unmet as unmet:
        if unmet.code == NOT_IMPLEMENTED and not joins(peer):
            raise OutOfReach("the target does not support join, as it may", unmet.seen) from unmet
        raise


@in_two_dtx("dtx.join", covers=["dtx/start/join/unsupported"])
def join(peer: Peer) -> Verdict:
    """A second session can join a branch, and its work is committed with it; or join is not implemented."""
    of, queue = worked(peer)
    number = peer.send("dtx.start", 1, xid=on_wire(peer, of), join=True, sync=True)
    reaction = peer.reaction(1)
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.claim("no message before commit, the work of both sessions after it")
    peer.completion(number, 1)
    fill(peer, queue, b"joined", channel=1)
    ask(peer, "end", of, 1)
    before = bodies(peer, queue, 1)
    told(peer, "commit", of, one_phase=True)
    return equals(peer, (before, bodies_soon(peer, queue, 2, 1)), ([], [b"made", b"joined"]), "before, after")


# --- end


@in_two_dtx("dtx.end.success", covers=["dtx/end/success", "dtx/end/result"])
def end_of_success(peer: Peer) -> Verdict:
    """An end without fail and suspend is successful: it results in xa-ok, and the branch can be committed."""
    queue, of = peer.queue(**SHARED), started(peer)
    fill(peer, queue, b"made")
    peer.claim("xa-ok twice, and the message")
    found = [told(peer, "end", of), told(peer, "commit", of, one_phase=True)]
    return equals(
        peer, (found, bodies_soon(peer, queue, 1, 1)), ([_DONE, _DONE], [b"made"]), "results, bodies"
    )


@in_dtx("dtx.end.result.suspended", covers=["dtx/end/result"])
def results_of_end(peer: Peer) -> Verdict:
    """End results in xa-ok with suspend, and again after a resume."""
    of = started(peer)
    peer.claim("xa-ok each time")
    found = [told(peer, "end", of, suspend=True), told(peer, "start", of, resume=True), told(peer, "end", of)]
    return equals(peer, found, [_DONE] * 3, "results")


@in_two_dtx("dtx.end.session-closed", covers=["dtx/end/session-closed"])
def closed_session(peer: Peer) -> Verdict:
    """If its session is closed, a branch can only be rolled back: commit has no effect and reports this."""
    queue, of = fill(peer, peer.queue(**SHARED), b"used"), xid(peer)
    peer.subscribe(queue)
    transfer = peer.transfer()
    ask(peer, "start", of)
    answer(peer, "accept", [transfer])
    fill(peer, queue, b"made")
    peer.detach()
    peer.claim("rolled back: the consumed message is available again, the published one is not")
    result = told(peer, "commit", of, 1, one_phase=True)
    if result not in _ROLLED_BACK:
        return equals(peer, result, _ROLLED_BACK[0], "result")
    if not has_on_offer_soon(peer, queue, 1, 1):
        told(peer, "rollback", of, 1)
        has_on_offer_soon(peer, queue, 1, 1)
    return equals(peer, bodies(peer, queue, 1), [b"used"], "bodies")


@in_two_dtx("dtx.end.session-closed.prepared", covers=["dtx/end/session-closed", "dtx/prepare/obligation-1"])
def closed_session_behind_prepare(peer: Peer) -> Verdict:
    """A prepared branch is no longer tied to its session: another session can commit it."""
    of, queue = prepared(peer)
    peer.detach()
    peer.claim("xa-ok, and the published message")
    result = told(peer, "commit", of, 1)
    return equals(peer, (result, bodies_soon(peer, queue, 1, 1)), (_DONE, [b"made"]), "result, bodies")


def _failed(peer: Peer) -> tuple[str, str, list[bytes]]:
    """The results of an end with fail and of a commit after it, and what is in the queue then."""
    selected(peer, 0, 1)
    queue, of = peer.queue(**SHARED), started(peer)
    fill(peer, queue, b"made")
    ended = told(peer, "end", of, fail=True)
    peer.claim("a branch that is rolled back, or one that is not")
    result = _committed_late(peer, of)
    if result == _DONE:
        has_on_offer_soon(peer, queue, 1)
    return ended, result, bodies(peer, queue)


def _committed_late(peer: Peer, of: Xid) -> str:
    """The result of a commit, or that the branch is unknown: end may have rolled it back (end.fail#failure)."""
    try:
        return told(peer, "commit", of, 1, one_phase=True)
    except Unmet as unmet:
        if unmet.code == _NOT_FOUND:
            return "not-found"
        raise


@case("dtx.end.fail", covers=["dtx/end/fail/failure/may-roll-back"])
def failure(peer: Peer) -> Verdict:
    """A branch that ends with fail may be rolled back; its message is available only if it was not."""
    _, result, found = _failed(peer)
    if found not in ([], [b"made"]) or (result == _DONE) != (found == [b"made"]):
        return equals(peer, (result, found), (_ROLLED_BACK[0], []), "result, bodies")
    return observed_either_way(peer, "committed" if found else "rolled back")


@case("dtx.end.fail.marked", covers=["dtx/end/fail/failure/marked"])
def failure_marks_the_branch(peer: Peer) -> Verdict:
    """If the server reports a rollback at end with fail, the branch can only be rolled back."""
    ended, result, found = _failed(peer)
    peer.claim("a commit that results in a rollback, if end reported one")
    marked = result in _ROLLED_BACK and not found
    right = marked or (ended == _DONE and result == _DONE)
    return holds(peer, right, f"end {ended}, commit {result}, bodies {found}")


@case("dtx.end.fail.result", covers=["dtx/end/fail/failure/result"])
def failure_is_told(peer: Peer) -> Verdict:
    """If the server rolls back a branch that ends with fail, end results in xa-rbrollback."""
    ended, result, found = _failed(peer)
    peer.claim("xa-rbrollback if the branch is rolled back, else xa-ok")
    wanted = _ROLLED_BACK[0] if result in _ROLLED_BACK or not found else _DONE
    return equals(peer, ended, wanted, "result of end")


@in_two_dtx("dtx.end.suspend", covers=["dtx/end/suspend/resume"])
def suspended(peer: Peer) -> Verdict:
    """A start with resume continues a suspended branch; commands between belong to no branch."""
    queue, of = peer.queue(**SHARED), started(peer)
    peer.claim("messages published between at once; the work of both parts after commit")
    fill(peer, queue, b"1")
    told(peer, "end", of, suspend=True)
    fill(peer, queue, b"between")
    before = bodies(peer, queue, 1)
    told(peer, "start", of, resume=True)
    fill(peer, queue, b"2")
    told(peer, "end", of)
    told(peer, "commit", of, one_phase=True)
    return equals(
        peer, (before, bodies_soon(peer, queue, 2, 1)), ([b"between"], [b"1", b"2"]), "before, after"
    )


# --- a select more


@in_dtx("dtx.select.again", covers=["dtx/select/required"])
def select_again(peer: Peer) -> Verdict:
    """A session may send select again and still work on its branch."""
    of, _ = worked(peer)
    peer.claim("the server accepts the second select")
    peer.send("dtx.select")
    first = allows(peer)
    result = told(peer, "commit", of, one_phase=True)
    return (
        best([first])
        if result != _DONE
        else equals(peer, (first.outcome.value, result), ("pass", _DONE), "result")
    )
