"""Class tx: transactions of one session (amqp-0-10 class tx).

Knows: select, commit, rollback, and what they cover. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, PRE_ACQUIRED, Peer
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._branches import ask, xid
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions
from amqpspec.suites.amqp_0_10._entities import after_restart, bodies
from amqpspec.suites.amqp_0_10._messages import (
    SHARED,
    answer,
    bodies_soon,
    contents,
    count_of,
    fill,
    has_on_offer_soon,
)

# --- select


@in_session("tx.select.first", covers=["tx/select/first"])
def select_first(peer: Peer) -> Verdict:
    """After select, commit and rollback work; a second select is refused."""
    peer.call("tx.select")
    peer.call("tx.commit")
    peer.call("tx.rollback")
    return rejects(peer, "tx.select")


@in_two_sessions("tx.select.twice", covers=["tx/select/exactly-once"])
def select_twice(peer: Peer) -> Verdict:
    """A second select in a session is refused; another session may select independently."""
    for channel in (0, 1):
        peer.call("tx.select", channel)
    return rejects(peer, "tx.select")


@in_session("tx.select.dtx", covers=["tx/select/no-dtx"])
def select_on_a_branch(peer: Peer) -> Verdict:
    """A session that works on a branch of dtx cannot select tx."""
    peer.call("dtx.select")
    ask(peer, "start", xid(peer))
    return rejects(peer, "tx.select")


def _subscribe_in_mode_none(peer: Peer) -> None:
    peer.send(
        "message.subscribe", queue=peer.queue(), destination="d", accept_mode=NONE, acquire_mode=PRE_ACQUIRED
    )


@in_session("tx.select.subscribe", covers=["tx/select/explicit-accepts/subscribe"])
def subscribe_in_mode_none(peer: Peer) -> Verdict:
    """With transactions, a subscription with accept-mode none is refused; one in explicit mode is accepted."""
    peer.call("tx.select")
    peer.subscribe(peer.queue())
    _subscribe_in_mode_none(peer)
    return rejects_violation(peer)


@in_session("tx.select.subscribed", covers=["tx/select/explicit-accepts/select"])
def select_with_mode_none(peer: Peer) -> Verdict:
    """Select is refused if the session has a subscription with accept-mode none."""
    for mode in (EXPLICIT, NONE):
        peer.subscribe(peer.queue(), accept_mode=mode)
    return rejects(peer, "tx.select")


@in_two_sessions("tx.select.cancelled", covers=["tx/select/explicit-accepts/select"])
def select_behind_cancel(peer: Peer) -> Verdict:
    """A cancelled subscription with accept-mode none, or one of another session, does not prevent select."""
    queue = peer.queue(**SHARED)
    peer.subscribe(queue, 1, messages=None, accept_mode=NONE)
    peer.call("message.cancel", destination=peer.subscribe(queue, messages=None, accept_mode=NONE))
    peer.claim("transactions: the message is available only after commit")
    peer.call("tx.select")
    fill(peer, queue, b"m")
    before = count_of(peer, queue)
    peer.call("tx.commit")
    return equals(peer, (before, has_on_offer_soon(peer, queue, 1)), (0, True), "before, after")


# --- commit


@in_two_sessions("tx.commit", covers=["tx/commit/effect"])
def commit(peer: Peer) -> Verdict:
    """Each commit publishes the transferred messages and removes the accepted ones."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    target = peer.queue(**SHARED)
    peer.subscribe(queue)
    found = peer.transfers(2)
    peer.call("tx.select")
    peer.claim("nothing before commit, everything after it, twice")
    seen = []
    for transfer, body in zip(found, (b"a", b"b"), strict=True):
        answer(peer, "accept", [transfer])
        fill(peer, target, body)
        seen.append(bodies(peer, target, 1))
        peer.call("tx.commit")
        seen.append(bodies_soon(peer, target, 1, 1))
    peer.detach()
    wanted = ([[], [b"a"], [], [b"b"]], 0)
    return equals(peer, (seen, count_of(peer, queue, 1)), wanted, "before and after, left")


@in_two_sessions("tx.commit.not-accepted", covers=["tx/commit/effect"])
def commit_of_one_of_two(peer: Peer) -> Verdict:
    """Commit removes accepted messages; delivered, unaccepted ones stay with their recipient."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    peer.subscribe(queue)
    found = peer.transfers(2)
    peer.call("tx.select")
    peer.claim("the unaccepted message, after the session ends")
    answer(peer, "accept", found[:1])
    peer.call("tx.commit")
    peer.detach()
    return equals(peer, bodies_soon(peer, queue, 1, 1), [b"2"], "bodies")


def _completed_with(peer: Peer, ending: str) -> Verdict:
    """Two publishes and an accept of a transaction are complete when its end is."""
    peer.open_session()
    queue = fill(peer, peer.queue(**SHARED), b"1")
    peer.subscribe(queue)
    (transfer,) = peer.transfers(1)
    peer.call("tx.select")
    covered = [peer.publish(queue, body) for body in (b"a", b"b")]
    assert transfer.id is not None
    covered.append(peer.send("message.accept", transfers=((transfer.id, transfer.id),)))
    peer.claim("all commands complete with the end of the transaction")
    number = peer.send(f"tx.{ending}", sync=True)
    peer.completion(number)
    done = [one is not None and one in peer.sessions[0].done for one in covered]
    return equals(peer, done, [True] * 3, "complete")


@case("tx.commit.completion", covers=["tx/commit/completion"])
def completion_of_commit(peer: Peer) -> Verdict:
    """When commit completes, all commands that it covers are complete."""
    return _completed_with(peer, "commit")


@in_two_sessions("tx.commit.accept-modes", covers=["tx/commit/publishing"])
def publishing_in_every_mode(peer: Peer) -> Verdict:
    """A transaction may publish with both accept-modes."""
    queue = peer.queue(**SHARED)
    peer.call("tx.select")
    peer.claim("both messages after commit")
    for mode, body in ((EXPLICIT, b"explicit"), (NONE, b"none")):
        peer.publish(queue, body, accept_mode=mode)
    peer.call("tx.commit")
    return equals(peer, bodies_soon(peer, queue, 2, 1), [b"explicit", b"none"], "bodies")


@in_two_sessions("tx.commit.no-select", covers=["tx/commit/select-required"])
def commit_without_select(peer: Peer) -> Verdict:
    """A session that has not selected tx cannot commit, even if another session has."""
    peer.call("tx.select", 1)
    return rejects(peer, "tx.commit")


# --- rollback


@in_two_sessions("tx.rollback", covers=["tx/rollback/effect"])
def rollback(peer: Peer) -> Verdict:
    """Rollback drops transfers and accepts, and begins the next transaction."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    target = peer.queue(**SHARED)
    peer.subscribe(queue)
    found = peer.transfers(2)
    peer.call("tx.select")
    peer.claim(
        "only the message of the second transaction; both consumed messages again after the session ends"
    )
    answer(peer, "accept", found)
    fill(peer, target, b"forgotten")
    peer.call("tx.rollback")
    fill(peer, target, b"kept")
    before = bodies(peer, target, 1)
    peer.call("tx.commit")
    behind = bodies_soon(peer, target, 1, 1)
    peer.detach()
    told = (before, behind, sorted(bodies_soon(peer, queue, 2, 1)))
    return equals(peer, told, ([], [b"kept"], [b"1", b"2"]), "before, after, available again")


@in_session("tx.commit.restart", covers=["tx/commit/effect"], restarts=True, budget_s=180.0)
def accepted_for_good(peer: Peer) -> Verdict:
    """A persistent message that was accepted in a transaction does not return after commit and a restart."""
    queue = peer.queue(durable=True, exclusive=False)
    for body in (b"accepted", b"waiting"):
        peer.publish(queue, body, delivery={"delivery_mode": 2}, sync=True)
    peer.subscribe(queue, messages=1)
    found = peer.transfers(1)
    peer.call("tx.select")
    answer(peer, "accept", found)
    peer.call("tx.commit")
    after = after_restart(peer)
    after.claim("the message that was not accepted")
    return equals(after, contents(after.drain(queue)), [b"waiting"], "bodies")


@in_two_sessions("tx.rollback.session-end", covers=["tx/rollback/effect"])
def session_ends_without_commit(peer: Peer) -> Verdict:
    """A transaction whose session ends before commit has no effect."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2")
    peer.subscribe(queue)
    found = peer.transfers(2)
    peer.call("tx.select")
    peer.claim("both messages again, and nothing else")
    answer(peer, "accept", found[:1])
    fill(peer, queue, b"forgotten")
    peer.detach()
    return equals(peer, sorted(bodies_soon(peer, queue, 2, 1)), [b"1", b"2"], "bodies")


@case("tx.rollback.completion", covers=["tx/rollback/completion"])
def completion_of_rollback(peer: Peer) -> Verdict:
    """When rollback completes, all commands that it covers are complete."""
    return _completed_with(peer, "rollback")


@in_two_sessions("tx.rollback.still-acquired", covers=["tx/rollback/still-acquired"])
def still_acquired(peer: Peer) -> Verdict:
    """After rollback, the client still holds the messages that it had accepted, and can accept them again."""
    queue = fill(peer, peer.queue(**SHARED), b"1", b"2", b"3")
    peer.subscribe(queue, messages=2)
    found = peer.transfers(2)
    peer.call("tx.select")
    peer.claim("only the third message for other sessions; then the released one, and not the accepted one")
    answer(peer, "accept", found)
    peer.call("tx.rollback")
    others = contents(peer.drain(queue, 1))
    answer(peer, "accept", found[:1])
    peer.call("tx.commit")
    answer(peer, "release", found[1:])
    has_on_offer_soon(peer, queue, 1, 1)
    back = contents(peer.drain(queue, 1))
    peer.detach()
    told = (others, back, count_of(peer, queue, 1))
    return equals(peer, told, ([b"3"], [b"2"], 0), "others, released, left")


@in_two_sessions("tx.rollback.no-select", covers=["tx/rollback/select-required"])
def rollback_without_select(peer: Peer) -> Verdict:
    """A session that has not selected tx cannot roll back, even if another session has."""
    peer.call("tx.select", 1)
    return rejects(peer, "tx.rollback")


@case("tx.rollback.dtx", covers=["tx/rollback/select-required", "tx/commit/select-required"], needs=["dtx"])
def neither_on_a_branch(peer: Peer) -> Verdict:
    """A session that works on a dtx branch and has not selected tx cannot roll back or commit."""
    verdicts = []
    for name in ("rollback", "commit"):
        one = peer.another()
        one.open_session()
        one.call("dtx.select")
        ask(one, "start", xid(one))
        one.send(f"tx.{name}")
        verdicts.append(rejects_violation(one, row=f"tx/{name}/select-required"))
    return worst(verdicts)
