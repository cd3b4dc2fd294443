"""Steps that cases about branches of distributed transactions share.

Knows: the peer's verbs, the statuses of XA. Must not know: verdicts, targets.

The published tables give the struct xid a size of two octets and no code; Qpid's brokers read and write a struct32.
``dtx.start.result`` is about that, every other case writes xids as its target reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.suites.amqp_0_10._messages import SHARED, answer, fill
from amqpspec.wire.amqp_0_10.values import Packed, Raw
from amqpspec.wire.amqp_0_10.writing import encode_struct

Xid = Mapping[str, Any]
Key = tuple[int, bytes, bytes]
NOT_IMPLEMENTED = 540
_CODE = (6, 4)
_CODED: dict[str, bool] = {}
"""By the tags of cases, whether the target wants an xid as a struct32 with a code."""
_STATUS = {int(choice.value): choice.name for choice in DIALECT.choices("dtx.xa-status")}


def xid(peer: Peer, branch: bytes = b"b") -> Xid:
    """An xid of the case's own, in a global transaction of its own.

    A digest: X/Open XA allows a global id 64 octets, and the name of a run may be long.
    """
    global_id = blake2b(peer.name("g").encode(), digest_size=16).hexdigest().encode()
    return {"format": 7, "global_id": global_id, "branch_id": branch}


def on_wire(peer: Peer, of: Xid) -> Any:
    """An xid as the target reads it."""
    if peer.context.tag not in _CODED:
        _CODED[peer.context.tag] = False
        plain = _reads(peer, xid(peer))
        _CODED[peer.context.tag] = not plain and _reads(peer, _coded(xid(peer)))
    return _coded(of) if _CODED[peer.context.tag] else of


def _coded(of: Xid) -> Raw:
    bare = replace(DIALECT.structs["dtx.xid"], size_octets=4, code=_CODE)
    return Raw(encode_struct(bare, of))


def _reads(peer: Peer, value: Any) -> bool:
    """Whether a target starts a branch by an xid that is written so."""
    other = peer.another()
    selected(other)
    try:
        other.call("dtx.start", xid=value)
    except Unmet:
        return False
    finally:
        other.hang_up()
    return True


def ask(peer: Peer, name: str, of: Xid, channel: int = 0, **args: Any) -> Any:
    """Send a command about a branch, and take what answers it; raises Unmet."""
    return peer.call(f"dtx.{name}", channel, xid=on_wire(peer, of), **args)


def told(peer: Peer, name: str, of: Xid, channel: int = 0, **args: Any) -> str:
    """Send a command about a branch, and take the status that it results in, by name; raises Unmet."""
    status = ask(peer, name, of, channel, **args).fields.get("status")
    return _STATUS.get(status, str(status))


def selected(peer: Peer, *channels: int) -> None:
    """Sessions that have selected dtx; channel 0 alone if none is named."""
    for channel in channels or (0,):
        peer.open_session(channel)
        peer.call("dtx.select", channel)


def started(peer: Peer, branch: bytes = b"b", channel: int = 0) -> Xid:
    """A new branch on which a session works."""
    of = xid(peer, branch)
    ask(peer, "start", of, channel)
    return of


def worked(peer: Peer, branch: bytes = b"b", channel: int = 0) -> tuple[Xid, str]:
    """A branch that published ``made`` and took ``used``, and was ended; and the queue of both."""
    queue = fill(peer, peer.queue(channel, **SHARED), b"used", channel=channel)
    destination = peer.subscribe(queue, channel, messages=1)
    transfer = peer.transfer(channel)
    of = started(peer, branch, channel)
    answer(peer, "accept", [transfer], channel)
    fill(peer, queue, b"made", channel=channel)
    ask(peer, "end", of, channel)
    peer.call("message.cancel", channel, destination=destination)
    return of, queue


def prepared(peer: Peer, branch: bytes = b"b", channel: int = 0) -> tuple[Xid, str]:
    """A branch like that of ``worked``, prepared."""
    of, queue = worked(peer, branch, channel)
    ask(peer, "prepare", of, channel)
    return of, queue


def joins(peer: Peer) -> bool:
    """Whether the target supports join: one that does not answers 540 (start.join#unsupported)."""
    other = peer.another()
    selected(other, 0, 1)
    of = started(other)
    ask(other, "end", of)
    try:
        ask(other, "start", of, 1, join=True)
    except Unmet as unmet:
        if unmet.code == NOT_IMPLEMENTED:
            return False
        raise
    finally:
        other.hang_up()
    return True


def in_doubt(peer: Peer, channel: int = 0) -> list[Key]:
    """The xids that recover lists, as format, global id and branch id."""
    items = peer.call("dtx.recover", channel).fields["in_doubt"].items
    return [key_of(item.fields) if isinstance(item, Packed) else _key_in(item.octets) for item in items]


def _key_in(octets: bytes) -> Key:
    """What an xid after a struct code holds: flags, format, and both ids behind their sizes."""
    middle = 7 + octets[6]
    return int.from_bytes(octets[2:6], "big"), octets[7:middle], octets[middle + 1 :]


def key_of(of: Xid) -> Key:
    """An xid as ``in_doubt`` tells it."""
    return of["format"], of["global_id"], of["branch_id"]
