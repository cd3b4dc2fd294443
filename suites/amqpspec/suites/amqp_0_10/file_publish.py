"""Class file: staging, publishing, delivering (amqp-0-10 class file).

Knows: the order open, open-ok, stage, publish, deliver. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects, rejects_violation
from amqpspec.run.oracles import borne_aloud, equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._alike import PUBLISHING
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_10._contents import (
    FILE,
    ahead,
    bodies,
    consume,
    got,
    left,
    open_file,
    publish,
    put,
    stage,
)
from amqpspec.wire.amqp_0_10.values import Packed

_NEEDS = ("file",)
_DELIVERIES = 20
_NO_PROPERTIES = [Packed("file.file-properties", {})]

# --- staging


@on_shared_queue("file.open.identifier", covers=["file/open/identifier/same"], needs=_NEEDS)
def same_identifier(peer: Peer, queue: str) -> Verdict:
    """A file that is announced again after a failure keeps its identifier; another file has another one."""
    # An identifier may be a digest of the properties (file.open.identifier).
    for body in (b"one", b"three"):
        put(peer, FILE, queue, [body], properties={"filename": body.decode()})
    peer.claim("the same identifier after a failure, and another one for the other file")
    broken = peer.another()
    broken.open_session()
    consume(broken, FILE, queue)
    before = broken.expect("file.open")
    broken.hang_up()
    peer.open_session(1)
    consume(peer, FILE, queue, 1, no_ack=True)
    found = {len(one.body or b""): one.deliver["identifier"] for one in got(peer, FILE, 2, 1)}
    same = found.get(before["content_size"]) == before["identifier"] and len(set(found.values())) == 2
    return holds(
        peer, same, f"identifier {before['identifier']}, then {found}", "the same one, and another one"
    )


@in_session("file.open.content-size", covers=["file/open/content-size/content-size"], needs=_NEEDS)
def size_is_told(peer: Peer) -> Verdict:
    """Open contains the size of the content, which may be zero."""
    queue, sent = peer.queue(), [b"", b"1", b"x" * 70_000]
    put(peer, FILE, queue, sent)
    consume(peer, FILE, queue, no_ack=True)
    peer.claim("sizes 0, 1 and 70000, and files of these sizes")
    sizes, staged = [], []
    for _ in sent:
        sizes.append(peer.expect("file.open")["content_size"] or 0)
        # The next file may be announced only after this one is staged: stage names no file.
        peer.send("file.open-ok", staged_size=0)
        staged.append(len(peer.expect("file.stage").body))
    return equals(peer, (sizes, staged), ([0, 1, 70_000],) * 2, "sizes announced, sizes sent")


@in_session("file.open.content-size.exceeded", covers=["file/open/content-size/content-size"], needs=_NEEDS)
def more_than_announced(peer: Peer) -> Verdict:
    """The server may refuse a file that is longer than announced."""
    open_file(peer, peer.name("f"), 3)
    peer.send("file.stage", header=_NO_PROPERTIES, body=b"four")
    return borne_aloud(peer, peer.reaction())


@in_session("file.open-ok.new", covers=["file/open-ok/staged"], needs=_NEEDS)
def nothing_is_staged(peer: Peer) -> Verdict:
    """Open-ok reports that nothing of a new file is staged."""
    peer.claim("a staged size of zero for each")
    sizes = []
    for size in (10, 0):
        sizes.append(open_file(peer, peer.name("f"), size)["staged_size"] or 0)
        peer.send("file.stage", header=_NO_PROPERTIES, body=b"x" * size)
    return equals(peer, sizes, [0, 0], "staged sizes")


@in_session("file.open-ok.behavior", covers=["file/open-ok/staged-size/behavior"], needs=_NEEDS)
def from_the_offset(peer: Peer) -> Verdict:
    """The server sends a file from the octet that open-ok specifies."""
    queue, body = peer.queue(), b"0123456789"
    peer.claim("the rest of each file")
    rests = []
    for offset in (0, 3, 10):
        put(peer, FILE, queue, [body])
        tag = consume(peer, FILE, queue)
        rests += [one.body for one in got(peer, FILE, 1, staged=offset)]
        peer.call("file.cancel", consumer_tag=tag)
    return equals(peer, rests, [body, body[3:], b""], "octets sent")


@in_session(
    "file.open-ok.staging.partial",
    covers=["file/open-ok/staged-size/staging/hold", "file/open-ok/staged-size/staging/discard"],
    needs=_NEEDS,
)
def staged_in_part(peer: Peer) -> Verdict:
    """A server may keep a partly staged file; staging from the reported offset completes it."""
    identifier, body = peer.name("f"), b"0123456789"
    open_file(peer, identifier, len(body))
    peer.send("file.stage", header=_NO_PROPERTIES, body=body[:4])
    # Less than announced: the server may refuse that, which ends the session, too (file.open.content-size).
    if peer.reaction().refusal is None:
        peer.detach()
    peer.open_session(1)
    queue = peer.queue(1)
    peer.claim("a whole file, staged from the offset in open-ok")
    offset = open_file(peer, identifier, len(body), 1)["staged_size"] or 0
    peer.send("file.stage", 1, header=_NO_PROPERTIES, body=body[offset:])
    peer.send("file.publish", 1, routing_key=queue, identifier=identifier)
    consume(peer, FILE, queue, 1)
    found = bodies(peer, FILE, 1, 1)
    if offset > 4 or found != [body]:
        return holds(peer, False, f"staged from {offset}, files {found}")
    return observed_either_way(peer, "kept" if offset else "dropped")


@in_session(
    "file.staging",
    covers=["file/open-ok/staged-size/staging/supported", "file/open-ok/staged-size/staging/discard"],
    needs=_NEEDS,
)
def staged_both_ways(peer: Peer) -> Verdict:
    """A file is staged, published and delivered with its octets and properties."""
    queue, body = peer.queue(), bytes(range(256)) * 400
    properties = {"content_type": "text/plain", "filename": "a file", "priority": 3, "message_id": "m"}
    peer.claim("two files with their octets and properties")
    put(peer, FILE, queue, [body], properties=properties)
    put(peer, FILE, queue, [b"short"], properties={"filename": "another"})
    consume(peer, FILE, queue, no_ack=True)
    found = {one.properties.get("filename"): one for one in got(peer, FILE, 2)}
    told = {name: (dict(one.properties), one.body) for name, one in found.items()}
    wanted = {"a file": (properties, body), "another": ({"filename": "another"}, b"short")}
    return holds(
        peer,
        told == wanted,
        f"files {sorted(map(str, told))}, {'unchanged' if told == wanted else 'changed'}",
    )


# --- publishing


@in_two_sessions("file.publish.distributed", covers=["file/publish/distributed"], needs=[*_NEEDS, "tx"])
def with_its_transaction(peer: Peer) -> Verdict:
    """A published file reaches every bound queue and its consumers when its transaction commits."""
    exchange = peer.exchange("fanout")
    queues = [peer.queue(1) for _ in "123"]
    for queue in queues[:2]:
        peer.call("exchange.bind", 1, exchange=exchange, queue=queue, binding_key="")
    tags = [consume(peer, FILE, queue, 1, no_ack=True) for queue in queues]
    peer.call("tx.select")
    peer.claim("nothing before the commit, then the file for both bound queues")
    put(peer, FILE, "", [b"file"], exchange=exchange)
    before = bodies(peer, FILE, 0, 1)
    peer.call("tx.commit")
    after = sorted(tags.index(one.deliver["consumer_tag"]) for one in got(peer, FILE, 2, 1))
    return equals(peer, (before, after), ([], [0, 1]), "before, and whose after")


@in_session("file.publish.exchange.missing", covers=["file/publish/exchange/must-exist"], needs=_NEEDS)
def no_exchange(peer: Peer) -> Verdict:
    """A file cannot be published to an exchange that does not exist."""
    publish(peer, FILE, "key", b"file", exchange=peer.name("missing"))
    return rejects_violation(peer)


PUBLISHING.declare(globals(), FILE)


@on_queue("file.publish.identifier.unknown", covers=["file/publish/identifier/staged"], needs=_NEEDS)
def never_staged(peer: Peer, queue: str) -> Verdict:
    """A file that was not staged cannot be published."""
    stage(peer, b"another")
    return rejects(peer, "file.publish", routing_key=queue, identifier=peer.name("nothing"))


@in_session("file.publish.identifier.early", covers=["file/publish/identifier/staged"], needs=_NEEDS)
def published_while_it_is_staged(peer: Peer) -> Verdict:
    """A file may be published before it is completely staged; if it is not refused, it arrives."""
    queue, identifier = peer.queue(), peer.name("f")
    consume(peer, FILE, queue)
    open_file(peer, identifier, 4)
    peer.send("file.publish", routing_key=queue, identifier=identifier)
    # No barrier between: publish may complete only after staging has finished. On one session, nothing can be sent
    # within a stage; whether "asynchronously" includes the time before it is not said.
    peer.send("file.stage", header=_NO_PROPERTIES, body=b"file")
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return borne_aloud(peer, reaction)
    peer.claim("the file once it is staged")
    return equals(peer, bodies(peer, FILE, 1), [b"file"], "files")


# --- deliveries


@on_shared_queue("file.deliver.poison", covers=["file/deliver/redelivery-tracking/poison"], needs=_NEEDS)
def poison(peer: Peer, queue: str) -> Verdict:
    """A file that repeatedly returns unacknowledged is not delivered endlessly."""
    put(peer, FILE, queue, [b"poison"])
    peer.claim(f"no further delivery after at most {_DELIVERIES}")
    for number in range(_DELIVERIES):
        peer.open_session(1)
        consume(peer, FILE, queue, 1)
        if not bodies(peer, FILE, 1, 1):
            return holds(peer, number > 0, f"no more after {number}")
        peer.detach(1)
    return holds(peer, False, f"{_DELIVERIES} deliveries, with no end")


@on_queue("file.deliver.tag", covers=["file/deliver/delivery-tag/non-zero"], needs=_NEEDS)
def tags(peer: Peer, queue: str) -> Verdict:
    """Delivery tags are unique and not zero."""
    put(peer, FILE, queue, [b"1", b"2", b"3"])
    consume(peer, FILE, queue, no_ack=True)
    peer.claim("three different tags that are not zero")
    found = [one.tag for one in got(peer, FILE, 3)]
    return holds(peer, len({tag for tag in found if tag}) == 3, f"tags {found}")


@on_queue("file.deliver.identifier", covers=["file/deliver/identifier/staged"], needs=_NEEDS)
def delivered_is_staged(peer: Peer, queue: str) -> Verdict:
    """A file is staged under the identifier in deliver before it is delivered."""
    put(peer, FILE, queue, [b"one", b"two"])
    consume(peer, FILE, queue, no_ack=True)
    peer.claim("two files that were staged before")
    return equals(peer, bodies(peer, FILE, 2), [b"one", b"two"], "files")


@on_shared_queue("file.deliver.redelivered", covers=["file/acknowledgement-support"], needs=_NEEDS)
def redelivered(peer: Peer, queue: str) -> Verdict:
    """A file that was not acknowledged is redelivered; an acknowledged one is not."""
    put(peer, FILE, queue, [b"acknowledged", b"forgotten"])
    consume(peer, FILE, queue)
    first, _ = ahead(peer, 2)
    peer.claim("the file that was not acknowledged")
    peer.call("file.ack", delivery_tag=first.tag)
    peer.detach()
    return equals(peer, left(peer, FILE, queue, 1), [b"forgotten"], "files")
