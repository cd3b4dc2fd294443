"""Restartable downloads: PREPARE from the target, READY, and the rest (restartable-mode, handle.notify)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply, equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX
from amqpspec.suites.amqp_fast_0_8._transfers import BODY, restartable
from amqpspec.wire.amqp_fast_0_8.message import decode_opening

_WAYS = ("handle.prepare", "handle.notify")
_NO_PREPARE = "the target does not use PREPARE for this message, which is only recommended"


def _downloads(peer: Peer, bodies: list[bytes] | None = None) -> bool:
    """Read messages on a restartable channel; whether the target sends PREPARE for the first of them."""
    name = restartable(peer)
    for body in bodies or [BODY]:
        peer.store(name, body, 1, identifier="id")
    peer.claim("the message, by PREPARE or by NOTIFY")
    peer.reader(name, 2)
    arrival = peer.wait(lambda a: a.kind in _WAYS, peer.patience_s)
    if arrival.kind not in _WAYS:
        raise Unmet("PREPARE or NOTIFY", arrival.describe(peer.dialect), arrival)
    peer.keep(arrival)
    return arrival.kind == "handle.prepare"


@case("restartable.not-unasked", covers=["restartable/not-unasked"])
def no_prepare_without_the_mode(peer: Peer) -> Verdict:
    """On a channel that is not restartable, a large message is delivered without PREPARE."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    peer.open_channel()
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    peer.claim("two messages in NOTIFYs, no PREPARE")
    for _ in range(2):
        peer.store(name, BODY, 1)
    seen = peer.bodies(2, 2), peer.stashed(lambda a: a.kind == "handle.prepare")
    return equals(peer, seen, ([BODY, BODY], []), "bodies, and PREPAREs")


@case("restartable.not-for-one-fragment.sent", covers=["restartable/not-for-one-fragment"])
def no_prepare_for_small_messages(peer: Peer) -> Verdict:
    """On a restartable channel, messages of one fragment are delivered without PREPARE."""
    name = restartable(peer)
    peer.reader(name, 2)
    peer.claim("two messages in NOTIFYs, no PREPARE")
    peer.publish_all(name, [b"a", b"b"], 1)
    arrivals = [
        peer.wait(lambda a: a.kind in ("handle.prepare", "handle.notify"), peer.patience_s) for _ in "ab"
    ]
    return equals(peer, [a.kind for a in arrivals], ["handle.notify"] * 2, "commands")


@case("restartable.recommended", covers=["restartable/recommended"])
def prepare_for_large_messages(peer: Peer) -> Verdict:
    """On a restartable channel, the target may begin a message of several fragments with PREPARE."""
    way = "PREPARE" if _downloads(peer) else "NOTIFY"
    return observed_either_way(peer, f"large messages begin with {way}")


@case("restartable.question", covers=["restartable/question", "handle/prepare/carries"])
def prepare_carries_the_first_fragment(peer: Peer) -> Verdict:
    """The target's PREPARE carries the complete head and the start of the body, within the client's FRAME_MAX."""
    if not _downloads(peer):
        return does_not_apply(peer, _NO_PREPARE)
    peer.claim("the head that was sent, and octets of the body's beginning")
    prepared = peer.expect("handle.prepare", handle=2)
    head, first = decode_opening(prepared.fragment)
    small = len(prepared.fragment) <= LEAST_FRAME_MAX
    seen = (head["identifier"], head["body_size"], BODY.startswith(first), small)
    wanted = ("id", len(BODY), True, True)
    return equals(peer, seen, wanted, "identifier, size, beginning of the body, and whether it fits")


@case(
    "restartable.download",
    covers=["handle/notify/restarted", "handle/notify/recovery", "handle/summary/server/ready"],
)
def the_rest_of_a_download(peer: Peer) -> Verdict:
    """After READY with 1500 octets, or with those of PREPARE, NOTIFYs with recovery carry only the rest."""
    if not _downloads(peer, [BODY, BODY[::-1]]):
        return does_not_apply(peer, _NO_PREPARE)
    peer.claim("the body from the point that READY gave, marked as recovery")
    seen, wanted = [], []
    for body, size in ((BODY, 1500), (BODY[::-1], None)):
        prepared = peer.expect("handle.prepare", handle=2)
        held = len(decode_opening(prepared.fragment).body) if size is None else size
        peer.send("handle.ready", handle_id=2, message_size=held)
        message = peer.delivery(2)
        seen.append((message.body, {bool(f.args["recovery"]) for f in message.frames}))
        wanted.append((body[held:], {True}))
    return holds(peer, seen == wanted, f"{[(len(b), flags) for b, flags in seen]} octets and flags")


@case("restartable.download.nothing-held", covers=["restartable/rest", "handle/notify/restarted"])
def a_download_of_everything(peer: Peer) -> Verdict:
    """After READY with zero, the complete body is sent without the head; the message can then be acknowledged."""
    if not _downloads(peer):
        return does_not_apply(peer, _NO_PREPARE)
    peer.claim("the whole body")
    peer.expect("handle.prepare", handle=2)
    peer.send("handle.ready", handle_id=2, message_size=0)
    message = peer.delivery(2)
    peer.ack(message.number)
    return equals(peer, message.body, BODY, "body")


@case("restartable.download.closed-handle", covers=["handle/close/ended"])
def a_handle_that_closes_amid_a_download(peer: Peer) -> Verdict:
    """If a handle is closed between PREPARE and READY, its channel delivers a message to another handle."""
    if not _downloads(peer):
        return does_not_apply(peer, _NO_PREPARE)
    peer.expect("handle.prepare", handle=2)
    peer.open_handle(3)
    name = peer.queue()
    peer.claim("the message for the other handle of the channel")
    peer.close_handle(2)
    peer.reader(name, 4)
    peer.store(name, b"other", 3)
    return equals(peer, peer.delivery(4).body, b"other", "body")


@case("handle.prepare.one-at-a-time", covers=["handle/prepare/not-batched"])
def one_prepare_at_a_time(peer: Peer) -> Verdict:
    """The PREPARE of the second of two large messages does not arrive before READY for the first."""
    if not _downloads(peer, [BODY, BODY]):
        return does_not_apply(peer, _NO_PREPARE)
    peer.claim("one PREPARE, until READY")
    peer.expect("handle.prepare", handle=2)
    peer.barrier()
    early = peer.stashed(lambda a: a.kind == "handle.prepare")
    peer.send("handle.ready", handle_id=2, message_size=0)
    peer.delivery(2)
    peer.expect("handle.prepare", handle=2)
    return equals(peer, len(early), 0, "PREPAREs before READY")
