"""Class stream: packets without acknowledgements (amqp-0-10 class stream).

Knows: what consumers, windows and priorities promise. Must not know: targets.

A server may ignore windows (stream.qos.consume-rate#ignore-prefetch): then all packets come at once. A server that
respects them sends no more than they allow, and the rest once the client has reported the first ones completed.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._alike import CONSUMERS, PRIORITIES, PUBLISHING, ROUTING
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_10._contents import STREAM, bodies, consume, left, publish, put, qos

_NEEDS = ("stream",)
_PACKETS = [b"%d" % number for number in range(5)]


PRIORITIES.declare(globals(), STREAM)


@on_shared_queue("stream.acknowledgement", covers=["stream/acknowledgement-support"], needs=_NEEDS)
def gone_once_delivered(peer: Peer, queue: str) -> Verdict:
    """A delivered packet leaves its queue: it is not redelivered when the session ends."""
    put(peer, STREAM, queue, [b"first", b"second"])
    consume(peer, STREAM, queue)
    peer.claim("both packets once, and an empty queue")
    sent = bodies(peer, STREAM, 2)
    peer.detach()
    return equals(peer, (sent, left(peer, STREAM, queue)), ([b"first", b"second"], []), "sent, and again")


# --- windows


def _rest(peer: Peer, seen: Sequence[bytes | None], channel: int = 0) -> list[bytes | None]:
    """All packets of a session in the end: those that were seen, and what completing them brings."""
    found = list(seen)
    while len(found) < len(_PACKETS):
        peer.complete([], channel)
        more = bodies(peer, STREAM, 1, channel)
        if not more:
            break
        found += more
    return found


@on_queue("stream.qos.windows", covers=["stream/qos/prefetch-count/windows"], needs=_NEEDS)
def the_narrower_window(peer: Peer, queue: str) -> Verdict:
    """If both windows are set, the smaller one applies, or none; all packets arrive in the end."""
    put(peer, STREAM, queue, _PACKETS)
    qos(peer, STREAM, prefetch_count=2, prefetch_size=100)
    consume(peer, STREAM, queue)
    ahead = bodies(peer, STREAM, 1)
    peer.claim("at most two packets, or all of them, and all in the end")
    if not ahead:
        return holds(peer, False, "no packets ahead")
    if len(ahead) > 2:
        # The server ignores windows, as it may (ignore-prefetch): then the rest arrives without being asked for.
        ahead += bodies(peer, STREAM, len(_PACKETS) - len(ahead))
        if len(ahead) != len(_PACKETS):
            return holds(peer, False, f"{len(ahead)} packets ahead")
    if (found := _rest(peer, ahead)) != _PACKETS:
        return holds(peer, False, f"packets {found}")
    return observed_either_way(peer, "a window" if len(ahead) <= 2 else "no window")


@in_two_sessions("stream.qos.session", covers=["stream/qos/session"], needs=_NEEDS)
def for_its_session(peer: Peer) -> Verdict:
    """A window applies to its session only: another one on the same connection receives all packets."""
    qos(peer, STREAM, prefetch_count=1)
    found = []
    for channel in (0, 1):
        queue = peer.queue(channel)
        put(peer, STREAM, queue, _PACKETS, channel)
        consume(peer, STREAM, queue, channel)
        found.append(bodies(peer, STREAM, (1, len(_PACKETS))[channel], channel))
    peer.claim("all packets in the session without a window, and in the end all in the other one")
    limited, free = found
    if free != _PACKETS or _rest(peer, limited) != _PACKETS:
        return holds(peer, False, f"packets {limited} and {free}")
    return observed_either_way(peer, "a window" if len(limited) == 1 else "no window")


@in_two_sessions("stream.qos.global", covers=["stream/qos/global/connection"], needs=_NEEDS)
def for_the_connection(peer: Peer) -> Verdict:
    """With global, the sessions of a connection share a window, or there is none."""
    qos(peer, STREAM, prefetch_count=2, **{"global": True})
    ahead = []
    for channel in (0, 1):
        queue = peer.queue(channel)
        put(peer, STREAM, queue, _PACKETS, channel)
        consume(peer, STREAM, queue, channel)
        ahead.append(len(bodies(peer, STREAM, 1 - channel, channel)))
    peer.claim("at most two packets on the connection, or all of them")
    kept = 0 < sum(ahead) <= 2
    if not kept:
        # The server ignores windows, as it may (ignore-prefetch): then the rest arrives without being asked for.
        for channel, seen in enumerate(ahead):
            ahead[channel] += len(bodies(peer, STREAM, len(_PACKETS) - seen, channel))
    if not kept and ahead != [len(_PACKETS)] * 2:
        return holds(peer, False, f"{ahead} packets ahead")
    return observed_either_way(peer, "a window" if kept else "no window")


# --- consumers


CONSUMERS.declare(globals(), STREAM)


@in_session("stream.cancel", covers=["stream/cancel/tail"], needs=_NEEDS)
def cancelled(peer: Peer) -> Verdict:
    """Packets published after cancel do not reach that consumer; they reach others."""
    queue, other = peer.queue(exclusive=False), peer.queue()
    tag = consume(peer, STREAM, queue)
    consume(peer, STREAM, other)
    put(peer, STREAM, queue, [b"before"])
    before = bodies(peer, STREAM, 1)
    peer.claim("after cancel, only the packet for the other consumer")
    peer.call("stream.cancel", consumer_tag=tag)
    put(peer, STREAM, queue, [b"late"])
    put(peer, STREAM, other, [b"other"])
    found = (before, bodies(peer, STREAM, 1), left(peer, STREAM, queue, 1))
    return equals(peer, found, ([b"before"], [b"other"], [b"late"]), "before, after, waiting")


# --- publishing


@in_session("stream.publish.exchange.missing", covers=["stream/publish/exchange/must-exist"], needs=_NEEDS)
def no_exchange(peer: Peer) -> Verdict:
    """A packet cannot be published to an exchange that does not exist."""
    publish(peer, STREAM, "key", b"packet", exchange=peer.name("missing"))
    return rejects_violation(peer)


PUBLISHING.declare(globals(), STREAM)
ROUTING.declare(globals(), STREAM)
