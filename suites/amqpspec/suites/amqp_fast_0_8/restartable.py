"""Restartable uploads: PREPARE from the client, READY, the rest (restartable-mode, handle.prepare, handle.ready)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.run.amqp_fast_0_8.oracles import borne, judge_reaction
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._transfers import (
    BODY,
    hash_of,
    head_of,
    prepare,
    restartable,
    send_rest,
    upload,
)

_TOO_LARGE = (1 << 32) - 1


@case("restartable.option", covers=["restartable/option"])
def prepare_without_the_mode(peer: Peer) -> Verdict:
    """PREPARE on a channel that is not restartable is refused or served."""
    peer.open_channel(1)
    peer.open_handle(1)
    peer.send("handle.prepare", fragment=head_of(BODY) + BODY[:100])
    return borne(peer, peer.reaction())


@case("restartable.upload", covers=["restartable/upload", "handle/prepare/either", "restartable/supported"])
def an_upload(peer: Peer) -> Verdict:
    """Two consecutive uploads arrive complete."""
    name = restartable(peer)
    peer.claim("both messages")
    bodies = [BODY, BODY[::-1]]
    for number, body in enumerate(bodies):
        upload(peer, name, body, hash=hash_of(body), identifier=peer.name(str(number)))
    peer.open_channel(2)
    return equals(peer, peer.left_in(name, 2), bodies, "messages")


@case(
    "restartable.minimum",
    covers=["restartable/minimum", "handle/ready/message-size", "handle/ready/naive"],
)
def ready_for_a_new_message(peer: Peer) -> Verdict:
    """READY for a new message reports the number of body octets that PREPARE carried, or zero (500, 1 and 0 octets)."""
    restartable(peer)
    peer.claim("the body's octets in PREPARE, or zero")
    seen = []
    for number, octets in enumerate((500, 1, 0), start=2):
        peer.open_channel(number, restartable=True)
        peer.open_handle(number, number)
        head = head_of(BODY, identifier=peer.name("new"))
        seen.append((octets, prepare(peer, head, BODY[:octets], number)["message_size"]))
    sound = all(size in (0, octets) for octets, size in seen)
    if not sound:
        return holds(peer, False, f"octets in PREPARE, and in READY: {seen}")
    return observed_either_way(peer, f"READY counts what PREPARE brought: {all(a == b for a, b in seen)}")


@case("restartable.full", covers=["restartable/full", "handle/ready/temporary"], needs=["full-restart"])
def an_upload_that_broke_off(peer: Peer) -> Verdict:
    """After a connection ends during an upload, READY on a new one reports the octets held, and the rest suffices."""
    peer.open_connection(FRAME_MAX=1024)
    head = head_of(BODY, identifier=peer.name("broken"))
    name = peer.open_channel(9).named_queue("upload", 9)
    restartable(peer)
    prepare(peer, head, BODY[:500])
    send_rest(peer, name, BODY[500:1700], partial=True)
    peer.ping()
    peer.close()
    other = peer.another()
    restartable(other)
    other.claim("1700 octets, and the whole message after its rest")
    size = prepare(other, head, BODY[:500])["message_size"]
    send_rest(other, name, BODY[size:])
    other.open_channel(2)
    return equals(other, (size, other.left_in(name, 2)), (1700, [BODY]), "octets held, and messages")


def _wrong_hash(peer: Peer, tag: int) -> Verdict:
    name = restartable(peer)
    sound, wrong = peer.name("sound"), peer.name("wrong")
    upload(peer, name, BODY, hash=hash_of(BODY), identifier=sound)
    size = prepare(peer, head_of(BODY, identifier=wrong), BODY[:9], hash=hash_of(b"other"))["message_size"]
    send_rest(peer, name, BODY[size:], tag=tag)
    return judge_reaction(peer, peer.reaction())


@case("restartable.wrong-hash", covers=["restartable/wrong-hash"], needs=["full-restart"])
@case("restartable.full.hash", covers=["restartable/full/hash"], needs=["full-restart"])
@case("handle.prepare.hash", covers=["handle/prepare/hash"], needs=["full-restart"])
def a_hash_that_is_wrong(peer: Peer) -> Verdict:
    """A complete message whose hash does not match is refused with 542, with and without a confirm-tag."""
    return worst([_wrong_hash(peer.another(), 0), _wrong_hash(peer.another(), 0x0102)])


@case("restartable.validation", covers=["restartable/validation"])
def a_hash_that_is_right(peer: Peer) -> Verdict:
    """A message with the right hash arrives; whether the target detects a wrong hash is recorded."""
    name = restartable(peer)
    peer.claim("the message with the right hash")
    upload(peer, name, BODY, hash=hash_of(BODY), identifier=peer.name("right"))
    size = prepare(peer, head_of(BODY, identifier=peer.name("wrong")), hash=hash_of(b""))["message_size"]
    send_rest(peer, name, BODY[size:])
    noticed = peer.reaction().refusal is not None
    peer.open_channel(2)
    if peer.left_in(name, 2)[:1] != [BODY]:
        return holds(peer, False, "the message with the right hash did not arrive")
    return observed_either_way(peer, "hashes are checked" if noticed else "hashes are not checked")


@case("restartable.not-for-one-fragment", covers=["restartable/not-for-one-fragment"])
def prepare_for_a_small_message(peer: Peer) -> Verdict:
    """PREPARE for a message that fits into one fragment is refused or tolerated."""
    restartable(peer)
    peer.send("handle.prepare", fragment=head_of(b"small"))
    return borne(peer, peer.reaction())


@case(
    "restartable.rest",
    covers=["restartable/rest", "handle/send/restarted", "handle/send/recovery", "handle/send/head"],
)
def the_rest_behind_ready(peer: Peer) -> Verdict:
    """After READY, SENDs with recovery carry the missing octets without the head, and the message is complete."""
    name = restartable(peer)
    peer.claim("body and identifier of PREPARE and SEND")
    identifier = peer.name("rest")
    size = prepare(peer, head_of(BODY, identifier=identifier, priority=3), BODY[:700])["message_size"]
    send_rest(peer, name, BODY[size:])
    peer.open_channel(2)
    peer.reader(name, 2, 2)
    message = peer.delivery(2)
    seen = (message.body, message.head["identifier"], message.head["priority"])
    return equals(peer, seen, (BODY, identifier, 3), "body, identifier and priority")


@case("handle.prepare.no-hash", covers=["handle/prepare/no-hash"])
def no_hash_no_validation(peer: Peer) -> Verdict:
    """A message with an empty hash arrives unchecked."""
    name = restartable(peer)
    peer.claim("the message")
    upload(peer, name, BODY, identifier=peer.name("unchecked"))
    peer.open_channel(2)
    return equals(peer, peer.left_in(name, 2), [BODY], "messages")


@case("handle.prepare.identity", covers=["handle/prepare/identity"], needs=["full-restart"])
def heads_that_differ_in_one_field(peer: Peer) -> Verdict:
    """Heads that differ in the last header are different messages, and READY reports the octets of each."""
    name = restartable(peer)
    identifier = peer.name("same")
    head = head_of(BODY, identifier=identifier, headers={"A": 1, "B": 2})
    prepare(peer, head, BODY[:500])
    send_rest(peer, name, BODY[500:1000], partial=True)
    peer.claim("500 octets more for the same head, the octets of PREPARE for the other")
    sizes = []
    for channel, fields in ((2, {"A": 1, "B": 3}), (3, {"A": 1, "B": 2})):
        peer.open_channel(channel, restartable=True)
        peer.open_handle(channel, channel)
        own = head_of(BODY, identifier=identifier, headers=fields)
        sizes.append(prepare(peer, own, BODY[:10], channel)["message_size"])
    return equals(peer, sizes, [10, 1000], "octets in READY")


@case("handle.prepare.not-batched", covers=["handle/prepare/not-batched"])
def prepares_in_batches(peer: Peer) -> Verdict:
    """A second PREPARE before the message of the first is refused or tolerated."""
    restartable(peer)
    prepare(peer, head_of(BODY, identifier=peer.name("one")))
    peer.send("handle.prepare", fragment=head_of(BODY, identifier=peer.name("two")))
    return borne(peer, peer.reaction())


@case(
    "handle.ready.answer",
    covers=["handle/ready/answer", "handle/summary/server/prepare", "restartable/supported"],
)
def prepare_is_answered(peer: Peer) -> Verdict:
    """PREPARE is answered with READY for its handle, on two handles of two channels."""
    restartable(peer)
    peer.open_channel(2, restartable=True)
    peer.open_handle(0x0102, 2)
    peer.claim("READY with the id of the handle")
    seen = [
        prepare(peer, head_of(BODY, identifier=peer.name("x")), b"", handle)["handle_id"]
        for handle in (1, 0x0102)
    ]
    return equals(peer, seen, [1, 0x0102], "handles")


@case("handle.ready.too-large", covers=["handle/ready/too-large"])
def a_message_that_is_too_large(peer: Peer) -> Verdict:
    """PREPARE of a message of 2^32-1 octets is answered with READY, or closes the channel with code 311."""
    restartable(peer)
    peer.send("handle.prepare", fragment=head_of(b"", body_size=_TOO_LARGE))
    return outlived(peer, borne(peer, peer.reaction()))
