"""Class file, from consumers to windows (amqp-0-10 class file).

Knows: what consumers, qos and priorities promise. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._alike import CONSUMERS, PRIORITIES, ROUTING
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue
from amqpspec.suites.amqp_0_10._contents import FILE, ahead, bodies, consume, got, left, put, qos
from amqpspec.suites.amqp_0_10._entities import after_restart

_NEEDS = ("file",)


@in_session("file.reliable-storage", covers=["file/reliable-storage"], needs=_NEEDS, restarts=True)
def files_survive(peer: Peer) -> Verdict:
    """Files in a durable queue are available after a restart, in order."""
    queue = peer.queue(durable=True, exclusive=False)
    put(peer, FILE, queue, [b"one", b"two"])
    after = after_restart(peer)
    after.claim("both files after the restart")
    consume(after, FILE, queue, no_ack=True)
    return equals(after, bodies(after, FILE, 2), [b"one", b"two"], "files")


PRIORITIES.declare(globals(), FILE)


@in_session(
    "file.consume.no-ack",
    covers=["file/consume/no-ack", "file/acknowledgement-support"],
    needs=_NEEDS,
)
def with_acknowledgement_and_without(peer: Peer) -> Verdict:
    """With no-ack, a delivered file is gone; otherwise it is redelivered if its session ends without an ack."""
    queues = [peer.queue(exclusive=False) for _ in "12"]
    for queue, automatic in zip(queues, (True, False), strict=True):
        consume(peer, FILE, queue, no_ack=automatic)
        put(peer, FILE, queue, [b"first", b"second"])
    peer.claim("both files of the queue with acknowledgement again, and none of the other one")
    sent = sorted(one.body or b"" for one in ahead(peer, 4))
    peer.detach()
    # What was delivered before may be redelivered out of order (2.4).
    again = [left(peer, FILE, queues[0]), sorted(left(peer, FILE, queues[1], 2, channel=2), key=str)]
    wanted = ([b"first", b"first", b"second", b"second"], [[], [b"first", b"second"]])
    return equals(peer, (sent, again), wanted, "sent, and again")


# --- windows


@case("file.qos.session", covers=["file/qos/session"], needs=_NEEDS)
def for_its_session(peer: Peer) -> Verdict:
    """A window applies to its session only, and an ack opens it again."""
    queues = []
    for channel in (0, 1):
        peer.open_session(channel)
        queues.append(peer.queue(channel))
    qos(peer, FILE, prefetch_count=1)
    for channel, queue in enumerate(queues):
        put(peer, FILE, queue, [b"1", b"2", b"3"], channel)
        consume(peer, FILE, queue, channel)
    peer.claim("one file in the session with a window, then the next; three in the other session")
    first = got(peer, FILE, 1)
    all_three = [one.body for one in ahead(peer, 3, 1)]
    for one in first:
        peer.call("file.ack", delivery_tag=one.tag)
    found = ([one.body for one in first], bodies(peer, FILE, 1), all_three)
    return equals(peer, found, ([b"1"], [b"2"], [b"1", b"2", b"3"]), "files")


@case("file.qos.prefetch-size", covers=["file/qos/prefetch-size"], needs=_NEEDS)
def no_limit(peer: Peer) -> Verdict:
    """A prefetch size of zero sets no limit, and windows do not apply to a consumer with no-ack."""
    found = []
    peer.claim("with size zero as many files as with a large one, two at most, and all three with no-ack")
    for channel, window, automatic in ((0, (2, 100_000), False), (1, (2, 0), False), (2, (1, 1), True)):
        peer.open_session(channel)
        queue = peer.queue(channel)
        put(peer, FILE, queue, [b"a" * 5000, b"b", b"c"], channel)
        qos(peer, FILE, channel, prefetch_count=window[0], prefetch_size=window[1])
        consume(peer, FILE, queue, channel, no_ack=automatic)
        found.append(len(bodies(peer, FILE, (2, 2, 3)[channel], channel)))
    # The server may send less in advance (prefetch-discretion), but not because of a size that sets no limit.
    kept = 1 <= found[0] <= found[1] <= 2 and found[2] == 3
    return holds(peer, kept, f"files {found}")


@case("file.qos.windows", covers=["file/qos/prefetch-count/windows"], needs=_NEEDS)
def the_narrower_window(peer: Peer) -> Verdict:
    """If both windows are set, the smaller one applies."""
    found = []
    for channel, (count, size) in enumerate(((3, 8), (1, 100))):
        peer.open_session(channel)
        queue = peer.queue(channel)
        put(peer, FILE, queue, [b"1234", b"5678", b"9"], channel)
        qos(peer, FILE, channel, prefetch_count=count, prefetch_size=size)
        consume(peer, FILE, queue, channel)
        found.append(len(bodies(peer, FILE, 1, channel)))
    peer.claim("no more than 8 octets, and no more than one file")
    return holds(peer, 1 <= found[0] <= 2 and found[1] == 1, f"{found} files")


@on_queue("file.qos.no-more", covers=["file/qos/prefetch-count/prefetch-discretion/no-more"], needs=_NEEDS)
def no_more(peer: Peer, queue: str) -> Verdict:
    """Unacknowledged files never exceed the window, and every file is delivered."""
    put(peer, FILE, queue, [b"%d" % number for number in range(5)])
    qos(peer, FILE, prefetch_count=2)
    consume(peer, FILE, queue)
    peer.claim("at most two files at a time, five in total")
    most, seen = 0, list[bytes | None]()
    while found := got(peer, FILE, 1 if len(seen) < 5 else 0):
        most = max(most, len(found))
        seen += [one.body for one in found]
        peer.call("file.ack", delivery_tag=max(one.tag for one in found), multiple=True)
    return equals(peer, (most <= 2, seen), (True, [b"%d" % number for number in range(5)]), "kept, files")


@on_queue("file.qos.less", covers=["file/qos/prefetch-count/prefetch-discretion/less"], needs=_NEEDS)
def less(peer: Peer, queue: str) -> Verdict:
    """A server may send fewer files ahead than the window allows."""
    put(peer, FILE, queue, [b"%d" % number for number in range(5)])
    qos(peer, FILE, prefetch_count=3)
    consume(peer, FILE, queue)
    ahead = len(bodies(peer, FILE, 3))
    peer.claim("at least one file")
    if not ahead:
        return holds(peer, False, "no file")
    return observed_either_way(peer, f"{ahead} files although there was room for 3")


@case("file.qos.global", covers=["file/qos/global/connection"], needs=_NEEDS)
def for_the_connection(peer: Peer) -> Verdict:
    """With global, the sessions of a connection share a window; another connection has none."""
    found = []
    other = peer.another()
    for one, channel in ((peer, 0), (peer, 1), (other, 0)):
        one.open_session(channel)
    qos(peer, FILE, prefetch_count=2, **{"global": True})
    for one, channel in ((peer, 0), (peer, 1), (other, 0)):
        queue = one.queue(channel)
        put(one, FILE, queue, [b"1", b"2", b"3"], channel)
        consume(one, FILE, queue, channel)
        # On the first channel the window has room; on the second, nothing has to arrive.
        found.append(len(bodies(one, FILE, 3 if one is other else 1 - channel, channel)))
    peer.claim("at most two files on the connection with a window, and files on the other one")
    return holds(peer, 1 <= found[0] + found[1] <= 2 and found[2] > 0, f"{found} files")


@on_queue("file.qos.until-next", covers=["file/qos-ok/until-next"], needs=_NEEDS)
def until_the_next(peer: Peer, queue: str) -> Verdict:
    """A second qos replaces the first one for existing consumers too."""
    put(peer, FILE, queue, [b"%d" % number for number in range(6)])
    qos(peer, FILE, prefetch_count=3)
    consume(peer, FILE, queue)
    peer.claim("one to three files, then one at a time")
    first = got(peer, FILE, 3)
    qos(peer, FILE, prefetch_count=1)
    for one in first:
        peer.call("file.ack", delivery_tag=one.tag)
    found = (len(first), len(bodies(peer, FILE, 1)))
    return holds(peer, 1 <= found[0] <= 3 and found[1] == 1, f"files {found}")


# --- consumers


CONSUMERS.declare(globals(), FILE)


@in_session("file.cancel", covers=["file/cancel/no-more"], needs=_NEEDS)
def cancelled(peer: Peer) -> Verdict:
    """After cancel, the consumer receives nothing more; files received before can be acknowledged, or are kept."""
    queue, other = peer.queue(exclusive=False), peer.queue()
    tag = consume(peer, FILE, queue)
    consume(peer, FILE, other)
    put(peer, FILE, queue, [b"acknowledged", b"held"])
    first, second = ahead(peer, 2)
    peer.claim("after cancel, only the file for the other consumer")
    peer.call("file.cancel", consumer_tag=tag)
    put(peer, FILE, queue, [b"late"])
    put(peer, FILE, other, [b"other"])
    behind = bodies(peer, FILE, 1)
    peer.call("file.ack", delivery_tag=first.tag)
    waiting = left(peer, FILE, queue, 1)
    peer.call("file.ack", delivery_tag=second.tag)
    return equals(peer, (behind, waiting), ([b"other"], [b"late"]), "after cancel, waiting")


# --- routing


ROUTING.declare(globals(), FILE)
