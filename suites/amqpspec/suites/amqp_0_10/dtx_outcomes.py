"""The class dtx (6) after a branch has ended: commit, rollback, prepare, recover and timeouts.

Knows: what each outcome leaves of a branch and its messages. Must not know: start, join and end (``dtx``).
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import (
    Xid,
    ask,
    in_doubt,
    key_of,
    prepared,
    selected,
    started,
    told,
    worked,
)
from amqpspec.suites.amqp_0_10._cases import in_dtx, in_two_dtx
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._messages import SHARED, bodies_soon, fill, has_on_offer_soon

_ROLLED_BACK = ("xa-rbrollback", "xa-rbtimeout")
_DONE = "xa-ok"

# --- commit, rollback


@in_two_dtx("dtx.commit.effect", covers=["dtx/commit/effect"])
def commit_of_one_phase(peer: Peer) -> Verdict:
    """A one-phase commit makes published messages available and removes consumed ones."""
    of, queue = worked(peer)
    peer.claim("the published message, and not the consumed one")
    told(peer, "commit", of, one_phase=True)
    found = bodies_soon(peer, queue, 1, 1)
    peer.detach()
    peer.barrier(1)
    return equals(peer, (found, bodies(peer, queue, 1)), ([b"made"], []), "bodies, then")


@in_two_dtx("dtx.commit.effect.two-phase", covers=["dtx/commit/effect"])
def commit_of_two_phases(peer: Peer) -> Verdict:
    """Prepare makes no work visible; commit makes all work of its branch effective, and of no other branch."""
    (of, queue), (other, untouched) = prepared(peer), prepared(peer)
    peer.claim("nothing after prepare, the published message after commit, nothing of the other branch")
    before = bodies(peer, queue, 1)
    told(peer, "commit", of)
    found = (
        before,
        bodies_soon(peer, queue, 1, 1),
        bodies(peer, untouched, 1),
        key_of(other) in in_doubt(peer),
    )
    return equals(peer, found, ([], [b"made"], [], True), "before, after, other branch, in doubt")


@in_dtx("dtx.commit.result", covers=["dtx/commit/result"])
def results_of_commit(peer: Peer) -> Verdict:
    """Commit of a branch that did work results in xa-ok, with one phase and with two."""
    peer.claim("xa-ok twice")
    found = [told(peer, "commit", worked(peer)[0], one_phase=True), told(peer, "commit", prepared(peer)[0])]
    return equals(peer, found, [_DONE, _DONE], "results")


@in_two_dtx("dtx.commit.result.rolled-back", covers=["dtx/commit/result"])
def result_of_a_commit_in_vain(peer: Peer) -> Verdict:
    """Commit of a branch that can only be rolled back results in the reason."""
    of = started(peer)
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout")
    found = told(peer, "commit", of, 1, one_phase=True)
    return holds(peer, found in _ROLLED_BACK, f"result {found}")


@in_two_dtx("dtx.rollback.effect", covers=["dtx/rollback/effect"])
def rollback_of_ended(peer: Peer) -> Verdict:
    """Rollback drops published messages and returns consumed ones to their queue."""
    of, queue = worked(peer)
    peer.claim("the consumed message")
    told(peer, "rollback", of)
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"used"], "bodies")


@in_two_dtx("dtx.rollback.effect.prepared", covers=["dtx/rollback/effect"])
def rollback_of_prepared(peer: Peer) -> Verdict:
    """Another session can roll back a prepared branch; another branch can still be committed."""
    (of, queue), (other, kept) = prepared(peer), prepared(peer)
    peer.claim("the consumed message of the first branch, the published message of the other one")
    told(peer, "rollback", of, 1)
    told(peer, "commit", other, 1)
    for name in (queue, kept):
        has_on_offer_soon(peer, name, 1, 1)
    found = [bodies(peer, name, 1) for name in (queue, kept)]
    return equals(peer, found, [[b"used"], [b"made"]], "bodies")


@in_dtx("dtx.rollback.result", covers=["dtx/rollback/result"])
def results_of_rollback(peer: Peer) -> Verdict:
    """Rollback results in xa-ok for an ended branch and for a prepared one."""
    peer.claim("xa-ok twice")
    found = [told(peer, "rollback", worked(peer)[0]), told(peer, "rollback", prepared(peer)[0])]
    return equals(peer, found, [_DONE, _DONE], "results")


# --- prepare, recover


@in_dtx("dtx.prepare.result", covers=["dtx/prepare/result"])
def results_of_prepare(peer: Peer) -> Verdict:
    """Prepare results in xa-ok for a branch with work, and in xa-ok or xa-rdonly for one without."""
    of, idle = worked(peer)[0], started(peer)
    ask(peer, "end", idle)
    peer.claim("xa-ok, and xa-ok or xa-rdonly")
    found = (told(peer, "prepare", of), told(peer, "prepare", idle))
    right = found[0] == _DONE and found[1] in (_DONE, "xa-rdonly")
    return holds(peer, right, f"results {found}")


@in_two_dtx("dtx.prepare.result.rolled-back", covers=["dtx/prepare/result"])
def result_of_a_prepare_in_vain(peer: Peer) -> Verdict:
    """Prepare of a branch that can only be rolled back results in the reason."""
    of = started(peer)
    fill(peer, peer.queue(**SHARED), b"made")
    peer.detach()
    peer.claim("xa-rbrollback or xa-rbtimeout")
    found = told(peer, "prepare", of, 1)
    return holds(peer, found in _ROLLED_BACK, f"result {found}")


@in_dtx("dtx.prepare.both-ways", covers=["dtx/prepare/obligation-1"])
def prepared_goes_both_ways(peer: Peer) -> Verdict:
    """Prepared branches can be committed and rolled back after the connection that prepared them is closed."""
    (first, committed), (second, rolled_back) = prepared(peer), prepared(peer)
    other = peer.another()
    selected(other)
    peer.close()
    other.claim("xa-ok twice; the published message, the consumed message")
    results = [told(other, "commit", first), told(other, "rollback", second)]
    for queue in (committed, rolled_back):
        has_on_offer_soon(other, queue, 1)
    found = [bodies(other, queue) for queue in (committed, rolled_back)]
    return equals(other, (results, found), ([_DONE, _DONE], [[b"made"], [b"used"]]), "results, bodies")


@in_dtx("dtx.prepare.late", covers=["dtx/prepare/obligation-1"], slow=True)
def prepared_outlives_its_timeout(peer: Peer) -> Verdict:
    """A branch that was prepared in time can be committed after its timeout."""
    of, queue = worked(peer)
    ask(peer, "set-timeout", of, timeout=2)
    in_time = told(peer, "prepare", of)
    if in_time != _DONE:
        raise Unmet("a branch that is prepared in time", in_time)
    peer.wait(lambda arrival: False, 3.0)
    peer.claim("xa-ok, and the published message")
    result = told(peer, "commit", of)
    return equals(peer, (result, bodies_soon(peer, queue, 1)), (_DONE, [b"made"]), "result, bodies")


@in_dtx(
    "dtx.prepare.restart",
    covers=["dtx/prepare/obligation-2", "dtx/prepare/obligation-1"],
    restarts=True,
    budget_s=180.0,
)
def prepared_outlives_a_restart(peer: Peer) -> Verdict:
    """The server still knows a prepared branch after a restart, and its commit takes effect."""
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
    return equals(
        after,
        (known, result, bodies_soon(after, queue, 1)),
        (True, _DONE, [b"made"]),
        "known, result, bodies",
    )


@in_two_dtx("dtx.prepare.known", covers=["dtx/prepare/obligation-2"])
def prepared_stays_known(peer: Peer) -> Verdict:
    """The server knows a prepared branch after its session ends, until it is committed."""
    of, _ = prepared(peer)
    peer.detach()
    peer.claim("in doubt before commit, not after it")
    found = [key_of(of) in in_doubt(peer, 1)]
    told(peer, "commit", of, 1)
    found.append(key_of(of) in in_doubt(peer, 1))
    return equals(peer, found, [True, False], "in doubt")


@in_two_dtx("dtx.recover", covers=["dtx/recover/in-doubt"])
def recover(peer: Peer) -> Verdict:
    """Recover lists prepared branches with complete xids, and no other branches."""
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


@in_dtx("dtx.get-timeout", covers=["dtx/get-timeout/value"])
def get_timeout(peer: Peer) -> Verdict:
    """Get-timeout returns the last value of set-timeout for its branch only."""
    first, _ = worked(peer)
    second = started(peer)
    peer.claim("each branch with its timeout")
    default = _timeout(peer, second)
    found = []
    for timeout in (3600, 7200):
        ask(peer, "set-timeout", first, timeout=timeout)
        found.append((_timeout(peer, first), _timeout(peer, second) == default))
    return equals(peer, found, [(3600, True), (7200, True)], "timeouts")


@in_dtx("dtx.set-timeout.effective", covers=["dtx/set-timeout/effective"])
def timeout_holds(peer: Peer) -> Verdict:
    """A timeout stays in effect through suspend, resume and end until another one is set."""
    of = started(peer)
    peer.claim("the timeout that was set, until another one is set")
    ask(peer, "set-timeout", of, timeout=3600)
    found = [_timeout(peer, of)]
    ask(peer, "end", of, suspend=True)
    ask(peer, "start", of, resume=True)
    found.append(_timeout(peer, of))
    ask(peer, "end", of)
    found.append(_timeout(peer, of))
    ask(peer, "set-timeout", of, timeout=1800)
    return equals(peer, [*found, _timeout(peer, of)], [3600, 3600, 3600, 1800], "timeouts")


@in_dtx("dtx.set-timeout.reset", covers=["dtx/set-timeout/reset"])
def timeout_reset(peer: Peer) -> Verdict:
    """A timeout of zero restores the default and does not end the branch."""
    of = started(peer)
    peer.claim("the default timeout, and a branch that can still be ended")
    default = _timeout(peer, of)
    ask(peer, "set-timeout", of, timeout=3600)
    ask(peer, "set-timeout", of, timeout=0)
    found = _timeout(peer, of), told(peer, "end", of)
    return equals(peer, found, (default, _DONE), "timeout, result of end")


@in_two_dtx("dtx.set-timeout.expires", covers=["dtx/set-timeout/effective"], slow=True)
def timeout_passes(peer: Peer) -> Verdict:
    """A branch that exceeds its timeout can only be rolled back; a branch with more time can be committed."""
    late, in_time = started(peer), started(peer, channel=1)
    queue = peer.queue(**SHARED)
    for channel, (of, seconds) in enumerate(((late, 1), (in_time, 3600))):
        ask(peer, "set-timeout", of, channel, timeout=seconds)
        fill(peer, queue, b"%d" % channel, channel=channel)
    peer.wait(lambda arrival: False, 2.0)
    peer.claim("xa-rbtimeout or xa-rbrollback for the late branch, xa-ok for the other one")
    found = [told(peer, "end", of, channel) for channel, of in enumerate((late, in_time))]
    told(peer, "commit", in_time, 1, one_phase=True)
    told_right = (found[0] in _ROLLED_BACK, found[1], bodies_soon(peer, queue, 1, 1))
    return equals(peer, told_right, (True, _DONE, [b"1"]), "rolled back, result, bodies")
