"""Steps that cases about branches of distributed transactions share.

Knows: the peer's verbs, the statuses of XA. Must not know: verdicts, targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.suites.amqp_0_10._messages import SHARED, answer, fill
from amqpspec.wire.amqp_0_10.values import Packed

Xid = Mapping[str, Any]
_STATUS = {int(choice.value): choice.name for choice in DIALECT.choices("dtx.xa-status")}


def xid(peer: Peer, branch: bytes = b"b") -> Xid:
    """An xid of the case's own, in a global transaction of its own."""
    return {"format": 7, "global_id": peer.name("g").encode(), "branch_id": branch}


def told(peer: Peer, name: str, of: Xid, channel: int = 0, **args: Any) -> str:
    """Send a command about a branch, and take the status that it results in, by name; raises Unmet."""
    status = peer.call(f"dtx.{name}", channel, xid=of, **args).fields.get("status")
    return _STATUS.get(status, str(status))


def selected(peer: Peer, *channels: int) -> None:
    """Sessions that have selected dtx; channel 0 alone where none is named."""
    for channel in channels or (0,):
        peer.open_session(channel)
        peer.call("dtx.select", channel)


def started(peer: Peer, branch: bytes = b"b", channel: int = 0) -> Xid:
    """A new branch on which a session works."""
    of = xid(peer, branch)
    peer.call("dtx.start", channel, xid=of)
    return of


def worked(peer: Peer, branch: bytes = b"b", channel: int = 0) -> tuple[Xid, str]:
    """A branch that published ``made`` and took ``used``, and was ended; and the queue of both."""
    queue = fill(peer, peer.queue(channel, **SHARED), b"used", channel=channel)
    destination = peer.subscribe(queue, channel, messages=1)
    transfer = peer.transfer(channel)
    of = started(peer, branch, channel)
    answer(peer, "accept", [transfer], channel)
    fill(peer, queue, b"made", channel=channel)
    peer.call("dtx.end", channel, xid=of)
    peer.call("message.cancel", channel, destination=destination)
    return of, queue


def prepared(peer: Peer, branch: bytes = b"b", channel: int = 0) -> tuple[Xid, str]:
    """A branch like that of ``worked``, prepared."""
    of, queue = worked(peer, branch, channel)
    peer.call("dtx.prepare", channel, xid=of)
    return of, queue


def in_doubt(peer: Peer, channel: int = 0) -> list[tuple[int, bytes, bytes]]:
    """The xids that recover lists, as format, global id and branch id."""
    items = peer.call("dtx.recover", channel).fields["in_doubt"].items
    found = [item.fields for item in items if isinstance(item, Packed)]
    return [(one["format"], one["global_id"], one["branch_id"]) for one in found]


def key_of(of: Xid) -> tuple[int, bytes, bytes]:
    """An xid as ``in_doubt`` tells it."""
    return of["format"], of["global_id"], of["branch_id"]
