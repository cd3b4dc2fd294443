"""Class file: acknowledging and rejecting (amqp-0-10 class file).

Knows: tags, and the result of files that were delivered. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import on_shared_queue
from amqpspec.suites.amqp_0_10._contents import FILE, ahead, bodies, consume, left, put

_NEEDS = ("file",)


def _used_elsewhere(peer: Peer, name: str) -> Verdict:
    """A tag of one session is used in another one, which has had nothing."""
    peer.open_session()
    peer.open_session(1)
    queue = peer.queue()
    put(peer, FILE, queue, [b"file"])
    consume(peer, FILE, queue)
    (one,) = ahead(peer, 1)
    peer.send(name, 1, delivery_tag=one.tag)
    return rejects_violation(peer, 1)


@case("file.ack.session-local", covers=["file/ack/delivery-tag/session-local"], needs=_NEEDS)
def acknowledged_elsewhere(peer: Peer) -> Verdict:
    """A file can be acknowledged only in its own session."""
    return _used_elsewhere(peer, "file.ack")


@case("file.reject.session-local", covers=["file/reject/delivery-tag/session-local"], needs=_NEEDS)
def rejected_elsewhere(peer: Peer) -> Verdict:
    """A file can be rejected only in its own session."""
    return _used_elsewhere(peer, "file.reject")


@case("file.ack.multiple", covers=["file/ack/multiple/up-to"], needs=_NEEDS)
def up_to(peer: Peer) -> Verdict:
    """Multiple acknowledges all files up to the tag, or all files with tag zero; otherwise only one."""
    peer.claim("only the files that were not acknowledged")
    again = []
    for at, multiple in ((2, True), (2, False), (None, True)):
        one = peer.another()
        one.open_session()
        queue = one.queue(exclusive=False)
        put(one, FILE, queue, [b"0", b"1", b"2", b"3"])
        consume(one, FILE, queue)
        tags = [each.tag for each in ahead(one, 4)]
        one.call("file.ack", delivery_tag=0 if at is None else tags[at], multiple=multiple)
        one.detach()
        # What was delivered before may be redelivered out of order (2.4).
        again.append(sorted(left(one, FILE, queue, {2: 1, None: 0}[at] if multiple else 3), key=str))
    return equals(peer, again, [[b"3"], [b"0", b"1", b"3"], []], "files delivered again")


@on_shared_queue("file.ack.zero", covers=["file/ack/multiple/up-to"], needs=_NEEDS)
def zero_alone(peer: Peer, queue: str) -> Verdict:
    """Without multiple, a tag of zero acknowledges no file, or all of them."""
    put(peer, FILE, queue, [b"0", b"1"])
    consume(peer, FILE, queue)
    ahead(peer, 2)
    # No delivery has the tag zero. Whether the server refuses it is not said; file.deliver.delivery-tag#non-zero gives
    # zero the meaning of all messages without naming multiple.
    peer.send("file.ack", delivery_tag=0)
    reaction = peer.reaction()
    other = peer.another()
    other.open_session()
    peer.claim("both files again, or none")
    if reaction.refusal is None:
        peer.detach()
    found = sorted(left(other, FILE, queue, 2), key=str)
    if found not in ([], [b"0", b"1"]) or (reaction.refusal is not None and not found):
        return holds(peer, False, f"files {found}")
    return observed_either_way(peer, "none acknowledged" if found else "all acknowledged")


@case(
    "file.ack.unknown",
    covers=["file/ack/multiple/validation/refused", "file/ack/multiple/validation/checked"],
    needs=_NEEDS,
)
def unknown_tags(peer: Peer) -> Verdict:
    """A tag that was never used cannot be acknowledged, with or without multiple."""
    verdicts = []
    for multiple in (False, True):
        one = peer.another()
        one.open_session()
        queue = one.queue()
        put(one, FILE, queue, [b"file"])
        consume(one, FILE, queue)
        (known,) = ahead(one, 1)
        one.send("file.ack", delivery_tag=known.tag + 1, multiple=multiple)
        verdicts.append(rejects_violation(one))
    return worst(verdicts)


@on_shared_queue("file.reject.requeue", covers=["file/reject/requeue/flag"], needs=_NEEDS)
def back_or_away(peer: Peer, queue: str) -> Verdict:
    """Without requeue, a rejected file does not return; with requeue, it does, or the server discards it."""
    put(peer, FILE, queue, [b"back", b"away"])
    consume(peer, FILE, queue)
    first, second = ahead(peer, 2)
    peer.claim("only the file with requeue")
    peer.call("file.reject", delivery_tag=first.tag, requeue=True)
    peer.call("file.reject", delivery_tag=second.tag)
    peer.detach()
    found = left(peer, FILE, queue, 1)
    if found not in ([], [b"back"]):
        return holds(peer, False, f"files {found}")
    # The server attempts to requeue; it may also discard the file or make it a dead letter (file.reject#not-selection).
    return observed_either_way(peer, "returned" if found else "not returned")


@on_shared_queue(
    "file.reject.requeue.strategy", needs=_NEEDS,
    covers=["file/reject/requeue/requeue-strategy/same-client", "file/reject/requeue/requeue-strategy/alternative"],
)  # fmt: skip
def to_somebody_else(peer: Peer, queue: str) -> Verdict:
    """A rejected file does not return to its session; it goes to another consumer."""
    put(peer, FILE, queue, [b"file"])
    consume(peer, FILE, queue)
    (one,) = ahead(peer, 1)
    peer.claim("nothing more in the session that rejected it, and the file in the other one")
    # The other consumer is there before: without one, the file is to become a dead letter.
    peer.open_session(1)
    consume(peer, FILE, queue, 1)
    peer.call("file.reject", delivery_tag=one.tag, requeue=True)
    found = (bodies(peer, FILE), bodies(peer, FILE, 1, 1))
    row = "file/reject/requeue/requeue-strategy/alternative" if found == ([], []) else ""
    return equals(peer, found, ([], [b"file"]), "back, and elsewhere", row)
