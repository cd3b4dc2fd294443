"""Class dtx: what belongs to a branch, and what becomes of it (amqp-0-10 class dtx).

Knows: start, end, prepare, commit, rollback, recover, timeouts. Must not know: targets.

``_branches.worked`` makes a branch that has both taken a message and published one.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows
from amqpspec.run.case import case
from amqpspec.run.oracles import best, equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import (
    Xid,
    ask,
    in_doubt,
    key_of,
    on_wire,
    prepared,
    selected,
    started,
    told,
    worked,
    xid,
)
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._messages import SHARED, answer, fill, holds_soon

_ROLLED_BACK = ("xa-rbrollback", "xa-rbtimeout")
_DONE = "xa-ok"

# --- what belongs to a branch


@case("dtx.managed", covers=["dtx/transactionality/managed"])
def managed(peer: Peer) -> Verdict:
    """What a session publishes and accepts between start and end waits for the branch's commit."""
    selected(peer, 0, 1)
    of, queue = worked(peer)
    peer.claim("neither effect before commit, both behind it")
    before = bodies(peer, queue, 1)
    told(peer, "commit", of, one_phase=True)
    holds_soon(peer, queue, 1, 1)
    behind = bodies(peer, queue, 1)
    peer.detach()
    return equals(peer, (before, behind, bodies(peer, queue, 1)), ([], [b"made"], []), "before, behind, then")


@case("dtx.outside", covers=["dtx/transactionality/outside"])
def outside(peer: Peer) -> Verdict:
    """What comes before start and behind end takes effect at once, whatever becomes of the branch."""
    selected(peer, 0, 1)
    queue = peer.queue(**SHARED)
    peer.claim("what was published outside, at once; nothing of the branch")
    fill(peer, queue, b"before")
    of = started(peer)
    fill(peer, queue, b"between")
    ask(peer, "end", of)
    fill(peer, queue, b"behind")
    found = bodies(peer, queue, 1)
    told(peer, "rollback", of)
    return equals(peer, (found, bodies(peer, queue, 1)), ([b"before", b"behind"], []), "at once, then")


@case("dtx.outside.accepts", covers=["dtx/transactionality/outside"])
def accepts_outside(peer: Peer) -> Verdict:
    """An accept behind end takes effect at once; one within the branch goes with it."""
    selected(peer, 0, 1)
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    peer.subscribe(queue)
    found = peer.transfers(2)
    of = started(peer)
    answer(peer, "accept", found[:1])
    ask(peer, "end", of)
    answer(peer, "accept", found[1:])
    peer.claim("the message that the branch had accepted, and no other one")
    peer.detach()
    told(peer, "rollback", of, 1)
    holds_soon(peer, queue, 1, 1)
    return equals(peer, bodies(peer, queue, 1), [b"1"], "bodies")


@case("dtx.two-branches", covers=["dtx/transactionality/managed"])
def two_branches(peer: Peer) -> Verdict:
    """Two branches of one global transaction, one after the other on a session, come to ends of their own."""
    selected(peer, 0, 1)
    queue, of = peer.queue(**SHARED), xid(peer)
    branches = [{**of, "branch_id": name} for name in (b"1", b"2")]
    for branch in branches:
        ask(peer, "start", branch)
        fill(peer, queue, branch["branch_id"])
        ask(peer, "end", branch)
    peer.claim("the message of the branch that was committed")
    told(peer, "rollback", branches[0])
    told(peer, "commit", branches[1], one_phase=True)
    holds_soon(peer, queue, 1, 1)
    return equals(peer, bodies(peer, queue, 1), [b"2"], "bodies")


# --- start, join


@case("dtx.start.result", covers=["dtx/start/result"])
def result_of_start(peer: Peer) -> Verdict:
    """Start of a new branch results in xa-ok, by an xid as the tables have it."""
    selected(peer)
    peer.claim("xa-ok twice")
    found = []
    for branch in (b"1", b"2"):
        of = xid(peer, branch)
        found.append(peer.call("dtx.start", xid=of).fields.get("status"))
        peer.call("dtx.end", xid=of)
    return equals(peer, found, [0, 0], "results")


@case("dtx.start.result.doomed", covers=["dtx/start/result"])
def start_of_a_doomed_branch(peer: Peer) -> Verdict:
    """A start with join of a branch that can only be rolled back tells so, or joins it in vain."""
    selected(peer, 0, 1)
    of = started(peer)
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout, at last from commit")
    found = [told(peer, "start", of, 1, join=True)]
    if found == [_DONE]:
        found += [told(peer, "end", of, 1), told(peer, "commit", of, 1, one_phase=True)]
    return holds(peer, found[-1] in _ROLLED_BACK, f"results {found}")


@case("dtx.join", covers=["dtx/start/join/unsupported"])
def join(peer: Peer) -> Verdict:
    """A second session joins a branch, and its work comes to the same end; or join is not implemented."""
    selected(peer, 0, 1)
    of, queue = worked(peer)
    number = peer.send("dtx.start", 1, xid=on_wire(peer, of), join=True, sync=True)
    reaction = peer.reaction(1)
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.claim("the work of both sessions behind commit, nothing before")
    peer.completion(number, 1)
    fill(peer, queue, b"joined", channel=1)
    ask(peer, "end", of, 1)
    before = bodies(peer, queue, 1)
    told(peer, "commit", of, one_phase=True)
    holds_soon(peer, queue, 2, 1)
    return equals(peer, (before, bodies(peer, queue, 1)), ([], [b"made", b"joined"]), "before, behind")


# --- end


@case("dtx.end.success", covers=["dtx/end/success", "dtx/end/result"])
def end_of_success(peer: Peer) -> Verdict:
    """An end without fail and suspend is one of success: it results in xa-ok, and the branch can be committed."""
    selected(peer, 0, 1)
    queue, of = peer.queue(**SHARED), started(peer)
    fill(peer, queue, b"made")
    peer.claim("xa-ok twice, and the message")
    found = [told(peer, "end", of), told(peer, "commit", of, one_phase=True)]
    holds_soon(peer, queue, 1, 1)
    return equals(peer, (found, bodies(peer, queue, 1)), ([_DONE, _DONE], [b"made"]), "results, bodies")


@case("dtx.end.result.suspended", covers=["dtx/end/result"])
def results_of_end(peer: Peer) -> Verdict:
    """End results in xa-ok with suspend, and again behind resume."""
    selected(peer)
    of = started(peer)
    peer.claim("xa-ok each time")
    found = [told(peer, "end", of, suspend=True), told(peer, "start", of, resume=True), told(peer, "end", of)]
    return equals(peer, found, [_DONE] * 3, "results")


@case("dtx.end.session-closed", covers=["dtx/end/session-closed"])
def closed_session(peer: Peer) -> Verdict:
    """When its session is closed, a branch can only be rolled back: commit has no effect, and says so."""
    selected(peer, 0, 1)
    queue, of = fill(peer, peer.queue(**SHARED), b"used"), xid(peer)
    peer.subscribe(queue)
    transfer = peer.transfer()
    ask(peer, "start", of)
    answer(peer, "accept", [transfer])
    fill(peer, queue, b"made")
    peer.detach()
    peer.claim("rolled back: the message that was used is there, the one that was made is not")
    result = told(peer, "commit", of, 1, one_phase=True)
    if result not in _ROLLED_BACK:
        return equals(peer, result, _ROLLED_BACK[0], "result")
    if not holds_soon(peer, queue, 1, 1):
        told(peer, "rollback", of, 1)
        holds_soon(peer, queue, 1, 1)
    return equals(peer, bodies(peer, queue, 1), [b"used"], "bodies")


@case("dtx.end.session-closed.prepared", covers=["dtx/end/session-closed", "dtx/prepare/obligation-1"])
def closed_session_behind_prepare(peer: Peer) -> Verdict:
    """A branch that was ended and prepared is not bound to its session any more: another one commits it."""
    selected(peer, 0, 1)
    of, queue = prepared(peer)
    peer.detach()
    peer.claim("xa-ok, and the message that was made")
    result = told(peer, "commit", of, 1)
    holds_soon(peer, queue, 1, 1)
    return equals(peer, (result, bodies(peer, queue, 1)), (_DONE, [b"made"]), "result, bodies")


def _failed(peer: Peer) -> tuple[str, str, list[bytes | None]]:
    """The results of an end with fail and of a commit behind it, and what is in the queue then."""
    selected(peer, 0, 1)
    queue, of = peer.queue(**SHARED), started(peer)
    fill(peer, queue, b"made")
    ended = told(peer, "end", of, fail=True)
    peer.claim("a branch that is rolled back, or one that is not")
    result = told(peer, "commit", of, 1, one_phase=True)
    if result == _DONE:
        holds_soon(peer, queue, 1, 1)
    return ended, result, bodies(peer, queue, 1)


@case("dtx.end.fail", covers=["dtx/end/fail/failure/may-roll-back"])
def failure(peer: Peer) -> Verdict:
    """Whether a branch that ends with fail is rolled back is recorded; its message is there only if it is not."""
    _, result, found = _failed(peer)
    if found not in ([], [b"made"]) or (result == _DONE) != (found == [b"made"]):
        return equals(peer, (result, found), (_ROLLED_BACK[0], []), "result, bodies")
    return observed_either_way(peer, "committed" if found else "rolled back")


@case("dtx.end.fail.marked", covers=["dtx/end/fail/failure/marked"])
def failure_marks_the_branch(peer: Peer) -> Verdict:
    """A server that tells of rolling back on fail lets the branch be rolled back only."""
    ended, result, found = _failed(peer)
    peer.claim("a commit that is a rollback, where end has told so")
    marked = result in _ROLLED_BACK and not found
    right = marked or (ended == _DONE and result == _DONE)
    return holds(peer, right, f"end {ended}, commit {result}, bodies {found}")


@case("dtx.end.fail.result", covers=["dtx/end/fail/failure/result"])
def failure_is_told(peer: Peer) -> Verdict:
    """A server that rolls back on fail has end result in xa-rbrollback."""
    ended, result, found = _failed(peer)
    peer.claim("xa-rbrollback where the branch is rolled back, else xa-ok")
    wanted = _ROLLED_BACK[0] if result in _ROLLED_BACK or not found else _DONE
    return equals(peer, ended, wanted, "result of end")


@case("dtx.end.suspend", covers=["dtx/end/suspend/resume"])
def suspended(peer: Peer) -> Verdict:
    """A suspended branch goes on by start with resume; what lies between belongs to no branch."""
    selected(peer, 0, 1)
    queue, of = peer.queue(**SHARED), started(peer)
    peer.claim("what was published between at once; the work of both parts behind commit")
    fill(peer, queue, b"1")
    told(peer, "end", of, suspend=True)
    fill(peer, queue, b"between")
    before = bodies(peer, queue, 1)
    told(peer, "start", of, resume=True)
    fill(peer, queue, b"2")
    told(peer, "end", of)
    told(peer, "commit", of, one_phase=True)
    holds_soon(peer, queue, 2, 1)
    return equals(peer, (before, bodies(peer, queue, 1)), ([b"between"], [b"1", b"2"]), "before, behind")


# --- commit, rollback


@case("dtx.commit.effect", covers=["dtx/commit/effect"])
def commit_of_one_phase(peer: Peer) -> Verdict:
    """A commit in one phase makes what was published available, and drops what was consumed."""
    selected(peer, 0, 1)
    of, queue = worked(peer)
    peer.claim("the message that was made, and the other one gone for good")
    told(peer, "commit", of, one_phase=True)
    holds_soon(peer, queue, 1, 1)
    found = bodies(peer, queue, 1)
    peer.detach()
    peer.barrier(1)
    return equals(peer, (found, bodies(peer, queue, 1)), ([b"made"], []), "bodies, then")


@case("dtx.commit.effect.two-phase", covers=["dtx/commit/effect"])
def commit_of_two_phases(peer: Peer) -> Verdict:
    """Behind prepare nothing is to be seen; commit puts everything into effect, of its branch only."""
    selected(peer, 0, 1)
    (of, queue), (other, untouched) = prepared(peer), prepared(peer)
    peer.claim("nothing behind prepare, the message that was made behind commit, nothing of the other branch")
    before = bodies(peer, queue, 1)
    told(peer, "commit", of)
    holds_soon(peer, queue, 1, 1)
    found = (before, bodies(peer, queue, 1), bodies(peer, untouched, 1), key_of(other) in in_doubt(peer))
    return equals(peer, found, ([], [b"made"], [], True), "before, behind, other branch, in doubt")


@case("dtx.commit.result", covers=["dtx/commit/result"])
def results_of_commit(peer: Peer) -> Verdict:
    """A commit of a branch that did its work results in xa-ok, in one phase and in two."""
    selected(peer)
    peer.claim("xa-ok twice")
    found = [told(peer, "commit", worked(peer)[0], one_phase=True), told(peer, "commit", prepared(peer)[0])]
    return equals(peer, found, [_DONE, _DONE], "results")


@case("dtx.commit.result.rolled-back", covers=["dtx/commit/result"])
def result_of_a_commit_in_vain(peer: Peer) -> Verdict:
    """A commit of a branch that can only be rolled back results in the reason."""
    selected(peer, 0, 1)
    of = started(peer)
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout")
    found = told(peer, "commit", of, 1, one_phase=True)
    return holds(peer, found in _ROLLED_BACK, f"result {found}")


@case("dtx.rollback.effect", covers=["dtx/rollback/effect"])
def rollback_of_ended(peer: Peer) -> Verdict:
    """A rollback drops what was published, and puts back what was consumed, into its queue."""
    selected(peer, 0, 1)
    of, queue = worked(peer)
    peer.claim("the message that was used")
    told(peer, "rollback", of)
    holds_soon(peer, queue, 1, 1)
    return equals(peer, bodies(peer, queue, 1), [b"used"], "bodies")


@case("dtx.rollback.effect.prepared", covers=["dtx/rollback/effect"])
def rollback_of_prepared(peer: Peer) -> Verdict:
    """A prepared branch can be rolled back, by another session; another branch goes on."""
    selected(peer, 0, 1)
    (of, queue), (other, kept) = prepared(peer), prepared(peer)
    peer.claim("the message that was used back; the other branch committed")
    told(peer, "rollback", of, 1)
    told(peer, "commit", other, 1)
    for name in (queue, kept):
        holds_soon(peer, name, 1, 1)
    found = [bodies(peer, name, 1) for name in (queue, kept)]
    return equals(peer, found, [[b"used"], [b"made"]], "bodies")


@case("dtx.rollback.result", covers=["dtx/rollback/result"])
def results_of_rollback(peer: Peer) -> Verdict:
    """A rollback results in xa-ok, of an ended branch, of a prepared one."""
    selected(peer)
    peer.claim("xa-ok twice")
    found = [told(peer, "rollback", worked(peer)[0]), told(peer, "rollback", prepared(peer)[0])]
    return equals(peer, found, [_DONE, _DONE], "results")


# --- prepare, recover


@case("dtx.prepare.result", covers=["dtx/prepare/result"])
def results_of_prepare(peer: Peer) -> Verdict:
    """Prepare results in xa-ok for a branch that did something, in xa-ok or xa-rdonly for one that did not."""
    selected(peer)
    of, idle = worked(peer)[0], started(peer)
    ask(peer, "end", idle)
    peer.claim("xa-ok, and xa-ok or xa-rdonly")
    found = (told(peer, "prepare", of), told(peer, "prepare", idle))
    right = found[0] == _DONE and found[1] in (_DONE, "xa-rdonly")
    return holds(peer, right, f"results {found}")


@case("dtx.prepare.result.rolled-back", covers=["dtx/prepare/result"])
def result_of_a_prepare_in_vain(peer: Peer) -> Verdict:
    """A prepare of a branch that can only be rolled back results in the reason."""
    selected(peer, 0, 1)
    of = started(peer)
    fill(peer, peer.queue(**SHARED), b"made")
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout")
    found = told(peer, "prepare", of, 1)
    return holds(peer, found in _ROLLED_BACK, f"result {found}")


@case("dtx.prepare.both-ways", covers=["dtx/prepare/obligation-1"])
def prepared_goes_both_ways(peer: Peer) -> Verdict:
    """Prepared branches can be committed and rolled back when the connection that prepared them is gone."""
    selected(peer)
    (first, committed), (second, rolled_back) = prepared(peer), prepared(peer)
    other = peer.another()
    selected(other)
    peer.close()
    other.claim("xa-ok twice; the message that was made, the message that was used")
    results = [told(other, "commit", first), told(other, "rollback", second)]
    for queue in (committed, rolled_back):
        holds_soon(other, queue, 1)
    found = [bodies(other, queue) for queue in (committed, rolled_back)]
    return equals(other, (results, found), ([_DONE, _DONE], [[b"made"], [b"used"]]), "results, bodies")


@case(
    "dtx.prepare.restart",
    covers=["dtx/prepare/obligation-2", "dtx/prepare/obligation-1"],
    restarts=True,
    budget_s=180.0,
)
def prepared_outlives_a_restart(peer: Peer) -> Verdict:
    """A prepared branch is known behind a restart, and its commit has its effect."""
    selected(peer)
    queue, of = peer.queue(durable=True, **SHARED), started(peer)
    peer.publish(queue, b"made", delivery={"delivery_mode": 2})
    peer.barrier()
    ask(peer, "end", of)
    ask(peer, "prepare", of)
    peer.context.restart()
    after = peer.another()
    selected(after)
    after.claim("the branch in doubt, then its message")
    known = key_of(of) in in_doubt(after)
    result = told(after, "commit", of)
    holds_soon(after, queue, 1)
    return equals(
        after, (known, result, bodies(after, queue)), (True, _DONE, [b"made"]), "known, result, bodies"
    )


@case("dtx.prepare.known", covers=["dtx/prepare/obligation-2"])
def prepared_stays_known(peer: Peer) -> Verdict:
    """A prepared branch stays known when its session ends, and until it is committed."""
    selected(peer, 0, 1)
    of, _ = prepared(peer)
    peer.detach()
    peer.claim("in doubt before commit, not behind it")
    found = [key_of(of) in in_doubt(peer, 1)]
    told(peer, "commit", of, 1)
    found.append(key_of(of) in in_doubt(peer, 1))
    return equals(peer, found, [True, False], "in doubt")


@case("dtx.recover", covers=["dtx/recover/in-doubt"])
def recover(peer: Peer) -> Verdict:
    """Recover lists prepared branches with all parts of their xids, and no branches that are not prepared."""
    selected(peer, 0, 1)
    (first, _), (second, _) = prepared(peer, b""), prepared(peer, b"\x00\xff" * 32)
    ended, _ = worked(peer)
    active = started(peer)
    peer.claim("the two prepared branches")
    found = in_doubt(peer, 1)
    there = [key_of(of) in found for of in (first, second, ended, active)]
    told(peer, "rollback", first)
    again = in_doubt(peer, 1)
    there += [key_of(of) in again for of in (first, second)]
    return equals(peer, there, [True, True, False, False, False, True], "in doubt")


# --- timeouts


def _timeout(peer: Peer, of: Xid) -> int:
    return int(ask(peer, "get-timeout", of).fields["timeout"])


@case("dtx.get-timeout", covers=["dtx/get-timeout/value"])
def get_timeout(peer: Peer) -> Verdict:
    """get-timeout tells what set-timeout said last, of its branch only."""
    selected(peer)
    first, _ = worked(peer)
    second = started(peer)
    peer.claim("each branch with its timeout")
    default = _timeout(peer, second)
    found = []
    for timeout in (3600, 7200):
        ask(peer, "set-timeout", first, timeout=timeout)
        found.append((_timeout(peer, first), _timeout(peer, second) == default))
    return equals(peer, found, [(3600, True), (7200, True)], "timeouts")


@case("dtx.set-timeout.effective", covers=["dtx/set-timeout/effective"])
def timeout_holds(peer: Peer) -> Verdict:
    """A timeout holds from session to session, through suspend and resume, until another one is set."""
    selected(peer)
    of = started(peer)
    peer.claim("the timeout as it was set, until it is set anew")
    ask(peer, "set-timeout", of, timeout=3600)
    found = [_timeout(peer, of)]
    ask(peer, "end", of, suspend=True)
    ask(peer, "start", of, resume=True)
    found.append(_timeout(peer, of))
    ask(peer, "end", of)
    found.append(_timeout(peer, of))
    ask(peer, "set-timeout", of, timeout=1800)
    return equals(peer, [*found, _timeout(peer, of)], [3600, 3600, 3600, 1800], "timeouts")


@case("dtx.set-timeout.reset", covers=["dtx/set-timeout/reset"])
def timeout_reset(peer: Peer) -> Verdict:
    """A timeout of zero is that of a branch for which none was set."""
    selected(peer)
    of = started(peer)
    peer.claim("the default once more")
    default = _timeout(peer, of)
    ask(peer, "set-timeout", of, timeout=3600)
    ask(peer, "set-timeout", of, timeout=0)
    return equals(peer, _timeout(peer, of), default, "timeout")


@case("dtx.set-timeout.expires", covers=["dtx/set-timeout/effective"], slow=True)
def timeout_passes(peer: Peer) -> Verdict:
    """A branch that took longer than its timeout can only be rolled back; one with more time cannot."""
    selected(peer, 0, 1)
    late, in_time = started(peer), started(peer, channel=1)
    queue = peer.queue(**SHARED)
    for channel, (of, seconds) in enumerate(((late, 1), (in_time, 3600))):
        ask(peer, "set-timeout", of, channel, timeout=seconds)
        fill(peer, queue, b"%d" % channel, channel=channel)
    until_s = peer.now() + 2
    while peer.now() < until_s:
        peer.barrier()
    peer.claim("xa-rbtimeout or xa-rbrollback for the late branch, xa-ok for the other one")
    found = [told(peer, "end", of, channel) for channel, of in enumerate((late, in_time))]
    told(peer, "commit", in_time, 1, one_phase=True)
    holds_soon(peer, queue, 1, 1)
    told_right = (found[0] in _ROLLED_BACK, found[1], bodies(peer, queue, 1))
    return equals(peer, told_right, (True, _DONE, [b"1"]), "rolled back, result, bodies")


# --- a select more


@case("dtx.select.again", covers=["dtx/select/required"])
def select_again(peer: Peer) -> Verdict:
    """Select may come once more: the session works on its branch still."""
    selected(peer)
    of, _ = worked(peer)
    peer.claim("no refusal of the second select")
    peer.send("dtx.select")
    first = allows(peer)
    result = told(peer, "commit", of, one_phase=True)
    return (
        best([first])
        if result != _DONE
        else equals(peer, (first.outcome.value, result), ("pass", _DONE), "result")
    )
